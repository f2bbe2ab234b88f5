//! Job descriptions for sub-agents, as people write them.

use crate::FrontMatter;
use crate::shelf::{Shelf, Shelved, stem};

/// A role from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleText {
    pub name: String,
    pub description: String,
    pub prompt: String,
    pub model: Option<String>,
    pub max_steps: Option<u32>,
    pub read_only: bool,
    /// All if empty.
    pub tools: Vec<String>,
}

/// A tool by the name that it has here: files that were written for Claude Code use its names.
fn ours(tool: &str) -> String {
    let name = tool.split_once('(').map_or(tool, |(name, _)| name).trim().to_lowercase();
    let here = match name.as_str() {
        "bash" => "shell",
        "ls" => "list_dir",
        "multiedit" => "edit",
        "todowrite" | "todoread" => "todo",
        "webfetch" => "web_fetch",
        "websearch" => "web_search",
        other => other,
    };
    here.to_owned()
}

#[cfg(test)]
#[test]
fn tools_of_other_programs_are_ours_by_another_name() {
    let names = ["Read", "Bash(git log:*)", "LS", "WebFetch", "mcp__git__log"].map(ours);
    assert_eq!(names, ["read", "shell", "list_dir", "web_fetch", "mcp__git__log"]);
}

impl Shelf<'_> {
    /// Every role that may be used, the person's first. The first of a name counts.
    pub fn roles(&self) -> Shelved<RoleText> {
        let mut shelved = Shelved::default();
        let mut roles: Vec<RoleText> = Vec::new();
        for path in self.files("roles", &[".covey/roles", ".covey/agents", ".claude/agents"]) {
            let Some(text) = self.read(&path, &mut shelved) else { continue };
            let (front, body) = FrontMatter::split(&text);
            let name = front.text("name").map_or_else(|| stem(&path), str::to_owned);
            if roles.iter().any(|known| known.name == name) {
                continue;
            }
            roles.push(RoleText {
                name,
                description: front.text("description").unwrap_or_default().to_owned(),
                prompt: body.to_owned(),
                // Other programs' short names for models mean nothing here.
                model: front.text("model").filter(|name| name.contains('/')).map(str::to_owned),
                max_steps: front.text("max_steps").and_then(|steps| steps.parse().ok()),
                read_only: front.flag("read_only").unwrap_or(false),
                tools: front.list("tools").iter().map(|tool| ours(tool)).collect(),
            });
        }
        shelved.items = roles;
        shelved
    }
}
