//! kill -9 at any moment: nothing acknowledged is missing, the log verifies, and the conversation goes on.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tokio::io::AsyncReadExt;

use crate::world::{World, signal};

#[tokio::test]
async fn killed_at_random_moments_over_200_turns() {
    let world = World::new("reply\n  text: A few words to stream in pieces, with ünïcode 🦀 in them.\n  call: list_dir {}\n  pace: 1\n  writes: frames\nreply\n  text: And the answer, in pieces as well.\n  pace: 1\n  writes: frames\nforever\n").await;
    let (_, first) = world.result(&["begin"]).await;
    let id = first["session"].as_str().unwrap().to_owned();
    let log = world.home.join("sessions").join(&id).join("events.jsonl");
    let chance = RandomState::new();
    for round in 0..200u64 {
        let mut child = world.command(&["run", "--json", "--session", &id, "go on"]).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let after = Duration::from_micros(chance.hash_one(round) % 60_000);
        let mut printed = Vec::new();
        // Reading until the moment of death, so that what was acknowledged is known.
        let reading = tokio::time::timeout(after, stdout.read_to_end(&mut printed)).await;
        if reading.is_err() {
            signal(&child, Signal::KILL);
            stdout.read_to_end(&mut printed).await.unwrap();
        }
        child.wait().await.unwrap();
        check(&printed, &std::fs::read(&log).unwrap(), round);
    }
    let verified = world.covey(&["session", "verify", &id, "--json"]).await;
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let (done, _) = world.result(&["--session", &id, "and after all that?"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    // Every turn that began has an end, and every call a result: models would refuse it otherwise.
    let log = std::fs::read_to_string(&log).unwrap();
    let count = |kind: &str| log.matches(&format!("\"type\":\"{kind}\"")).count();
    assert_eq!(count("turn_start"), count("turn_end"));
    assert_eq!(count("tool_call"), count("tool_call_update"));
}

/// Every whole line that was printed is in the log.
fn check(printed: &[u8], log: &[u8], round: u64) {
    let log = String::from_utf8_lossy(log);
    let last_line_is_whole = printed.ends_with(b"\n");
    let text = String::from_utf8_lossy(printed);
    let mut lines: Vec<&str> = text.lines().collect();
    if !last_line_is_whole {
        lines.pop();
    }
    for line in lines {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["type"] == "result" {
            continue;
        }
        let sealed = format!("{},\"crc\":", line.strip_suffix('}').unwrap());
        assert!(log.contains(&sealed), "round {round}: acknowledged but not in the log: {line}");
    }
}
