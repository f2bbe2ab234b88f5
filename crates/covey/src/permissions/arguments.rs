//! What can be typed after `covey guard`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use protocol::Mode;

#[derive(Args)]
pub(crate) struct GuardArguments {
    #[command(subcommand)]
    pub(crate) command: GuardCommand,
}

#[derive(Subcommand)]
pub(crate) enum GuardCommand {
    /// What would happen to a command, and why; nothing is run
    Explain(ExplainArguments),
    /// Every rule that holds in this folder, and where it comes from; or add some
    Rules(RulesArguments),
    /// Forget an answer that was kept: a rule, or all of this project's
    Forget {
        /// As `covey guard rules` shows it
        #[arg(value_name = "RULE", required_unless_present = "all")]
        rule: Option<String>,
        /// Everything that was kept for this project
        #[arg(long, conflicts_with = "rule")]
        all: bool,
        #[arg(long)]
        json: bool,
    },
    /// Why something was allowed, asked or denied, from the audit logs
    Why {
        /// Only actions that hold this text
        #[arg(value_name = "TEXT")]
        text: Option<String>,
        /// At most this many, the newest first
        #[arg(short = 'n', long, value_name = "N", default_value_t = 5)]
        limit: usize,
        #[arg(long)]
        json: bool,
    },
    /// The record of every decision; `verify` names what was changed or is missing
    Audit {
        #[command(subcommand)]
        command: Option<AuditCommand>,
        /// Only this session
        #[arg(long, value_name = "SESSION", global = true)]
        session: Option<String>,
        #[arg(long, global = true)]
        json: bool,
    },
    /// What a set of rules would have done in recorded sessions
    Backtest(BacktestArguments),
    /// Hooks, servers, skills and settings of this repository: nothing acts before it is accepted
    Trust {
        #[command(subcommand)]
        command: Option<TrustCommand>,
        #[arg(long, global = true)]
        json: bool,
    },
    /// Judge the built-in collection of labelled commands and print the confusion matrix
    Corpus {
        #[arg(long, default_value = "auto")]
        mode: Mode,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct ExplainArguments {
    /// The command, as it would be typed
    #[arg(value_name = "COMMAND", required_unless_present = "batch")]
    pub(crate) command: Option<String>,
    /// Read commands from stdin, a JSON string a line, and answer a line each
    #[arg(long, conflicts_with = "command")]
    pub(crate) batch: bool,
    /// As if this were the mode: explore, plan, ask, edit, auto or full
    #[arg(long)]
    pub(crate) mode: Option<Mode>,
    /// As if this rule were given: shell(cargo run *)
    #[arg(long, value_name = "RULE", value_parser = rule)]
    pub(crate) allow: Vec<String>,
    #[arg(long, value_name = "RULE", value_parser = rule)]
    pub(crate) deny: Vec<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Check the chain of hashes of every log
    Verify,
}

#[derive(Args)]
pub(crate) struct RulesArguments {
    /// Add a rule: what it names runs unasked
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Add a rule: what it names is asked about
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// Add a rule: what it names never runs
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Add it for every project, not only for this one
    #[arg(long)]
    pub(crate) everywhere: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct BacktestArguments {
    /// Rules to try instead of those in force: a TOML file with `allow`, `ask`, `deny` and `auto`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) rules: Option<PathBuf>,
    /// As if this had been the mode
    #[arg(long)]
    pub(crate) mode: Option<Mode>,
    /// Only this session: its id, the start of it, or words of its title
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum TrustCommand {
    /// What there is, and how it stands
    List,
    /// Accept items as they are now; what is new about each is shown
    Accept {
        #[arg(value_name = "ITEM", required_unless_present = "all")]
        items: Vec<String>,
        #[arg(long, conflicts_with = "items")]
        all: bool,
    },
    /// Take trust back
    Revoke {
        #[arg(value_name = "ITEM", required_unless_present = "all")]
        items: Vec<String>,
        #[arg(long, conflicts_with = "items")]
        all: bool,
    },
}

/// A rule that can be read.
pub(crate) fn rule(text: &str) -> Result<String, String> {
    match text.parse::<guard::Rule>() {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(format!("{}\n{}", error.problem, error.hint())),
    }
}
