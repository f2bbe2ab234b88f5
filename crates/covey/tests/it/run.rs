//! `covey run` as scripts use it.

use std::process::Stdio;

use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::world::{World, finish, mode, signal};

#[tokio::test]
async fn only_the_answer_goes_to_stdout() {
    let world = World::new("reply\n  think: Hm.\n  call: list_dir {}\nmodel: Two files.\n").await;
    let done = world.covey(&["run", "how many files?"]).await;
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (Some(0), "Two files.\n", ""));
}

#[tokio::test]
async fn json_is_the_events_as_recorded_and_a_result() {
    let world = World::new(
        "reply\n  call: read {\"path\": \"a.txt\"}\n  usage: input=10 output=5\nmodel: It says hello.\n",
    )
    .await;
    world.write("a.txt", "hello\n");
    let (done, result) = world.result(&["what does a.txt say?"]).await;
    assert_eq!(done.code, Some(0));
    assert_eq!(
        done.types(),
        [
            "session_start",
            "user_prompt",
            "turn_start",
            "usage",
            "tool_call",
            "file_read",
            "tool_call_update",
            "agent_message",
            "message_end",
            "usage",
            "context",
            "turn_end",
            "result"
        ]
    );
    let session = result["session"].as_str().unwrap();
    assert_eq!(done.lines()[0]["session"], session);
    assert_eq!(result["text"], "It says hello.");
    assert_eq!(result["stop"], "done");
    assert_eq!(result["steps"], 2);
    assert_eq!(result["agent"], "native");
    assert_eq!(result["model"], "testkit/scripted");
    assert!(result["files_changed"].as_array().unwrap().is_empty());

    // The log holds the same lines, each with its checksum.
    let log =
        std::fs::read_to_string(world.home.join("sessions").join(session).join("events.jsonl")).unwrap();
    for (line, printed) in log.lines().zip(done.out.lines()) {
        assert_eq!(line.rsplit_once(",\"crc\":").unwrap().0, printed.strip_suffix('}').unwrap());
    }
    assert_eq!(log.lines().count() + 1, done.out.lines().count());
}

#[tokio::test]
async fn stdin_is_read_only_when_asked_for() {
    let world = World::new("model: one\nmodel: two\n").await;
    // An open stdin that nobody ever writes to must not hold it up.
    let child = world.command(&["run", "hello"]).stdin(Stdio::piped()).spawn().unwrap();
    let done = finish_keeping_stdin_open(child).await;
    assert_eq!(done.out, "one\n");
    let done = world.covey_with_stdin(&["run", "-"], "from a pipe, ünïcode".as_bytes()).await;
    assert_eq!((done.code, done.out.as_str()), (Some(0), "two\n"));
    let sent = world.server.request(1).await;
    assert_eq!(sent.json["messages"][1]["content"], "from a pipe, ünïcode");
}

async fn finish_keeping_stdin_open(mut child: tokio::process::Child) -> crate::world::Done {
    let stdin = child.stdin.take();
    let done = finish(child).await;
    drop(stdin);
    done
}

#[tokio::test]
async fn wrong_usage_is_told_in_two_lines_and_exits_2() {
    let world = World::new("").await;
    for arguments in [
        &["run"][..],
        &["run", ""],
        &["run", "x", "--model", "nobody/home"],
        &["run", "x", "--agent", "nobody"],
        &["run", "x", "--mode", "yolo"],
        &["run", "x", "--timeout", "soon"],
        &["run", "x", "--max-steps", "0"],
        &["run", "x", "--cwd", "missing"],
        &["run", "x", "--image", "missing.png"],
        &["run", "x", "--image", "/dev/zero"],
        &["run", "x", "--session", "20200101"],
        &["run", "x", "--continue"],
        &["run", "x", "--fork"],
        &["run", "x", "--nonsense"],
        &["frobnicate"],
        &[],
    ] {
        let done = world.covey(arguments).await;
        assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
        assert!(!done.err.is_empty() || arguments.is_empty(), "{arguments:?}");
    }
    let done = world.covey_with_stdin(&["run", "-"], &[0xff, 0xfe]).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(world.sessions().is_empty(), "a run that never began left a session");
}

#[tokio::test]
async fn what_needs_a_person_is_denied_and_the_run_goes_on() {
    let world = World::new("reply\n  call: read {\"path\": \"/srv/notes.txt\"}\nmodel: Then not.\n").await;
    let (done, result) = world.result(&["read my hosts"]).await;
    assert_eq!((done.code, &result["stop"]), (Some(3), &"denied".into()));
    assert_eq!(result["text"], "Then not.");
    let told = world.server.request(1).await;
    assert!(told.text().contains("denied: nobody is there to allow it"), "{}", told.text());
}

#[tokio::test]
async fn limits_exit_4() {
    let world = World::new("reply\n  call: list_dir {}\nforever\n").await;
    let (done, result) = world.result(&["go", "--max-steps", "2"]).await;
    assert_eq!((done.code, &result["stop"], &result["steps"]), (Some(4), &"limit".into(), &2.into()));

    let world = World::new("reply\n  text: Slowly does it.\n  fault: stall after=3\n").await;
    let (done, result) = world.result(&["go", "--timeout", "1s"]).await;
    assert_eq!((done.code, &result["stop"]), (Some(4), &"limit".into()));
    assert!(result["text"].as_str().unwrap().starts_with("Slowly"), "{result}");
}

#[tokio::test]
async fn sessions_are_continued_forked_or_not_kept() {
    let world = World::new("model: one\nmodel: two\nmodel: three\nmodel: four\nmodel: five\n").await;
    let (_, first) = world.result(&["the first prompt"]).await;
    let id = first["session"].as_str().unwrap();
    let (done, second) = world.result(&["the second", "--continue"]).await;
    assert_eq!(second["session"], id);
    // Even then the first line tells which session it is, and nothing old comes again.
    assert_eq!(done.types()[..3], ["session_start", "user_prompt", "turn_start"]);
    assert_eq!(second["text"], "two");
    let (_, third) = world.result(&["the third", "--session", &id[..20]]).await;
    assert_eq!(third["session"], id);
    let (_, fork) = world.result(&["the fourth", "--session", "first prompt", "--fork"]).await;
    assert_ne!(fork["session"], id);
    let sent = world.server.request(3).await;
    let texts: Vec<&str> = sent.json["messages"].as_array().unwrap()[1..]
        .iter()
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["the first prompt", "one", "the second", "two", "the third", "three", "the fourth"]);
    assert_eq!(world.sessions().len(), 2);
    let (done, _) = world.result(&["nothing is kept", "--ephemeral"]).await;
    assert_eq!(done.code, Some(0));
    assert_eq!(world.sessions().len(), 2);
}

#[tokio::test]
async fn a_picture_goes_along_and_is_kept_beside_the_log() {
    let world = World::new("model: A square.\nmodel: Still a square.\n").await;
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    picture.resize(9000, 7);
    world.write("square.png", &picture);
    let (done, result) = world.result(&["what is it?", "--image", "square.png"]).await;
    assert_eq!(done.code, Some(0));
    let url = |request: &serde_json::Value| request["messages"][1]["content"].to_string();
    let first = world.server.request(0).await;
    assert!(url(&first.json).contains("data:image/png;base64,iVBORw0KGgoHBwc"));
    let session = world.home.join("sessions").join(result["session"].as_str().unwrap());
    assert_eq!(std::fs::read_dir(session.join("blobs")).unwrap().count(), 1);
    assert!(std::fs::metadata(session.join("events.jsonl")).unwrap().len() < 4000);
    // The next process sends the very same bytes again.
    world.result(&["and now?", "--continue"]).await;
    assert_eq!(url(&world.server.request(1).await.json), url(&first.json));
}

#[tokio::test]
async fn a_search_goes_to_the_service_that_the_person_set() {
    let service = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", service.local_addr().unwrap());
    let asked = tokio::spawn(async move {
        let (mut socket, _) = service.accept().await.unwrap();
        let mut request = vec![0; 4096];
        let read = socket.read(&mut request).await.unwrap();
        let found =
            r#"{"results": [{"title": "Owls", "url": "https://example.org/owls", "content": "They hoot."}]}"#;
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{found}", found.len());
        socket.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    let search = r#"{"name": "web_search", "arguments": {"query": "owls"}}"#;
    let world =
        World::new(&format!("model: Hm.\nreply\n  call: call_tool {search}\nmodel: They hoot.\n")).await;
    world.covey(&["config", "set", "web.search", "searxng"]).await;
    let lost = world.covey(&["run", "what do owls do?"]).await;
    assert!(lost.code == Some(0) && lost.err.contains("web.url"), "{lost:?}");
    world.covey(&["config", "set", "web.url", &address]).await;
    let (done, _) = world.result(&["what do owls do?", "--mode", "full"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let asked = tokio::time::timeout(std::time::Duration::from_secs(20), asked).await.expect("nobody asked");
    assert!(asked.unwrap().starts_with("GET /search?q=owls"));
    assert!(world.server.request(2).await.text().contains("https://example.org/owls"));
}

#[tokio::test]
async fn ctrl_c_once_prints_what_there_is() {
    let world = World::new("reply\n  text: Half an answer and then nothing.\n  fault: stall after=5\n").await;
    let child = world.command(&["run", "go"]).spawn().unwrap();
    world.server.request(0).await;
    wait_for_event(&world, "agent_message").await;
    signal(&child, Signal::INT);
    let done = finish(child).await;
    assert_eq!(done.code, Some(130), "{done:?}");
    assert!(done.out.starts_with("Half"), "{done:?}");
    world.server.aborted(0).await;
    let next = world.covey(&["run", "--continue", "go on"]).await;
    assert_eq!(next.code, Some(0), "{next:?}");
}

/// Waits until the only session's log has an event of this type.
async fn wait_for_event(world: &World, kind: &str) {
    let found = async {
        loop {
            let log = world.sessions().first().map(|dir| std::fs::read_to_string(dir.join("events.jsonl")));
            if log.is_some_and(|log| log.unwrap_or_default().contains(kind)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::world::PATIENCE, found).await.expect("the event does not come");
}

#[tokio::test]
async fn ctrl_c_twice_and_a_kill_quit_in_any_state() {
    for kind in [Signal::INT, Signal::TERM, Signal::HUP] {
        let world = World::new("reply\n  fault: never\n").await;
        let child = world.command(&["run", "--json", "go"]).spawn().unwrap();
        world.server.request(0).await;
        signal(&child, kind);
        if kind == Signal::INT {
            // Too late is no harm: then the first one was enough.
            signal(&child, kind);
        }
        let done = finish(child).await;
        assert_eq!(done.code, Some(130), "{done:?}");
    }
}

#[tokio::test]
async fn a_reader_that_leaves_ends_the_run_and_the_session_stays_sound() {
    let world = World::new("reply\n  repeat: 20000 \"word \"\n  pace: 1\n  writes: frames\n").await;
    let mut child = world.command(&["run", "--json", "go"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        lines.next_line().await.unwrap().unwrap();
    }
    drop(lines);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).await.unwrap();
    let status =
        tokio::time::timeout(crate::world::PATIENCE, child.wait()).await.expect("covey hangs").unwrap();
    assert!(!status.success());
    world.server.aborted(0).await;
    let verified = world.covey(&["session", "verify"]).await;
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[tokio::test]
async fn everything_it_writes_is_private() {
    let world = World::new("model: hi\n").await;
    std::fs::remove_dir_all(world.home.join("sessions")).ok();
    let done = world.covey(&["run", "a secret"]).await;
    assert_eq!(done.code, Some(0));
    let session = world.sessions().remove(0);
    assert_eq!(mode(&session), 0o700);
    for entry in std::fs::read_dir(&session).unwrap() {
        let path = entry.unwrap().path();
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{}", path.display());
    }
}

#[tokio::test]
async fn a_signal_that_the_caller_ignores_is_ignored() {
    let world = World::new("reply\n  text: All of it.\n  wait: 700\n").await;
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" run hello", env!("CARGO_BIN_EXE_covey")]);
    shell.current_dir(&world.project).env_clear().env("COVEY_HOME", &world.home);
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = shell.spawn().unwrap();
    world.server.request(0).await;
    signal(&child, Signal::HUP);
    let done = finish(child).await;
    assert_eq!((done.code, done.out.as_str()), (Some(0), "All of it.\n"), "{done:?}");
}

#[tokio::test]
async fn a_folder_whose_name_can_not_be_recorded_is_refused_before_anything_is_made() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new("model: hi\n").await;
    let odd = world.project.join(std::ffi::OsStr::from_bytes(b"\xffdir"));
    std::fs::create_dir(&odd).unwrap();
    let done = finish(world.command(&["run", "hello"]).current_dir(&odd).spawn().unwrap()).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("not UTF-8") && done.err.contains("hint:"), "{}", done.err);
    assert!(world.sessions().is_empty());
}

#[tokio::test]
async fn what_a_killed_ephemeral_run_left_is_private_and_gone_after_the_next_one() {
    let world = World::new("reply\n  fault: never\nmodel: hi\n").await;
    let temporary = world.home.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let left =
        || std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let mut child =
        world.command(&["run", "a secret", "--ephemeral"]).env("TMPDIR", &temporary).spawn().unwrap();
    world.server.request(0).await;
    signal(&child, Signal::KILL);
    child.wait().await.unwrap();
    assert_eq!(left().len(), 1);
    assert_eq!(mode(&left()[0]), 0o700);
    let next = world.command(&["run", "hello", "--ephemeral"]).env("TMPDIR", &temporary).spawn().unwrap();
    assert_eq!(finish(next).await.out, "hi\n");
    assert!(left().is_empty(), "{:?}", left());
}
