//! What is chosen for an agent and reaches it: how much to think, which session to copy, what to leave out.

use insta::assert_snapshot;

use super::{result, run, told, world};

#[tokio::test]
async fn how_much_to_think_reaches_an_agent_that_can_be_told() {
    let world = world(&["--thinking", "--resume"]).await;
    let said = |done: &crate::world::Done| result(done)["text"].as_str().unwrap().to_owned();
    let done = run(&world, &["thinking"]).await;
    assert_eq!(said(&done), "medium", "{done:?}");
    let done = run(&world, &["--effort", "high", "thinking"]).await;
    assert_eq!(said(&done), "high", "{done:?}");
    // It has no word for that; the nearest is taken, and it lasts.
    let done = run(&world, &["--continue", "--effort", "max", "thinking"]).await;
    assert_eq!(said(&done), "high", "{done:?}");
    let done = run(&world, &["--continue", "--effort", "none", "thinking"]).await;
    assert_eq!(said(&done), "off", "{done:?}");
    let done = run(&world, &["--continue", "thinking"]).await;
    assert_eq!(said(&done), "off", "{done:?}");
}

#[tokio::test]
async fn an_agent_that_can_not_be_told_is_named() {
    let world = world(&[]).await;
    let done = run(&world, &["--effort", "high", "say hello"]).await;
    assert_snapshot!(told(&done), @r"
    notice: `fake` thinks as it likes: there is no way to tell it `high`
    commands: compact
    says: hello
    ends: done
    ");
}

#[tokio::test]
async fn a_copy_of_a_session_is_a_copy_for_its_agent_too() {
    let world = world(&["--fork", "--resume"]).await;
    let first = result(&run(&world, &["say one"]).await)["session"].as_str().unwrap().to_owned();
    let done = run(&world, &["--continue", "--fork", "recall"]).await;
    assert_eq!(result(&done)["text"], "say one | recall", "{done:?}");
    let copy = result(&done)["session"].as_str().unwrap().to_owned();
    // The first one goes on without what happened in the copy, and the copy without what happens here.
    let done = run(&world, &["--session", &first, "recall"]).await;
    assert_eq!(result(&done)["text"], "say one | recall", "{done:?}");
    let done = run(&world, &["--session", &copy, "recall"]).await;
    assert_eq!(result(&done)["text"], "say one | recall | recall", "{done:?}");
}

/// One that can not copy its session begins a new one and is told what happened.
#[tokio::test]
async fn a_copy_for_an_agent_that_can_not_copy_is_told() {
    let world = world(&["--resume"]).await;
    run(&world, &["say one"]).await;
    let done = run(&world, &["--continue", "--fork", "recall"]).await;
    let text = result(&done)["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with("<conversation>") && text.contains("User: say one"), "{text}");
}

#[tokio::test]
async fn sounds_are_named_and_what_was_compacted_is_recorded() {
    let world = world(&[]).await;
    let done = run(&world, &["sound"]).await;
    assert_eq!(result(&done)["text"], "[audio: audio/wav, 6 bytes]", "{done:?}");
    let done = run(&world, &["/compact"]).await;
    let compaction = done.lines().into_iter().find(|event| event["type"] == "compaction");
    assert_eq!(compaction.unwrap()["stage"], "summarise");
}

/// Only who types a command starts it: a session that remembers its name does not.
#[tokio::test]
async fn any_command_that_speaks_the_protocol_is_an_agent() {
    let world = crate::world::World::bare("").await;
    let command = format!("{} acp-agent --resume", super::testkit().display());
    let done = world.covey(&["run", "--json", "--agent", &command, "say 'hello'"]).await;
    assert_eq!((done.code, result(&done)["text"].as_str()), (Some(0), Some("'hello'")), "{done:?}");
    assert_eq!(result(&done)["agent"], "covey-testkit-command");
    let done = world.covey(&["run", "--json", "--continue", "--agent", &command, "say again"]).await;
    assert_eq!(result(&done)["text"], "again", "{done:?}");
    let done = world.covey(&["run", "--continue", "say no"]).await;
    assert!(done.code != Some(0) && done.err.contains("there is no agent"), "{done:?}");
    let done = world.covey(&["agents", "test", &command]).await;
    assert!(done.out.contains("ends     done"), "{done:?}");
    let done = world.covey(&["run", "--agent", "no-such-program --acp", "say no"]).await;
    assert_eq!((done.code, done.err.contains("hint:")), (Some(5), true), "{done:?}");
}
