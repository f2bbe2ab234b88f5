//! `cargo xtask test`: every test there is.

use crate::run::{self, Failure};

pub(crate) fn test(arguments: &[String]) -> Result<(), Failure> {
    // The story tests start the real binary and the real model server, so both are built first.
    run::step("cargo", &["build", "--package", "covey", "--package", "testkit"])?;
    let extra: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if run::has("cargo", &["nextest", "--version"]) {
        run::step("cargo", &[&["nextest", "run", "--workspace", "--no-fail-fast"], &extra[..]].concat())?;
    } else {
        eprintln!("cargo-nextest is not installed; cargo's own test runner does it, a little slower");
        run::step("cargo", &[&["test", "--workspace", "--no-fail-fast"], &extra[..]].concat())?;
    }
    // The examples in the documentation, which nextest does not run.
    run::step("cargo", &["test", "--workspace", "--doc", "--quiet"])
}
