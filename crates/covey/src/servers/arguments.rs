//! What `covey mcp` is told.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use mcp::ServerConfig;

use crate::exit::Failure;

/// Programs that fetch what they run: useless without the network and a place for it.
const FETCHERS: &[(&str, &str)] =
    &[("npx", ".npm"), ("bunx", ".bun"), ("uvx", ".cache/uv"), ("pipx", ".local/pipx")];

#[derive(Args)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    pub(crate) command: McpCommand,
}

#[derive(Subcommand)]
pub(crate) enum McpCommand {
    /// Which servers there are: yours, and those of this project's .mcp.json
    List {
        #[arg(long)]
        json: bool,
    },
    /// Add a server to your settings: a command after `--`, or --url
    Add(AddArguments),
    /// Take a server out of your settings
    Remove { name: String },
    /// Start a server and show its tools, prompts and resources
    Test {
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Show what changed about a server since you took it in, and accept it
    Accept {
        name: String,
        /// Without asking
        #[arg(long)]
        yes: bool,
    },
    /// Log in to a server behind an address, in the browser
    Login { name: String },
    /// Forget the login of a server
    Logout { name: String },
    /// Be a server, on stdin and stdout: reading, code search and sessions of this project
    Serve,
}

#[derive(Args)]
pub(crate) struct AddArguments {
    pub(crate) name: String,
    /// The address of a server
    #[arg(long, conflicts_with = "command")]
    url: Option<String>,
    /// Sent with every request, `Name: value`; write ${NAME} for a variable that holds a secret
    #[arg(long, value_name = "HEADER", requires = "url")]
    header: Vec<String>,
    /// A variable that the program is given, `NAME=value`; write ${NAME} for one that holds a secret
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// The program may use the network
    #[arg(long)]
    network: bool,
    /// A folder that the program may read beside the project
    #[arg(long, value_name = "DIR")]
    read: Vec<PathBuf>,
    /// A folder that the program may change beside the project
    #[arg(long, value_name = "DIR")]
    write: Vec<PathBuf>,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Replace a server of this name
    #[arg(long)]
    pub(crate) force: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl AddArguments {
    pub(super) fn config(&self) -> Result<ServerConfig, Failure> {
        let pair = |text: &String, split: char, what: &str| match text.split_once(split) {
            Some((name, value)) if !name.trim().is_empty() => {
                Ok((name.trim().to_owned(), value.trim().to_owned()))
            }
            _ => Err(Failure::usage(format!("`{text}` is not {what}"))),
        };
        let headers: BTreeMap<String, String> = self
            .header
            .iter()
            .map(|text| pair(text, ':', "a header, `Name: value`"))
            .collect::<Result<_, _>>()?;
        let env = self
            .env
            .iter()
            .map(|text| pair(text, '=', "a variable, `NAME=value`"))
            .collect::<Result<_, _>>()?;
        let mut config = ServerConfig {
            command: self.command.first().cloned(),
            args: self.command.iter().skip(1).cloned().collect(),
            env,
            url: self.url.clone(),
            headers,
            timeout: self.timeout,
            network: self.network,
            reads: self.read.clone(),
            writes: self.write.clone(),
            ..ServerConfig::default()
        };
        let program =
            config.command.as_deref().and_then(|command| command.rsplit('/').next()).unwrap_or_default();
        if let Some((_, cache)) = FETCHERS.iter().find(|(name, _)| *name == program) {
            config.network = true;
            config.writes.extend(std::env::home_dir().map(|home| home.join(cache)));
        }
        Ok(config)
    }
}
