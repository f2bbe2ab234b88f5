//! `cargo xtask ci`: everything that can be checked without running a test.

use std::path::PathBuf;

use crate::codegen;
use crate::run::{self, Failure};

const DENY_VERSION: &str = "0.20.2";

pub(crate) fn ci() -> Result<(), Failure> {
    run::step("cargo", &["fmt", "--all", "--check"])?;
    run::step("cargo", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])?;
    codegen::codegen(&["--check".to_owned()])?;
    dependencies()?;
    docs()
}

fn docs() -> Result<(), Failure> {
    let mut doc = run::command("cargo", &["doc", "--workspace", "--no-deps", "--quiet"]);
    doc.env("RUSTDOCFLAGS", "--deny warnings");
    run::step_command(doc)
}

/// Licences, bans and sources; known vulnerabilities too where their database can be fetched.
fn dependencies() -> Result<(), Failure> {
    let deny = cargo_deny()?;
    let deny = deny.to_string_lossy();
    run::step(&deny, &["--log-level", "error", "check", "bans", "licenses", "sources"])?;
    if run::has(&deny, &["--log-level", "off", "fetch", "db"]) {
        run::step(&deny, &["--log-level", "error", "check", "--disable-fetch", "advisories"])
    } else {
        eprintln!("the advisory database can not be fetched from here; advisories are not checked");
        Ok(())
    }
}

/// The installed cargo-deny, else one of our own below `target/`, built once.
fn cargo_deny() -> Result<PathBuf, Failure> {
    if run::has("cargo-deny", &["--version"]) {
        return Ok("cargo-deny".into());
    }
    let home = run::target().join("tools");
    let program = home.join("bin/cargo-deny");
    if !run::has(&program.to_string_lossy(), &["--version"]) {
        eprintln!("cargo-deny is not installed; building it into {} (a few minutes, once)", home.display());
        let root = home.to_string_lossy();
        // Unoptimised: it reads a few hundred small files, and builds in half the time.
        let install = [
            "install",
            "--locked",
            "--debug",
            "--quiet",
            "--root",
            &root,
            "--version",
            DENY_VERSION,
            "cargo-deny",
        ];
        run::step("cargo", &install)?;
    }
    Ok(program)
}
