//! How servers are written down: in `[mcp.NAME]` of the settings, and in `.mcp.json` as other programs do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// One server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerConfig {
    /// A program that speaks the protocol on its standard input and output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Or an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Seconds that a call may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
    /// What the program needs beside the project, which it may read and write.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<PathBuf>,
    /// Only these of its tools; all without it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// A server that is written down wrongly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("MCP server `{server}`: {why}")]
pub struct BadConfig {
    pub server: String,
    pub why: String,
}

impl ServerConfig {
    pub fn check(&self, server: &str) -> Result<(), BadConfig> {
        let bad = |why: &str| Err(BadConfig { server: server.to_owned(), why: why.to_owned() });
        if server.is_empty()
            || server.len() > 40
            || !server.chars().all(|c| c.is_alphanumeric() || "-_".contains(c))
        {
            return bad("a name has letters, digits, `-` and `_`, 40 at the most");
        }
        match (&self.command, &self.url) {
            (Some(command), None) if command.trim().is_empty() => bad("the command is empty"),
            (Some(_), None) => Ok(()),
            (None, Some(url)) if url.starts_with("https://") || url.starts_with("http://") => Ok(()),
            (None, Some(_)) => bad("the address begins with http:// or https://"),
            (None, None) => bad("it needs a `command` or a `url`"),
            (Some(_), Some(_)) => bad("it has both a `command` and a `url`"),
        }
    }

    pub fn time_limit(&self) -> Duration {
        self.timeout.map_or(DEFAULT_TIMEOUT, |seconds| Duration::from_secs(seconds.clamp(1, 3600)))
    }

    /// Whether a tool of this name is wanted.
    pub fn wants(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|name| name == tool)
    }

    /// With `${NAME}` and `${NAME:-otherwise}` filled in. A variable that is not set and has nothing otherwise is named
    /// in the error.
    pub fn filled(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let fill = |text: &String| filled(text, variable);
        let all = |map: &BTreeMap<String, String>| -> Result<BTreeMap<String, String>, String> {
            map.iter().map(|(name, value)| Ok((name.clone(), fill(value)?))).collect()
        };
        Ok(Self {
            command: self.command.as_ref().map(fill).transpose()?,
            args: self.args.iter().map(fill).collect::<Result<_, _>>()?,
            env: all(&self.env)?,
            url: self.url.as_ref().map(fill).transpose()?,
            headers: all(&self.headers)?,
            ..self.clone()
        })
    }

    /// In one line, for lists.
    pub fn shown(&self) -> String {
        match (&self.command, &self.url) {
            (Some(command), _) => {
                let words: Vec<&str> =
                    std::iter::once(command.as_str()).chain(self.args.iter().map(String::as_str)).collect();
                words.join(" ")
            }
            (None, Some(url)) => url.clone(),
            (None, None) => String::new(),
        }
    }
}

fn filled(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        let Some(end) = after.find('}') else {
            rest = &rest[at..];
            break;
        };
        let (name, otherwise) = match after[..end].split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (&after[..end], None),
        };
        match variable(name).or_else(|| otherwise.map(str::to_owned)) {
            Some(value) => out.push_str(&value),
            None => return Err(format!("the variable `{name}` is not set")),
        }
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The servers of a `.mcp.json`, each by itself; one that is not understood does not take the others with it.
pub fn servers_in_json(text: &str) -> Vec<(String, Result<ServerConfig, BadConfig>)> {
    let Ok(mut file) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let Some(Value::Object(servers)) = file.get_mut("mcpServers").map(Value::take) else { return Vec::new() };
    let read = |(name, value): (String, Value)| {
        let config = serde_json::from_value::<ServerConfig>(value)
            .map_err(|error| BadConfig { server: name.clone(), why: error.to_string() })
            .and_then(|config| config.check(&name).map(|()| config));
        (name, config)
    };
    servers.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_or_named() {
        let variable = |name: &str| (name == "KEY").then(|| "secret".to_owned());
        let fill = |text: &str| filled(text, &variable);
        assert_eq!(fill("Bearer ${KEY}").unwrap(), "Bearer secret");
        assert_eq!(fill("${NO:-x}/${KEY}/$KEY/${").unwrap(), "x/secret/$KEY/${");
        assert_eq!(fill("${NO}").unwrap_err(), "the variable `NO` is not set");
        // What is filled in is not looked through again.
        assert_eq!(filled("${A}", &|_| Some("${A}".to_owned())).unwrap(), "${A}");
    }

    #[test]
    fn servers_are_read_one_by_one() {
        let text = r#"{"mcpServers": {
            "git": {"command": "uvx", "args": ["mcp-server-git"], "type": "stdio"},
            "web": {"type": "http", "url": "https://example.org/mcp", "headers": {"A": "b"}},
            "both": {"command": "x", "url": "https://example.org"},
            "bad": {"command": 7},
            "no name!": {"command": "x"}
        }}"#;
        let read = servers_in_json(text);
        let names: Vec<(&str, bool)> =
            read.iter().map(|(name, config)| (name.as_str(), config.is_ok())).collect();
        assert_eq!(
            names,
            [("git", true), ("web", true), ("both", false), ("bad", false), ("no name!", false)]
        );
        for hostile in ["", "[]", "{\"mcpServers\": 3}", "{", "null"] {
            assert!(servers_in_json(hostile).is_empty(), "{hostile}");
        }
    }
}
