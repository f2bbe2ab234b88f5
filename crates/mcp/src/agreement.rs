//! What the person agreed to when they took a server in: its tools, word for word.
//!
//! A tool's description is an instruction to the model, so a server that changes it after the fact could make the model do
//! anything. What is new or changed is held until the person has looked at it. It is also how a session knows a server's
//! tools without starting it.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{PromptInfo, ServerConfig};

/// More tools than this are a flood.
pub(crate) const MAX_TOOLS: usize = 500;
const MAX_FILE: u64 = 8 << 20;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub schema: Value,
    /// What its maker says, which is a hint and no promise.
    #[serde(default)]
    pub read_only: bool,
}

/// What a server has, as it was accepted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Agreement {
    pub tools: Vec<ToolInfo>,
    /// Run by the person, so no more than a list.
    pub prompts: Vec<PromptInfo>,
}

/// How a server differs from what was agreed.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    New(ToolInfo),
    Changed { before: ToolInfo, after: ToolInfo },
    Gone(String),
}

impl Difference {
    pub fn tool(&self) -> &str {
        match self {
            Self::New(tool) | Self::Changed { after: tool, .. } => &tool.name,
            Self::Gone(name) => name,
        }
    }
}

impl Agreement {
    /// Where the agreement with a server is kept below the person's data. Another command is another server.
    pub fn file(data: &Path, name: &str, config: &ServerConfig) -> PathBuf {
        let what = serde_json::to_vec(&(&config.command, &config.args, &config.url)).unwrap_or_default();
        let hash = blake3::hash(&what).to_hex();
        data.join("mcp").join(format!("{name}-{}.json", &hash.as_str()[..16]))
    }

    /// What was agreed; none when nothing was, or it is not understood.
    pub fn read(file: &Path) -> Option<Self> {
        if std::fs::metadata(file).ok()?.len() > MAX_FILE {
            return None;
        }
        serde_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    /// The text to be kept, for whoever writes private files.
    pub fn to_json(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec_pretty(self)?)
    }

    pub fn get(&self, tool: &str) -> Option<&ToolInfo> {
        self.tools.iter().find(|known| known.name == tool)
    }

    pub fn differences(&self, now: &[ToolInfo]) -> Vec<Difference> {
        let gone = |before: &&ToolInfo| !now.iter().any(|tool| tool.name == before.name);
        let gone = self.tools.iter().filter(gone).map(|tool| Difference::Gone(tool.name.clone()));
        let changed = now.iter().filter_map(|after| match self.get(&after.name) {
            None => Some(Difference::New(after.clone())),
            Some(before) if before != after => {
                Some(Difference::Changed { before: before.clone(), after: after.clone() })
            }
            Some(_) => None,
        });
        changed.chain(gone).collect()
    }
}
