//! What a child finds where, as a list of mounts.
//!
//! The whole system is there, read-only. Over it come private places for what is temporary, then what may be
//! written, then what hides secrets, and last what must stay as it is inside the project. Later ones cover earlier
//! ones, so a secret inside the project is hidden and `.git/hooks` is read-only in a writable `.git`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::git::Protected;
use super::staging::{DEVICES, Staging};

/// One thing to be seen in another place, or in the same with fewer rights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mount {
    Bind {
        source: PathBuf,
        target: PathBuf,
        access: Access,
        expect: Option<Expect>,
    },
    /// An empty file system in memory.
    Memory(PathBuf),
    /// `/proc` of the child's own processes.
    Processes,
    /// Terminals of the child's own.
    Terminals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Device,
}

/// What must be at the target, by device and inode. Another child may be renaming folders at this very moment so
/// that a cover lands beside what it should hide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Expect {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// What a view is made from. All paths are real ones.
pub(super) struct Sights<'a> {
    pub(super) roots: &'a [PathBuf],
    pub(super) readable: &'a [PathBuf],
    pub(super) writable: &'a [PathBuf],
    pub(super) hidden: &'a [PathBuf],
    pub(super) protected: &'a [Protected],
    pub(super) sockets: &'a [PathBuf],
}

/// Places that a child has for itself.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/run", "/dev", "/proc"];
/// Parts of `/run` that programs or names are found in.
const KEPT_IN_RUN: &[&str] = &["/run/current-system", "/run/opengl-driver", "/run/booted-system"];
/// Leads into `/run` on many systems.
const RESOLVER: &str = "/etc/resolv.conf";

/// The mounts, in order.
pub(super) fn view(sights: &Sights<'_>, staging: &Staging) -> io::Result<Vec<Mount>> {
    let mut view = View { mounts: Vec::new(), shown: Vec::new(), staging };
    view.private_places()?;
    let mut writable: BTreeSet<&PathBuf> = sights.writable.iter().collect();
    writable.extend(
        sights.protected.iter().flat_map(|one| &one.outside).filter(|path| sights.writable.contains(path)),
    );
    // What is read-only anyway needs no mount of its own, unless it lies where a private place covers it.
    let covered = sights
        .roots
        .iter()
        .chain(sights.readable)
        .filter(|path| in_private(path) && !writable.contains(path));
    for path in covered.collect::<BTreeSet<_>>() {
        view.show(path, Access::Read)?;
    }
    for path in writable {
        view.show(path, Access::Write)?;
    }
    // A socket below a place that is covered is out of reach, and no longer there to be covered itself.
    let reachable = |path: &&PathBuf| !sights.hidden.iter().any(|outer| path.starts_with(outer));
    for path in sights.hidden.iter().chain(sights.sockets.iter().filter(reachable)) {
        view.cover(path);
    }
    let is_writable = |path: &Path| sights.writable.iter().any(|place| path.starts_with(place));
    for one in sights.protected {
        for path in one.pinned.iter().filter(|path| is_writable(path)) {
            view.again(path, Access::Write);
        }
        for path in one.present.iter().filter(|path| is_writable(path)) {
            view.again(path, Access::Read);
        }
    }
    Ok(view.mounts)
}

struct View<'a> {
    mounts: Vec<Mount>,
    /// What is there although it lies in a private place.
    shown: Vec<PathBuf>,
    staging: &'a Staging,
}

impl View<'_> {
    fn private_places(&mut self) -> io::Result<()> {
        for path in ["/tmp", "/var/tmp"].into_iter().map(Path::new).filter(|path| is_real_folder(path)) {
            self.bind(self.staging.tmp(), path, Access::Write);
        }
        for path in ["/run", "/var/run"].into_iter().map(Path::new).filter(|path| is_real_folder(path)) {
            self.bind(self.staging.run(), path, Access::Read);
        }
        let resolver = Path::new(RESOLVER).canonicalize().ok().filter(|path| path.starts_with("/run"));
        for path in KEPT_IN_RUN.iter().map(PathBuf::from).filter(|path| path.exists()).chain(resolver) {
            Staging::place(&self.staging.run(), Path::new("/run"), &path)?;
            self.bind(path.clone(), &path, Access::Read);
        }
        self.bind(self.staging.dev(), Path::new("/dev"), Access::Read);
        for device in DEVICES {
            let path = Path::new("/dev").join(device);
            self.bind(path.clone(), &path, Access::Device);
        }
        self.mounts.push(Mount::Terminals);
        self.mounts.push(Mount::Memory("/dev/shm".into()));
        self.mounts.push(Mount::Processes);
        Ok(())
    }

    fn bind(&mut self, source: PathBuf, target: &Path, access: Access) {
        self.mounts.push(Mount::Bind { source, target: target.to_owned(), access, expect: None });
    }

    fn show(&mut self, path: &Path, access: Access) -> io::Result<()> {
        for (outside, inside) in
            [("/tmp", self.staging.tmp()), ("/var/tmp", self.staging.tmp()), ("/run", self.staging.run())]
        {
            Staging::place(&inside, Path::new(outside), path)?;
        }
        self.bind(path.to_owned(), path, access);
        self.shown.push(path.to_owned());
        Ok(())
    }

    /// Shows nothing where something is.
    fn cover(&mut self, path: &Path) {
        if in_private(path) && !self.shown.iter().any(|shown| path.starts_with(shown)) {
            return;
        }
        let Ok(metadata) = path.symlink_metadata() else { return };
        let source = if metadata.is_dir() { self.staging.empty() } else { self.staging.nothing() };
        let expect = Some(Expect { device: metadata.dev(), inode: metadata.ino() });
        self.mounts.push(Mount::Bind { source, target: path.to_owned(), access: Access::Read, expect });
    }

    /// The same thing in the same place: it can no longer be moved away, and only be written with `access`.
    fn again(&mut self, path: &Path, access: Access) {
        // A link cannot be mounted on. It is looked after when the command is done.
        let Ok(metadata) = path.symlink_metadata() else { return };
        if !metadata.is_symlink() {
            let expect = Some(Expect { device: metadata.dev(), inode: metadata.ino() });
            self.mounts.push(Mount::Bind {
                source: path.to_owned(),
                target: path.to_owned(),
                access,
                expect,
            });
        }
    }
}

fn in_private(path: &Path) -> bool {
    PRIVATE.iter().any(|private| path.starts_with(private))
}

fn is_real_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// Unix sockets of the system that have a place in the file system: a read-only mount does not keep anybody from
/// talking to who listens there. Those bound by a relative name cannot be found here; in the project they are found
/// by the walk for `.env` files.
pub(super) fn sockets() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let path = |line: &str| {
        line.split_ascii_whitespace().nth(7).filter(|path| path.starts_with('/')).map(PathBuf::from)
    };
    let all: BTreeSet<PathBuf> = table.lines().skip(1).filter_map(path).collect();
    let real = |path: PathBuf| path.canonicalize().ok();
    all.into_iter().filter_map(real).filter(|path| !in_private(path)).collect()
}
