//! What Covey adds to an agent of another maker: the fake one does next to nothing itself.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::measures::{Group, cpu_ms, expect, ms, peak_mb, wall_ms};
use super::report::{Line, Samples};
use super::stage::{Home, Stage};
use crate::run::Failure;

const CHEAP: usize = 20;
const DEAR: usize = 5;
const UPDATES: usize = 10_000;

pub(super) const GROUP: Group = Group {
    about: "agents of other makers",
    measures: &[
        "agent_turn_cpu_ms",
        "agent_turn_rss_mb",
        "agent_updates_per_s",
        "agent_updates_rss_growth_mb",
        "agents_list_ms",
        "agents_list_first_ms",
    ],
    run: measure,
};

fn measure(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let home = stage.home("agents", "http://127.0.0.1:9/v1")?;
    let testkit = stage.program("covey-testkit");
    let config = stage.path().join("agents/config.toml");
    fs::write(&config, format!("[agents.fake]\nacp = [{testkit:?}, \"acp-agent\"]\n"))?;
    let run = |prompt: &str| stage.covey(&home, &["run", "--agent", "fake", "--mode", "auto", prompt]);
    let hello = stage.many(CHEAP, || run("say hello there"))?;
    expect(stage, "hello there")?;
    let alone = stage.many(CHEAP, || alone(stage, "say hello there"))?;
    let flood = format!("flood {UPDATES}");
    let flooded = stage.many(DEAR, || run(&flood))?;
    if stage.printed()?.matches("word").count() != UPDATES {
        return Err(Failure::new(format!("the answer did not have {UPDATES} words")));
    }

    let agent = cpu_ms(&alone).median();
    let cpu = Samples::new(hello.iter().map(|used| ms(used.cpu) - agent).collect());
    let spent = wall_ms(&flooded).median() - wall_ms(&hello).median();
    let growth = peak_mb(&flooded).median() - peak_mb(&hello).median();
    let (first, listed) = list(stage, &home)?;
    Ok(vec![
        Line::median("agent_turn_cpu_ms", &cpu, "ms", Some(20.0))
            .with("agent", agent)
            .with("wall", wall_ms(&hello).median())
            .note("all of `covey run`, its sandbox too, without the agent's own"),
        Line::median("agent_turn_rss_mb", &peak_mb(&hello), "MB", Some(25.0)),
        Line::new("agent_updates_per_s", UPDATES as f64 / (spent.max(0.001) / 1e3), "1/s", None)
            .with("wanted_at_least", 10_000.0)
            .with(
                "cpu_us_each",
                (cpu_ms(&flooded).median() - cpu_ms(&hello).median()) * 1e3 / UPDATES as f64,
            ),
        Line::new("agent_updates_rss_growth_mb", growth, "MB", Some(10.0))
            .with("peak", peak_mb(&flooded).median()),
        Line::median("agents_list_ms", &listed, "ms", Some(300.0)),
        Line::new("agents_list_first_ms", first, "ms", None).note("every program is asked"),
    ])
}

/// The agent by itself, with the same messages.
fn alone(stage: &Stage, prompt: &str) -> Result<Command, Failure> {
    let messages = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#.to_owned(),
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{{"prompt":[{{"type":"text","text":"{prompt}"}}]}}}}"#
        ),
    ];
    let file = stage.path().join("messages.jsonl");
    fs::write(&file, messages.join("\n") + "\n")?;
    let mut command = Command::new(stage.program("covey-testkit"));
    command.arg("acp-agent").stdin(File::open(file)?).stdout(File::create(stage.path().join("out"))?);
    Ok(command)
}

/// `covey agents` with eight programs that answer at once: the first time, and after that.
fn list(stage: &Stage, home: &Home) -> Result<(f64, Samples), Failure> {
    let folder = stage.path().join("programs");
    fs::create_dir_all(&folder)?;
    for name in ["claude", "codex", "gemini", "cline", "copilot", "cursor-agent", "opencode", "qwen"] {
        let program = folder.join(name);
        fs::write(&program, "#!/bin/sh\necho 1.2.3\n")?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
    }
    let list = || {
        let mut command = stage.covey(home, &["agents"])?;
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
        Ok(command)
    };
    let first = stage.once(list()?)?;
    if stage.printed()?.matches("1.2.3").count() != 8 {
        return Err(Failure::new("not all of the eight programs were found"));
    }
    let listed = stage.many(CHEAP, list)?;
    Ok((ms(first.wall), wall_ms(&listed)))
}
