//! The view of a session as of some event, so that opening it folds only what came after.

use std::fs::File;
use std::io;
use std::path::Path;

use protocol::SessionView;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::index::ends_with;
use crate::record;

/// Goes up whenever the fold or the view changes its meaning: older snapshots are then made anew.
const VERSION: u32 = 1;
/// A view is bounded to far less.
const MAX_SNAPSHOT: u64 = 64 << 20;

/// `{"v":1,"seq":…,"offset":…,"view":{…},"crc":"…"}`: the view after the event `seq`, which ends at `offset`.
#[derive(Debug, Deserialize)]
pub(crate) struct Snapshot {
    v: u32,
    seq: u64,
    pub(crate) offset: u64,
    pub(crate) view: SessionView,
}

#[derive(Serialize)]
struct Borrowed<'a> {
    v: u32,
    seq: u64,
    offset: u64,
    view: &'a SessionView,
}

impl Snapshot {
    /// None when there is none that fits the log.
    pub(crate) fn load(dir: &Path, log: &File) -> Option<Self> {
        let bytes = files::read_small(&dir.join("snapshot"), MAX_SNAPSHOT).ok()?;
        let body = record::unseal(bytes.strip_suffix(b"\n")?).ok()?;
        let snapshot: Self = serde_json::from_slice(&[body, b"}"].concat()).ok()?;
        let fits = snapshot.v == VERSION
            && snapshot.view.seq == snapshot.seq
            && ends_with(log, snapshot.offset, snapshot.seq);
        fits.then_some(snapshot)
    }

    pub(crate) fn save(dir: &Path, view: &SessionView, offset: u64) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(64 << 10);
        serde_json::to_writer(&mut bytes, &Borrowed { v: VERSION, seq: view.seq, offset, view })?;
        record::seal(&mut bytes, 0);
        files::replace(&dir.join("snapshot"), &bytes)
    }
}
