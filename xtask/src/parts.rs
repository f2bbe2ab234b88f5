//! Programs of other makers that tests talk to: language servers, and MCP's reference servers. `parts/` says which.

use std::ffi::OsString;

use crate::run::{self, Failure};

/// Fetches what is missing. Tests skip what could not be had.
pub(crate) fn fetch() -> Result<(), Failure> {
    // A real compiler's knowledge.
    if !run::has("rust-analyzer", &["--version"])
        && run::step("rustup", &["component", "add", "rust-analyzer"]).is_err()
    {
        eprintln!("no rust-analyzer: the story about it is skipped");
    }
    if !run::has("npm", &["--version"]) {
        eprintln!("npm is not installed; the stories about servers that come by it are skipped");
        return Ok(());
    }
    let (from, folder) = (run::root().join("xtask/parts"), run::target().join("parts"));
    let lock = std::fs::read(from.join("package-lock.json"))?;
    if std::fs::read(folder.join("done")).is_ok_and(|done| done == lock) {
        return Ok(());
    }
    std::fs::create_dir_all(&folder)?;
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(from.join(file), folder.join(file))?;
    }
    let mut npm = run::command("npm", &["install", "--no-audit", "--no-fund", "--loglevel", "error"]);
    npm.current_dir(&folder);
    match run::step_command(npm) {
        Ok(()) => std::fs::write(folder.join("done"), lock)?,
        Err(failure) => eprintln!("{failure}; the stories about these programs are skipped"),
    }
    Ok(())
}

/// The search path with the parts in it.
pub(crate) fn path() -> Option<OsString> {
    let known = std::env::var_os("PATH").unwrap_or_default();
    let parts = run::target().join("parts/node_modules/.bin");
    std::env::join_paths(std::iter::once(parts).chain(std::env::split_paths(&known))).ok()
}
