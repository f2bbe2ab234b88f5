//! Running `git` for a model: nobody to ask, nothing of the repository's that runs, bounded answers.

mod status;

use std::path::{Path, PathBuf};
use std::time::Duration;

use guard::Action;
use project::{Exit, Program, Streams, Task};
use serde_json::Value;

pub(crate) use status::describe as describe_status;

use crate::run::{Bounded, collect, say_exit};
use crate::{ToolContext, ToolError, ToolOutput};

/// What is read of one answer. A diff larger than this is looked at file by file.
const MOST: usize = 4 * 1024 * 1024;
/// What the model sees of each end.
const SHOWN: usize = 12 * 1024;
const LIMIT: Duration = Duration::from_secs(100);

/// What a repository's settings could have git start while it only looks.
const QUIET: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.quotePath=false",
    "log.showSignature=false",
    "color.ui=false",
];

/// How git is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hooks {
    Off,
    /// The repository's hooks run: only when that was asked for.
    On,
}

/// The whole command line. What is judged is what is run.
pub(crate) fn argv(hooks: Hooks, arguments: &[&str]) -> Vec<String> {
    let mut argv = vec!["git".to_owned(), "--no-pager".to_owned()];
    for setting in QUIET {
        if hooks == Hooks::Off || !setting.starts_with("core.hooksPath") {
            argv.extend(["-c".to_owned(), setting.to_owned()]);
        }
    }
    argv.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    argv
}

/// Runs one command line; an exit code other than 0 is an error that says what git said.
pub(crate) async fn run(context: &ToolContext, cwd: &Path, argv: Vec<String>) -> Result<Vec<u8>, ToolError> {
    if argv.iter().any(|argument| argument.contains('\0')) {
        return Err(ToolError("an argument can not hold a NUL byte".to_owned()));
    }
    let env = [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_EDITOR", "true"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("LC_ALL", "C.UTF-8"),
    ];
    let task = Task {
        program: Program::Argv(argv),
        cwd: cwd.to_owned(),
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        streams: Streams::Out,
    };
    let collected = collect(context, task, MOST, LIMIT).await?;
    if collected.exit == Exit::Code(0) {
        return Ok(collected.bytes);
    }
    let said = String::from_utf8_lossy(&collected.bytes);
    let said = said.trim();
    if said.contains("not a git repository") {
        return Err(ToolError(format!("`{}` is not in a git repository", cwd.display())));
    }
    let said: String = said.chars().take(2000).collect();
    Err(ToolError(format!("git: {}: {said}", say_exit(collected.exit))))
}

/// A name of a commit, branch or range, which must not be taken for an option.
pub(crate) fn revision(name: &str) -> Result<&str, ToolError> {
    let is_odd = |c: char| c.is_control() || c.is_whitespace();
    // A message may be looked for with `:/some words`, and dates have spaces: only what no name can have is refused.
    if name.is_empty() || name.starts_with('-') || name.chars().any(|c| c.is_control()) {
        return Err(ToolError(format!("`{}` is not a revision", name.replace(is_odd, " "))));
    }
    Ok(name)
}

/// The folder that a call is about.
pub(crate) fn folder(input: &Value, context: &ToolContext) -> PathBuf {
    input.get("cwd").and_then(Value::as_str).map_or_else(|| context.cwd.clone(), |cwd| context.path(cwd))
}

/// A call that only looks at the repository.
pub(crate) fn looks(input: &Value, context: &ToolContext) -> Vec<Action> {
    vec![Action::Read { paths: vec![folder(input, context)] }]
}

/// An answer for the model: both ends if it is long.
pub(crate) fn answer(bytes: &[u8], empty: &str, summary: impl Into<String>) -> ToolOutput {
    let mut bounded = Bounded::new(SHOWN);
    bounded.push(bytes);
    let mut text =
        bounded.text(|gone| format!("… [{gone} bytes left out; ask for one path or fewer commits] …"));
    if bytes.len() >= MOST {
        text.push_str("\n… [there is more]\n");
    }
    if text.trim().is_empty() {
        text = format!("{empty}\n");
    }
    ToolOutput::new(text, summary)
}

/// `3 commits`, `1 commit`.
pub(crate) fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
