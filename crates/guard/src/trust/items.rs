//! Finding what in a repository would act.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Larger files are not taken in; nothing that acts needs to be this long.
const MAX_FILE: u64 = 1 << 20;

/// Longer texts are accepted by hash alone, and a change to them is shown whole.
pub(super) const MAX_KEPT: usize = 64 * 1024;

/// How many files a folder may hold before it is taken for something else.
const MAX_FILES: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    Config,
    Hook,
    McpServer,
    Command,
    Skill,
    Role,
    Rules,
}

impl ItemKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Hook => "hook",
            Self::McpServer => "mcp server",
            Self::Command => "command",
            Self::Skill => "skill",
            Self::Role => "role",
            Self::Rules => "rules",
        }
    }
}

/// One thing that would act, as it was when it was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub kind: ItemKind,
    /// Its path in the project; a server of `.mcp.json` is `.mcp.json#name`.
    pub name: String,
    pub hash: String,
    content: Vec<u8>,
}

impl Item {
    fn new(kind: ItemKind, name: String, content: Vec<u8>) -> Self {
        Self { kind, name, hash: hash(&content), content }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.content).into_owned()
    }

    pub fn content(&self) -> &[u8] {
        &self.content
    }
}

pub(super) fn hash(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

/// Folders whose files are one item each, and folders whose folders are.
const FOLDERS: [(ItemKind, &str); 9] = [
    (ItemKind::Hook, ".covey/hooks"),
    (ItemKind::Command, ".covey/commands"),
    (ItemKind::Command, ".claude/commands"),
    (ItemKind::Skill, ".covey/skills"),
    (ItemKind::Skill, ".claude/skills"),
    (ItemKind::Role, ".covey/roles"),
    (ItemKind::Role, ".covey/personas"),
    (ItemKind::Role, ".claude/agents"),
    (ItemKind::Rules, ".covey/rules"),
];

/// Rules that count where they lie.
const RULES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Folders that are large and made by tools.
const PASSED_BY: [&str; 7] = ["node_modules", "target", "dist", "build", "vendor", "venv", "__pycache__"];
const MAX_FOLDERS: usize = 5_000;
const MAX_DEPTH: usize = 8;
const MAX_IMPORTS: usize = 20;

const FILES: [(ItemKind, &str); 6] = [
    (ItemKind::Config, ".covey/config.toml"),
    (ItemKind::Config, ".covey/config.local.toml"),
    (ItemKind::Rules, "AGENTS.md"),
    (ItemKind::Rules, "CLAUDE.md"),
    (ItemKind::Rules, ".claude/CLAUDE.md"),
    (ItemKind::Rules, "CLAUDE.local.md"),
];

pub(super) fn find(root: &Path) -> Vec<Item> {
    let mut found = Vec::new();
    for (kind, name) in FILES {
        found.extend(read(root, &root.join(name)).map(|content| Item::new(kind, name.to_owned(), content)));
    }
    for (kind, folder) in FOLDERS {
        for path in entries(&root.join(folder)) {
            let name = format!("{folder}/{}", path.file_name().unwrap_or_default().to_string_lossy());
            if kind == ItemKind::Skill && path.is_dir() {
                // A skill is its whole folder: its text names the scripts beside it.
                found.push(Item::new(kind, name, whole(root, &path)));
            } else {
                for file in files_below(&path) {
                    let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
                    found.extend(read(root, &file).map(|content| Item::new(kind, name, content)));
                }
            }
        }
    }
    found.extend(rules_below(root));
    imports(root, &mut found);
    found.extend(scripts(root, &found));
    found.extend(servers(root));
    found.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    found
}

/// Rules files in folders below the root: they count for whoever works there.
fn rules_below(root: &Path) -> Vec<Item> {
    let mut found = Vec::new();
    let mut ahead = vec![(root.to_owned(), 0)];
    let mut looked_at = 0;
    while let Some((folder, depth)) = ahead.pop() {
        looked_at += 1;
        if looked_at > MAX_FOLDERS || found.len() >= MAX_FILES {
            break;
        }
        for path in entries(&folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_folder = path.is_dir() && !path.is_symlink();
            if is_folder && depth < MAX_DEPTH && !name.starts_with('.') && !PASSED_BY.contains(&&*name) {
                ahead.push((path, depth + 1));
            } else if depth > 0 && RULES.contains(&&*name) {
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                found.extend(read(root, &path).map(|content| Item::new(ItemKind::Rules, name, content)));
            }
        }
    }
    found
}

/// What rules files take in: a line `@docs/style.md` stands for that file.
fn imports(root: &Path, found: &mut Vec<Item>) {
    let mut at = 0;
    while let Some(item) = found.get(at) {
        at += 1;
        if item.kind != ItemKind::Rules || found.len() > MAX_FILES * 2 {
            continue;
        }
        let file = root.join(&item.name);
        let folder = file.parent().unwrap_or(root).to_owned();
        let text = item.text();
        let names = text.lines().filter_map(|line| line.trim().strip_prefix('@'));
        for name in names.filter(|name| !name.contains(char::is_whitespace)).take(MAX_IMPORTS) {
            let Ok(real) = folder.join(name).canonicalize() else { continue };
            let Ok(below) = real.strip_prefix(root) else { continue };
            let name = below.to_string_lossy().into_owned();
            if found.iter().any(|item| item.name == name) {
                continue;
            }
            found.extend(read(root, &real).map(|content| Item::new(ItemKind::Rules, name, content)));
        }
    }
}

/// Files elsewhere in the project that hooks run: with them a hook changes though its own file does not.
fn scripts(root: &Path, found: &[Item]) -> Vec<Item> {
    let mut scripts: Vec<Item> = Vec::new();
    for hook in found.iter().filter(|item| item.kind == ItemKind::Hook) {
        for file in project::named_files(root, &hook.text()) {
            let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().into_owned();
            let known = found.iter().chain(&scripts).any(|item| item.name == name);
            if let Some(content) = read(root, &file).filter(|_| !known) {
                scripts.push(Item::new(ItemKind::Hook, name, content));
            }
        }
    }
    scripts
}

/// Each server of `.mcp.json` by itself, so that a new one does not take the others with it.
fn servers(root: &Path) -> Vec<Item> {
    const FILE: &str = ".mcp.json";
    let Some(content) = read(root, &root.join(FILE)) else { return Vec::new() };
    let servers = serde_json::from_slice::<serde_json::Value>(&content)
        .ok()
        .and_then(|mut value| value.get_mut("mcpServers").map(serde_json::Value::take));
    let Some(serde_json::Value::Object(servers)) = servers else {
        // Not understood, so all of it is one thing.
        return vec![Item::new(ItemKind::McpServer, FILE.to_owned(), content)];
    };
    servers
        .into_iter()
        .map(|(name, value)| {
            let text = serde_json::to_vec_pretty(&value).unwrap_or_default();
            Item::new(ItemKind::McpServer, format!("{FILE}#{name}"), text)
        })
        .collect()
}

/// The content of a file that is really in the project. A link out of it is nobody's to accept.
fn read(root: &Path, path: &Path) -> Option<Vec<u8>> {
    let real = path.canonicalize().ok()?;
    let metadata = std::fs::metadata(&real).ok()?;
    (real.starts_with(root) && metadata.is_file() && metadata.len() <= MAX_FILE)
        .then(|| std::fs::read(&real).ok())
        .flatten()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .take(MAX_FILES)
        .collect();
    paths.sort();
    paths
}

fn files_below(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![path.to_owned()];
    while let Some(path) = ahead.pop() {
        if found.len() >= MAX_FILES {
            break;
        }
        // A link to a folder could lead in a circle.
        let is_link = path.is_symlink();
        if path.is_dir() && !is_link {
            ahead.extend(entries(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub(super) fn whole(root: &Path, folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for file in files_below(folder) {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy();
        let content = read(root, &file).unwrap_or_else(|| b"(not readable, or outside the project)".to_vec());
        // The length keeps one file from posing as two.
        all.extend(format!("=== {name} ({} bytes)\n", content.len()).bytes());
        all.extend(content);
        all.push(b'\n');
    }
    all
}
