//! `covey guard explain`.

use std::io::{BufRead, Write};

use guard::{Action, Guard, Level, Request, Ruling, Verdict};
use protocol::Mode;
use serde_json::{Value, json};

use super::arguments::ExplainArguments;
use super::{done, looking_on};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::{Stream, Style, plain};

pub(super) fn explain(arguments: &ExplainArguments) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let mode = match arguments.mode {
        Some(mode) => mode,
        None => settings.config.get("mode")?.unwrap_or_default(),
    };
    let guard = looking_on(&settings, settings.permissions(&arguments.allow, &arguments.deny)?)?;
    if arguments.batch {
        return batch(&guard, mode, &settings);
    }
    let command = arguments.command.as_deref().unwrap_or_default();
    let verdict = judge(&guard, command, mode, &settings);
    if arguments.json {
        return done(&format!("{}\n", line(command, &verdict)));
    }
    done(&text(command, mode, &verdict))
}

/// A line in, a line out, as long as there are any.
fn batch(guard: &Guard, mode: Mode, settings: &Settings) -> Result<Exit, Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (number, text) in std::io::stdin().lock().lines().enumerate() {
        let text =
            text.map_err(|error| Failure::usage(format!("line {} can not be read: {error}", number + 1)))?;
        if text.trim().is_empty() {
            continue;
        }
        let command: String = serde_json::from_str(&text).map_err(|error| {
            Failure::usage(format!("line {} is not a JSON string: {error}", number + 1))
                .hint("write each command as a JSON string: \"ls -la\"")
        })?;
        writeln!(out, "{}", line(&command, &judge(guard, &command, mode, settings)))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn judge(guard: &Guard, command: &str, mode: Mode, settings: &Settings) -> Verdict {
    let actions = [Action::Shell { command: command.to_owned(), cwd: settings.cwd.clone() }];
    guard.judge(&Request { tool: "shell", actions: &actions, mode, attended: true })
}

fn line(command: &str, verdict: &Verdict) -> Value {
    json!({
        "command": command,
        "level": verdict.level,
        "decision": verdict.decision,
        "because": verdict.because,
    })
}

fn text(command: &str, mode: Mode, verdict: &Verdict) -> String {
    let style = Style::of(Stream::Out);
    let decision = match verdict.decision {
        Ruling::Allow => style.good("allow"),
        Ruling::Ask => style.warning("ask"),
        Ruling::Deny => style.danger("deny"),
    };
    let level = match verdict.level {
        Level::Safe => style.good("safe"),
        Level::Caution => style.warning("caution"),
        Level::Blocked => style.danger("blocked"),
    };
    let mut out =
        format!("{}\n{decision} in mode {}, class {level}\n", style.strong(&plain(command)), mode.as_str());
    for clause in &verdict.because {
        out.push_str(&format!("  {}\n", plain(clause)));
    }
    if verdict.decision == Ruling::Ask && verdict.confirm_twice {
        out.push_str(&style.faint("  a yes counts only when given twice, and is not remembered\n"));
    }
    if verdict.decision != Ruling::Allow && !verdict.rules.is_empty() {
        out.push_str(&format!(
            "{} allow just this: {}\n",
            style.accent("hint:"),
            plain(&verdict.rules.join(", "))
        ));
    }
    out
}
