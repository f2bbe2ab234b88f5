//! The person's own programs, around what an agent does.

use std::sync::Arc;

use protocol::{Decision, Event, EventBody, HookEvent, HookRan, HookWord, Limits, Mode, Op, SessionId, Stop};

use crate::play::{World, ends, print};

const SHELL: &str = r#"
    reply
      call: shell {"command": "echo hi > made.txt"}
    model: Done.
"#;

fn ran(events: &[Arc<Event>]) -> Vec<HookRan> {
    let said = events.iter().filter_map(|event| match &event.body {
        EventBody::Hook(ran) => Some(ran.clone()),
        _ => None,
    });
    said.collect()
}

async fn mode(world: &World, session: &SessionId, mode: Mode) {
    world.engine.submit(Op::SetMode { session: session.clone(), mode }).await.unwrap();
}

/// How a turn ended that nobody attends to.
async fn ended(world: &World, session: &SessionId) -> Stop {
    let events = world.ask(session, "make it").await;
    match &events.last().unwrap().body {
        EventBody::TurnEnd(end) => end.stop,
        other => panic!("{other:?}"),
    }
}

fn sent(world: &World) -> String {
    world.server.requests().last().unwrap().json["messages"].to_string()
}

#[tokio::test]
async fn a_hook_that_says_no_keeps_a_call_from_running_even_in_full_mode() {
    let world = World::new(SHELL).await;
    world.keep(
        "hooks/no.toml",
        "[[hook]]\non = \"pre_tool\"\ntool = \"shell\"\ncommand = \"cat > seen.json; echo 'not on a Friday' >&2; exit 2\"\n",
    );
    let session = world.session().await;
    mode(&world, &session, Mode::Full).await;
    let events = world.ask(&session, "make it").await;
    assert!(!world.project.join("made.txt").exists());
    let said = ran(&events);
    assert_eq!(said.len(), 1);
    assert_eq!((said[0].says, said[0].reason.as_deref()), (Some(HookWord::Deny), Some("not on a Friday")));
    assert!(sent(&world).contains("not on a Friday"), "{}", sent(&world));
    // It was told what it was about.
    let seen: serde_json::Value =
        serde_json::from_slice(&std::fs::read(world.project.join("seen.json")).unwrap()).unwrap();
    assert_eq!(seen["event"], "pre_tool");
    assert_eq!(seen["tool"], "shell");
    assert_eq!(seen["input"]["command"], "echo hi > made.txt");
    assert_eq!(seen["turn"], "t1");
    assert_eq!(seen["session"], session.as_str());
}

#[tokio::test]
async fn a_hook_that_fails_where_it_decides_has_said_no() {
    for (command, why) in [
        ("exit 1", "exit status: 1"),
        ("kill -9 $$", "signal: 9"),
        ("sleep 60", "took longer than"),
        ("echo '{\"decision\": \"alow\"}'", "not understood"),
        ("echo '{'", "not understood"),
        ("yes | head -c 100000000", "wrote more than"),
        ("no-such-program", "127"),
    ] {
        let world = World::new(SHELL).await;
        // Only the one that hangs is to run out of time, however busy the machine is.
        let limit = if command.starts_with("sleep") { "500ms" } else { "50s" };
        let hook = format!("[[hook]]\non = \"pre_tool\"\ncommand = '''{command}'''\ntimeout = \"{limit}\"\n");
        world.keep("hooks/broken.toml", &hook);
        let session = world.session().await;
        mode(&world, &session, Mode::Full).await;
        let events = world.ask(&session, "make it").await;
        assert!(!world.project.join("made.txt").exists(), "{command}");
        let said = ran(&events);
        assert_eq!(said[0].says, Some(HookWord::Deny), "{command}");
        assert!(said[0].reason.as_ref().unwrap().contains(why), "{command}: {said:?}");
    }
}

#[tokio::test]
async fn an_allow_skips_a_question_and_nothing_more() {
    let allow = "[[hook]]\non = \"pre_tool\"\ncommand = '''echo '{\"decision\": \"allow\"}' '''\n";
    // Nobody is there, so the question would have been a no.
    let world = World::new(SHELL).await;
    world.keep("hooks/yes.toml", allow);
    let session = world.session().await;
    world.ask(&session, "make it").await;
    assert!(world.project.join("made.txt").exists());

    let blocked = "reply\n  call: shell {\"command\": \"rm -rf / --no-preserve-root\"}\nmodel: No.\n";
    let world = World::new(blocked).await;
    world.keep("hooks/yes.toml", allow);
    let session = world.session().await;
    let events = world.ask(&session, "tidy up").await;
    assert!(print(&events).contains("denied by"), "{}", print(&events));

    let world = World::new(SHELL).await;
    world.keep("hooks/yes.toml", allow);
    let session = world.session().await;
    mode(&world, &session, Mode::Explore).await;
    world.ask(&session, "make it").await;
    assert!(!world.project.join("made.txt").exists());
}

#[tokio::test]
async fn a_hook_changes_the_input_and_adds_to_what_the_model_is_told() {
    let world = World::new(SHELL).await;
    world.keep(
        "hooks/change.toml",
        r#"
        [[hook]]
        on = "pre_tool"
        command = '''echo '{"input": {"command": "echo changed > made.txt"}, "context": "use tabs"}' '''
        [[hook]]
        on = "post_tool"
        command = '''grep -q 'echo changed' && echo '{"context": "it ran"}' '''
        "#,
    );
    let session = world.session().await;
    mode(&world, &session, Mode::Full).await;
    let events = world.ask(&session, "make it").await;
    assert_eq!(std::fs::read_to_string(world.project.join("made.txt")).unwrap(), "changed\n");
    let sent = sent(&world);
    assert!(sent.contains("a hook says: use tabs") && sent.contains("a hook says: it ran"), "{sent}");
    assert!(ran(&events)[0].changed_input);
}

#[tokio::test]
async fn a_changed_input_is_judged_like_any_other() {
    let world = World::new("reply\n  call: shell {\"command\": \"ls\"}\nmodel: Done.\n").await;
    world.keep(
        "hooks/change.toml",
        "[[hook]]\non = \"pre_tool\"\ncommand = '''echo '{\"decision\": \"allow\", \"input\": {\"command\": \"rm -rf ~\"}}' '''\n",
    );
    let session = world.session().await;
    let events = world.ask(&session, "look").await;
    assert!(print(&events).contains("rm -rf ~: asks permission"), "{}", print(&events));
    assert!(print(&events).contains("denied by"), "{}", print(&events));
}

#[tokio::test]
async fn prompts_can_be_refused_changed_and_added_to() {
    let world = World::new("model: A.\nmodel: B.\n").await;
    world.keep(
        "hooks/prompt.toml",
        r#"
        [[hook]]
        on = "session_start"
        command = "echo the branch is main"
        [[hook]]
        on = "prompt"
        command = '''
            read event
            case "$event" in
                *secret*) echo "that word is not for models" >&2; exit 2;;
                *shout*) echo '{"input": {"prompt": "whisper"}}';;
            esac
        '''
        "#,
    );
    let session = world.session().await;
    world.ask(&session, "hello").await;
    assert!(sent(&world).contains("the branch is main"), "{}", sent(&world));
    let refused = Op::StartTurn {
        session: session.clone(),
        prompt: vec![protocol::Content::text("the secret")],
        key: None,
        limits: Limits::default(),
        attended: false,
    };
    let error = world.engine.submit(refused).await.unwrap_err();
    assert_eq!(error.to_string(), "a hook refused the prompt: that word is not for models");
    world.ask(&session, "shout").await;
    let sent = sent(&world);
    assert!(sent.contains("whisper") && !sent.contains("shout") && !sent.contains("the secret"), "{sent}");
    // It was told once that the session began.
    assert_eq!(sent.matches("the branch is main").count(), 1);
}

#[tokio::test]
async fn an_agent_that_may_not_stop_yet_goes_on_and_a_restart_remembers_why() {
    let mut world = World::new("model: Finished.\nmodel: Now the tests pass.\nmodel: Later.\n").await;
    world.keep(
        "hooks/stop.toml",
        "[[hook]]\non = \"stop\"\ncommand = '''grep -q tests || { echo 'run the tests' >&2; exit 2; }'''\n",
    );
    let session = world.session().await;
    let events = world.ask(&session, "fix it").await;
    assert!(print(&events).contains("says: Now the tests pass."), "{}", print(&events));
    let first = world.server.requests()[1].json["messages"].clone();
    assert!(first.to_string().contains("do not stop yet, a hook says: run the tests"), "{first}");
    world.restart().await;
    world.ask(&session, "again, with tests").await;
    let later = world.server.requests()[2].json["messages"].clone();
    let (first, later) = (first.as_array().unwrap(), later.as_array().unwrap());
    assert_eq!(later[..first.len()], first[..]);
}

#[tokio::test]
async fn hooks_hear_of_edits_ends_questions_and_settings() {
    let world =
        World::new("reply\n  call: write {\"path\": \"src/a.txt\", \"content\": \"x\"}\nmodel: Done.\n")
            .await;
    let heard = world.folder.path().join("heard");
    let every: Vec<String> = HookEvent::ALL.iter().map(|on| format!("\"{}\"", on.as_str())).collect();
    world.keep(
        "hooks/all.toml",
        &format!(
            "[[hook]]\non = [{}]\ncommand = 'echo \"$COVEY_HOOK_EVENT\" >> {}'\n[[hook]]\non = \"edit\"\npath = \"src/*.txt\"\ncommand = 'echo formatted > src/a.txt'\n",
            every.join(", "),
            heard.display(),
        ),
    );
    let session = world.session().await;
    mode(&world, &session, Mode::Edit).await;
    world.ask(&session, "write it").await;
    assert_eq!(std::fs::read_to_string(world.project.join("src/a.txt")).unwrap(), "formatted\n");
    let heard = std::fs::read_to_string(heard).unwrap();
    assert_eq!(
        heard.lines().collect::<Vec<_>>(),
        ["config_change", "session_start", "prompt", "pre_tool", "edit", "post_tool", "stop", "turn_end"]
    );
    // What the hook made of the file is taken back with the call.
    world
        .engine
        .submit(Op::Undo { session: session.clone(), what: None, path: None, force: false })
        .await
        .unwrap();
    assert!(!world.project.join("src/a.txt").exists());
}

#[tokio::test]
async fn a_hook_answers_a_question_before_the_person_hears_of_it() {
    let world = World::new(SHELL).await;
    world.keep(
        "hooks/answer.toml",
        "[[hook]]\non = \"permission\"\ntool = \"shell\"\ncommand = '''echo '{\"decision\": \"allow\"}' '''\n",
    );
    let session = world.session().await;
    let turn = world.start(&session, "make it", true, Limits::default()).await;
    let events = world.until(&session, |event| ends(event, &turn)).await;
    assert!(!events.iter().any(|event| matches!(event.body, EventBody::PermissionRequest(_))));
    assert!(world.project.join("made.txt").exists());
}

#[tokio::test]
async fn nothing_of_a_repository_runs_before_the_person_accepts_it_and_its_scripts() {
    let mut world = World::new("model: A.\nmodel: B.\nmodel: C.\n").await;
    world.write(".covey/hooks/go.toml", "[[hook]]\non = \"prompt\"\ncommand = \"sh tools/go.sh\"\n");
    world.write("tools/go.sh", "echo ran >> ran.txt\n");
    let ran = world.project.join("ran.txt");
    let session = world.session().await;
    world.ask(&session, "hello").await;
    assert!(!ran.exists());
    world.trust();
    world.restart().await;
    world.ask(&session, "hello").await;
    assert_eq!(std::fs::read_to_string(&ran).unwrap(), "ran\n");
    // Its own file is as it was, but what it runs is not.
    world.write("tools/go.sh", "echo evil >> ran.txt\n");
    world.restart().await;
    world.ask(&session, "hello").await;
    assert_eq!(std::fs::read_to_string(&ran).unwrap(), "ran\n");
}

#[tokio::test]
async fn a_file_of_hooks_with_a_mistake_stops_everything_until_it_is_mended() {
    let world = World::new("model: A.\n").await;
    world.keep("hooks/bad.toml", "[[hook]]\non = \"pretool\"\ncommand = \"exit 2\"\n");
    let session = world.session().await;
    let start = Op::StartTurn {
        session,
        prompt: vec![protocol::Content::text("hello")],
        key: None,
        limits: Limits::default(),
        attended: false,
    };
    let error = world.engine.submit(start).await.unwrap_err().to_string();
    assert!(error.contains("bad.toml") && error.contains("there is no event `pretool`"), "{error}");
}

/// Every event there is, in one session: hooks that say nothing and write down what they hear.
#[tokio::test]
async fn each_of_the_events_is_heard() {
    let script = r#"
        reply
          call: read {"path": "missing.txt"}
          call: shell {"command": "echo hi > made.txt"}
          call: write {"path": "a.txt", "content": "x"}
          call: task {"title": "count", "prompt": "count to three"}
        model: One, two, three.
        model: Done.
        model: Goal: counting.
        model: Compacted.
    "#;
    let world = World::new(script).await;
    let heard = world.folder.path().join("heard");
    let every: Vec<String> = HookEvent::ALL.iter().map(|on| format!("\"{}\"", on.as_str())).collect();
    let command = format!("cat >> {}; echo >> {}", heard.display(), heard.display());
    world.keep("hooks/all.toml", &format!("[[hook]]\non = [{}]\ncommand = '{command}'\n", every.join(", ")));
    let session = world.session().await;
    mode(&world, &session, Mode::Edit).await;
    let turn = world.start(&session, "do it all", true, Limits::default()).await;
    let events = world.until(&session, |event| matches!(event.body, EventBody::PermissionRequest(_))).await;
    let Some(EventBody::PermissionRequest(asked)) = events.last().map(|event| &event.body) else {
        unreachable!()
    };
    // It is told beside the question, and nobody waits for it.
    while !std::fs::read_to_string(&heard).is_ok_and(|told| told.contains("\"notification\"")) {
        tokio::task::yield_now().await;
    }
    let option = asked.options.iter().find(|option| option.id.starts_with("allow")).unwrap().id.clone();
    let decision = Decision::Choose { option, reason: None };
    let answer = Op::AnswerPermission { session: session.clone(), request: asked.request.clone(), decision };
    world.engine.submit(answer).await.unwrap();
    world.until(&session, |event| ends(event, &turn)).await;
    world.ask(&session, "/compact").await;
    let lines = std::fs::read_to_string(heard).unwrap();
    let told: Vec<serde_json::Value> = lines
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for on in HookEvent::ALL {
        assert!(told.iter().any(|told| told["event"] == on.as_str()), "{} is missing: {lines}", on.as_str());
    }
    let of = |event: &str| told.iter().find(|told| told["event"] == event).unwrap();
    assert_eq!(of("tool_failed")["tool"], "read");
    assert_eq!(of("subagent_start")["prompt"], "count to three");
    assert_eq!(
        (&of("subagent_end")["stop"], &of("subagent_end")["report"]),
        (&"done".into(), &"One, two, three.".into())
    );
    assert!(of("notification")["text"].as_str().unwrap().contains("echo hi > made.txt"));
    assert_eq!(of("permission")["tool"], "shell");
    assert!(of("compact")["tokens"].as_u64().unwrap() > 0);
    assert_eq!(
        (&of("config_change")["setting"], &of("config_change")["value"]),
        (&"mode".into(), &"edit".into())
    );
}

#[tokio::test]
async fn where_nobody_is_a_hook_answers_the_question_too() {
    for (says, made, stop) in [
        ("echo '{\"decision\": \"allow\"}'", true, Stop::Done),
        ("echo no >&2; exit 2", false, Stop::Done),
        ("exit 0", false, Stop::Denied),
    ] {
        let world = World::new(SHELL).await;
        let hook = format!("[[hook]]\non = \"permission\"\npath = \"made.txt\"\ncommand = '''{says}'''\n");
        world.keep("hooks/answer.toml", &hook);
        let session = world.session().await;
        assert_eq!(ended(&world, &session).await, stop, "{says}");
        assert_eq!(world.project.join("made.txt").exists(), made, "{says}");
    }
}

#[tokio::test]
async fn a_hook_that_answers_does_not_lift_another_hooks_no() {
    let world = World::new(SHELL).await;
    world.keep(
        "hooks/a.toml",
        "[[hook]]\non = \"permission\"\ncommand = '''echo '{\"decision\": \"allow\"}''''\n",
    );
    world.keep("hooks/b.toml", "[[hook]]\non = \"pre_tool\"\ncommand = \"echo never >&2; exit 2\"\n");
    let session = world.session().await;
    ended(&world, &session).await;
    assert!(!world.project.join("made.txt").exists());
    assert!(sent(&world).contains("never"), "{}", sent(&world));
}

#[tokio::test]
async fn what_a_hook_wants_asked_is_denied_for_want_of_a_person() {
    let world = World::new(SHELL).await;
    world.keep(
        "hooks/ask.toml",
        "[[hook]]\non = \"pre_tool\"\ncommand = '''echo '{\"decision\": \"ask\"}''''\n",
    );
    let session = world.session().await;
    mode(&world, &session, Mode::Full).await;
    assert_eq!(ended(&world, &session).await, Stop::Denied);
    assert!(sent(&world).contains("nobody is there to allow it (a hook wants it asked"), "{}", sent(&world));
}

#[tokio::test]
async fn a_file_that_a_command_names_is_touched_like_any_other() {
    let world = World::new(SHELL).await;
    world.keep(
        "hooks/path.toml",
        "[[hook]]\non = \"pre_tool\"\npath = \"made.*\"\ncommand = \"exit 2\"\ntimeout = 5\n",
    );
    let session = world.session().await;
    mode(&world, &session, Mode::Full).await;
    world.ask(&session, "make it").await;
    assert!(!world.project.join("made.txt").exists());
}
