//! The conversation: line by line with a person, else one question and its answer.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::process::Stdio;

use serde_json::Value;

use super::covey::Covey;
use crate::paint::{accent, faint, strong, warning};
use crate::run::Failure;
use crate::scratch::Scratch;

pub(super) struct Talk<'a> {
    pub(super) covey: &'a Covey,
    pub(super) scratch: &'a mut Scratch,
    /// What is asked when nobody is there to ask.
    pub(super) question: &'a str,
    /// What a person could ask.
    pub(super) about: &'a str,
}

impl Talk<'_> {
    pub(super) fn hold(mut self, attended: bool) -> Result<(), Failure> {
        println!("\n{}", strong("A conversation"));
        if !attended {
            println!("{} covey run \"{}\"", accent("$"), self.question);
            return self.ask(self.question, false).map(drop);
        }
        println!(
            "{} {}",
            self.about,
            faint("An empty line, Ctrl-D or `quit` ends it; Ctrl-C stops everything.")
        );
        let mut goes_on = false;
        while let Some(line) = prompt(&format!("\n{} ", accent("›"))) {
            if line.is_empty() || line == "quit" || line == "exit" {
                break;
            }
            // Only a session that got as far as an answer can be continued.
            goes_on |= self.ask(&line, goes_on)?;
        }
        Ok(())
    }

    /// Whether there was an answer; why not has been said.
    fn ask(&mut self, question: &str, goes_on: bool) -> Result<bool, Failure> {
        let status = if std::io::stdout().is_terminal() {
            let mut words = vec!["run"];
            words.extend(goes_on.then_some("--continue"));
            words.extend(["--", question]);
            let mut child = self.scratch.start_in_front(&mut self.covey.command(&words))?;
            let status = child.wait()?;
            self.scratch.forget(&child);
            status
        } else {
            self.stream(question)?
        };
        match status.code() {
            Some(0) => {}
            Some(5) => println!("{} the model did not answer (exit code 5)", warning("⚠")),
            Some(code) => println!("{}", faint(&format!("exit code {code}"))),
            None => println!("{} covey ended by a signal", warning("⚠")),
        }
        Ok(matches!(status.code(), Some(0 | 3 | 4)))
    }

    /// Into a pipe `covey run` prints whole messages; its events come as they happen, so they are printed instead.
    fn stream(&mut self, question: &str) -> Result<std::process::ExitStatus, Failure> {
        let mut command = self.covey.command(&["run", "--json", "--", question]);
        let mut child = self.scratch.start_in_front(command.stdout(Stdio::piped()))?;
        let output = child.stdout.take().ok_or_else(|| Failure::new("covey has no output"))?;
        let mut out = std::io::stdout().lock();
        for line in BufReader::new(output).lines() {
            let Ok(event) = serde_json::from_str::<Value>(&line?) else { continue };
            match event["type"].as_str() {
                Some("agent_message") => {
                    write!(out, "{}", event["text"].as_str().unwrap_or_default())?;
                    out.flush()?;
                }
                Some("message_end") => writeln!(out)?,
                Some("result") if event["error"]["message"].is_string() => {
                    writeln!(out, "error: {}", event["error"]["message"].as_str().unwrap_or_default())?;
                    if let Some(hint) = event["error"]["hint"].as_str() {
                        writeln!(out, "hint: {hint}")?;
                    }
                }
                Some("result") => {
                    let seconds = event["duration_ms"].as_f64().unwrap_or_default() / 1000.0;
                    let tokens = event["usage"]["output"].as_u64().unwrap_or_default();
                    let model = event["model"].as_str().unwrap_or("no model");
                    writeln!(out, "({model} · {tokens} tokens in {seconds:.1} s)")?;
                }
                _ => {}
            }
        }
        let status = child.wait()?;
        self.scratch.forget(&child);
        Ok(status)
    }
}

pub(super) fn wants_tour() -> bool {
    let answer = prompt(&format!("\n{} take the 1-minute scripted tour? [Y/n] ", accent("?")));
    answer.is_some_and(|answer| !answer.to_lowercase().starts_with('n'))
}

/// A line from the person; none when there will be no more.
pub(super) fn prompt(text: &str) -> Option<String> {
    print!("{text}");
    // A terminal that is gone has no next line either.
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => {
            println!();
            None
        }
        Ok(_) => Some(line.trim().to_owned()),
    }
}
