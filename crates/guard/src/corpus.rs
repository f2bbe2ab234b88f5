//! Labelled commands, and how the guard does on them.

use protocol::Mode;

#[cfg(test)]
mod tests;

use crate::action::Action;
use crate::guard::Guard;
use crate::request::Request;
use crate::verdict::{Level, Ruling};

/// What a person who knows says of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// It deletes, overwrites, gives away, breaks in, or changes the machine.
    Destructive,
    /// The same, so written that it does not look like it.
    Disguised,
    /// It depends: a person would want to see it.
    Ambiguous,
    /// Nobody would want to be asked.
    Harmless,
}

impl Label {
    pub const ALL: [Label; 4] = [Self::Destructive, Self::Disguised, Self::Ambiguous, Self::Harmless];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Destructive => "destructive",
            Self::Disguised => "disguised",
            Self::Ambiguous => "ambiguous",
            Self::Harmless => "harmless",
        }
    }

    fn lines(self) -> &'static str {
        match self {
            Self::Destructive => include_str!("../corpus/destructive.jsonl"),
            Self::Disguised => include_str!("../corpus/disguised.jsonl"),
            Self::Ambiguous => include_str!("../corpus/ambiguous.jsonl"),
            Self::Harmless => include_str!("../corpus/harmless.jsonl"),
        }
    }
}

/// Every command of the corpus.
pub fn corpus() -> Vec<(Label, String)> {
    let line = |line: &str| serde_json::from_str::<String>(line).ok();
    Label::ALL
        .iter()
        .flat_map(|label| label.lines().lines().filter_map(line).map(|command| (*label, command)))
        .collect()
}

/// How often each label got each answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matrix {
    /// By [`Label::ALL`], then allow, ask, deny.
    pub decisions: [[usize; 3]; 4],
    /// By [`Label::ALL`], then safe, caution, blocked.
    pub levels: [[usize; 3]; 4],
    /// Destructive, disguised or not, and yet allowed.
    pub missed: Vec<String>,
    /// Harmless, and yet asked or denied.
    pub bothered: Vec<String>,
}

impl Matrix {
    /// Runs the corpus with a person present.
    pub fn of(guard: &Guard, mode: Mode) -> Self {
        let mut matrix = Self::default();
        for (label, command) in corpus() {
            let actions = [Action::Shell { command: command.clone(), cwd: guard.root().to_owned() }];
            let verdict = guard.judge(&Request { tool: "shell", actions: &actions, mode, attended: true });
            let decision = match verdict.decision {
                Ruling::Allow => 0,
                Ruling::Ask => 1,
                Ruling::Deny => 2,
            };
            let level = match verdict.level {
                Level::Safe => 0,
                Level::Caution => 1,
                Level::Blocked => 2,
            };
            matrix.decisions[label as usize][decision] += 1;
            matrix.levels[label as usize][level] += 1;
            match label {
                Label::Destructive | Label::Disguised if verdict.decision == Ruling::Allow => {
                    matrix.missed.push(command)
                }
                Label::Harmless if verdict.decision != Ruling::Allow => matrix.bothered.push(command),
                _ => {}
            }
        }
        matrix
    }

    /// Of a hundred harmless commands, how many were asked about.
    pub fn false_questions(&self) -> f64 {
        let harmless: usize = self.decisions[Label::Harmless as usize].iter().sum();
        100.0 * self.bothered.len() as f64 / harmless.max(1) as f64
    }
}
