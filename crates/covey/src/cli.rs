//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use project::HumanDuration;
use protocol::{Effort, Mode};

/// Coding agents working as one team, on your machine.
#[derive(Parser)]
#[command(name = "covey", version, disable_help_subcommand = true, after_help = EXIT_CODES, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) talk: TalkArguments,
}

/// `covey` alone, on a terminal: a conversation in this folder.
#[derive(Debug, Args)]
pub(crate) struct TalkArguments {
    /// Who answers
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Which model: PROVIDER/MODEL, or the name of a chain
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How much the agent may do without asking: explore, plan, ask, edit, auto or full
    #[arg(long)]
    pub(crate) mode: Option<Mode>,
    /// Go on with this session: its id, the start of it, or words of its title
    #[arg(long, value_name = "ID", conflicts_with = "continue_latest")]
    pub(crate) session: Option<String>,
    /// Go on with the newest session of this folder
    #[arg(long = "continue")]
    pub(crate) continue_latest: bool,
    /// Join a running `covey serve`: the address that it printed; its token may be in COVEY_TOKEN instead
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Use the whole screen instead of the terminal's scrollback
    #[arg(long)]
    pub(crate) fullscreen: bool,
    /// Work in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// A folder that the session works in besides its own; may be given several times
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) add_dir: Vec<PathBuf>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 failed; 2 wrong usage or configuration; 3 something was denied for want of a person; \
4 a limit or time-out stopped it; 5 no model could be reached; 130 cancelled.";

const IMPORT_HELP: &str = "\
Where they are:
  Claude Code  ~/.claude/projects/FOLDER/SESSION.jsonl
  Codex        ~/.codex/sessions/YEAR/MONTH/DAY/rollout-*.jsonl
  Gemini CLI   ~/.gemini/tmp/PROJECT/chats/session-*.jsonl
  OpenCode     opencode export SESSION > FILE";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Ask one thing, headless: the answer goes to stdout
    Run(Box<RunArguments>),
    /// Serve the web UI and an API on this machine
    Serve(ServeArguments),
    /// Be an agent of an editor that speaks the Agent Client Protocol, on stdin and stdout
    Acp(AcpArguments),
    /// Record what an editor and an agent say to each other, check it, play it again
    AcpProxy(crate::acp_proxy::ProxyArguments),
    /// A command within the walls, in somebody else's terminal
    #[command(hide = true)]
    Inside(crate::inside::InsideArguments),
    /// Look at, search, export and manage recorded sessions
    Session(SessionArguments),
    /// Find code in this project, by words and by meaning
    Search(Box<SearchArguments>),
    /// Make the index that search asks, look at it, measure it
    Index(IndexArguments),
    /// Which models there are, which can be used, and what they cost
    Models(ModelsArguments),
    /// Agents of other makers: which are here, whether they work, how to get them
    Agents(AgentsArguments),
    /// What the built-in agent can do
    Tools(ToolsArguments),
    /// MCP servers: add, look at and test them, or be one
    Mcp(crate::servers::McpArguments),
    /// Keys and logins: add, remove, look at and choose them
    Auth(AuthArguments),
    /// What may happen and why, what was decided, what of this repository is trusted
    Guard(crate::permissions::GuardArguments),
    /// Show and change settings
    Config(ConfigArguments),
    /// What was spent, as a chart
    Stats(StatsArguments),
    /// Check this machine: settings, models, storage
    Doctor(DoctorArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct RunArguments {
    /// What to ask; `-` reads it from stdin, which is not touched otherwise
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Option<String>,
    /// One event a line as it is recorded, and last a line of type `result`
    #[arg(long)]
    pub(crate) json: bool,
    /// Who answers: a name, or in quotes a command that speaks the Agent Client Protocol
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Which model: PROVIDER/MODEL, or the name of a chain
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How much the agent may do without asking: explore, plan, ask, edit, auto or full
    #[arg(long)]
    pub(crate) mode: Option<Mode>,
    /// How much it thinks before it answers: none, low, medium, high or max
    #[arg(long, value_name = "LEVEL")]
    pub(crate) effort: Option<Effort>,
    /// Allow without asking what this rule matches, such as shell(cargo run *); may be given several times
    #[arg(long, value_name = "RULE", value_parser = crate::permissions::rule)]
    pub(crate) allow: Vec<String>,
    /// Never let happen what this rule matches; may be given several times
    #[arg(long, value_name = "RULE", value_parser = crate::permissions::rule)]
    pub(crate) deny: Vec<String>,
    /// What commands may touch: read-only, workspace, workspace+net or off
    #[arg(long, value_name = "LEVEL")]
    pub(crate) sandbox: Option<guard::SandboxLevel>,
    /// Calls to the model at the most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// Stop when this many US dollars are spent
    #[arg(long, value_name = "USD", value_parser = positive)]
    pub(crate) max_cost: Option<f64>,
    /// Stop when this many tokens, in and out, are spent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// Stop after this long, such as 90s or 5m
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<HumanDuration>,
    /// Go on with this session: its id, the start of it, or words of its title
    #[arg(long, value_name = "ID", conflicts_with = "continue_latest")]
    pub(crate) session: Option<String>,
    /// Go on with the newest session of this folder
    #[arg(long = "continue")]
    pub(crate) continue_latest: bool,
    /// Go on in a copy of the session and leave the original alone
    #[arg(long)]
    pub(crate) fork: bool,
    /// Keep nothing when it is over
    #[arg(long, conflicts_with_all = ["session", "continue_latest", "fork"])]
    pub(crate) ephemeral: bool,
    /// A picture that goes with the prompt; may be given several times
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) image: Vec<PathBuf>,
    /// Work in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
    /// A folder that the session works in besides its own; may be given several times
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) add_dir: Vec<PathBuf>,
    /// Leave as soon as it is done, though its agent still builds something in the background
    #[arg(long)]
    pub(crate) force: bool,
    /// Let a running `covey serve` do it: the address that it printed; its token may be in COVEY_TOKEN instead
    #[arg(long, value_name = "URL", conflicts_with_all = ["allow", "deny", "sandbox"])]
    pub(crate) server: Option<String>,
}

#[derive(Args)]
#[command(after_help = "\
Whoever has the printed address can do on this machine what you can do. It is of this run only, and works on this machine \
only; --bind says how to reach it from another one.")]
pub(crate) struct ServeArguments {
    /// Listen here instead of on this machine only: ADDRESS:PORT, or a PORT on this machine
    #[arg(long, value_name = "ADDR")]
    pub(crate) bind: Option<String>,
    /// A name under which a reverse proxy serves it, such as covey.example.org; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Open it in the browser
    #[arg(long)]
    pub(crate) open: bool,
    /// How long turns that run may take to end when the server is stopped; the next run takes up what is left
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) grace: u64,
    /// Let go of sessions that nobody watches and in which nothing happens for this long; they are opened again when asked for
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    pub(crate) idle: HumanDuration,
    /// Print the address as {"url","token"}
    #[arg(long)]
    pub(crate) json: bool,
    /// Where new sessions work
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct SessionArguments {
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

/// A session is named by its id, the start of it, or words of its title.
#[derive(Debug, Args)]
pub(crate) struct ToolsArguments {
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// The newest of this folder if absent
    #[arg(value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// `turn` (the last one, the default), `step`, `all`, or the first turn (t3) or call (t3_c1) to take back
    #[arg(long = "to", value_name = "WHAT")]
    pub(crate) what: Option<String>,
    /// Only this file or folder, relative to the project or absolute
    #[arg(long, value_hint = ValueHint::AnyPath)]
    pub(crate) path: Option<PathBuf>,
    /// Show what would happen, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Even over what somebody else changed since
    #[arg(long)]
    pub(crate) force: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum SessionCommand {
    /// List sessions, the newest first
    List {
        /// At most this many
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// Every session there is
        #[arg(long, conflicts_with = "limit")]
        all: bool,
        /// Only those of this folder
        #[arg(long)]
        here: bool,
        #[arg(long)]
        json: bool,
    },
    /// Show the conversation
    Show {
        #[arg(value_name = "SESSION")]
        session: String,
        /// Only the newest N events, read from the end
        #[arg(long, value_name = "N")]
        last: Option<usize>,
        #[arg(long)]
        json: bool,
    },
    /// Find words in prompts, answers and tool calls
    Search {
        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
        limit: usize,
        #[arg(long)]
        json: bool,
    },
    /// Write a session as Markdown, HTML or JSON
    Export {
        #[arg(value_name = "SESSION")]
        session: String,
        #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
        format: ExportFormat,
        /// Where to; stdout if absent
        #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
        /// The same as --format json
        #[arg(long, conflicts_with = "format")]
        json: bool,
    },
    /// Take over past sessions from the files of Claude Code, Codex, Gemini CLI and OpenCode, and say what is lost
    #[command(after_help = IMPORT_HELP)]
    Import {
        #[arg(value_name = "FILE", required_unless_present = "from", value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
        /// The newest session that this agent had in this folder: claude, codex or gemini
        #[arg(long, value_name = "AGENT", conflicts_with = "files")]
        from: Option<String>,
        /// Only show which sessions that agent had in this folder
        #[arg(long, requires = "from")]
        list: bool,
        /// Where it worked, if the file does not say
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        cwd: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// Play a session again in the terminal
    Replay {
        #[arg(value_name = "SESSION")]
        session: String,
        /// How much faster than it was
        #[arg(long, default_value_t = 1.0, value_parser = positive)]
        speed: f64,
        /// No pause is longer than this
        #[arg(long, value_name = "DURATION", default_value = "2s")]
        idle: HumanDuration,
        /// Only events of these types
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// Only events that hold this text
        #[arg(long, value_name = "TEXT")]
        text: Option<String>,
        /// Start at this event
        #[arg(long, value_name = "SEQ", default_value_t = 0)]
        from: u64,
        /// One event a line, without pauses
        #[arg(long)]
        json: bool,
    },
    /// Make a new session that has another one's events
    Fork {
        #[arg(value_name = "SESSION")]
        session: String,
        /// Up to and including this event; all of them if absent
        #[arg(long, value_name = "SEQ")]
        at: Option<u64>,
        #[arg(long)]
        json: bool,
    },
    /// Give a session a title
    Rename {
        #[arg(value_name = "SESSION")]
        session: String,
        title: String,
        #[arg(long)]
        json: bool,
    },
    /// Remove a session for good
    Delete {
        #[arg(value_name = "SESSION", required = true)]
        sessions: Vec<String>,
        #[arg(long)]
        json: bool,
    },
    /// Show what fills the model's window, and what it costs
    Context {
        #[arg(value_name = "SESSION")]
        session: String,
        #[arg(long)]
        json: bool,
    },
    /// Bring back what was summarised or cut to save room
    Uncompact {
        #[arg(value_name = "SESSION")]
        session: String,
        #[arg(long)]
        json: bool,
    },
    /// Take back what an agent did to files, with a preview
    Undo(UndoArguments),
    /// Do again what was undone
    Redo(UndoArguments),
    /// Show what a session did to files
    Diff {
        /// The newest of this folder if absent
        #[arg(value_name = "SESSION")]
        session: Option<String>,
        /// Only since this turn
        #[arg(long, value_name = "TURN")]
        turn: Option<String>,
        /// Only this file or folder, relative to the project
        #[arg(long, value_hint = ValueHint::AnyPath)]
        path: Option<PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// Check a session's files: what is damaged, what was repaired
    Verify {
        /// All of them if absent
        #[arg(value_name = "SESSION")]
        session: Option<String>,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    Markdown,
    Html,
    Json,
}

#[derive(Args)]
pub(crate) struct SearchArguments {
    /// A name, some words, a question, an error, an issue
    #[arg(value_name = "QUERY", required_unless_present = "queries")]
    pub(crate) query: Option<String>,
    /// How many results
    #[arg(short = 'k', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// One result a line; with --queries one query a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Many queries from a file, a line each: {"id","query"}; `-` is stdin
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "query", requires = "json")]
    pub(crate) queries: Option<PathBuf>,
    /// By words, by meaning or both
    #[arg(long, value_enum, default_value_t = SearchMode::Hybrid)]
    pub(crate) mode: SearchMode,
    /// How both are put together
    #[arg(long, value_enum, default_value_t = SearchFusion::Sum)]
    pub(crate) fusion: SearchFusion,
    /// Only files in this language; may be given several times
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) lang: Vec<String>,
    /// Only these paths, written as in an ignore file: src/, *.rs; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub(crate) path: Vec<String>,
    /// How fine the results are
    #[arg(long, value_enum)]
    pub(crate) level: Option<SearchLevel>,
    /// Say why each result is where it is
    #[arg(long)]
    pub(crate) explain: bool,
    /// Search this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) cwd: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum SearchMode {
    Hybrid,
    Lexical,
    Dense,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum SearchFusion {
    Sum,
    Rrf,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum SearchLevel {
    File,
    Symbol,
    Block,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct IndexArguments {
    #[command(subcommand)]
    pub(crate) command: Option<IndexCommand>,
    #[command(flatten)]
    pub(crate) folder: IndexFolder,
    /// Return when words can be searched, without waiting for vectors
    #[arg(long)]
    pub(crate) lexical: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct IndexFolder {
    /// The folder to index; this project if absent
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Subcommand)]
pub(crate) enum IndexCommand {
    /// Files, pieces, vectors, size and age
    Status {
        #[command(flatten)]
        folder: IndexFolder,
        #[arg(long)]
        json: bool,
    },
    /// Remove the index
    Clear {
        #[command(flatten)]
        folder: IndexFolder,
        #[arg(long)]
        json: bool,
    },
    /// Measure search on this project's own history: from a commit's subject to the files it changed
    Eval {
        #[command(flatten)]
        folder: IndexFolder,
        /// How many commits at the most
        #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=5000))]
        commits: u16,
        /// By words, by meaning or both
        #[arg(long, value_enum, default_value_t = SearchMode::Hybrid)]
        mode: SearchMode,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ModelsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ModelsCommand>,
    /// Ask the providers anew
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Also those that can not be used now
    #[arg(long)]
    pub(crate) all: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum ModelsCommand {
    /// How the routes to models are: closed, open, half open, parked or disabled
    Status {
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub(crate) struct AcpArguments {
    /// Who answers in new sessions
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Which model: PROVIDER/MODEL, or the name of a chain
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How much the agent may do without asking: explore, plan, ask, edit, auto or full
    #[arg(long)]
    pub(crate) mode: Option<Mode>,
    /// How long turns that run may take to end when standard input has ended and somebody still reads
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(crate) grace: u64,
    /// Connect a model, on a terminal, instead
    #[arg(long)]
    pub(crate) login: bool,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AgentsArguments {
    #[command(subcommand)]
    pub(crate) command: Option<AgentsCommand>,
    /// Ask each of them anew
    #[arg(long)]
    pub(crate) refresh: bool,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand)]
pub(crate) enum AgentsCommand {
    /// Have an agent say hello, and show everything that comes of it
    Test {
        name: String,
        #[arg(long)]
        json: bool,
    },
    /// Which run now, for whom, and what memory they and what they started take
    Status {
        #[arg(long)]
        json: bool,
    },
    /// Install an agent, after asking
    Install {
        name: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Log in with an agent's own program
    Login { name: String },
}

#[derive(Args)]
pub(crate) struct AuthArguments {
    #[command(subcommand)]
    pub(crate) command: AuthCommand,
}

#[derive(Subcommand)]
pub(crate) enum AuthCommand {
    /// Add an account: in the browser where the provider offers that, else by its key
    Login {
        provider: String,
        /// What to call the account, if there are several
        #[arg(long)]
        label: Option<String>,
        /// Log in with a code on another device
        #[arg(long, conflicts_with = "key_stdin")]
        device: bool,
        /// Read a key from stdin; it is never taken from the command line
        #[arg(long)]
        key_stdin: bool,
    },
    /// Forget an account, or all of a provider's
    Logout {
        provider: String,
        #[arg(long)]
        label: Option<String>,
    },
    /// Which accounts there are, and how they are
    Status {
        #[arg(long)]
        json: bool,
    },
    /// Use this account first
    Use { provider: String, label: String },
}

#[derive(Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting and where it comes from
    Show {
        #[arg(long)]
        json: bool,
    },
    /// Print one setting
    Get {
        #[arg(value_name = "KEY")]
        key: String,
        #[arg(long)]
        json: bool,
    },
    /// Change one setting; comments and layout stay
    Set {
        #[arg(value_name = "KEY")]
        key: String,
        #[arg(value_name = "VALUE", required_unless_present = "unset")]
        value: Option<String>,
        /// Remove it instead
        #[arg(long, conflicts_with = "value")]
        unset: bool,
        #[command(flatten)]
        file: ConfigFile,
    },
    /// Print where settings are read from
    Path {
        #[arg(long)]
        json: bool,
    },
    /// Open the settings in $VISUAL or $EDITOR
    Edit {
        #[command(flatten)]
        file: ConfigFile,
    },
}

#[derive(Args)]
pub(crate) struct ConfigFile {
    /// The project's file, shared with the team
    #[arg(long, conflicts_with = "local")]
    pub(crate) project: bool,
    /// The project's file that is not committed
    #[arg(long)]
    pub(crate) local: bool,
}

#[derive(Args)]
pub(crate) struct StatsArguments {
    /// How far back: the last 24 hours, 7 days or 30 days
    #[arg(value_enum, default_value_t = Span::Week)]
    pub(crate) span: Span,
    /// Add up by this instead of by day
    #[arg(long, value_enum)]
    pub(crate) by: Option<By>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Span {
    Day,
    Week,
    Month,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum By {
    Model,
    Agent,
    Project,
}

#[derive(Args)]
pub(crate) struct DoctorArguments {
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct CompletionsArguments {
    /// bash, elvish, fish, powershell or zsh
    pub(crate) shell: clap_complete::Shell,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("must be a number above 0".to_owned()),
    }
}
