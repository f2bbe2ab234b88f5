//! Code search for scripts: `/rag/index` and `/rag/query`, on the indexes that `covey search` and agents use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::index::{Cancel, IfBusy, Index, IndexError, Options, SearchOptions, Watch};
use async_trait::async_trait;
use client::{ClientError, Failure as Kind};
use engine::Engine;
use project::Project;
use protocol::{Reply, Request};
use server::{CodeHit, CodeQuery, CodeSearch, IndexReport};

use crate::exit::Failure;

/// Lines of one result that are sent.
const LINES: usize = 200;
/// Sessions whose folders are looked at.
const SESSIONS: u32 = 1000;

/// The indexes of the projects that this server works in.
pub(super) struct Indexes {
    pub(super) engine: Engine,
    /// Where the server was started.
    pub(super) cwd: PathBuf,
    pub(super) options: Options,
    /// Those that somebody asked, and the server's own if there is one. They stay fresh.
    pub(super) kept: Mutex<BTreeMap<PathBuf, Arc<Watch>>>,
}

#[async_trait]
impl CodeSearch for Indexes {
    async fn index(&self, folder: String) -> Result<IndexReport, ClientError> {
        let index = self.open(&folder).await?;
        blocking(move || {
            let cancel = Cancel::default();
            index.update(IfBusy::Wait, &|_| {}, &cancel)?;
            if index.model().is_some() {
                index.embed(&|_| {}, &cancel)?;
            }
            let status = index.status()?;
            let (files, pieces) = status.map_or((0, 0), |status| (status.files.into(), status.chunks.into()));
            Ok(IndexReport { files, pieces })
        })
        .await
    }

    async fn query(&self, query: CodeQuery) -> Result<Vec<CodeHit>, ClientError> {
        let folder = query.folder.clone().unwrap_or_else(|| self.cwd.to_string_lossy().into_owned());
        let index = self.open(&folder).await?;
        blocking(move || {
            // Words are brought up to date at once; meaning comes with `/rag/index`, or a little later.
            match index.update(IfBusy::Refuse, &|_| {}, &Cancel::default()) {
                Ok(_) | Err(IndexError::Busy { .. }) => {}
                Err(error) => return Err(error),
            }
            let searcher = index.searcher();
            let options = SearchOptions { limit: query.limit as usize, ..SearchOptions::default() };
            let found = searcher.search(&query.query, &options)?;
            let hit = |hit: &::index::Hit| {
                let whole = searcher.text(&hit.file).unwrap_or_default();
                let first = hit.start_line.max(1) as usize;
                let count = (hit.end_line.saturating_sub(hit.start_line) as usize + 1).min(LINES);
                let lines: Vec<&str> = whole.lines().skip(first - 1).take(count).collect();
                CodeHit {
                    file: hit.file.clone(),
                    start_line: hit.start_line,
                    end_line: hit.end_line,
                    symbol: hit.symbol.clone(),
                    score: hit.score.into(),
                    text: lines.join("\n"),
                }
            };
            Ok(found.hits.iter().map(hit).collect())
        })
        .await
    }
}

impl Indexes {
    /// The index of the project that a folder lies in: the server's own, or one that a session works in. Anything else on
    /// this machine is not for whoever has the token to read.
    async fn open(&self, folder: &str) -> Result<Index, ClientError> {
        let folder = Path::new(folder);
        let project = Project::discover(folder).map_err(|error| ClientError {
            kind: Kind::NotFound,
            message: error.to_string(),
            hint: Some("name a folder that exists".to_owned()),
        })?;
        let root = project.root();
        let is_root = |cwd: &Path| Project::discover(cwd).is_ok_and(|found| found.root() == root);
        if is_root(&self.cwd) || self.folders().await?.iter().any(|cwd| is_root(cwd)) {
            return Ok(self.opened(root));
        }
        Err(ClientError {
            kind: Kind::Invalid,
            message: format!("`{}` is not a project that this server works in", folder.display()),
            hint: Some("start a session there first".to_owned()),
        })
    }

    /// The server's own project is kept from the start, if it has an index.
    pub(super) fn keep_own(&self) {
        if let Ok(project) = Project::discover(&self.cwd) {
            let index = Index::new(project.root(), self.options.clone());
            if index.exists() {
                self.opened(project.root());
            }
        }
    }

    fn opened(&self, root: &Path) -> Index {
        let index = Index::new(root, self.options.clone());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(root.to_owned()).or_insert_with(|| index.keep());
        index
    }

    async fn folders(&self) -> Result<Vec<PathBuf>, ClientError> {
        let request = Request::Sessions { cwd: None, limit: SESSIONS };
        match self.engine.read(request).await {
            Ok(Reply::Sessions(list)) => {
                let mut folders: Vec<PathBuf> = list.into_iter().map(|one| one.cwd.into()).collect();
                folders.sort();
                folders.dedup();
                Ok(folders)
            }
            Ok(_) => Ok(vec![]),
            Err(error) => Err(crate::in_process::client_error(error)),
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, IndexError> + Send + 'static,
) -> Result<T, ClientError> {
    let done = tokio::task::spawn_blocking(work).await;
    let failed =
        |failure: Failure| ClientError { kind: Kind::Storage, message: failure.message, hint: failure.hint };
    match done {
        Ok(result) => result.map_err(|error| failed(error.into())),
        Err(error) => Err(failed(Failure::from_error(&error))),
    }
}
