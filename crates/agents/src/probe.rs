//! Which agents are here, which version, and whether somebody is logged in: asked, not guessed, and remembered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use guard::SandboxNeeds;
use project::{Stream, command};
use serde::{Deserialize, Serialize};

use crate::Fleet;
use crate::catalogue::Known;

const PATIENCE: Duration = Duration::from_secs(15);
/// How long a login is believed while nothing in the agent's folders changes.
const BELIEVED: Duration = Duration::from_secs(60 * 60);
const MOST_OUTPUT: usize = 64 * 1024;

/// What is known of an agent on this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    pub agent: String,
    pub name: String,
    pub interface: &'static str,
    pub can: Vec<String>,
    /// Its program; none if it is not installed, or has none.
    pub program: Option<PathBuf>,
    pub installed: bool,
    pub version: Option<String>,
    pub login: Login,
    pub docs: String,
    /// How to get it.
    pub install: Option<String>,
}

/// Whether somebody is logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Login {
    Yes,
    /// By a key in the environment or the settings.
    Key,
    No,
    /// It has no way to tell but a prompt.
    Untold,
}

/// What was found before, by the program's path.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Remembered(BTreeMap<PathBuf, Entry>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// Of the program's file: when it changed, and its size.
    stamp: (u64, u64),
    version: Option<String>,
    login: Login,
    /// Of its folders, when the login was asked for.
    state: u64,
    asked: u64,
}

/// Looks at every agent, all at the same time. `cache` is a file of ours; `fresh` asks again.
pub async fn survey(fleet: &Fleet, cache: &Path, fresh: bool) -> Vec<Found> {
    let before: Remembered = match std::fs::read(cache) {
        Ok(text) if !fresh => serde_json::from_slice(&text).unwrap_or_default(),
        _ => Remembered::default(),
    };
    let looks = fleet.catalogue().iter().map(|known| look(fleet, known, &before));
    let found: Vec<(Found, Option<(PathBuf, Entry)>)> = futures::future::join_all(looks).await;
    let now = Remembered(found.iter().filter_map(|(_, entry)| entry.clone()).collect());
    if now.0 != before.0
        && let Ok(text) = serde_json::to_vec(&now)
    {
        if let Some(folder) = cache.parent() {
            // Without a cache the next look takes longer.
            let _ = project::create_private_dir(folder);
        }
        let _ = project::write_private_atomic(cache, &text);
    }
    found.into_iter().map(|(found, _)| found).collect()
}

async fn look(fleet: &Fleet, known: &Known, before: &Remembered) -> (Found, Option<(PathBuf, Entry)>) {
    let entry = &known.entry;
    let program = known.find(&fleet.options.path);
    let has_none = entry.commands.is_empty() && known.config.command.is_none();
    let install = match (&entry.install_hint, entry.install.is_empty()) {
        (Some(hint), _) => Some(hint.clone()),
        (None, false) => Some(entry.install.join(" ")),
        (None, true) => None,
    };
    let mut found = Found {
        agent: entry.id.clone(),
        name: entry.name.clone(),
        interface: entry.interface.kind.as_str(),
        can: entry.can.clone(),
        installed: program.is_some() || has_none,
        version: None,
        login: login_by_key(fleet, known).unwrap_or(Login::Untold),
        docs: entry.docs.clone(),
        install,
        program: program.clone(),
    };
    if has_none && found.login == Login::Untold {
        found.login = Login::No;
    }
    let Some(program) = program else { return (found, None) };
    let state = newest(&known.state(&fleet.options.user_home));
    let old = before.0.get(&program).filter(|old| old.stamp == stamp(&program));
    let now = seconds(SystemTime::now());
    let version = match old {
        Some(old) => old.version.clone(),
        None => ask(fleet, known, &program, &entry.version).await.and_then(|(_, said)| version(&said)),
    };
    let believed = old.filter(|old| old.state == state && now.saturating_sub(old.asked) < BELIEVED.as_secs());
    let (login, asked) = match believed {
        Some(old) => (old.login, old.asked),
        None => (asked_login(fleet, known, &program).await, now),
    };
    found.version.clone_from(&version);
    if found.login != Login::Key {
        found.login = login;
    }
    let entry = Entry { stamp: stamp(&program), version, login, state, asked };
    (found, Some((program, entry)))
}

fn login_by_key(fleet: &Fleet, known: &Known) -> Option<Login> {
    let set = |name: &String| {
        (fleet.options.env)(name).is_some_and(|value| !value.is_empty())
            || known.config.env.contains_key(name)
    };
    known.entry.probe.variables.iter().any(set).then_some(Login::Key)
}

async fn asked_login(fleet: &Fleet, known: &Known, program: &Path) -> Login {
    let probe = &known.entry.probe;
    if let Some(address) = &probe.gateway {
        let address = known.config.url.as_ref().unwrap_or(address);
        let host = address.trim_start_matches("ws://").trim_start_matches("wss://").trim_end_matches('/');
        let connecting =
            tokio::time::timeout(Duration::from_millis(300), tokio::net::TcpStream::connect(host));
        return if matches!(connecting.await, Ok(Ok(_))) { Login::Yes } else { Login::No };
    }
    if probe.args.is_empty() {
        return Login::Untold;
    }
    match ask(fleet, known, program, &probe.args).await {
        Some((true, said)) => match &probe.says {
            Some(word) if !said.to_lowercase().contains(word.as_str()) => Login::No,
            _ => Login::Yes,
        },
        Some((false, _)) => Login::No,
        None => Login::Untold,
    }
}

/// Runs an agent's program for a moment: whether it succeeded, and what it said.
async fn ask(fleet: &Fleet, known: &Known, program: &Path, args: &[String]) -> Option<(bool, String)> {
    if args.is_empty() {
        return None;
    }
    let there = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let options = &fleet.options;
    let mut needs =
        SandboxNeeds::foreign_agent(known.state(&options.user_home), known.variables(there)).reading_only();
    needs.readable = crate::fleet::installed_in(program, &options.user_home);
    let cwd = std::env::current_dir().ok()?;
    let mut asking = command(program);
    asking.args(args).envs(&known.entry.env).envs(&known.config.env).cwd(&cwd);
    asking.stdout(Stream::Piped).stderr(Stream::Piped);
    let child = options.launcher.launch_with(asking, vec![cwd], &needs).ok()?;
    let output = tokio::time::timeout(PATIENCE, child.output(MOST_OUTPUT)).await.ok()?.ok()?;
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// The first thing that looks like a version.
fn version(said: &str) -> Option<String> {
    let words = said.split_whitespace().map(|word| word.trim_start_matches('v').trim_end_matches(['.', ',']));
    let looks =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && word.len() < 40;
    words.into_iter().find(looks).map(str::to_owned)
}

fn stamp(program: &Path) -> (u64, u64) {
    program.metadata().map_or((0, 0), |found| (found.modified().map_or(0, nanos), found.len()))
}

/// When the newest of an agent's own files changed. Only the top: a login is written there.
fn newest(places: &[PathBuf]) -> u64 {
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).map_or(0, nanos);
    let inside = |folder: &PathBuf| std::fs::read_dir(folder).ok().into_iter().flatten().flatten().take(200);
    // What it writes whenever it runs says nothing of a login.
    let quiet =
        |path: &Path| path.extension().is_some_and(|end| end == "json" || end == "toml" || end == "yaml");
    let files = places.iter().flat_map(inside).map(|entry| entry.path()).filter(|path| quiet(path));
    files.map(|path| changed(&path)).max().unwrap_or_default()
}

fn nanos(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_whatever_is_said() {
        for (said, found) in [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("WARNING: proceeding\ncodex-cli 0.166.0\n", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", Some("1.0.102")),
            ("v22.1.0", Some("22.1.0")),
            ("no idea", None),
        ] {
            assert_eq!(version(said).as_deref(), found, "{said}");
        }
    }
}
