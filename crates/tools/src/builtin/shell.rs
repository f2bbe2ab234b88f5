//! `shell`: a command line.
//!
//! Over pipes unless told otherwise: a program then prints for a reader (no pager, no colours, no redrawn screen), which is
//! what a model is, and every host can do it. What insists on a terminal gets one with `pty`.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use project::{EntryKind, Program, Streams, Task, TerminalSize};
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::report::one_line;
use crate::run::{Capture, Ended, Jobs, job_news, run, say_exit, shorten, with_input};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_SECONDS: u64 = 120;
const MAX_SECONDS: u64 = 1800;
/// The system takes no longer argument.
const MAX_COMMAND: usize = 128 * 1024 - 1;
/// What a pipe holds, see [`run`].
const MAX_STDIN: usize = 64 * 1024;
/// What a terminal holds of what was typed before anybody reads it.
pub(super) const MAX_TYPED: usize = 4000;
/// Wide enough for tables, and no wider than a person would have it.
const SIZE: TerminalSize = TerminalSize { columns: 120, rows: 40 };
/// Beyond the command's own limit: for ending it, and for what it still has to say.
const MARGIN: Duration = Duration::from_secs(10);

pub(crate) struct Shell;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    timeout: Option<u64>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    stdin: Option<String>,
    #[serde(default)]
    pty: bool,
}

#[async_trait]
impl Tool for Shell {
    fn name(&self) -> &str {
        "shell"
    }

    fn description(&self) -> &str {
        "Run a bash command; answers output and exit code. Nobody answers prompts. \
         Start servers and long builds with `background`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "minLength": 1},
                "cwd": {"type": "string", "description": "folder to start in"},
                "timeout": {"type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "description": "seconds, 120 if absent"},
                "background": {"type": "boolean", "description": "answer at once with a job number"},
                "stdin": {"type": "string", "description": "text to read"},
                "pty": {"type": "boolean", "description": "on a terminal"}
            },
            "required": ["command"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn group(&self) -> Group {
        Group::Run
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
        format!("$ {}", shorten(command))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        let command = text("command").unwrap_or_default();
        let command = match text("stdin") {
            Some(stdin) => with_input(command, stdin),
            None => command.to_owned(),
        };
        vec![Action::Shell { command, cwd: folder(input.get("cwd").and_then(Value::as_str), context) }]
    }

    fn editable(&self) -> Option<&'static str> {
        Some("command")
    }

    fn time_limit(&self, input: &Value) -> Duration {
        let seconds = input.get("timeout").and_then(Value::as_u64).unwrap_or(DEFAULT_SECONDS);
        Duration::from_secs(seconds.min(MAX_SECONDS)) + MARGIN
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        input.check()?;
        if let Some(cwd) = &input.cwd {
            let stat = context.host.stat(&context.path(cwd)).await?;
            if stat.kind != EntryKind::Dir {
                return Err(ToolError(format!("`{}` is not a folder to start in", one_line(cwd))));
            }
        }
        let task = Task {
            cwd: folder(input.cwd.as_deref(), context),
            program: Program::Shell(input.command.clone()),
            // Programs that think a person sits there would wait for them.
            env: [
                ("PAGER", "cat"),
                ("GIT_PAGER", "cat"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("TERM", if input.pty { "xterm-256color" } else { "dumb" }),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            streams: input.streams(),
        };
        if input.background {
            let jobs = context.state.extra::<Jobs>();
            let job = jobs.start(context, task, input.stdin.as_deref(), &input.command).await?;
            let typing = if input.pty { "type with `job_input`, " } else { "" };
            let text =
                format!("job {} runs; look with `job_output`, {typing}end it with `job_kill`\n", job.id);
            return Ok(ToolOutput::new(text, format!("job {}", job.id)));
        }

        let seconds = input.timeout.unwrap_or(DEFAULT_SECONDS).clamp(1, MAX_SECONDS);
        let limit = Duration::from_secs(seconds);
        let capture = Capture::new(&context.call, context.desk.as_ref());
        let (ended, capture) = run(context, task, input.stdin.as_deref(), limit, capture).await?;
        let mut text = capture.text();
        if text.is_empty() {
            text.push_str("(no output)");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let summary = match ended {
            Ended::Itself(exit) => say_exit(exit),
            Ended::OutOfTime => format!("timed out after {seconds} s"),
        };
        text.push_str(&format!("[{summary}]\n"));
        if ended == Ended::OutOfTime {
            text.push_str("It was ended with all it started. Give more `timeout`, or use `background`.\n");
        }
        if let Some(news) = job_news(&context.state) {
            text.push_str(&format!("{news}\n"));
        }
        Ok(ToolOutput::new(text, summary))
    }
}

impl Input {
    fn streams(&self) -> Streams {
        match (self.pty, &self.stdin) {
            (true, _) => Streams::Terminal(SIZE),
            (false, Some(_)) => Streams::InOut,
            (false, None) => Streams::Out,
        }
    }

    fn check(&self) -> Result<(), ToolError> {
        if self.command.trim().is_empty() {
            return Err(ToolError("the command is empty".to_owned()));
        }
        if self.command.len() > MAX_COMMAND {
            let length = self.command.len();
            return Err(ToolError(format!(
                "the command has {length} bytes, {MAX_COMMAND} at most: write a script file and run that"
            )));
        }
        if self.command.contains('\0') || self.cwd.as_ref().is_some_and(|cwd| cwd.contains('\0')) {
            return Err(ToolError("a command can not hold a NUL byte".to_owned()));
        }
        let most = if self.pty { MAX_TYPED } else { MAX_STDIN };
        if let Some(stdin) = self.stdin.as_ref().filter(|stdin| stdin.len() > most) {
            let length = stdin.len();
            return Err(ToolError(format!(
                "`stdin` has {length} bytes, {most} at most: write a file and redirect from it"
            )));
        }
        Ok(())
    }
}

fn folder(cwd: Option<&str>, context: &ToolContext) -> PathBuf {
    cwd.map_or_else(|| context.cwd.clone(), |cwd| context.path(cwd))
}
