//! Running part of a test in another process: this test binary, started again.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROLE: &str = "COVEY_TEST_ROLE";

/// Whether this process was started by [`start_again`] to play `role`.
pub(crate) fn plays(role: &str) -> bool {
    std::env::var(ROLE).is_ok_and(|mine| mine == role)
}

/// A command that runs `test` of this binary again with `role` to play.
pub(crate) fn start_again(test: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(ROLE, role);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Polls until `condition` holds; fails when it does not within ten seconds.
pub(crate) fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "not within ten seconds: {what}");
        std::thread::yield_now();
    }
}

/// Whether a process no longer runs; a zombie that its new parent has not reaped counts.
pub(crate) fn gone(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return true };
    let state = stat.rsplit_once(") ").and_then(|(_, fields)| fields.chars().next());
    matches!(state, Some('Z' | 'X') | None)
}

/// Whether to go on with a case that only means something to an ordinary user.
///
/// Root may read everything, so as root this runs `test` again as `nobody` and returns false.
pub(crate) fn as_ordinary_user(test: &str) -> bool {
    use std::os::unix::process::CommandExt;
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    let mut again = start_again(test, "ordinary user");
    // Setting the user as root also drops root's other groups.
    let output = again.uid(65534).gid(65534).current_dir("/").stderr(Stdio::piped()).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}
