//! A session's host: this machine or, for what it offered to do, a connected editor.
//!
//! [`SessionHost`] is what tools act on. For each call it looks whether an editor is there that offered such a thing;
//! [`Line`] carries the call to it and waits. The guard has had its say before anything arrives here, and the editor
//! checks paths on its side again, because only it knows what a path leads to over there.

mod convert;
mod line;
mod terminal;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use project::{
    ByteRange, Expect, FileRead, Finding, Grants, Host, HostError, Listing, Roots, Running, Stamp, Stat, Task,
};
use protocol::{HostAnswer, HostCall};

pub(crate) use line::{BACK_WITHIN, Line, OfferRefused, Requests};

use convert::{expected, read_answer, text, unexpected};
use terminal::Terminal;

/// How long an editor may take for a file.
const FILE_WITHIN: Duration = Duration::from_secs(30);

/// This machine, and the editor that may stand in for it.
#[derive(Clone)]
pub(crate) struct SessionHost {
    local: Arc<dyn Host>,
    line: Arc<Line>,
    grants: Grants,
}

impl SessionHost {
    pub(crate) fn new(local: Arc<dyn Host>, confined: bool) -> Self {
        let roots = local.roots().iter().map(|root| root.to_string_lossy().into_owned()).collect();
        Self { local, line: Arc::new(Line::new(roots, confined, BACK_WITHIN)), grants: Grants::default() }
    }

    pub(crate) fn line(&self) -> Arc<Line> {
        self.line.clone()
    }

    /// Where a path leads, if the roots allow it. The editor is asked for that place.
    fn place(&self, path: &Path) -> Result<String, HostError> {
        let roots = self.local.roots();
        text(roots.resolve(path, roots.main())?.absolute())
    }

    fn entry(&self, path: &Path) -> Result<String, HostError> {
        let roots = self.local.roots();
        text(roots.resolve_entry(path, roots.main())?.absolute())
    }

    async fn ask(&self, path: &Path, call: HostCall) -> Result<HostAnswer, HostError> {
        let answer = self.line.ask(call, Some(FILE_WITHIN)).await?;
        expected(path, answer)
    }

    async fn done(&self, path: &Path, call: HostCall) -> Result<(), HostError> {
        match self.ask(path, call).await? {
            HostAnswer::Done => Ok(()),
            _ => Err(unexpected()),
        }
    }
}

#[async_trait]
impl Host for SessionHost {
    fn roots(&self) -> &Roots {
        self.local.roots()
    }

    async fn read(&self, path: &Path, range: ByteRange) -> Result<FileRead, HostError> {
        if !self.line.does_files() {
            return self.local.read(path, range).await;
        }
        let limit = range.limit;
        if limit > project::MAX_READ {
            return Err(HostError::TooLarge { limit, most: project::MAX_READ });
        }
        let call = HostCall::Read { path: self.place(path)?, offset: range.offset, limit: limit as u64 };
        read_answer(self.ask(path, call).await?, limit)
    }

    async fn list(&self, directory: &Path, limit: usize) -> Result<Listing, HostError> {
        if !self.line.does_files() {
            return self.local.list(directory, limit).await;
        }
        let call = HostCall::List { path: self.place(directory)?, limit: limit as u64 };
        convert::listing(self.ask(directory, call).await?, limit)
    }

    async fn stat(&self, path: &Path) -> Result<Stat, HostError> {
        if !self.line.does_files() {
            return self.local.stat(path).await;
        }
        convert::stat(&self.ask(path, HostCall::Stat { path: self.place(path)? }).await?)
    }

    async fn write(&self, path: &Path, bytes: Vec<u8>, expect: Expect) -> Result<Stamp, HostError> {
        if !self.line.does_files() {
            return self.local.write(path, bytes, expect).await;
        }
        let call = HostCall::Write {
            path: self.place(path)?,
            bytes: convert::encode(&bytes),
            expect: convert::expect(expect),
        };
        match self.ask(path, call).await? {
            HostAnswer::Written { stamp } => Ok(convert::stamp(stamp)),
            _ => Err(unexpected()),
        }
    }

    async fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError> {
        if !self.line.does_files() {
            return self.local.set_mode(path, mode).await;
        }
        Ok(())
    }

    async fn make_dir(&self, path: &Path) -> Result<(), HostError> {
        if !self.line.does_files() {
            return self.local.make_dir(path).await;
        }
        self.done(path, HostCall::MakeDir { path: self.place(path)? }).await
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        if !self.line.does_files() {
            return self.local.rename(from, to).await;
        }
        self.done(from, HostCall::Rename { from: self.entry(from)?, to: self.entry(to)? }).await
    }

    async fn remove(&self, path: &Path) -> Result<(), HostError> {
        if !self.line.does_files() {
            return self.local.remove(path).await;
        }
        self.done(path, HostCall::Remove { path: self.entry(path)? }).await
    }

    async fn start(&self, task: Task) -> Result<Box<dyn Running>, HostError> {
        if !self.line.does_programs() {
            return self.local.start(task).await;
        }
        let cwd = self.place(&task.cwd)?;
        Ok(Box::new(Terminal::start(&self.line, convert::task(task, cwd, &self.grants)?).await?))
    }

    async fn findings(&self, path: &Path) -> Result<Option<Vec<Finding>>, HostError> {
        if !self.line.knows_findings() {
            return Ok(None);
        }
        match self.ask(path, HostCall::Diagnostics { path: self.place(path)? }).await? {
            HostAnswer::Diagnostics { found } => Ok(Some(convert::findings(found))),
            _ => Err(unexpected()),
        }
    }

    fn granting(&self, grants: &Grants) -> Result<Arc<dyn Host>, HostError> {
        let local = self.local.granting(grants)?;
        Ok(Arc::new(Self { local, line: self.line.clone(), grants: grants.clone() }))
    }
}
