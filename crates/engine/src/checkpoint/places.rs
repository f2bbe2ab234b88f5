//! Where effects are looked after: the project, and the folders that were added to the session.
//!
//! What is in the project is named by its path below it, so that a project can be moved; what is in an added folder by its
//! whole path. Joined to the project's folder either gives where it is.

use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use project::{ConfineError, HostError, Roots};

use super::git_index::{self, Tracked};
use super::survey::{Looks, looks};

/// The folders of a session, each without links when it was granted.
#[derive(Debug, Clone)]
pub(super) struct Places {
    project: PathBuf,
    added: Vec<PathBuf>,
    /// What Covey keeps, where that lies in one of them. Its log and its audit are not taken back with the rest.
    own: Vec<PathBuf>,
}

impl Places {
    /// `session` is the session's own folder.
    pub(super) fn new(
        session: &Path,
        project: &Path,
        added: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Self {
        let added = added.into_iter().map(Into::into).filter(|folder: &PathBuf| folder != project).collect();
        let store = session.parent();
        // Beside the sessions are settings, keys and the audit, unless sessions are kept nowhere.
        let home = store.filter(|store| store.ends_with("sessions")).and_then(Path::parent);
        let own = store.into_iter().chain(home).filter_map(|folder| folder.canonicalize().ok()).collect();
        Self { project: project.to_owned(), added, own }
    }

    /// The same with the folders of another time.
    pub(super) fn with_added(&self, added: impl IntoIterator<Item = PathBuf>) -> Self {
        Self { added: added.into_iter().collect(), ..self.clone() }
    }

    /// Whether a folder is Covey's own.
    pub(super) fn is_own(&self, name: &Path) -> bool {
        self.own.contains(&self.absolute(name))
    }

    pub(super) fn added(&self) -> &[PathBuf] {
        &self.added
    }

    pub(super) fn absolute(&self, name: &Path) -> PathBuf {
        self.project.join(name)
    }

    /// What something is called; none when it is in none of the folders.
    pub(super) fn name(&self, absolute: &Path) -> Option<PathBuf> {
        if let Ok(below) = absolute.strip_prefix(&self.project) {
            return Some(below.to_owned());
        }
        self.added.iter().any(|folder| absolute.starts_with(folder)).then(|| absolute.to_owned())
    }

    /// What is meant by a path that a person typed: below the project, or a whole one.
    pub(super) fn meant(&self, typed: &Path) -> PathBuf {
        let typed = self.absolute(typed);
        // Of what is gone the folder may still be there.
        let parent = typed.parent().and_then(|parent| parent.canonicalize().ok());
        let real = match (parent, typed.components().next_back()) {
            (Some(parent), Some(Component::Normal(name))) => parent.join(name),
            _ => typed.canonicalize().unwrap_or(typed),
        };
        self.name(&real).unwrap_or(real)
    }

    /// Whether it is one of the folders itself.
    pub(super) fn is_place(&self, name: &Path) -> bool {
        let absolute = self.absolute(name);
        absolute == self.project || self.added.contains(&absolute)
    }

    /// The innermost folder that something lies in. An added folder that lies in no other is its own.
    pub(super) fn home(&self, absolute: &Path) -> Option<&Path> {
        let around = |place: &&PathBuf| absolute.starts_with(place) && absolute != place.as_path();
        let innermost = self.all().filter(around).max_by_key(|place| place.components().count());
        innermost.or_else(|| self.all().find(|place| *place == absolute)).map(PathBuf::as_path)
    }

    /// How something looks that was reached without following a link from its folder on. What lies behind one is not it.
    pub(super) fn looks(&self, name: &Path) -> Option<Looks> {
        let absolute = self.absolute(name);
        let home = self.home(&absolute)?;
        let is_folder = |folder: &Path| looks(folder) == Some(Looks::Folder);
        (self.stands(home) && between(home, &absolute).all(is_folder)).then(|| looks(&absolute)).flatten()
    }

    /// Why nothing can be put at a path, if so. `comes_back` says of a folder that it is put there first.
    pub(super) fn obstacle(&self, name: &Path, comes_back: &dyn Fn(&Path) -> bool) -> Option<String> {
        let absolute = self.absolute(name);
        let Some(home) = self.home(&absolute) else {
            return Some("lies in a folder that is no part of this session any more".to_owned());
        };
        let returns = |folder: &Path| self.name(folder).is_some_and(|name| comes_back(&name));
        if absolute == home {
            let elsewhere = looks(home).is_some_and(|looks| looks != Looks::Folder);
            return elsewhere.then(|| "is no folder any more".to_owned());
        }
        if !self.stands(home) {
            if returns(home) {
                return None;
            }
            let now = match looks(home) {
                None => "which is gone",
                Some(_) => "which leads elsewhere now",
            };
            return Some(format!("lies in `{}`, {now}", home.display()));
        }
        // From the outside in: what comes back is made anew, with all that is below it.
        let mut way: Vec<&Path> = between(home, &absolute).collect();
        way.reverse();
        for folder in way {
            match looks(folder) {
                Some(Looks::Folder) => {}
                None => return None,
                Some(_) if returns(folder) => return None,
                Some(_) => {
                    return Some(format!("lies behind `{}`, which is no folder now", folder.display()));
                }
            }
        }
        None
    }

    /// The folders as something to write in: only those that are still where they were granted, whatever a link in their
    /// place leads to.
    pub(super) fn roots(&self) -> Result<Roots, ConfineError> {
        Roots::new(self.all().filter(|place| self.stands(place)))
    }

    /// Where paths really lead: what is written through a link changes what it leads to, what is moved or deleted the
    /// link. What leads out of all folders is not looked after.
    pub(super) fn targets(&self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let Ok(roots) = self.roots() else { return vec![] };
        let mut targets = BTreeSet::new();
        for path in paths {
            let found = [roots.resolve_entry(path, &self.project), roots.resolve(path, &self.project)];
            targets.extend(found.into_iter().flatten().map(|resolved| resolved.absolute().to_owned()));
        }
        targets.into_iter().collect()
    }

    /// Makes an added folder again that was taken away.
    pub(super) fn bring_back(&self, roots: &Roots, place: &Path) -> Result<(), HostError> {
        if self.home(place).is_some_and(|home| home != place) {
            return roots.put_dir(place);
        }
        // It lies in none of the others, so its own name is all that is granted there.
        match fs::create_dir(place) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(HostError::Io { path: place.to_owned(), source: error })
            }
            _ => Ok(()),
        }
    }

    /// What git has, by name.
    pub(super) fn tracked(&self) -> HashMap<PathBuf, Tracked> {
        let mut tracked = git_index::read(&self.project);
        for folder in self.added.iter().filter(|folder| self.stands(folder)) {
            let named = git_index::read(folder).into_iter();
            tracked.extend(named.filter_map(|(path, file)| Some((self.name(&folder.join(path))?, file))));
        }
        tracked
    }

    /// The folders that may be a repository which has this file, and what it is called there.
    pub(super) fn repositories(&self, name: &Path) -> Vec<(&Path, PathBuf)> {
        let absolute = self.absolute(name);
        let below = |place| Some((Path::new(place), absolute.strip_prefix(place).ok()?.to_owned()));
        let mut found: Vec<_> = self.all().filter_map(below).collect();
        found.sort_by_key(|(place, _)| std::cmp::Reverse(place.components().count()));
        found
    }

    /// Whether a folder is still itself. The project was found without links a moment ago.
    pub(super) fn stands(&self, place: &Path) -> bool {
        place == self.project
            || looks(place) == Some(Looks::Folder) && place.canonicalize().is_ok_and(|real| real == place)
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.project).chain(&self.added)
    }
}

/// The folders between a place and something in it, from the inside out.
pub(super) fn between<'a>(place: &'a Path, absolute: &'a Path) -> impl Iterator<Item = &'a Path> {
    absolute.ancestors().skip(1).take_while(move |folder| *folder != place)
}
