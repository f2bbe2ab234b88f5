//! Talking to GitHub through the person's own `gh`, so that no key of theirs comes near us.

use std::time::Duration;

use guard::Action;
use project::{Exit, Program, Streams, Task};

use crate::run::{Bounded, collect, say_exit};
use crate::{ToolContext, ToolError};

const MOST: usize = 4 * 1024 * 1024;
const SHOWN: usize = 12 * 1024;
const LIMIT: Duration = Duration::from_secs(90);

/// What is judged: the command line that will run, or, when there is none, `gh` as such.
pub(crate) fn action(argv: Result<Vec<String>, ToolError>, context: &ToolContext) -> Vec<Action> {
    let argv = argv.unwrap_or_else(|_| vec!["gh".to_owned()]);
    vec![Action::Program { argv, cwd: context.cwd.clone() }]
}

pub(crate) async fn run(context: &ToolContext, argv: Vec<String>) -> Result<String, ToolError> {
    if argv.iter().any(|word| word.contains('\0')) {
        return Err(ToolError("an argument can not hold a NUL byte".to_owned()));
    }
    let env =
        [("GH_PROMPT_DISABLED", "1"), ("GH_PAGER", "cat"), ("GH_NO_UPDATE_NOTIFIER", "1"), ("NO_COLOR", "1")];
    let task = Task {
        program: Program::Argv(argv),
        cwd: context.cwd.clone(),
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        streams: Streams::Out,
    };
    let collected = collect(context, task, MOST, LIMIT).await.map_err(|error| {
        if error.0.contains("`gh` was not found") {
            ToolError(
                "`gh`, GitHub's command line tool, is not installed (https://cli.github.com)".to_owned(),
            )
        } else {
            error
        }
    })?;
    let mut bounded = Bounded::new(SHOWN);
    bounded.push(&collected.bytes);
    let text = bounded.text(|gone| format!("… [{gone} bytes left out] …"));
    if collected.exit == Exit::Code(0) {
        return Ok(if text.trim().is_empty() { "done\n".to_owned() } else { text });
    }
    Err(ToolError(format!("gh: {}: {}", say_exit(collected.exit), text.trim())))
}
