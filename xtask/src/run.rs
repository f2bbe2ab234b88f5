//! Running other programs, and saying so.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A chore that could not be done.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// The project's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where cargo builds.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A command in the project's root.
pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    if program == "cargo" {
        forget_who_runs_us(&mut command);
    }
    command
}

/// `cargo run` describes us in variables, and crates that look at them (`ring` does) would be built again each time that
/// `cargo build` and `cargo xtask` take turns.
fn forget_who_runs_us(command: &mut Command) {
    let names = std::env::vars_os().map(|(name, _)| name);
    for name in names {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || text == "CARGO" {
            command.env_remove(&name);
        }
    }
}

/// Prints the command and runs it.
pub(crate) fn step(program: &str, arguments: &[&str]) -> Result<(), Failure> {
    step_command(command(program, arguments))
}

pub(crate) fn step_command(mut command: Command) -> Result<(), Failure> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let shown = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    eprintln!("› {shown}");
    let status =
        command.status().map_err(|error| Failure::new(format!("could not run `{shown}`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{shown}` failed ({status})"))) }
}

/// Runs a command and takes what it prints.
pub(crate) fn output(program: &str, arguments: &[&str]) -> Result<String, Failure> {
    let output = command(program, arguments).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Failure::new(format!("could not run `{program}`: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new(format!("`{program} {}` failed ({})", arguments.join(" "), output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a program can be started at all.
pub(crate) fn has(program: &str, probe: &[&str]) -> bool {
    let status = Command::new(program).args(probe).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
