//! `verify`: the project's own build, tests and linters, and what they really said.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use guard::Action;
use project::{Exit, Program, Streams, Task};
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::run::{Capture, Check, CheckKind, Ended, Evidence, Ledger, detect, evidence, run};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_SECONDS: u64 = 600;
const MAX_SECONDS: u64 = 3600;
/// What is shown of each end of a check that failed.
const SHOWN: usize = 3 * 1024;
/// More checks than a folder can have.
const MOST_CHECKS: u32 = 12;

pub(crate) struct Verify;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    checks: Vec<CheckKind>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    filter: Option<String>,
    #[serde(default)]
    timeout: Option<u64>,
    #[serde(default)]
    last: bool,
}

#[async_trait]
impl Tool for Verify {
    fn name(&self) -> &str {
        "verify"
    }

    fn description(&self) -> &str {
        "Run the project's own build, tests and linter, found by its files. Answers exit codes, counts and first \
         failures. Do this before saying that something works."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "checks": {"type": "array", "items": {"enum": ["build", "test", "lint"]}, "description": "all if absent"},
                "path": {"type": "string", "description": "folder of the package"},
                "filter": {"type": "string", "description": "only tests of this name"},
                "timeout": {"type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "description": "seconds each"},
                "last": {"type": "boolean", "description": "run nothing, tell of the last runs"}
            },
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
        let checks = input.get("checks").and_then(Value::as_array);
        let names: Vec<&str> = checks.into_iter().flatten().filter_map(Value::as_str).collect();
        format!("verify {}", names.join(", ")).trim_end().to_owned()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        match serde_json::from_value::<Input>(input.clone()) {
            Ok(input) if !input.last => {
                let cwd = input.folder(context);
                let action = |check: Check| Action::Program { argv: check.argv, cwd: cwd.clone() };
                let actions: Vec<Action> = input.chosen(context).into_iter().map(action).collect();
                // Without a check it looks at the folder and says so.
                if actions.is_empty() { vec![Action::Read { paths: vec![cwd] }] } else { actions }
            }
            _ => vec![Action::Inward],
        }
    }

    fn time_limit(&self, input: &Value) -> Duration {
        let seconds =
            input.get("timeout").and_then(Value::as_u64).unwrap_or(DEFAULT_SECONDS).min(MAX_SECONDS);
        Duration::from_secs(seconds) * MOST_CHECKS
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        if input.last {
            return Ok(last(context));
        }
        if input.filter.as_ref().is_some_and(|filter| filter.starts_with('-') || filter.contains('\0')) {
            return Err(ToolError("`filter` is the name of a test, not an option".to_owned()));
        }
        let checks = input.chosen(context);
        if checks.is_empty() {
            return Err(ToolError(format!(
                "no {} was found in `{}`; run it with `shell`, or name the folder of the package in `path`",
                if input.checks.is_empty() { "check" } else { "such check" },
                input.folder(context).display()
            )));
        }
        let limit = Duration::from_secs(input.timeout.unwrap_or(DEFAULT_SECONDS).clamp(1, MAX_SECONDS));
        let mut text = String::new();
        let (mut passed, all) = (0, checks.len());
        let mut build_failed = false;
        for (number, check) in checks.into_iter().enumerate() {
            let command = check.argv.join(" ");
            if build_failed && check.kind != CheckKind::Build {
                text.push_str(&format!("{} not run: `{command}`, the build failed\n", check.kind.as_str()));
                continue;
            }
            let (evidence, said) = match one(context, &input, check.clone(), number, limit).await {
                Ok(ran) => ran,
                Err(error) => {
                    text.push_str(&format!("{} could not run: `{command}`: {error}\n", check.kind.as_str()));
                    continue;
                }
            };
            text.push_str(&evidence.line());
            text.push('\n');
            if evidence.passed() {
                passed += 1;
            } else {
                build_failed |= check.kind == CheckKind::Build;
                evidence.failures.iter().for_each(|failure| text.push_str(&format!("  - {failure}\n")));
                text.push_str(&format!("{}\n", said.trim_end()));
            }
            context.state.extra::<Ledger>().add(evidence);
        }
        let summary = format!("{passed} of {all} passed");
        text.push_str(&format!("{summary}\n"));
        Ok(ToolOutput::new(text, summary))
    }
}

impl Input {
    fn folder(&self, context: &ToolContext) -> PathBuf {
        self.path.as_ref().map_or_else(|| context.cwd.clone(), |path| context.path(path))
    }

    fn chosen(&self, context: &ToolContext) -> Vec<Check> {
        let mut checks = detect(&self.folder(context), self.filter.as_deref());
        checks.retain(|check| self.checks.is_empty() || self.checks.contains(&check.kind));
        checks
    }
}

/// Runs one check; the text is what it printed.
async fn one(
    context: &ToolContext,
    input: &Input,
    check: Check,
    number: usize,
    limit: Duration,
) -> Result<(Evidence, String), ToolError> {
    let command = check.argv.join(" ");
    let task = Task {
        program: Program::Argv(check.argv),
        cwd: input.folder(context),
        // Test runners watch files for ever where they think that a person sits.
        env: [("CI", "1"), ("NO_COLOR", "1"), ("TERM", "dumb")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        streams: Streams::Out,
    };
    let handle = format!("{}.{}{}", context.call, check.kind.as_str(), number + 1);
    let capture = Capture::named(&handle, SHOWN, context.desk.as_ref()).counting();
    let started = Instant::now();
    let (ended, capture) = run(context, task, None, limit, capture).await?;
    let tally = capture.tally().cloned().unwrap_or_default();
    let evidence = Evidence {
        check: check.kind.as_str(),
        command,
        exit_code: match ended {
            Ended::Itself(Exit::Code(code)) => Some(code),
            Ended::Itself(_) | Ended::OutOfTime => None,
        },
        counts: tally.counts.filter(|_| check.kind == CheckKind::Test),
        took: started.elapsed(),
        started,
        failures: tally.failures().to_vec(),
    };
    Ok((evidence, capture.text()))
}

/// What is known without running anything.
fn last(context: &ToolContext) -> ToolOutput {
    let known = evidence(&context.state);
    let mut text = String::new();
    for evidence in &known {
        let age = if evidence.is_fresh(&context.state) { "newer than" } else { "STALE: older than" };
        text.push_str(&format!("{}; {age} the last edit\n", evidence.line()));
    }
    if known.is_empty() {
        text.push_str("nothing was run yet\n");
    }
    ToolOutput::new(text, format!("{} known", known.len()))
}
