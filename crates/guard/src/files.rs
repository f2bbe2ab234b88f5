//! What a path really is: where it leads, and whether it is a secret or something that runs later.

mod later;
mod secret;

#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use project::{ConfineError, Roots};

use crate::rules::Place;

pub(crate) use secret::names_a_secret;

/// The project and the machine around it, as far as judging needs them.
pub(crate) struct Surroundings {
    roots: Roots,
    user_home: PathBuf,
    pub(crate) protected_branches: Vec<String>,
    ignored: OnceLock<Gitignore>,
}

/// What is known of a path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spot {
    /// Where it leads, links followed as far as they exist.
    pub(crate) target: PathBuf,
    pub(crate) inside: bool,
    /// It is one of the project's roots, or above one.
    pub(crate) whole_project: bool,
    pub(crate) secret: Option<&'static str>,
    /// What is written there runs sooner or later.
    pub(crate) later: Option<&'static str>,
    /// Everybody may read it and it says nothing about the person.
    pub(crate) public: bool,
}

impl Surroundings {
    pub(crate) fn new(roots: Roots, user_home: PathBuf, protected_branches: Vec<String>) -> Self {
        Self { roots, user_home, protected_branches, ignored: OnceLock::new() }
    }

    pub(crate) fn root(&self) -> &Path {
        self.roots.main()
    }

    pub(crate) fn user_home(&self) -> &Path {
        &self.user_home
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { root: self.roots.main(), home: &self.user_home }
    }

    /// Looks at a path as a shell word names it. Stars in it are allowed: the part before them decides where it
    /// leads, and they are taken to match whatever secret they can.
    pub(crate) fn spot(&self, word: &str, cwd: &Path) -> Spot {
        let expanded = self.expand(word);
        let absolute = cwd.join(expanded);
        let starred = |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
        let fixed: PathBuf = absolute.components().take_while(|part| !starred(part)).collect();
        let rest: Vec<Component<'_>> = absolute.components().skip_while(|part| !starred(part)).collect();
        let (mut target, mut inside) = match self.roots.resolve(&fixed, self.root()) {
            Ok(resolved) => (resolved.absolute().to_owned(), true),
            Err(ConfineError::Outside { target, .. }) => (target, false),
            Err(_) => (fixed, false),
        };
        if !rest.is_empty() {
            // Whatever a star matches may be a link, but only a `..` behind one leads out for certain.
            inside &= !rest.contains(&Component::ParentDir);
            target.extend(rest);
        }
        let secret = secret::secret(&target, &self.user_home, inside);
        Spot {
            whole_project: self.roots.iter().any(|root| root.starts_with(&target)),
            later: later::later(&target, self.roots.main(), &self.user_home, inside),
            public: !inside && secret.is_none() && is_public(&target, [self.roots.main(), &self.user_home]),
            secret,
            inside,
            target,
        }
    }

    /// Whether git leaves it alone, so that nothing but a checkpoint brings it back.
    pub(crate) fn is_ignored(&self, target: &Path) -> bool {
        let ignored = self.ignored.get_or_init(|| {
            let mut builder = GitignoreBuilder::new(self.root());
            for file in [".gitignore", ".git/info/exclude"] {
                // A broken line in it ignores nothing.
                let _ = builder.add(self.root().join(file));
            }
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        });
        target.starts_with(self.root())
            && ignored.matched_path_or_any_parents(target, target.is_dir()).is_ignore()
    }

    fn expand(&self, word: &str) -> PathBuf {
        match word.strip_prefix('~') {
            Some("") => self.user_home.clone(),
            Some(rest) if rest.starts_with('/') => self.user_home.join(rest.trim_start_matches('/')),
            // Another person's home.
            Some(name) => Path::new("/home").join(name),
            None => PathBuf::from(word),
        }
    }
}

/// Folders of the system that hold the same on every machine, and folders for scratch.
fn is_public(target: &Path, ours: [&Path; 2]) -> bool {
    const FOLDERS: [&str; 8] =
        ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix/store", "/Library/Developer"];
    const SCRATCH: [&str; 3] = ["/tmp", "/var/tmp", "/private/tmp"];
    const FILES: [&str; 32] = [
        "/",
        "/etc/os-release",
        "/etc/lsb-release",
        "/etc/debian_version",
        "/etc/issue",
        "/etc/hostname",
        "/etc/timezone",
        "/etc/localtime",
        "/etc/shells",
        "/etc/alpine-release",
        "/etc/redhat-release",
        "/etc/hosts",
        "/etc/resolv.conf",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/version",
        "/proc/loadavg",
        "/proc/uptime",
        "/proc/filesystems",
        "/proc/mounts",
        "/proc/self/status",
        "/proc/self/cgroup",
        "/dev/null",
        "/dev/stdin",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/zero",
        "/dev/tty",
        "/dev/urandom",
        "/dev/random",
        "/dev/fd",
        "/dev/fd/63",
    ];
    let in_scratch = SCRATCH.iter().any(|scratch| {
        // Scratch that holds the project or the person's home is no scratch but their place.
        let first = |path: &Path| {
            path.strip_prefix(scratch)
                .ok()
                .and_then(|below| below.components().next().map(|part| part.as_os_str().to_owned()))
        };
        target.starts_with(scratch)
            && (target == Path::new(scratch)
                || ours.iter().all(|our| first(our).is_none() || first(our) != first(target)))
    });
    in_scratch
        || FILES.iter().any(|file| target == Path::new(file))
        || FOLDERS
            .iter()
            .any(|folder| target.starts_with(folder) && ours.iter().all(|our| !our.starts_with(folder)))
}
