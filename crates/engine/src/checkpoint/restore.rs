//! Taking effects back, and doing them again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;

use project::{HostError, Roots};

use super::journal::Batch;
use super::{Changed, Checkpoints, Content, State, same_looks, seen, was_touched};

/// Which effects are taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// All of the last turn that changed something.
    LastTurn,
    /// The last effect.
    LastStep,
    /// Everything from this turn on.
    Turn(String),
    /// Everything from this call on.
    Call(String),
    /// Everything.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Undo,
    Redo,
}

/// What would be done. Nothing has happened yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub direction: Direction,
    pub ids: Vec<u32>,
    pub steps: Vec<Step>,
    /// The one path that it is limited to; the records stay as they are then.
    only: Option<PathBuf>,
}

/// What happens to one path.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub path: PathBuf,
    pub now: State,
    pub then: State,
    /// Somebody changed it since, or its content is not there: why it can not be done without force, or at all.
    pub conflict: Option<String>,
    /// Whether it can be done at all.
    pub possible: bool,
}

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("there is nothing to undo")]
    NothingToUndo,
    #[error("there is nothing to redo")]
    NothingToRedo,
    #[error("`{0}` changed nothing in this session")]
    NoSuchTarget(String),
    #[error("`{}` {why}", path.display())]
    Conflict { path: PathBuf, why: String },
    /// As a conflict, but no force helps; it goes on with the rest, if there is any.
    #[error("`{}` {why}", path.display())]
    Impossible { path: PathBuf, why: String },
    #[error("could not restore `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("could not restore `{}`", path.display())]
    Place { path: PathBuf, source: HostError },
    #[error("could not read the checkpoints")]
    Journal(#[from] io::Error),
}

impl Plan {
    /// Whether carrying it out would change anything.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

impl Checkpoints {
    /// What taking effects back would do.
    pub fn plan_undo(&self, target: &Target, only: Option<&Path>) -> Result<Plan, UndoError> {
        let records = self.records()?;
        let undone = self.journal.undone();
        let gone =
            |id: u32| undone.dead.contains(&id) || undone.batches.iter().any(|batch| batch.ids.contains(&id));
        let applied: Vec<_> = records.into_iter().filter(|record| !gone(record.id)).collect();
        let Some(last) = applied.last() else { return Err(UndoError::NothingToUndo) };
        let first = match target {
            Target::All => Some(0),
            Target::LastStep => Some(applied.len() - 1),
            Target::LastTurn => applied.iter().position(|record| record.turn == last.turn),
            Target::Turn(turn) => applied.iter().position(|record| record.turn == *turn),
            Target::Call(call) => applied.iter().position(|record| record.call.as_ref() == Some(call)),
        };
        let Some(first) = first else {
            let (Target::Turn(name) | Target::Call(name)) = target else {
                return Err(UndoError::NothingToUndo);
            };
            return Err(UndoError::NoSuchTarget(name.clone()));
        };
        let chosen = &applied[first..];
        // Of each path, what it was before the first effect and what the last one left.
        let mut files: BTreeMap<PathBuf, (State, State)> = BTreeMap::new();
        for changed in chosen.iter().flat_map(|record| &record.files) {
            let ends = files
                .entry(changed.path.clone())
                .or_insert_with(|| (changed.before.clone(), changed.after.clone()));
            ends.1 = changed.after.clone();
        }
        let ids = chosen.iter().map(|record| record.id).collect();
        Ok(self.plan(Direction::Undo, ids, files, only))
    }

    /// What doing the last undone effects again would do.
    pub fn plan_redo(&self) -> Result<Plan, UndoError> {
        let undone = self.journal.undone();
        let batch = undone.batches.last().ok_or(UndoError::NothingToRedo)?;
        let files =
            batch.files.iter().map(|file| (file.path.clone(), (file.after.clone(), file.before.clone())));
        Ok(self.plan(Direction::Redo, batch.ids.clone(), files.collect(), None))
    }

    fn plan(
        &self,
        direction: Direction,
        ids: Vec<u32>,
        files: BTreeMap<PathBuf, (State, State)>,
        only: Option<&Path>,
    ) -> Plan {
        let restamped = self.journal.undone().restamped;
        // What was brought back may have been taken away and brought back again: stamps are followed from one to the next.
        let is_ours = |path: &Path, now: &State, expected: &State| {
            let mut known = vec![expected];
            for stamp in restamped.iter().filter(|stamp| stamp.path == path) {
                if known.iter().any(|known| same_looks(known, &stamp.before)) {
                    known.push(&stamp.after);
                }
            }
            known.iter().any(|known| same_looks(known, now))
        };
        let only = only.map(|only| self.places.meant(only));
        let mut steps = Vec::new();
        for (path, (then, expected)) in files {
            if only.as_ref().is_some_and(|only| !path.starts_with(only)) {
                continue;
            }
            let now = self.now(&path, Content::Nowhere);
            let is_as_then = same_looks(&now, &then) && !was_touched(&now, &then);
            if is_as_then || self.same_content(&path, &now, &then) {
                continue;
            }
            let lost = matches!(&then, State::File { content: Content::Nowhere, .. });
            let conflict = if lost {
                Some("was not kept, so it can not be brought back".to_owned())
            } else if !same_looks(&now, &expected) && !is_ours(&path, &now, &expected) {
                Some("was changed since by somebody else".to_owned())
            } else {
                None
            };
            steps.push(Step { path, now, then, conflict, possible: !lost });
        }
        self.find_obstacles(&mut steps);
        Plan { direction, ids, steps, only }
    }

    /// Finds what can not be put where it was, because that is somewhere else now.
    fn find_obstacles(&self, steps: &mut [Step]) {
        let folders: BTreeSet<PathBuf> =
            steps.iter().filter(|step| step.then == State::Folder).map(|step| step.path.clone()).collect();
        for step in steps {
            if let Some(why) = self.places.obstacle(&step.path, &|folder| folders.contains(folder)) {
                (step.conflict, step.possible) = (Some(why), false);
            }
        }
    }

    /// Carries a plan out. With `force`, over what somebody else changed. What can not be brought back is left alone, and
    /// keeps nothing else from coming back.
    pub fn carry_out(&self, plan: &Plan, force: bool) -> Result<Vec<PathBuf>, UndoError> {
        let doable = |step: &&Step| step.possible;
        let is_hopeless = !plan.steps.iter().any(|step| step.possible);
        let is_lost = |step: &Step| matches!(&step.then, State::File { content: Content::Nowhere, .. });
        let mut conflicts = plan.steps.iter().filter(|step| step.conflict.is_some());
        if let Some(step) = conflicts.find(|step| is_hopeless || !force && !is_lost(step)) {
            let (path, why) = (step.path.clone(), step.conflict.clone().unwrap_or_default());
            return Err(match step.possible {
                true => UndoError::Conflict { path, why },
                false => UndoError::Impossible { path, why },
            });
        }
        let mut files = Vec::new();
        for step in plan.steps.iter().filter(doable) {
            // What is there now is kept first: undo can be undone.
            let now = self.kept(step);
            files.push(Changed { path: step.path.clone(), before: step.then.clone(), after: now });
        }
        // Contents before anything is taken away, so that a content that is missing leaves everything as it was.
        let mut contents = BTreeMap::new();
        for step in plan.steps.iter().filter(doable) {
            if let State::File { content, .. } = &step.then {
                let bytes = self.content(&step.path, content);
                contents.insert(&step.path, bytes.map_err(|source| failed(&step.path, source))?);
            }
        }
        let place = |path: &Path| {
            let path = path.to_owned();
            move |source| UndoError::Place { path, source }
        };
        let mut roots = self.places.roots().map_err(HostError::from).map_err(place(Path::new(".")))?;
        // Deep things go first, and come last.
        for step in plan.steps.iter().rev().filter(doable).filter(|step| step.then == State::Absent) {
            roots.take_away(&self.places.absolute(&step.path)).map_err(place(&step.path))?;
        }
        for step in plan.steps.iter().filter(doable).filter(|step| step.then != State::Absent) {
            let bytes = contents.get(&step.path).map(Vec::as_slice);
            let absolute = self.places.absolute(&step.path);
            if step.then == State::Folder && self.places.is_place(&step.path) {
                // What was granted comes back before anything is put in it.
                self.places.bring_back(&roots, &absolute).map_err(place(&step.path))?;
                roots = self.places.roots().map_err(HostError::from).map_err(place(&step.path))?;
                continue;
            }
            put(&roots, &absolute, &step.then, bytes).map_err(place(&step.path))?;
        }
        self.note(plan, files)?;
        Ok(plan.steps.iter().filter(doable).map(|step| step.path.clone()).collect())
    }

    fn note(&self, plan: &Plan, files: Vec<Changed>) -> io::Result<()> {
        let mut undone = self.journal.undone();
        match plan.direction {
            Direction::Undo => {
                // The looks of what was just put there are only known now.
                let files = files
                    .into_iter()
                    .map(|file| Changed { before: self.now(&file.path, kept_in(file.before)), ..file });
                // With one path taken back the effects are not: they can still be, as a whole.
                let ids = if plan.only.is_some() { vec![] } else { plan.ids.clone() };
                undone.batches.push(Batch { ids, files: files.collect() });
            }
            Direction::Redo => drop(undone.batches.pop()),
        }
        let stamps = plan.steps.iter().map(|step| {
            let (path, before) = (step.path.clone(), step.then.clone());
            let after = self.now(&path, kept_in(before.clone()));
            Changed { path, before, after }
        });
        undone.restamped.extend(stamps);
        self.journal.set_undone(&undone)
    }

    /// Whether a file that looks different holds the same all the same.
    pub(super) fn same_content(&self, path: &Path, now: &State, then: &State) -> bool {
        match (now, then) {
            (State::File { mode, len, .. }, State::File { mode: old_mode, len: old_len, content, .. })
                if (mode, len) == (old_mode, old_len) && *content != Content::Nowhere =>
            {
                let is = fs::read(self.places.absolute(path)).ok();
                is.is_some() && is == self.content(path, content).ok()
            }
            _ => false,
        }
    }

    /// What is at a path now, with its content kept there.
    fn now(&self, path: &Path, content: Content) -> State {
        self.places.looks(path).map_or(State::Absent, |looks| seen(looks, content))
    }

    fn kept(&self, step: &Step) -> State {
        let State::File { mode, len, modified, changed, .. } = &step.now else { return step.now.clone() };
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let content = match inner.objects.keep_file(&self.places.absolute(&step.path)) {
            Ok(name) => Content::Kept(name),
            Err(_) => Content::Nowhere,
        };
        State::File { content, mode: *mode, len: *len, modified: *modified, changed: *changed }
    }

    /// What is in a file that a step would change. None when it is nothing with a content.
    pub fn current(&self, step: &Step) -> Option<Vec<u8>> {
        let is_file = matches!(step.now, State::File { .. });
        is_file.then(|| fs::read(self.places.absolute(&step.path)).ok()).flatten()
    }

    /// What a file held, for whoever wants to compare. None when it was nothing with a content.
    pub fn text(&self, path: &Path, state: &State) -> io::Result<Option<Vec<u8>>> {
        match state {
            State::File { content, .. } => self.content(path, content).map(Some),
            _ => Ok(None),
        }
    }

    fn content(&self, path: &Path, content: &Content) -> io::Result<Vec<u8>> {
        match content {
            Content::Kept(name) => {
                self.inner.lock().unwrap_or_else(PoisonError::into_inner).objects.get(name)
            }
            Content::Git(blob) => {
                let repositories = self.places.repositories(path);
                let mut found =
                    repositories.iter().filter_map(|(root, below)| git_blob(root, below, blob).ok());
                found.next().ok_or_else(|| io::Error::other("git does not have its content any more"))
            }
            Content::Nowhere => fs::read(self.places.absolute(path)),
        }
    }
}

/// As a checkout would write it: with the line ends and filters that the path has.
fn git_blob(root: &Path, path: &Path, blob: &str) -> io::Result<Vec<u8>> {
    let filtered = format!("--path={}", path.display());
    let output = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "cat-file", "--filters", &filtered, blob])
        .current_dir(root)
        .output()?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(io::Error::other("git does not have it")),
    }
}

/// Where the content of a state is.
fn kept_in(state: State) -> Content {
    match state {
        State::File { content, .. } => content,
        _ => Content::Nowhere,
    }
}

fn failed(path: &Path, source: io::Error) -> UndoError {
    UndoError::Io { path: path.to_owned(), source }
}

/// What is brought back has the time of now, not what it had: a build tool must see that it changed.
fn put(roots: &Roots, path: &Path, state: &State, bytes: Option<&[u8]>) -> Result<(), HostError> {
    match state {
        State::Absent => Ok(()),
        State::Folder => roots.put_dir(path),
        State::Link { to } => roots.put_link(path, to),
        State::File { mode, .. } => roots.put_file(path, bytes.unwrap_or_default(), *mode),
    }
}
