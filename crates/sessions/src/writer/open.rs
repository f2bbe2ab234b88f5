//! Taking up a session to write to it.

use std::path::Path;
use std::sync::Arc;

use protocol::{EventBody, Repair, SessionId, SessionStart, SessionView, Timestamp};

use super::{IndexFile, Writer};
use crate::blobs::Blobs;
use crate::error::{AppendError, StoreError, is_read_only};
use crate::files;
use crate::index::Index;
use crate::lock::{Holder, Lock};
use crate::reader::Reader;
use crate::tail;

/// A session, ready to be written to.
#[derive(Debug)]
pub struct Opened {
    pub writer: Writer,
    /// What its events add up to, a repair included.
    pub view: SessionView,
    /// What was cut off its end, if it was torn.
    pub repaired: Option<Repair>,
}

impl Writer {
    /// Starts a log in an empty folder.
    pub(crate) fn create(
        dir: &Path,
        start: SessionStart,
        holder: Holder,
        now: Timestamp,
    ) -> Result<Opened, StoreError> {
        let session = start.session.clone();
        let lock = Lock::take(dir, &session, holder)?;
        let path = dir.join("events.jsonl");
        let log = files::create_new(&path).map_err(StoreError::io("create", &path))?;
        let mut writer = Self {
            session: session.clone(),
            dir: dir.to_owned(),
            log: Arc::new(log),
            length: 0,
            last_seq: 0,
            ragged: false,
            buffer: Vec::new(),
            unsynced_since: None,
            names_unsynced: true,
            index: Index::default(),
            index_file: IndexFile::default(),
            snapshot: (0, 0),
            blobs: Blobs::new(dir),
            lock,
        };
        let events = writer.append(vec![(None, EventBody::SessionStart(start))], now)?;
        let view = events.first().and_then(|event| SessionView::start(event));
        let view = view.ok_or_else(|| StoreError::Unusable { session, why: "it has no start".to_owned() })?;
        Ok(Opened { writer, view, repaired: None })
    }

    /// Opens a log, cutting off and reporting what a crash left at its end.
    pub(crate) fn open(
        dir: &Path,
        session: &SessionId,
        holder: Holder,
        now: Timestamp,
    ) -> Result<Opened, StoreError> {
        let path = dir.join("events.jsonl");
        let unusable = |why: &str| StoreError::Unusable { session: session.clone(), why: why.to_owned() };
        if !dir.is_dir() {
            return Err(StoreError::NotFound(session.clone()));
        }
        let lock = Lock::take(dir, session, holder)?;
        let log =
            std::fs::OpenOptions::new().read(true).write(true).open(&path).map_err(|source| match source
                .kind()
            {
                std::io::ErrorKind::NotFound => unusable("its log is missing"),
                _ if is_read_only(&source) => StoreError::ReadOnly { session: session.clone(), source },
                _ => StoreError::io("open", &path)(source),
            })?;
        let log = Arc::new(log);
        let read = StoreError::io("read", &path);
        let length = log.metadata().map_err(StoreError::io("read", &path))?.len();
        if length == 0 {
            return Err(unusable("its log is empty"));
        }
        // Nothing is cut off a file that has no record at all: it may not be a log.
        let last = tail::last_record(&log, length).map_err(read)?;
        let last = last.ok_or_else(|| unusable("its log has no whole record"))?;
        let repaired = match last.end < length {
            false => None,
            true => Some(
                tail::cut(dir, &log, last.end, length).map_err(|source| AppendError::new(session, source))?,
            ),
        };

        let mut reader = Reader::with_log(dir, session, log.clone());
        let view = reader.view()?;
        let (index, index_file) = match Index::load(&dir.join("index"), session, &log) {
            Some((index, length)) => {
                let file = files::open_or_create(&dir.join("index")).ok();
                // What a crash left after the last whole batch would be in the way.
                let file = file.filter(|file| file.set_len(length).is_ok());
                let upto = index.upto;
                (index, IndexFile { file, length, upto })
            }
            None => (Index::default(), IndexFile::default()),
        };
        let mut writer = Self {
            session: session.clone(),
            dir: dir.to_owned(),
            log,
            length: last.end,
            last_seq: last.event.seq.max(view.seq),
            ragged: false,
            buffer: Vec::new(),
            unsynced_since: None,
            names_unsynced: false,
            index,
            index_file,
            snapshot: reader.snapshot_at(),
            blobs: Blobs::new(dir),
            lock,
        };
        let log = writer.log.clone();
        writer.index.extend(&log).map_err(StoreError::io("read", &path))?;

        let mut opened = Opened { writer, view, repaired };
        if let Some(repair) = &opened.repaired {
            let events = opened.writer.append(vec![(None, EventBody::Repair(repair.clone()))], now)?;
            events.iter().for_each(|event| opened.view.apply(event));
        }
        Ok(opened)
    }
}
