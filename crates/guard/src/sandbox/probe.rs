//! Which walls this machine has.

use super::grade::{Backend, Grade, Strength};
use super::policy::SandboxPolicy;

const LANDLOCK: &[&str] = &[
    "project writable and the rest read-only",
    "secrets hidden",
    "network off unless allowed",
    "no Unix sockets",
    "no ptrace",
    "no new privileges",
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
    Grade {
        backend: Backend::None,
        strength: Strength::None,
        enforced: Vec::new(),
        missing: Vec::new(),
        passed_over,
    }
}

type Attempt = fn() -> Result<Grade, String>;

#[cfg(target_os = "linux")]
const BACKENDS: &[(Backend, Attempt)] = &[(Backend::Landlock, landlock)];
#[cfg(not(target_os = "linux"))]
const BACKENDS: &[(Backend, Attempt)] = &[];

#[cfg(target_os = "linux")]
fn landlock() -> Result<Grade, String> {
    let version = super::linux::landlock::version();
    if version == 0 {
        return Err("this kernel does not have it, or has it switched off".to_owned());
    }
    let mut enforced = LANDLOCK.to_vec();
    let mut missing = vec![
        "`.git` hooks and configuration and `.covey` are put back after a command rather than walled off",
        "`.env` files can be read",
        "modes, owners and times of files outside the project can be changed",
        "the list of processes can be seen",
        "processes and memory are not bounded",
    ];
    match version >= 6 {
        true => enforced.push("signals and abstract sockets stay inside, nothing outlives a command"),
        false => missing.push("signals reach other processes, and what leaves its group outlives a command"),
    }
    Ok(Grade {
        backend: Backend::Landlock,
        strength: Strength::Partial,
        enforced,
        missing,
        passed_over: Vec::new(),
    })
}
