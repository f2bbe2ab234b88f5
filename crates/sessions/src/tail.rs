//! The end of a log: the last whole record, and what to do with anything after it.

use std::fs::File;
use std::io;
use std::path::Path;

use protocol::{Event, Repair};

use crate::files;
use crate::lines::{BackLines, read_range};
use crate::record::{self, MAX_RECORD};

/// This much of a torn tail is kept.
const KEEP: u64 = 1 << 20;

/// The last record that is whole.
#[derive(Debug)]
pub(crate) struct LastRecord {
    pub(crate) event: Event,
    /// Where it ends.
    pub(crate) end: u64,
}

/// Searches backwards, so the time it takes depends on the damage and not on the log.
pub(crate) fn last_record(log: &File, length: u64) -> io::Result<Option<LastRecord>> {
    let mut lines = BackLines::new(log, length);
    let (mut buffer, mut scratch) = (Vec::new(), Vec::new());
    while let Some((range, whole)) = lines.next()? {
        if !whole || range.end - range.start > MAX_RECORD as u64 {
            continue;
        }
        let end = range.end;
        let line = read_range(log, range, &mut buffer)?;
        let decoded = line.strip_suffix(b"\n").map(|line| record::decode(line, &mut scratch));
        if let Some(Ok(event)) = decoded {
            return Ok(Some(LastRecord { event, end }));
        }
    }
    Ok(None)
}

/// Cuts off what lies after `end`, keeping a copy beside the log. The copy is made first.
pub(crate) fn cut(dir: &Path, log: &File, end: u64, length: u64) -> io::Result<Repair> {
    let mut torn = Vec::new();
    read_range(log, end..length.min(end + KEEP), &mut torn)?;
    let name = keep(dir, end, &torn)?;
    log.set_len(end)?;
    log.sync_data()?;
    Ok(Repair { offset: end, bytes: length - end, kept_in: Some(name) })
}

fn keep(dir: &Path, offset: u64, torn: &[u8]) -> io::Result<String> {
    for count in 1u32.. {
        let name = match count {
            1 => format!("torn-{offset}.bin"),
            _ => format!("torn-{offset}-{count}.bin"),
        };
        match files::create_new(&dir.join(&name)) {
            Ok(file) => {
                let written = files::write_at(&file, torn, 0).and_then(|()| file.sync_data());
                if written.is_err() {
                    // Half a copy would only mislead; the log itself is untouched.
                    let _ = std::fs::remove_file(dir.join(&name));
                }
                return written.map(|()| name);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
