//! Which walls this machine has.

use super::grade::{Backend, Grade, Strength};
use super::policy::SandboxPolicy;

/// What namespaces do, by whomever they are made.
const NAMESPACES: &[&str] = &[
    "project writable and the rest read-only",
    "secrets and `.env` hidden",
    "`.git` hooks and configuration read-only",
    "network off unless allowed",
    "sockets of the system hidden",
    "own processes only",
    "no ptrace",
    "no new privileges",
    "nothing outlives a command",
];

/// The strongest backend that works here, or the one that the policy names.
pub(super) fn probe(policy: &SandboxPolicy) -> Grade {
    let mut passed_over = Vec::new();
    let wanted = |backend| policy.backend.is_none_or(|only| only == backend);
    for (backend, attempt) in BACKENDS.iter().filter(|(backend, _)| wanted(*backend)) {
        match attempt() {
            Ok(grade) => return Grade { passed_over, ..grade },
            Err(reason) => passed_over.push((*backend, reason)),
        }
    }
    grade(Backend::None, Strength::None, &[], &[], passed_over)
}

type Attempt = fn() -> Result<Grade, String>;

#[cfg(target_os = "linux")]
const BACKENDS: &[(Backend, Attempt)] = &[
    (Backend::Namespaces, linux::namespaces),
    (Backend::Bubblewrap, linux::bubblewrap),
    (Backend::Landlock, linux::landlock),
];
#[cfg(target_os = "macos")]
const BACKENDS: &[(Backend, Attempt)] = &[(Backend::Seatbelt, seatbelt)];
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
const BACKENDS: &[(Backend, Attempt)] = &[];

fn grade(
    backend: Backend,
    strength: Strength,
    enforced: &[&'static str],
    missing: &[&'static str],
    passed_over: Vec<(Backend, String)>,
) -> Grade {
    Grade {
        backend,
        strength,
        enforced: enforced.to_vec(),
        missing: missing.to_vec(),
        user_namespace: true,
        passed_over,
    }
}

#[cfg(target_os = "macos")]
fn seatbelt() -> Result<Grade, String> {
    if !std::path::Path::new("/usr/bin/sandbox-exec").exists() {
        return Err("`sandbox-exec` is not there".to_owned());
    }
    let enforced = [
        "project writable and the rest read-only",
        "secrets and `.env` hidden",
        "network off unless allowed",
    ];
    let missing = ["what leaves its group outlives a command", "processes and memory are not bounded"];
    Ok(grade(Backend::Seatbelt, Strength::Partial, &enforced, &missing, Vec::new()))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::super::grade::{Backend, Grade, Strength};
    use super::super::linux;
    use super::super::staging::Staging;
    use super::super::view::{self, Sights};
    use super::{NAMESPACES, grade};

    pub(super) fn namespaces() -> Result<Grade, String> {
        let staging = Staging::new().map_err(|error| error.to_string())?;
        let nothing =
            Sights { roots: &[], readable: &[], writable: &[], hidden: &[], protected: &[], sockets: &[] };
        let probed = linux::namespaces::probe(|| view::view(&nothing, &staging));
        let user_namespace = probed.map_err(|error| error.to_string())?;
        let mut enforced = NAMESPACES.to_vec();
        enforced.push("time and processes bounded");
        Ok(Grade { user_namespace, ..grade(Backend::Namespaces, Strength::Full, &enforced, &[], Vec::new()) })
    }

    pub(super) fn bubblewrap() -> Result<Grade, String> {
        let bwrap = linux::bubblewrap::find().ok_or("`bwrap` is not installed")?;
        // Not a child of a session: it runs nothing but its own code and is waited for.
        let flags = [
            "--unshare-user",
            "--unshare-pid",
            "--unshare-net",
            "--ro-bind",
            "/",
            "/",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
        ];
        let program = ["/bin/true", "/usr/bin/true"]
            .into_iter()
            .find(|path| Path::new(path).exists())
            .unwrap_or("true");
        let mut command = Command::new(bwrap);
        command.args(flags).args(["--", program]).env_clear().stdin(Stdio::null()).stdout(Stdio::null());
        let output = command.output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => {
                let missing = ["processes and memory are not bounded", "a request to end is final"];
                Ok(grade(Backend::Bubblewrap, Strength::Full, NAMESPACES, &missing, Vec::new()))
            }
            false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        }
    }

    pub(super) fn landlock() -> Result<Grade, String> {
        let version = linux::landlock::version();
        if version == 0 {
            return Err("this kernel does not have it, or has it switched off".to_owned());
        }
        let mut enforced = vec![
            "project writable and the rest read-only",
            "secrets hidden",
            "network off unless allowed",
            "no Unix sockets",
            "no ptrace",
            "no new privileges",
        ];
        let mut missing = vec![
            "`.git` hooks and configuration are put back after a command rather than walled off",
            "`.env` can be read",
            "modes, owners and times of files elsewhere can be changed",
            "the list of processes can be seen",
            "processes and memory are not bounded",
        ];
        match version >= 6 {
            true => enforced.extend(["signals stay inside", "nothing outlives a command"]),
            false => {
                missing.push("signals reach other processes, and what leaves its group outlives a command")
            }
        }
        Ok(grade(Backend::Landlock, Strength::Partial, &enforced, &missing, Vec::new()))
    }
}
