//! How far the index is, on one line that a person can watch.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use ::index::Step;

use crate::terminal::{Stream, duration, tell};

/// A line is drawn no more often than this.
const PACE: Duration = Duration::from_millis(100);

/// Draws steps over each other, on a terminal only.
pub(crate) struct Bar {
    state: Option<Mutex<State>>,
}

struct State {
    started: Instant,
    drawn: Option<Instant>,
    width: usize,
    /// Of the kind of step that is under way.
    stage: u8,
}

impl Bar {
    pub(crate) fn new() -> Self {
        let state = State { started: Instant::now(), drawn: None, width: 0, stage: 0 };
        Self { state: Stream::Err.is_terminal().then(|| Mutex::new(state)) }
    }

    pub(crate) fn show(&self, step: Step) {
        let Some(state) = &self.state else { return };
        let Ok(mut state) = state.lock() else { return };
        let stage = match step {
            Step::Walking => 0,
            Step::Reading { .. } => 1,
            Step::Embedding { .. } => 2,
        };
        if stage != state.stage {
            (state.stage, state.started) = (stage, Instant::now());
        }
        if state.drawn.is_some_and(|drawn| drawn.elapsed() < PACE) {
            return;
        }
        state.drawn = Some(Instant::now());
        let line = line(step, state.started.elapsed());
        let blank = " ".repeat(state.width.saturating_sub(line.chars().count()));
        state.width = line.chars().count();
        tell(&format!("\r{line}{blank}"));
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        let Some(state) = &self.state else { return };
        let Ok(mut state) = state.lock() else { return };
        if state.width > 0 {
            tell(&format!("\r{}\r", " ".repeat(state.width)));
            state.width = 0;
        }
    }
}

fn line(step: Step, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(0.001);
    let left = |done: usize, total: usize| {
        let left = seconds / done.max(1) as f64 * total.saturating_sub(done) as f64;
        if done == 0 || seconds < 0.5 {
            String::new()
        } else {
            format!("  {} left", duration((left * 1e3) as u64))
        }
    };
    match step {
        Step::Walking => "looking for files".to_owned(),
        Step::Reading { done, total, bytes } => {
            let rate = bytes as f64 / 1e6 / seconds;
            format!(
                "indexing  {} of {} files  {rate:.1} MB/s{}",
                thousands(done),
                thousands(total),
                left(done, total)
            )
        }
        Step::Embedding { done, total } => {
            let rate = done as f64 / seconds;
            format!("vectors  {} of {}  {rate:.0}/s{}", thousands(done), thousands(total), left(done, total))
        }
    }
}

/// `62,113`.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_and_how_long() {
        let step = Step::Reading { done: 18_204, total: 62_113, bytes: 41_000_000 };
        assert_eq!(
            line(step, Duration::from_secs(4)),
            "indexing  18,204 of 62,113 files  10.2 MB/s  9.6 s left"
        );
        assert_eq!(line(Step::Embedding { done: 0, total: 5 }, Duration::ZERO), "vectors  0 of 5  0/s");
    }
}
