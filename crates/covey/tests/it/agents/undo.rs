//! Taking back what another agent did to files, whether it said so or not.

use insta::assert_snapshot;

use super::{run, world};
use crate::world::{World, signal};

fn files(world: &World) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = std::fs::read_dir(&world.project)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn named(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn what_an_agent_did_by_itself_is_undone_and_redone() {
    let world = world(&["--resume"]).await;
    world.write("kept.txt", "mine");
    world.write("gone.txt", "old");
    let before = files(&world);
    let done =
        run(&world, &["--mode", "full", "write! kept.txt theirs\nrun! rm gone.txt; echo new > made.txt"])
            .await;
    let after = named(&[("kept.txt", "theirs"), ("made.txt", "new\n")]);
    assert_eq!(files(&world), after, "{done:?}");
    let taken = done.lines().into_iter().find(|event| event["type"] == "checkpoint").unwrap();
    assert_eq!(taken["paths"].to_string(), r#"["gone.txt","kept.txt","made.txt"]"#);
    let result = done.lines().pop().unwrap();
    assert_eq!(result["files_changed"].to_string(), r#"["gone.txt","kept.txt","made.txt"]"#);
    let session = result["session"].as_str().unwrap();

    let diff = world.covey(&["session", "diff", session]).await;
    assert!(diff.out.contains("-mine") && diff.out.contains("+theirs"), "{diff:?}");
    let undone = world.covey(&["session", "undo", session, "--yes"]).await;
    assert_eq!((undone.code, files(&world)), (Some(0), before), "{undone:?}");
    let redone = world.covey(&["session", "redo", session, "--yes"]).await;
    assert_eq!((redone.code, files(&world)), (Some(0), after), "{redone:?}");
}

#[tokio::test]
async fn a_turn_that_changed_nothing_has_nothing_to_undo() {
    let world = world(&[]).await;
    let done = run(&world, &["--mode", "full", "run! true\nsay done"]).await;
    assert!(!done.types().contains(&"checkpoint".to_owned()), "{done:?}");
    let session = done.lines().pop().unwrap()["session"].as_str().unwrap().to_owned();
    let undone = world.covey(&["session", "undo", &session, "--yes"]).await;
    assert_snapshot!(undone.err.trim(), @"error: there is nothing to undo");
}

/// Killed in the middle: what the agent had changed by then is found out when somebody asks.
#[tokio::test]
async fn what_a_killed_covey_let_happen_is_undone_too() {
    let world = world(&[]).await;
    world.write("a.txt", "old");
    let mut child = world
        .command(&["run", "--json", "--agent", "fake", "--mode", "full", "write! a.txt new\nsay now\nhang!"])
        .spawn()
        .unwrap();
    let mut lines =
        tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let mut session = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        if event["type"] == "session_start" {
            session = event["session"].as_str().unwrap().to_owned();
        }
        if event["type"] == "agent_message" {
            break;
        }
    }
    // Somebody who looks meanwhile changes nothing.
    let diff = world.covey(&["session", "diff", &session]).await;
    assert_eq!(diff.out.trim(), "", "{diff:?}");
    signal(&child, rustix::process::Signal::KILL);
    child.wait().await.unwrap();
    let undone = world.covey(&["session", "undo", &session, "--yes"]).await;
    assert_eq!((undone.code, files(&world)), (Some(0), named(&[("a.txt", "old")])), "{undone:?}");
}
