//! Sub-agents, rules and skills, commands that run, and files that are brought back.

use protocol::{Event, EventBody, Limits, Mode, Op, Stop};

use crate::play::{World, ends};

fn turns(events: &[std::sync::Arc<Event>]) -> Vec<String> {
    let started = events.iter().filter_map(|event| match &event.body {
        EventBody::TurnStart(start) => {
            let parent = start.parent.as_ref().map(|parent| format!(" of {parent}")).unwrap_or_default();
            Some(format!("{}{parent}", event.turn.as_ref().unwrap()))
        }
        _ => None,
    });
    started.collect()
}

#[tokio::test]
async fn a_sub_agent_works_in_a_turn_of_its_own_and_reports() {
    let mut world = World::new(
        "
        reply
          call: task {\"title\": \"look\", \"prompt\": \"what is in a.txt?\", \"role\": \"explorer\"}
        reply
          call: read {\"path\": \"a.txt\"}
        model: It says hello.
        model: The explorer found: hello.
        model: Bye.
        ",
    )
    .await;
    world.write("a.txt", "hello");
    let session = world.session().await;
    let events = world.ask(&session, "find out").await;
    assert_eq!(turns(&events), ["t1", "t1.1 of t1"]);
    let ended: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::TurnEnd(end) => Some((event.turn.clone().unwrap().to_string(), end.stop, end.steps)),
            _ => None,
        })
        .collect();
    assert_eq!(ended, [("t1.1".to_owned(), Stop::Done, 2), ("t1".to_owned(), Stop::Done, 2)]);
    // The child knows its errand and nothing else; the parent gets the report and nothing else.
    let child = world.server.request(1).await;
    assert!(child.text().contains("what is in a.txt?") && !child.text().contains("find out"));
    assert!(child.text().contains("You are a sub-agent"));
    let parent = world.server.request(3).await;
    assert!(parent.text().contains("It says hello."), "{}", parent.text());
    assert!(!parent.text().contains("1\\thello"), "{}", parent.text());
    // After a restart the parent's conversation is still only its own.
    world.restart().await;
    world.ask(&session, "and now?").await;
    let after = world.server.request(4).await;
    assert!(
        !after.text().contains("what is in a.txt?\\\",\\\"role") || after.text().contains("It says hello.")
    );
    assert_eq!(
        after.json["messages"].as_array().unwrap().len(),
        parent.json["messages"].as_array().unwrap().len() + 2
    );
}

#[tokio::test]
async fn cancelling_a_turn_ends_its_sub_agents() {
    let world = World::new(
        "
        reply
          call: task {\"title\": \"wait\", \"prompt\": \"wait\"}
        reply
          fault: never
        ",
    )
    .await;
    let session = world.session().await;
    let turn = world.start(&session, "go", false, Limits::default()).await;
    world.server.request(1).await;
    world.engine.submit(Op::CancelTurn { session: session.clone(), turn: None }).await.unwrap();
    let events = world.until(&session, |event| ends(event, &turn)).await;
    let stops: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::TurnEnd(end) => Some(end.stop),
            _ => None,
        })
        .collect();
    assert_eq!(stops, [Stop::Cancelled, Stop::Cancelled]);
    world.server.aborted(1).await;
}

#[tokio::test]
async fn a_deferred_tool_is_found_and_called_through_the_dispatcher() {
    let mut world = World::new(
        "
        reply
          call: tool_search {\"query\": \"make a folder\"}
        reply
          call: call_tool {\"name\": \"stat\", \"arguments\": {\"path\": \"a.txt\"}}
        model: Found it.
        model: Bye.
        ",
    )
    .await;
    world.write("a.txt", "hello");
    let session = world.session().await;
    let events = world.ask(&session, "go").await;
    let found = world.server.request(1).await;
    assert!(found.text().contains("mkdir"), "{}", found.text());
    let called = events.iter().find_map(|event| match &event.body {
        EventBody::ToolCall(call) if call.name == "stat" => Some(call.clone()),
        _ => None,
    });
    assert_eq!(called.unwrap().via.as_deref(), Some("call_tool"));
    let last = world.server.request(2).await;
    world.restart().await;
    world.ask(&session, "again").await;
    let after = world.server.request(3).await;
    // The tools never change, and the log gives back what was said.
    assert_eq!(after.json["tools"], last.json["tools"]);
    let (old, new) = (&last.json["messages"], &after.json["messages"]);
    let old = old.as_array().unwrap();
    assert_eq!(new.as_array().unwrap()[..old.len()], old[..]);
}

#[tokio::test]
async fn commands_and_edits_leave_checkpoints() {
    let world = World::new(
        "
        reply
          call: read {\"path\": \"a.txt\"}
        reply
          call: edit {\"path\": \"a.txt\", \"old\": \"hello\", \"new\": \"goodbye\"}
          call: shell {\"command\": \"echo x > made.txt\"}
        model: Done.
        ",
    )
    .await;
    world.write("a.txt", "hello\n");
    let session = world.session().await;
    world.engine.submit(Op::SetMode { session: session.clone(), mode: Mode::Full }).await.unwrap();
    let events = world.ask(&session, "go").await;
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "goodbye\n");
    assert_eq!(std::fs::read_to_string(world.project.join("made.txt")).unwrap(), "x\n");
    let taken: Vec<Vec<String>> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Checkpoint(checkpoint) => Some(checkpoint.paths.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(taken, [["a.txt"], ["made.txt"]]);
    let root = world.project.canonicalize().unwrap();
    let checkpoints = engine::Checkpoints::at(&world.store.dir(&session), &root, [""; 0]);
    let plan = checkpoints.plan_undo(&engine::UndoTarget::LastTurn, None).unwrap();
    checkpoints.carry_out(&plan, false).unwrap();
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "hello\n");
    assert!(!world.project.join("made.txt").exists());
}

#[tokio::test]
async fn nothing_is_written_in_explore_and_plan() {
    for mode in [Mode::Explore, Mode::Plan] {
        let world = World::new(
            "
            reply
              call: write {\"path\": \"new.txt\", \"content\": \"x\"}
              call: shell {\"command\": \"touch made.txt\"}
            model: I could not.
            ",
        )
        .await;
        let session = world.session().await;
        world.engine.submit(Op::SetMode { session: session.clone(), mode }).await.unwrap();
        world.ask(&session, "go").await;
        assert!(!world.project.join("new.txt").exists() && !world.project.join("made.txt").exists());
        let told = world.server.request(1).await;
        assert!(told.text().contains("denied"), "{}", told.text());
    }
}

#[tokio::test]
async fn a_loop_is_told_and_then_ended() {
    let world = World::new("reply\n  call: list_dir {}\nforever\n").await;
    let session = world.session().await;
    let events = world.ask(&session, "go").await;
    let EventBody::TurnEnd(end) = &events.last().unwrap().body else { panic!("no end") };
    assert_eq!((end.stop, end.cause), (Stop::Limit, Some(protocol::StopCause::Stalled)));
    assert!(end.steps < 10, "{}", end.steps);
    assert!(world.server.request(3).await.text().contains("the same result"));
}

#[tokio::test]
async fn lines_to_see_what_happens_go_with_the_turn_even_if_it_is_cancelled() {
    let world = World::new(
        "
        reply
          call: call_tool {\"name\": \"instrument\", \"arguments\": {\"path\": \"a.py\", \"after\": 1, \"code\": \"print(x)\"}}
        reply
          fault: never
        ",
    )
    .await;
    world.write("a.py", "x = 1\ny = 2\n");
    let session = world.session().await;
    world.engine.submit(Op::SetMode { session: session.clone(), mode: Mode::Full }).await.unwrap();
    let turn = world.start(&session, "go", false, Limits::default()).await;
    world.server.request(1).await;
    let path = world.project.join("a.py");
    assert!(std::fs::read_to_string(&path).unwrap().contains("print(x)"));
    world.engine.submit(Op::CancelTurn { session: session.clone(), turn: None }).await.unwrap();
    world.until(&session, |event| ends(event, &turn)).await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "x = 1\ny = 2\n");
}

#[tokio::test]
async fn a_secret_that_is_written_to_a_file_is_not_written_to_the_log() {
    // Put together here, so that nothing that looks like a key is in the source.
    let key = ["sk-ant-", "api03-Xk29fLq7Zw0PbV5tRm81", "HcYd64NsGj3A"].concat();
    let world = World::new(
        "
        reply
          call: edit {\"path\": \"a.toml\", \"old\": \"port = 1\", \"new\": \"port = 2\"}
        model: Done.
        ",
    )
    .await;
    world.write("a.toml", &format!("key = \"{key}\"\nport = 1\n"));
    let session = world.session().await;
    world.engine.submit(Op::SetMode { session: session.clone(), mode: Mode::Edit }).await.unwrap();
    let events = world.ask(&session, "go").await;
    let log = serde_json::to_string(&events).unwrap();
    assert!(log.contains("\"diff\"") && log.contains("[redacted: anthropic key]"), "{log}");
    assert!(!log.contains(&key) && !world.server.request(1).await.text().contains(&key), "{log}");
    assert!(std::fs::read_to_string(world.project.join("a.toml")).unwrap().contains("port = 2"));
}
