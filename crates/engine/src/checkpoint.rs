//! What files were before an agent changed them, so that it can be taken back.
//!
//! Before an effect the states of the files that it touches are kept ([`Checkpoints::before`]), after it what really
//! changed is written down ([`Checkpoints::after`]). For a command nobody knows what it touches, so everything in the
//! project and in the folders that were added to the session is looked at before and after; what git has already is not
//! copied, and generated folders are left out. The user's git index, stash and refs are never touched.

mod git_index;
mod journal;
mod objects;
mod pending;
mod places;
mod restore;
mod survey;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use protocol::{CallId, Checkpoint, CheckpointAction};
use serde::{Deserialize, Serialize};

pub use journal::{Changed, Content, Record, State};
pub(crate) use pending::Pending;
pub use restore::{Direction, Plan, Step, Target, UndoError};
pub(crate) use turn::KeptTurns;

use journal::{Journal, PathText};
use objects::Objects;
use pending::Begun;
use places::{Places, between};
use survey::{Looks, Survey, looks};

/// The checkpoints of one session.
#[derive(Debug)]
pub struct Checkpoints {
    places: Places,
    journal: Journal,
    inner: Mutex<Inner>,
    /// One effect at a time, whichever agent has it: what changed in between must be known to be its own.
    turnstile: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Inner {
    objects: Objects,
    /// How files looked when they were last kept, so that what did not change since is not read again.
    known: HashMap<PathBuf, (Looks, Content)>,
}

/// For whom a checkpoint is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub turn: String,
    pub call: Option<String>,
}

/// What is about to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// These files and folders, by absolute paths that may lead through links and `..`.
    Files(Vec<PathBuf>),
    /// Whatever a command changes.
    Anything,
}

impl Checkpoints {
    /// `folder` is the session's own, `root` the project's, `added` are those that the session works in besides. They are
    /// without links as they were granted.
    pub fn at(folder: &Path, root: &Path, added: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let places = Places::new(folder, root, added);
        let folder = folder.join("checkpoints");
        let objects = Objects::at(folder.join("objects"));
        Self {
            places,
            journal: Journal::at(folder),
            inner: Mutex::new(Inner { objects, known: HashMap::new() }),
            turnstile: tokio::sync::Mutex::new(()),
        }
    }

    /// Held from before an effect until after it.
    pub(crate) async fn turnstile(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turnstile.lock().await
    }

    /// Keeps what is about to change. Blocks; it reads files.
    pub fn before(&self, mark: Mark, scope: Scope) -> io::Result<Pending> {
        self.recover()?;
        let scope = match scope {
            Scope::Files(paths) => Scope::Files(self.places.targets(&paths)),
            Scope::Anything => Scope::Anything,
        };
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let tracked = self.places.tracked();
        let (entries, mut left_out) = look(&self.places, &scope, &tracked);
        let mut before = Vec::with_capacity(entries.len());
        for (path, looks) in entries {
            let state = inner.state(&self.places, &path, looks, &tracked, &mut left_out);
            before.push((PathText(path), state));
        }
        let files = match scope {
            Scope::Files(paths) => Some(paths.into_iter().map(PathText).collect()),
            Scope::Anything => None,
        };
        // Should we die before the effect is over, the next to open the session finds out what it did.
        let folders = self.places.added().iter().cloned().map(PathText).collect();
        self.journal.begin(Begun { mark, files, folders, before, left_out })
    }

    /// Writes down what changed; none when nothing did. Blocks.
    pub fn after(&self, pending: Pending) -> io::Result<Option<Record>> {
        let (begun, file) = pending.into_parts();
        let record = self.close(begun)?;
        self.journal.forget(&file)?;
        Ok(record)
    }

    fn close(&self, begun: Begun) -> io::Result<Option<Record>> {
        let places = self.places.with_added(begun.folders.into_iter().map(|folder| folder.0));
        let tracked = places.tracked();
        let scope = match begun.files {
            Some(files) => Scope::Files(files.into_iter().map(|path| path.0).collect()),
            None => Scope::Anything,
        };
        let (now, _) = look(&places, &scope, &tracked);
        let now: BTreeMap<PathBuf, Looks> = now.into_iter().collect();
        let before: BTreeMap<PathBuf, State> =
            begun.before.into_iter().map(|(path, state)| (path.0, state)).collect();
        let paths: BTreeSet<&PathBuf> = before.keys().chain(now.keys()).collect();
        let mut files = Vec::new();
        let mut suspects = Suspects::default();
        for path in paths {
            let was = before.get(path).cloned().unwrap_or(State::Absent);
            let is = now.get(path).map_or(State::Absent, |looks| seen(looks.clone(), Content::Nowhere));
            // A folder that was added is never taken away again, whoever made it.
            let stays = was == State::Absent && places.is_place(path);
            let is_changed = if same_looks(&was, &is) {
                was_touched(&was, &is) && suspects.take(&was) && !self.same_content(path, &is, &was)
            } else {
                !stays
            };
            if is_changed {
                files.push(Changed { path: path.clone(), before: was, after: is });
            }
        }
        if files.is_empty() {
            return Ok(None);
        }
        let Mark { turn, call } = begun.mark;
        // Agents that work side by side write into one journal.
        let _alone = self.journal.lock()?;
        let id = self.journal.records()?.last().map_or(0, |record| record.id) + 1;
        let record = Record { id, turn, call, files, left_out: begun.left_out };
        self.journal.append(&record)?;
        self.overtaken()?;
        Ok(Some(record))
    }

    /// Every effect so far, oldest first.
    pub fn records(&self) -> io::Result<Vec<Record>> {
        self.recover()?;
        self.journal.records()
    }

    /// Closes what a crash left open. What somebody still works on is theirs to close.
    fn recover(&self) -> io::Result<()> {
        for abandoned in self.journal.abandoned()? {
            // Torn, the effect had not begun.
            if let Some(begun) = abandoned.begun {
                self.close(begun)?;
            }
            self.journal.forget(&abandoned.file)?;
        }
        Ok(())
    }

    /// Something new was done, so what was undone before can not be redone any more.
    fn overtaken(&self) -> io::Result<()> {
        let mut undone = self.journal.undone();
        if undone.batches.is_empty() {
            return Ok(());
        }
        let gone = undone.batches.drain(..).flat_map(|batch| batch.ids);
        undone.dead.extend(gone);
        self.journal.set_undone(&undone)
    }
}

/// How everything in scope looks now, and what is not looked after.
fn look(
    places: &Places,
    scope: &Scope,
    tracked: &HashMap<PathBuf, git_index::Tracked>,
) -> (Vec<(PathBuf, Looks)>, Vec<String>) {
    let has_tracked = |folder: &Path| tracked.keys().any(|path| path.starts_with(folder));
    match scope {
        Scope::Anything => {
            let survey = Survey::of(places, &has_tracked);
            let mut left_out: Vec<String> =
                survey.left_out.iter().map(|path| format!("{}/: generated", path.display())).collect();
            if survey.cut {
                left_out.push("the project is too large to look after all of it".to_owned());
            }
            (survey.entries.into_iter().collect(), left_out)
        }
        Scope::Files(paths) => {
            let mut entries = BTreeMap::new();
            for path in paths {
                let (Some(name), Some(home)) = (places.name(path), places.home(path)) else { continue };
                // Folders that come to be on the way go again with the file.
                for parent in between(home, path) {
                    entries.extend(places.name(parent).zip(looks(parent)));
                }
                let Some(found) = looks(path) else { continue };
                if found == Looks::Folder {
                    entries.extend(Survey::inside(places, &name).entries);
                }
                entries.insert(name, found);
            }
            (entries.into_iter().collect(), Vec::new())
        }
    }
}

/// How many files are read that look as before but were touched. A command can touch all there are.
struct Suspects {
    kept: usize,
    /// Git is asked for these, one by one.
    in_git: usize,
}

impl Default for Suspects {
    fn default() -> Self {
        Self { kept: 1000, in_git: 20 }
    }
}

impl Suspects {
    fn take(&mut self, was: &State) -> bool {
        let left = match was {
            State::File { content: Content::Kept(_), .. } => &mut self.kept,
            State::File { content: Content::Git(_), .. } => &mut self.in_git,
            _ => return false,
        };
        let is_left = *left > 0;
        *left = left.saturating_sub(1);
        is_left
    }
}

impl Record {
    /// As it is told.
    pub(crate) fn taken(self, call: Option<CallId>) -> Checkpoint {
        Checkpoint {
            checkpoint: self.id,
            did: CheckpointAction::Taken,
            call,
            paths: self.files.iter().map(|file| file.path.to_string_lossy().into_owned()).collect(),
            left_out: self.left_out,
        }
    }
}

/// Looking at files takes its time where that holds up nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

impl Inner {
    /// What is at a path, with its content kept somewhere.
    fn state(
        &mut self,
        places: &Places,
        path: &Path,
        looks: Looks,
        tracked: &HashMap<PathBuf, git_index::Tracked>,
        left_out: &mut Vec<String>,
    ) -> State {
        let Looks::File { len, modified, .. } = &looks else { return seen(looks, Content::Nowhere) };
        if let Some((known, content)) = self.known.get(path)
            && *known == looks
        {
            return seen(looks, content.clone());
        }
        let in_git = tracked.get(path).filter(|file| {
            let time = i128::from(file.modified.0) * 1_000_000_000 + i128::from(file.modified.1);
            u64::from(file.len) == *len && time == *modified
        });
        let content = match in_git {
            Some(file) => Content::Git(file.blob.clone()),
            None => match self.objects.keep_file(&places.absolute(path)) {
                Ok(name) => Content::Kept(name),
                Err(why) => {
                    left_out.push(format!("{}: {}", path.display(), why.reason()));
                    Content::Nowhere
                }
            },
        };
        self.known.insert(path.to_owned(), (looks.clone(), content.clone()));
        seen(looks, content)
    }
}

fn seen(looks: Looks, content: Content) -> State {
    match looks {
        Looks::Folder => State::Folder,
        Looks::Link { to } => State::Link { to },
        Looks::File { len, modified, changed, mode, .. } => {
            let nanos = |time: i128| i64::try_from(time).unwrap_or(i64::MAX);
            State::File { content, mode, len, modified: nanos(modified), changed: Some(nanos(changed)) }
        }
    }
}

/// Whether something was done to a file that its looks do not show: its time was set back, or only its links changed.
fn was_touched(a: &State, b: &State) -> bool {
    match (a, b) {
        (State::File { changed: Some(a), .. }, State::File { changed: Some(b), .. }) => a != b,
        _ => false,
    }
}

/// Whether two states look the same on disk, wherever their content is kept.
fn same_looks(a: &State, b: &State) -> bool {
    match (a, b) {
        (
            State::File { mode, len, modified, .. },
            State::File { mode: other_mode, len: other_len, modified: other_modified, .. },
        ) => (mode, len, modified) == (other_mode, other_len, other_modified),
        _ => a == b,
    }
}
