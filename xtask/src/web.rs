//! The web UI: built with npm into `web/dist`, from where the server embeds it.

use crate::run::{self, Failure};

/// Builds it where npm is installed; elsewhere the binary says on its one page that it has none.
pub(crate) fn build() -> Result<(), Failure> {
    if !run::has("npm", &["--version"]) {
        eprintln!("npm is not installed; the binary is built without the web UI");
        return Ok(());
    }
    install()?;
    run::step_command(npm(&["run", "--silent", "build"]))
}

/// The types, and the tests that need no browser.
pub(crate) fn test() -> Result<(), Failure> {
    run::step_command(npm(&["run", "--silent", "check"]))?;
    run::step_command(npm(&["run", "--silent", "test"]))
}

/// The real page in a real browser, where there is one.
pub(crate) fn browse() -> Result<(), Failure> {
    let known = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    if !run::has(&known, &["--version"]) {
        eprintln!("no Chromium at {known}; the tests in a browser are skipped (set CHROMIUM)");
        return Ok(());
    }
    let mut command = npm(&["run", "--silent", "e2e"]);
    command.env("CHROMIUM", known).env("COVEY_TARGET", run::target().join("debug"));
    run::step_command(command)
}

/// What the lock file names, unless it is there already.
fn install() -> Result<(), Failure> {
    let web = run::root().join("web");
    let lock = std::fs::metadata(web.join("package-lock.json")).and_then(|found| found.modified());
    let done =
        std::fs::metadata(web.join("node_modules/.package-lock.json")).and_then(|found| found.modified());
    match (lock, done) {
        (Ok(lock), Ok(done)) if done >= lock => Ok(()),
        // Not `npm ci`: it wants the packages of every other platform in the lock file, which npm leaves out of it.
        _ => run::step_command(npm(&[
            "install",
            "--no-save",
            "--no-audit",
            "--no-fund",
            "--loglevel",
            "error",
        ])),
    }
}

fn npm(arguments: &[&str]) -> std::process::Command {
    let mut command = run::command("npm", arguments);
    command.current_dir(run::root().join("web"));
    command
}
