//! `cargo xtask test`: every test there is.

use crate::run::{self, Failure};
use crate::{parts, web};

pub(crate) fn test(arguments: &[String]) -> Result<(), Failure> {
    // The story tests start the real binary and the real model server, so both are built first.
    web::build()?;
    run::step("cargo", &["build", "--package", "covey", "--package", "testkit"])?;
    parts::fetch()?;
    let extra: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if run::has("cargo", &["nextest", "--version"]) {
        tests(&[&["nextest", "run", "--workspace", "--no-fail-fast"], &extra[..]].concat())?;
    } else {
        eprintln!("cargo-nextest is not installed; cargo's own test runner does it, a little slower");
        tests(&[&["test", "--workspace", "--no-fail-fast"], &extra[..]].concat())?;
    }
    // The examples in the documentation, which nextest does not run.
    run::step("cargo", &["test", "--workspace", "--doc", "--quiet"])?;
    if run::has("npm", &["--version"]) {
        web::test()?;
        web::browse()?;
    }
    Ok(())
}

/// Property tests try the same cases each time, so that a red run says something about the change. To look for new ones,
/// set `PROPTEST_RNG_SEED` to another number, and `PROPTEST_CASES` to more.
fn tests(arguments: &[&str]) -> Result<(), Failure> {
    const SEED: &str = "PROPTEST_RNG_SEED";
    let mut command = run::command("cargo", arguments);
    if std::env::var_os(SEED).is_none() {
        command.env(SEED, "20261115");
    }
    command.envs(parts::path().map(|path| ("PATH", path)));
    run::step_command(command)
}
