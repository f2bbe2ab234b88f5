//! What a tool call costs from the model's answer to the next request: guard, sandbox, recording, checkpoint.

use std::fs;

use super::measures::{CHEAP, DEAR, Group, cpu_ms, expect, ms, peak_mb, wall_ms};
use super::report::{Line, Samples};
use super::stage::{Home, Stage};
use crate::run::Failure;

pub(super) const GROUPS: &[Group] = &[
    Group {
        about: "50 turns with a shell call each",
        measures: &["shell_turn_cpu_ms", "shell_turns_peak_rss_mb"],
        run: shell_turns,
    },
    Group {
        about: "50 turns with a shell call each that writes",
        measures: &["shell_write_turn_cpu_ms"],
        run: shell_write_turns,
    },
    Group { about: "10 shell calls in one turn", measures: &["shell_calls_10_wall_ms"], run: shell_calls },
    Group {
        about: "50 turns with a read each",
        measures: &["read_turn_cpu_ms", "read_turns_peak_rss_mb"],
        run: read_turns,
    },
];

const TURNS: usize = 50;
const CALLS: usize = 10;

fn shell_turns(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let turns = Turns::play(stage, "shell", "ask", |turn| format!("shell {{\"command\": \"echo {turn}\"}}"))?;
    let (bare, floor) = (bare_shell_ms()?, floor_ms(stage)?);
    Ok(vec![
        turns
            .line("shell_turn_cpu_ms")
            .with("bare_bash", bare)
            .with("floor", floor)
            .with("times_floor", turns.cpu.median() / floor),
        Line::new("shell_turns_peak_rss_mb", turns.peak, "MB", Some(40.0)),
    ])
}

fn shell_write_turns(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let call = |turn| format!("shell {{\"command\": \"echo {turn} >> notes.txt\"}}");
    let turns = Turns::play(stage, "writes", "full", call)?;
    Ok(vec![turns.line("shell_write_turn_cpu_ms").note("each is kept, so that it can be undone")])
}

fn read_turns(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    // Each call reads another line, so that no two requests are the same.
    let call = |turn| format!("read {{\"path\": \"a.txt\", \"offset\": {turn}, \"limit\": 20}}");
    let turns = Turns::play(stage, "reads", "ask", call)?;
    Ok(vec![
        turns.line("read_turn_cpu_ms"),
        Line::new("read_turns_peak_rss_mb", turns.peak, "MB", Some(40.0)),
    ])
}

fn shell_calls(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let calls = (0..CALLS).map(|call| format!("  call: shell {{\"command\": \"echo {call}\"}}\n"));
    let script = format!("reply\n{}model: All done.\nforever\n", calls.collect::<String>());
    let (home, hello) = scripted(stage, "calls", &script)?;
    let used = stage.many(CHEAP, || stage.covey(&home, &["run", "go"]))?;
    expect(stage, "All done.")?;
    let hello = stage.many(CHEAP, || stage.covey(&hello, &["run", "hello"]))?;
    let (calls, hello) = (wall_ms(&used), wall_ms(&hello));
    Ok(vec![
        Line::new("shell_calls_10_wall_ms", calls.median() - hello.median(), "ms", Some(40.0))
            .with("min", calls.min() - hello.min())
            .with("cpu", (cpu_ms(&used).median() - hello.median()) / CALLS as f64),
    ])
}

/// What was used by so many turns, without what a run costs that has none.
struct Turns {
    cpu: Samples,
    wall: f64,
    peak: f64,
}

impl Turns {
    fn play(
        stage: &mut Stage,
        name: &str,
        mode: &str,
        call: impl Fn(usize) -> String,
    ) -> Result<Self, Failure> {
        let calls: String = (1..=TURNS).map(|turn| format!("reply\n  call: {}\n", call(turn))).collect();
        let (home, hello) = scripted(stage, name, &format!("{calls}model: All done.\nforever\n"))?;
        let hello = stage.many(CHEAP, || stage.covey(&hello, &["run", "hello"]))?;
        let steps = (TURNS + 1).to_string();
        let words = ["run", "--mode", mode, "--max-steps", &steps, "go"];
        let used = stage.many(DEAR, || stage.covey(&home, &words))?;
        expect(stage, "All done.")?;
        let (cpu, wall) = (cpu_ms(&hello).median(), wall_ms(&hello).median());
        Ok(Self {
            cpu: Samples::new(used.iter().map(|used| (ms(used.cpu) - cpu) / TURNS as f64).collect()),
            wall: (wall_ms(&used).median() - wall) / TURNS as f64,
            peak: peak_mb(&used).median(),
        })
    }

    fn line(&self, measure: &'static str) -> Line {
        Line::median(measure, &self.cpu, "ms", Some(2.5)).with("wall", self.wall)
    }
}

/// A home whose model follows the script, and one whose model only says hello.
pub(super) fn scripted(stage: &mut Stage, name: &str, script: &str) -> Result<(Home, Home), Failure> {
    let file = stage.path().join(format!("{name}.txt"));
    fs::write(&file, script)?;
    let server = stage.server(&["--script", &file.to_string_lossy()])?;
    let plain = stage.server(&[])?;
    Ok((stage.home(name, &server)?, stage.home("home", &plain)?))
}

/// What a turn with a shell command costs the floor, of which nothing is guarded or recorded.
fn floor_ms(stage: &mut Stage) -> Result<f64, Failure> {
    let server = stage.server(&[])?;
    let body = stage.path().join("turns.json");
    fs::write(
        &body,
        r#"{"model": "scripted", "stream": true, "messages": [{"role": "user", "content": "go"}]}"#,
    )?;
    let turns = stage.many(DEAR, || stage.floor(&server, &body, TURNS))?;
    let hello = stage.many(CHEAP, || stage.floor(&server, &body, 0))?;
    Ok((cpu_ms(&turns).median() - cpu_ms(&hello).median()) / TURNS as f64)
}

/// What a shell costs by itself on this machine.
fn bare_shell_ms() -> Result<f64, Failure> {
    let mut used = Vec::new();
    for _ in 0..CHEAP {
        let mut bash = std::process::Command::new("/bin/bash");
        bash.args(["-c", "echo x"]).stdout(std::process::Stdio::null());
        used.push(super::child::measure(&mut bash)?);
    }
    Ok(cpu_ms(&used).median())
}
