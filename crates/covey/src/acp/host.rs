//! The editor as a host: files as they are open there, commands in terminals that the person sees.
//!
//! Only what the editor can do better is asked of it. Whether a path may be used is decided here as on any host, and a
//! command keeps its walls: in the editor's terminal runs `covey inside`, which puts them up.

mod terminal;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use ::acp::{CallError, Editor, Offered, Peer};
use async_trait::async_trait;
use project::{
    ByteRange, Expect, FileRead, Grants, Host, HostError, Listing, MAX_READ, Program, Roots, Running, Stamp,
    Stat, Streams, Task,
};
use protocol::SessionId;
use tokio::sync::mpsc;

use super::relay::Input;

/// Files above this are read from the disk: no editor has them open, and each read sends all of it.
const MOST: u64 = 4 << 20;
/// An editor that does not answer is no reason not to go on with what is on the disk.
const PATIENCE: Duration = Duration::from_secs(10);

/// The sessions that one editor has open, as hosts.
pub(super) struct Editors {
    peer: Peer,
    offered: Mutex<Offered>,
    /// Where it is told which terminal shows what.
    relays: Mutex<HashMap<String, mpsc::Sender<Input>>>,
}

impl Editors {
    pub(super) fn new(peer: Peer) -> Self {
        Self { peer, offered: Mutex::default(), relays: Mutex::default() }
    }

    pub(super) fn offer(&self, offered: Offered) {
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = offered;
    }

    pub(super) fn offered(&self) -> Offered {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn listen(&self, session: &str, inputs: Option<mpsc::Sender<Input>>) {
        let mut relays = self.relays.lock().unwrap_or_else(PoisonError::into_inner);
        match inputs {
            Some(inputs) => drop(relays.insert(session.to_owned(), inputs)),
            None => drop(relays.remove(session)),
        }
    }

    fn relay(&self, session: &str) -> Option<mpsc::Sender<Input>> {
        self.relays.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }

    /// The host of a session: the local one, and what the editor adds to it.
    pub(super) fn host(self: &Arc<Self>, session: &SessionId, local: Arc<dyn Host>) -> Arc<dyn Host> {
        Arc::new(EditorHost {
            editor: Editor::new(self.peer.clone(), session.as_str()),
            session: session.to_string(),
            editors: self.clone(),
            local,
            grants: Grants::default(),
        })
    }
}

struct EditorHost {
    local: Arc<dyn Host>,
    editor: Editor,
    session: String,
    editors: Arc<Editors>,
    grants: Grants,
}

impl EditorHost {
    /// A file as the editor has it. None when it has nothing to add: it can not read, the file is not text, or is as on
    /// the disk.
    async fn open_text(&self, path: &Path) -> Result<Option<Vec<u8>>, HostError> {
        // Only the session that the editor has on its screen is open in it.
        if !self.editors.offered().read_files || self.editors.relay(&self.session).is_none() {
            return Ok(None);
        }
        let whole = self.whole(path)?;
        let disk = match self.local.stat(path).await {
            Ok(stat) if stat.len > MOST => return Ok(None),
            Ok(_) => Some(self.local.read(path, ByteRange::first(MAX_READ)).await?.bytes),
            // It may be there all the same, not saved yet.
            Err(HostError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        if disk.as_ref().is_some_and(|bytes| std::str::from_utf8(bytes).is_err()) {
            return Ok(None);
        }
        let text = match tokio::time::timeout(PATIENCE, self.editor.read(&whole)).await {
            Ok(Ok(text)) => text.into_bytes(),
            // What it can not show is read from the disk.
            Ok(Err(_)) | Err(_) => return Ok(None),
        };
        // Editors that know nothing of a file answer with nothing; only a file that is there can be empty.
        if disk.is_none() && text.is_empty() {
            return Ok(None);
        }
        Ok((disk.as_ref() != Some(&text)).then_some(text))
    }

    /// Where a path leads, if that may be used.
    fn whole(&self, path: &Path) -> Result<PathBuf, HostError> {
        let roots = self.roots();
        Ok(roots.resolve(path, roots.main())?.absolute().to_owned())
    }
}

#[async_trait]
impl Host for EditorHost {
    fn roots(&self) -> &Roots {
        self.local.roots()
    }

    async fn read(&self, path: &Path, range: ByteRange) -> Result<FileRead, HostError> {
        let Some(text) = self.open_text(path).await? else { return self.local.read(path, range).await };
        if range.limit > MAX_READ {
            return Err(HostError::TooLarge { limit: range.limit, most: MAX_READ });
        }
        let stamp = stamp(&text);
        let start = usize::try_from(range.offset).unwrap_or(usize::MAX).min(text.len());
        let end = start.saturating_add(range.limit).min(text.len());
        Ok(FileRead { bytes: text[start..end].to_vec(), total_len: stamp.len, modified: stamp.modified })
    }

    async fn list(&self, directory: &Path, limit: usize) -> Result<Listing, HostError> {
        self.local.list(directory, limit).await
    }

    async fn stat(&self, path: &Path) -> Result<Stat, HostError> {
        self.local.stat(path).await
    }

    async fn write(&self, path: &Path, bytes: Vec<u8>, expect: Expect) -> Result<Stamp, HostError> {
        let offered = self.editors.offered();
        let open = self.editors.relay(&self.session).is_some();
        let Some(text) = std::str::from_utf8(&bytes).ok().filter(|_| offered.write_files && open) else {
            return self.local.write(path, bytes, expect).await;
        };
        let whole = self.whole(path)?;
        match expect {
            Expect::Anything => {}
            Expect::Absent => match self.local.stat(path).await {
                Err(HostError::NotFound { .. }) => {}
                Ok(_) => return Err(HostError::Exists { path: whole }),
                Err(error) => return Err(error),
            },
            Expect::Unchanged(seen) => {
                let now = self.read(path, ByteRange::first(0)).await?.stamp();
                if now != seen {
                    return Err(HostError::Stale { path: whole });
                }
            }
        }
        if let Some(folder) = whole.parent() {
            self.local.make_dir(folder).await?;
        }
        let failed = |why: String| HostError::Io { path: whole.clone(), source: std::io::Error::other(why) };
        match tokio::time::timeout(PATIENCE, self.editor.write(&whole, text)).await {
            Ok(Ok(())) => Ok(self.read(path, ByteRange::first(0)).await?.stamp()),
            Ok(Err(error)) => Err(failed(format!("the editor did not write it: {error}"))),
            Err(_) => Err(failed("the editor did not answer".to_owned())),
        }
    }

    async fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError> {
        self.local.set_mode(path, mode).await
    }

    async fn make_dir(&self, path: &Path) -> Result<(), HostError> {
        self.local.make_dir(path).await
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        self.local.rename(from, to).await
    }

    async fn remove(&self, path: &Path) -> Result<(), HostError> {
        self.local.remove(path).await
    }

    async fn start(&self, task: Task) -> Result<Box<dyn Running>, HostError> {
        // What the agent's own work needs is nothing to look at; an editor's terminal can not be written to.
        let shown = matches!(task.program, Program::Shell(_)) && task.streams == Streams::Out;
        let relay = self.editors.relay(&self.session).filter(|_| shown && self.editors.offered().terminals);
        if let Some(relay) = relay {
            match terminal::start(&self.editor, self.roots(), &self.grants, &task, &relay).await {
                Ok(running) => return Ok(running),
                // An editor without room for it, or one that promised too much.
                Err(CallError::Refused(_) | CallError::Unexpected { .. } | CallError::Closed) => {}
            }
        }
        self.local.start(task).await
    }

    fn granting(&self, grants: &Grants) -> Result<Arc<dyn Host>, HostError> {
        Ok(Arc::new(Self {
            local: self.local.granting(grants)?,
            editor: self.editor.clone(),
            session: self.session.clone(),
            editors: self.editors.clone(),
            grants: grants.clone(),
        }))
    }
}

/// What is open in an editor has no time of its own, so what it says stands for it.
fn stamp(text: &[u8]) -> Stamp {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let modified = SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(hasher.finish()));
    Stamp { len: text.len() as u64, modified }
}
