//! Walls around what was started.
//!
//! A [`Sandbox`] is made for a session from a [`SandboxPolicy`]; every child of that session goes through
//! [`Sandbox::enclose`], which holds it by the strongest means this machine has and takes secrets out of its
//! environment. Nothing is looked at before the first child. If the machine has no means at all, nothing starts:
//! only the level `off`, which is the person's to choose, lets a child run unconfined.
//!
//! `docs/decisions/0008-the-sandbox.md` says why it is done this way.

mod after;
mod config;
mod environment;
mod error;
mod git;
mod grade;
mod launcher;
mod level;
#[cfg(target_os = "linux")]
mod linux;
mod policy;
mod probe;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
mod secrets;
mod staging;
mod view;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use project::{Child, Command, SpawnError};

pub use after::{Reverted, Tampering};
pub use config::{SANDBOX, SandboxConfig};
pub use environment::looks_secret;
pub use error::SandboxError;
pub use grade::{Backend, Grade, Strength};
pub use launcher::SandboxLauncher;
pub use level::{NotALevel, SandboxLevel};
#[cfg(target_os = "linux")]
pub use linux::places::Outside;
pub use policy::{Limits, SandboxNeeds, SandboxPolicy};

use after::Snapshot;
use git::Protected;
use secrets::EnvFiles;
use staging::Staging;
#[cfg(target_os = "linux")]
use view::{Mount, Sights};

/// Holds every child of a session. Cheap to make; see the module docs.
#[derive(Debug)]
pub struct Sandbox {
    /// Tells one from another.
    number: u64,
    policy: SandboxPolicy,
    grade: Arc<OnceLock<Grade>>,
    staging: OnceLock<Arc<Staging>>,
    looked: Mutex<Looked>,
    #[cfg(target_os = "linux")]
    rulesets: linux::landlock::Rulesets,
}

/// What was found on disk, to be used again for a while.
#[derive(Debug, Default)]
struct Looked {
    hidden: HashMap<SandboxNeeds, (Instant, Arc<Vec<PathBuf>>)>,
    env_files: EnvFiles,
    snapshot: Option<Snapshot>,
}

/// How long the list of secrets is taken to be complete.
const FRESH: Duration = Duration::from_secs(2);

/// A child that is ready to start inside its walls.
#[derive(Debug)]
pub struct Enclosed {
    command: Command,
    limits: Limits,
    snapshot: Snapshot,
    #[cfg(target_os = "linux")]
    gone: Option<linux::landlock::Gone>,
    /// Must be there as long as the child is.
    _staging: Option<Arc<Staging>>,
}

impl Sandbox {
    /// Does nothing yet.
    pub fn new(policy: SandboxPolicy) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            number: LAST.fetch_add(1, Ordering::Relaxed),
            policy,
            grade: Arc::default(),
            staging: OnceLock::new(),
            looked: Mutex::default(),
            #[cfg(target_os = "linux")]
            rulesets: linux::landlock::Rulesets::default(),
        }
    }

    /// The same for other folders. What the machine offers is found out once for both.
    pub fn with_roots(&self, roots: Vec<PathBuf>) -> Self {
        Self { grade: Arc::clone(&self.grade), ..Self::new(SandboxPolicy { roots, ..self.policy.clone() }) }
    }

    pub fn policy(&self) -> &SandboxPolicy {
        &self.policy
    }

    /// What this machine offers. Looks once, which takes a few milliseconds.
    pub fn grade(&self) -> &Grade {
        self.grade.get_or_init(|| probe::probe(&self.policy))
    }

    /// Puts walls around a child that is about to start. Blocks for less than a millisecond, the first time for some.
    ///
    /// Variables that the caller set on the command itself pass as they are; of the inherited ones those that look
    /// like secrets do not, unless policy or needs name them.
    pub fn enclose(&self, mut command: Command, needs: &SandboxNeeds) -> Result<Enclosed, SandboxError> {
        let limits = needs.limits.unwrap_or(self.policy.limits);
        self.withhold_secrets(&mut command, needs);
        if self.policy.level == SandboxLevel::Off && !needs.read_only {
            return Ok(Enclosed {
                command,
                limits,
                snapshot: Snapshot::default(),
                #[cfg(target_os = "linux")]
                gone: None,
                _staging: None,
            });
        }
        let grade = self.grade();
        match grade.backend {
            #[cfg(target_os = "linux")]
            Backend::Namespaces => self.with_namespaces(command, needs, limits),
            #[cfg(target_os = "linux")]
            Backend::Bubblewrap => self.with_bubblewrap(command, needs, limits),
            #[cfg(target_os = "linux")]
            Backend::Landlock => self.with_landlock(command, needs, limits),
            #[cfg(target_os = "macos")]
            Backend::Seatbelt => self.with_seatbelt(command, needs, limits),
            _ => {
                Err(SandboxError::Unavailable { level: self.policy.level, tried: grade.passed_over.clone() })
            }
        }
    }

    fn withhold_secrets(&self, command: &mut Command, needs: &SandboxNeeds) {
        if command.inherits_nothing() {
            return;
        }
        let allowed = self.policy.variables.iter().chain(&needs.variables);
        let own: Vec<_> = command.as_std().get_envs().map(|(name, _)| name.to_owned()).collect();
        for name in environment::withheld(allowed) {
            if !own.contains(name) {
                command.env_remove(name);
            }
        }
    }

    /// Whether a child gets the network.
    fn network(&self, needs: &SandboxNeeds) -> bool {
        needs.network || self.policy.level == SandboxLevel::WorkspaceNet
    }

    fn staging(&self) -> Result<Arc<Staging>, SandboxError> {
        if let Some(staging) = self.staging.get() {
            return Ok(Arc::clone(staging));
        }
        let staging =
            Staging::new().map_err(|source| SandboxError::Setup { what: "its own folders", source })?;
        Ok(Arc::clone(self.staging.get_or_init(|| Arc::new(staging))))
    }

    /// The project's folders, without links.
    fn roots(&self) -> Result<Vec<PathBuf>, SandboxError> {
        let real = |path: &PathBuf| {
            path.canonicalize().map_err(|source| SandboxError::NoSuchPlace { path: path.clone(), source })
        };
        self.policy.roots.iter().map(real).collect()
    }

    /// Folders that may be written, without links. Those that are not there cannot be.
    fn writable(&self, needs: &SandboxNeeds, protected: &[Protected]) -> Result<Vec<PathBuf>, SandboxError> {
        let mut places: Vec<PathBuf> = Vec::new();
        if self.policy.level != SandboxLevel::ReadOnly && !needs.read_only {
            places.extend(self.roots()?);
            places.extend(protected.iter().flat_map(|one| one.outside.iter().cloned()));
            places.extend(self.policy.writable.iter().filter_map(|path| path.canonicalize().ok()));
        }
        places.extend(needs.writable.iter().filter_map(|path| path.canonicalize().ok()));
        Ok(places)
    }

    fn protected(&self) -> Result<Vec<Protected>, SandboxError> {
        Ok(self.roots()?.iter().map(|root| git::protected(root)).collect())
    }

    /// Places that a child must not see, which are remembered for a moment: there are many to look for.
    fn hidden(&self, needs: &SandboxNeeds) -> Arc<Vec<PathBuf>> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, hidden)) = looked.hidden.get(needs)
            && when.elapsed() < FRESH
        {
            return Arc::clone(hidden);
        }
        let hidden = Arc::new(secrets::hidden(&self.policy, needs));
        looked.hidden.insert(needs.clone(), (Instant::now(), Arc::clone(&hidden)));
        hidden
    }

    /// The `.env` files of the project, unless they may be seen.
    #[cfg(target_os = "linux")]
    fn env_files(&self, roots: &[PathBuf]) -> Vec<PathBuf> {
        if self.policy.env_files {
            return Vec::new();
        }
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if !looked.env_files.are_current() {
            looked.env_files = EnvFiles::search(roots);
        }
        looked.env_files.found.clone()
    }

    /// How protected files are now.
    fn snapshot(&self, protected: &[Protected], walls: bool) -> Snapshot {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = Snapshot::take(protected, walls, looked.snapshot.as_ref());
        looked.snapshot = Some(snapshot.clone());
        snapshot
    }

    #[cfg(target_os = "macos")]
    fn with_seatbelt(
        &self,
        mut command: Command,
        needs: &SandboxNeeds,
        limits: Limits,
    ) -> Result<Enclosed, SandboxError> {
        let (staging, protected) = (self.staging()?, self.protected()?);
        let mut writable = self.writable(needs, &protected)?;
        writable.push(staging.tmp());
        let present: Vec<PathBuf> =
            protected.iter().flat_map(|one| one.present.iter().chain(&one.absent).cloned()).collect();
        let profile = seatbelt::profile(&seatbelt::Wishes {
            writable: &writable,
            hidden: &self.hidden(needs),
            protected: &present,
            network: self.network(needs),
            env_files: self.policy.env_files,
        });
        command.env("TMPDIR", staging.tmp());
        let command = command.wrapped_in("/usr/bin/sandbox-exec", ["-p", &profile]);
        Ok(Enclosed { command, limits, snapshot: self.snapshot(&protected, true), _staging: Some(staging) })
    }

    /// What a child is to see, where views can be made.
    #[cfg(target_os = "linux")]
    fn view(
        &self,
        needs: &SandboxNeeds,
        staging: &Staging,
        protected: &[Protected],
    ) -> Result<Vec<Mount>, SandboxError> {
        let real = |path: &PathBuf| path.canonicalize().ok();
        let readable: Vec<PathBuf> =
            self.policy.readable.iter().chain(&needs.readable).filter_map(real).collect();
        let roots = self.roots()?;
        let mut hidden = self.hidden(needs).to_vec();
        hidden.extend(self.env_files(&roots));
        let sights = Sights {
            roots: &roots,
            readable: &readable,
            writable: &self.writable(needs, protected)?,
            hidden: &hidden,
            protected,
            sockets: &view::sockets(),
        };
        view::view(&sights, staging)
            .map_err(|source| SandboxError::Setup { what: "the view of the files", source })
    }

    #[cfg(target_os = "linux")]
    fn with_namespaces(
        &self,
        mut command: Command,
        needs: &SandboxNeeds,
        limits: Limits,
    ) -> Result<Enclosed, SandboxError> {
        use linux::told::{Own, Room, View, Walls};
        let (staging, protected) = (self.staging()?, self.protected()?);
        // Asked before: what changes while we look is a change.
        let table = linux::places::mount_table();
        let view = self.view(needs, &staging, &protected)?;
        command.env("TMPDIR", "/tmp");
        let folder = folder_of(&command)?;
        let user = self.grade().user_namespace;
        let network = self.network(needs);
        let walls = Walls {
            room: Room { number: (!needs.alone).then_some(self.number), network, user },
            view: View { mounts: view, table },
            own: Own { folder, limits },
        };
        linux::within(&mut command, &walls);
        let snapshot = self.snapshot(&protected, true);
        Ok(Enclosed { command, limits, snapshot, gone: None, _staging: Some(staging) })
    }

    #[cfg(target_os = "linux")]
    fn with_bubblewrap(
        &self,
        mut command: Command,
        needs: &SandboxNeeds,
        limits: Limits,
    ) -> Result<Enclosed, SandboxError> {
        let (staging, protected) = (self.staging()?, self.protected()?);
        let view = self.view(needs, &staging, &protected)?;
        command.env("TMPDIR", "/tmp");
        let folder = folder_of(&command)?;
        let failed = |source| SandboxError::Setup { what: "bubblewrap", source };
        let bwrap = linux::bubblewrap::find().ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
        let wrapped = linux::bubblewrap::wrap(&bwrap, command, &view, &folder, self.network(needs), limits);
        let command = wrapped.map_err(failed)?;
        let snapshot = self.snapshot(&protected, true);
        Ok(Enclosed { command, limits, snapshot, gone: None, _staging: Some(staging) })
    }

    #[cfg(target_os = "linux")]
    fn with_landlock(
        &self,
        mut command: Command,
        needs: &SandboxNeeds,
        limits: Limits,
    ) -> Result<Enclosed, SandboxError> {
        let staging = self.staging()?;
        let protected = self.protected()?;
        let mut writable = self.writable(needs, &protected)?;
        writable.push(staging.tmp());
        let grants = linux::landlock::Grants {
            home: self.policy.home.clone(),
            readable: self
                .roots()?
                .into_iter()
                .chain(self.policy.readable.clone())
                .chain(needs.readable.clone())
                .collect(),
            writable,
            hidden: self.hidden(needs).to_vec(),
            network: self.network(needs),
        };
        command.env("TMPDIR", staging.tmp());
        let setup = self.rulesets.setup(grants, limits);
        let setup = setup.map_err(|source| SandboxError::Setup { what: "the Landlock rules", source })?;
        let gone = setup.gone();
        linux::hook(&mut command, move || setup.apply());
        Ok(Enclosed {
            command,
            limits,
            snapshot: self.snapshot(&protected, false),
            gone,
            _staging: Some(staging),
        })
    }
}

/// The folder that a command starts in.
#[cfg(target_os = "linux")]
fn folder_of(command: &Command) -> Result<PathBuf, SandboxError> {
    let failed = |source| SandboxError::Setup { what: "the folder to start in", source };
    let current = std::env::current_dir().map_err(failed)?;
    let folder = command.as_std().get_current_dir().map_or(current.clone(), |folder| current.join(folder));
    folder.canonicalize().map_err(failed)
}

impl Enclosed {
    /// Starts it, in a tokio runtime with I/O.
    pub fn spawn(&mut self) -> Result<Child, SpawnError> {
        self.command.spawn()
    }

    /// How long it may run, for whoever waits for it.
    pub fn time_limit(&self) -> Option<Duration> {
        self.limits.time
    }

    /// Undoes what the child did to files that run code later, and says what that was. To be called when it ended;
    /// for one that goes on for long also in between.
    pub fn after(&self) -> Vec<Reverted> {
        #[cfg(target_os = "linux")]
        if let Some(gone) = &self.gone {
            gone.wait();
        }
        self.snapshot.restore()
    }
}
