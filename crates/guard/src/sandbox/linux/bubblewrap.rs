//! The same walls, built by `bwrap`: some systems let it make user namespaces and nobody else.
//!
//! Its arguments go through a file in memory, as others could read the command line, and its environment is empty:
//! `LD_PRELOAD`, meant for the program, must not run code in `bwrap` before there are walls.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use libc::sock_filter;
use project::Command;

use super::seccomp::{self, Sockets};
use super::{landlock, limits, sys};
use crate::sandbox::policy::Limits;
use crate::sandbox::view::{Access, Mount};

/// Where it is, if it is.
pub(crate) fn find() -> Option<PathBuf> {
    // Not by the person's PATH, in which a project's own folder may come first.
    ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"]
        .into_iter()
        .map(PathBuf::from)
        .find(|path| path.is_file())
}

/// Wraps a command so that `bwrap` runs it.
pub(crate) fn wrap(
    bwrap: &Path,
    command: Command,
    view: &[Mount],
    folder: &Path,
    network: bool,
    limits: Limits,
) -> io::Result<Command> {
    let filter = seccomp::filter(Sockets::All, false);
    let filter = in_memory(&bytes_of(&filter))?;
    let mut arguments = arguments(view, folder, network);
    arguments.extend([OsString::from("--seccomp"), filter.as_raw_fd().to_string().into()]);
    arguments.extend(variables(&command));
    let mut text = Vec::new();
    for argument in &arguments {
        text.extend(argument.as_bytes());
        text.push(0);
    }
    let file = in_memory(&text)?;
    let number = file.as_raw_fd().to_string();
    let mut wrapped = command.wrapped_in(bwrap, ["--args", &number, "--"]);
    wrapped.env_clear().cwd("/");
    // A `bwrap` that is setuid could not become root any more.
    let is_setuid = bwrap.metadata()?.permissions().mode() & 0o4000 != 0;
    let scope: Option<OwnedFd> = if is_setuid { None } else { landlock::scope_of_everything()? };
    super::hook(&mut wrapped, move || {
        limits::apply(&limits, false);
        if let Some(scope) = &scope {
            sys::no_new_privileges()?;
            sys::landlock_restrict(scope.as_raw_fd())?;
        }
        sys::close_on_exec_from(3)?;
        for file in [&filter, &file] {
            sys::rewind(file.as_raw_fd())?;
            sys::keep_on_exec(file.as_raw_fd())?;
        }
        Ok(())
    });
    Ok(wrapped)
}

/// What builds the walls, without the program.
fn arguments(view: &[Mount], folder: &Path, network: bool) -> Vec<OsString> {
    // Not `--die-with-parent`: it means the thread that started it, which may end at any time. Covey kills the
    // group, and the first process in there is part of it.
    let flags = [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--cap-drop",
        "ALL",
    ];
    let mut list: Vec<OsString> = flags.map(OsString::from).into();
    if !network {
        list.push("--unshare-net".into());
    }
    list.extend(["--ro-bind", "/", "/"].map(OsString::from));
    for mount in view {
        match mount {
            // It has ways of its own for these.
            Mount::Bind { access: Access::Device, .. } | Mount::Terminals | Mount::Memory(_) => {}
            Mount::Bind { target, .. } if target == Path::new("/dev") => {
                list.extend(["--dev", "/dev"].map(OsString::from));
            }
            // To root's number, if not to its rights, settings of the kernel would be writable.
            Mount::Processes => list.extend(["--proc", "/proc", "--remount-ro", "/proc"].map(OsString::from)),
            Mount::Bind { source, target, access, .. } => {
                let verb = if *access == Access::Write { "--bind" } else { "--ro-bind" };
                list.extend([verb.into(), source.into(), target.into()]);
            }
        }
    }
    list.extend(["--chdir".into(), folder.into()]);
    list
}

/// The variables that the program is to have.
fn variables(command: &Command) -> Vec<OsString> {
    let mut variables: Vec<(OsString, OsString)> =
        if command.inherits_nothing() { Vec::new() } else { std::env::vars_os().collect() };
    for (name, value) in command.as_std().get_envs() {
        variables.retain(|(known, _)| known != name);
        variables.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    }
    let mut list = vec![OsString::from("--clearenv")];
    for (name, value) in variables {
        list.extend(["--setenv".into(), name, value]);
    }
    list
}

fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(sys::memory_file()?);
    file.write_all(bytes)?;
    Ok(file)
}

/// As the kernel reads them.
fn bytes_of(filter: &[sock_filter]) -> Vec<u8> {
    let one = |step: &sock_filter| {
        let [a, b] = step.code.to_ne_bytes();
        let [e, f, g, h] = step.k.to_ne_bytes();
        [a, b, step.jt, step.jf, e, f, g, h]
    };
    filter.iter().flat_map(one).collect()
}
