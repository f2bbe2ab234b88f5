//! `cargo xtask fuzz-api`: the server's REST against its own OpenAPI document, with requests that a fuzzer makes up.
//!
//! Schemathesis is installed into `target/` on first use. Everything runs in a scratch home with a scripted model.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::run::{self, Failure};
use crate::scratch::Scratch;

/// Requests for each operation and phase.
const EXAMPLES: &str = "60";
const VERSION: &str = "schemathesis>=4,<5";

pub(crate) fn fuzz_api(arguments: &[String]) -> Result<(), Failure> {
    let fuzzer = fuzzer()?;
    run::step("cargo", &["build", "--package", "covey", "--package", "testkit"])?;
    let programs = run::target().join("debug");
    let mut scratch = Scratch::new(&run::target().join("tmp"), "fuzz-api")?;
    let (home, project) = (scratch.path().join("home"), scratch.path().join("project"));
    fs::create_dir_all(&home)?;
    fs::create_dir_all(project.join(".git"))?;
    fs::write(project.join("a.rs"), "pub fn apply_coupon() {}\n")?;
    let mut model = Command::new(programs.join("covey-testkit"));
    let (mut model, told) = scratch.start_told(model.args(["model-server", "--json"]))?;
    fs::write(home.join("config.toml"), told["config"].as_str().unwrap_or_default())?;
    let mut serve = Command::new(programs.join("covey"));
    serve.args(["serve", "--json", "--bind", "127.0.0.1:0"]).current_dir(&project);
    serve.env("COVEY_HOME", &home).env("HOME", &home);
    let (mut server, told) = scratch.start_told(&mut serve)?;
    let word = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
    let mut fuzz = Command::new(fuzzer);
    fuzz.arg("run").arg(format!("{}api/openapi.json", word("url")));
    fuzz.arg("--header").arg(format!("Authorization: Bearer {}", word("token")));
    fuzz.args(["--checks", "all", "--max-examples", EXAMPLES, "--workers", "2", "--no-color"]);
    // Whether a request without the token is turned away is a story of its own, and ten wrong guesses close the door. What
    // fits the document may still be refused: a session that is not there, a prompt that is empty.
    fuzz.args(["--exclude-checks", "ignored_auth,positive_data_acceptance"]);
    fuzz.args(arguments).current_dir(scratch.path());
    let result = run::step_command(fuzz);
    scratch.stop(&mut server);
    scratch.stop(&mut model);
    result
}

/// Where the fuzzer is, installed if need be.
fn fuzzer() -> Result<PathBuf, Failure> {
    let folder = run::target().join("schemathesis");
    let program = folder.join("bin/schemathesis");
    if !program.exists() {
        let shown = folder.display().to_string();
        run::step("python3", &["-m", "venv", &shown])?;
        run::step(&format!("{shown}/bin/pip"), &["install", "--quiet", VERSION])?;
    }
    Ok(program)
}
