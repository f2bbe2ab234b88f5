//! `covey session`: a person's own record.

use serde_json::Value;

use crate::world::World;

async fn with_two_sessions() -> (World, String, String) {
    let world = World::new("model: The coupon is applied **twice**.\nreply\n  call: list_dir {}\nmodel: Deploys take a minute.\n").await;
    let (_, first) = world.result(&["why is the cart total wrong?"]).await;
    let (_, second) = world.result(&["how long is a deploy?"]).await;
    (world, first["session"].as_str().unwrap().to_owned(), second["session"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn list_show_and_search_find_what_was_said() {
    let (world, first, second) = with_two_sessions().await;
    let list: Value = serde_json::from_str(&world.covey(&["session", "list", "--json"]).await.out).unwrap();
    let titles: Vec<&str> =
        list["sessions"].as_array().unwrap().iter().map(|s| s["title"].as_str().unwrap()).collect();
    assert_eq!(titles.len(), 2);
    assert!(titles.contains(&"why is the cart total wrong?"));

    let shown = world.covey(&["session", "show", "cart total"]).await;
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("› why is the cart total wrong?"), "{}", shown.out);
    assert!(shown.out.contains("● The coupon is applied **twice**."), "{}", shown.out);
    let tail = world.covey(&["session", "show", &second, "--last", "2", "--json"]).await;
    assert_eq!(tail.types().last().unwrap(), "turn_end");
    assert_eq!(tail.lines().len(), 2);

    let hits = world.covey(&["session", "search", "coupon", "--json"]).await;
    assert_eq!(hits.lines()[0]["session"], first.as_str(), "{hits:?}");
    let nothing = world.covey(&["session", "search", "\"; DROP TABLE * NEAR("]).await;
    assert_eq!(nothing.code, Some(0), "{nothing:?}");
    // What is said later is found later.
    world.result(&["--session", &first, "thanks"]).await;
    let hits = world.covey(&["session", "search", "thanks", "--json"]).await;
    assert_eq!(hits.lines()[0]["session"], first.as_str());
}

#[tokio::test]
async fn a_query_that_fits_several_lists_them() {
    let (world, first, _) = with_two_sessions().await;
    let done = world.covey(&["session", "show", &first[..8]]).await;
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.contains("fits 2 sessions") && done.err.contains(&first) && done.err.contains("deploy"),
        "{}",
        done.err
    );
    let none = world.covey(&["session", "show", "no such words"]).await;
    assert_eq!(none.code, Some(2));
    assert!(none.err.contains("hint:"));
    for hostile in ["../../etc", "", "20260101-000000-../../..", "\u{1b}[2J"] {
        let done = world.covey(&["session", "show", hostile]).await;
        assert_eq!(done.code, Some(2), "{hostile:?}: {done:?}");
        assert!(!done.err.contains("\u{1b}[2J"));
    }
}

#[tokio::test]
async fn export_in_three_formats() {
    let (world, first, _) = with_two_sessions().await;
    let markdown = world.covey(&["session", "export", &first]).await.out;
    assert!(markdown.contains("The coupon is applied **twice**."), "{markdown}");
    let html = world.covey(&["session", "export", &first, "--format", "html"]).await.out;
    assert!(html.contains("<strong>twice</strong>"), "{html}");
    assert!(!html.contains("<script"), "{html}");
    let json = world.covey(&["session", "export", &first, "--json"]).await.out;
    assert!(serde_json::from_str::<Value>(&json).is_ok());
    let file = world.project.join("out.html");
    let done = world.covey(&["session", "export", &first, "--format", "html", "-o", "out.html"]).await;
    assert_eq!((done.code, done.out.as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), html);
    assert_eq!(crate::world::mode(&file), 0o600);
}

#[tokio::test]
async fn rename_fork_replay_and_delete() {
    let (world, first, second) = with_two_sessions().await;
    assert_eq!(world.covey(&["session", "rename", &first, "Coupon trouble"]).await.code, Some(0));
    assert!(world.covey(&["session", "list"]).await.out.contains("Coupon trouble"));

    let fork: Value = serde_json::from_str(
        &world.covey(&["session", "fork", "coupon trouble", "--at", "4", "--json"]).await.out,
    )
    .unwrap();
    let fork = fork["session"].as_str().unwrap();
    let events = world.covey(&["session", "show", fork, "--json"]).await;
    assert_eq!(events.lines()[0]["forked_from"]["session"], first.as_str());
    assert_eq!(world.covey(&["session", "verify", fork]).await.code, Some(0));
    assert_eq!(world.covey(&["session", "fork", &first, "--at", "9999"]).await.code, Some(1));

    let replayed = world
        .covey(&["session", "replay", &second, "--json", "--type", "tool_call", "--type", "turn_end"])
        .await;
    assert_eq!(replayed.types(), ["tool_call", "turn_end"]);
    assert_eq!(world.covey(&["session", "replay", &second, "--type", "nonsense"]).await.code, Some(2));

    assert_eq!(world.covey(&["session", "delete", fork, &second]).await.code, Some(0));
    assert_eq!(world.sessions().len(), 1);
}

#[tokio::test]
async fn verify_names_a_flipped_bit_and_the_rest_can_still_be_read() {
    let (world, first, _) = with_two_sessions().await;
    let log = world.home.join("sessions").join(&first).join("events.jsonl");
    let mut bytes = std::fs::read(&log).unwrap();
    let at = String::from_utf8_lossy(&bytes).find("coupon").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let done = world.covey(&["session", "verify", &first]).await;
    assert_eq!(done.code, Some(1));
    assert!(done.out.contains("checksum"), "{}", done.out);
    let json = world.covey(&["session", "verify", "--json"]).await;
    assert_eq!(json.lines().iter().filter(|report| report["sound"] == false).count(), 1);
    let shown = world.covey(&["session", "show", &first]).await;
    assert!(shown.out.contains("why is the cart total wrong?") && shown.err.contains("damaged"), "{shown:?}");
}

#[tokio::test]
async fn a_session_in_use_is_joined_and_a_fork_is_a_way_out() {
    let world = World::new("model: one\nreply\n  fault: never\nmodel: two\n").await;
    let (_, first) = world.result(&["hello"]).await;
    let id = first["session"].as_str().unwrap();
    let _running = world.command(&["run", "--session", id, "wait"]).spawn().unwrap();
    world.server.request(1).await;
    let refused = world.covey(&["run", "--session", id, "me too"]).await;
    // It got as far as the one who has it, and heard that it is busy.
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("a turn is running in this session"), "{}", refused.err);
    // Reading needs no lock, and a fork is a way out.
    assert_eq!(world.covey(&["session", "show", id]).await.code, Some(0));
    let (done, forked) = world.result(&["--session", id, "--fork", "me too"]).await;
    assert_eq!((done.code, &forked["text"]), (Some(0), &"two".into()), "{done:?}");
    assert_eq!(world.covey(&["session", "delete", id]).await.code, Some(1));
}

#[tokio::test]
async fn a_log_line_of_many_megabytes_stops_neither_search_nor_the_rest() {
    use std::io::Write;
    let (world, first, _) = with_two_sessions().await;
    let log = world.home.join("sessions").join(&first).join("events.jsonl");
    let mut file = std::fs::File::options().append(true).open(&log).unwrap();
    file.write_all(&vec![b'x'; 50 << 20]).unwrap();
    file.write_all(b"\n").unwrap();
    for arguments in [
        &["session", "search", "deploy"][..],
        &["session", "list"],
        &["session", "show", &first, "--last", "3"],
    ] {
        let done = world.covey(arguments).await;
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
    }
    assert_eq!(world.covey(&["session", "verify", &first]).await.code, Some(1));
    // The next run cuts the torn end off, and says so.
    let run = world.covey(&["run", "--session", &first, "go on"]).await;
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("the end of the log was damaged"), "{}", run.err);
    let verified = world.covey(&["session", "verify", &first]).await;
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.out.contains("repaired"), "{}", verified.out);
}

#[tokio::test]
async fn a_log_that_is_a_pipe_or_a_device_is_unreadable_and_nothing_hangs() {
    let (world, first, second) = with_two_sessions().await;
    let log = |id: &str| world.home.join("sessions").join(id).join("events.jsonl");
    for id in [&first, &second] {
        std::fs::remove_file(log(id)).unwrap();
        let _ = std::fs::remove_file(world.home.join("sessions").join(id).join("metadata.json"));
    }
    rustix::fs::mknodat(rustix::fs::CWD, log(&first), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    std::os::unix::fs::symlink("/dev/zero", log(&second)).unwrap();
    for arguments in [
        &["session", "list"][..],
        &["session", "search", "coupon"],
        &["session", "verify"],
        &["session", "show", &first],
        &["session", "export", &second],
        &["run", "--session", &first, "hello"],
        &["doctor"],
    ] {
        world.covey(arguments).await;
    }
    let list = world.covey(&["session", "list"]).await;
    assert_eq!(list.out.matches("unreadable").count(), 2, "{}", list.out);
}

#[tokio::test]
async fn a_long_prompt_has_a_title_and_is_found_shown_and_sent_again() {
    let world = World::new("model: A lot.\nmodel: Still a lot.\n").await;
    let prompt = format!("zebra question about giraffes\n{}", "many words ".repeat(30_000));
    let done = world.covey_with_stdin(&["run", "-"], prompt.as_bytes()).await;
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(world.covey(&["session", "list"]).await.out.contains("zebra question about giraffes"));
    assert!(world.covey(&["session", "search", "giraffes"]).await.out.contains("prompt"));
    assert!(world.covey(&["session", "show", "zebra"]).await.out.contains("many words"));
    world.result(&["--continue", "and now?"]).await;
    assert_eq!(world.server.request(1).await.json["messages"][1]["content"], prompt.as_str());
}

#[tokio::test]
async fn replay_begins_with_the_event_it_is_told() {
    let (world, first, _) = with_two_sessions().await;
    let replayed = world.covey(&["session", "replay", &first, "--json", "--from", "4"]).await;
    assert_eq!(replayed.lines()[0]["seq"], 4);
    let whole = world.covey(&["session", "replay", &first, "--json", "--from", "1"]).await;
    assert_eq!(whole.types()[0], "session_start");
    let twice = world.covey(&["session", "delete", &first, &first, "--json"]).await;
    assert_eq!(
        (twice.code, twice.lines()[0]["deleted"].as_array().unwrap().len()),
        (Some(0), 1),
        "{twice:?}"
    );
}

/// A session of another agent becomes ours, and says what is lost on the way.
#[tokio::test]
async fn past_sessions_of_other_agents_are_taken_over() {
    let world = World::bare("").await;
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/fixtures/import");
    for agent in ["claude", "codex", "gemini"] {
        let file = fixtures.join(format!("{agent}.jsonl"));
        let done = world.covey(&["session", "import", "--json", file.to_str().unwrap()]).await;
        assert_eq!(done.code, Some(0), "{done:?}");
        let report: Value = serde_json::from_str(&done.out).unwrap();
        assert_eq!((report["agent"].as_str(), report["turns"].as_u64()), (Some(agent), Some(1)), "{report}");
        assert!(report["lost"].as_object().is_some_and(|lost| !lost.is_empty()), "{report}");
        let session = report["session"].as_str().unwrap();
        let shown = world.covey(&["session", "show", session]).await;
        assert!(shown.out.contains("Do it.") && shown.out.contains("The tool answered"), "{shown:?}");
        let sound = world.covey(&["session", "verify", session]).await;
        assert_eq!(sound.code, Some(0), "{sound:?}");
        // The agent takes up its own session when it goes on.
        let memory = world.home.join("sessions").join(session).join(format!("agent-{agent}.json"));
        assert!(std::fs::read_to_string(memory).unwrap().contains(report["their_session"].as_str().unwrap()));
    }
    let done = world.covey(&["session", "import", "nowhere.jsonl"]).await;
    assert!(done.err.contains("there is no such file") && done.err.contains("hint:"), "{done:?}");
    world.write("no.txt", "nothing");
    let done = world.covey(&["session", "import", "no.txt"]).await;
    assert_eq!((done.code, done.err.contains("no session of Claude Code")), (Some(2), true), "{done:?}");
}

/// The newest of an agent's sessions in this folder is found where the agent keeps them.
#[tokio::test]
async fn past_sessions_are_found_by_their_agent() {
    let world = World::bare("").await;
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/fixtures/import");
    let here = world.project.to_str().unwrap();
    for (agent, place) in [
        ("claude", ".claude/projects/-p/one.jsonl"),
        ("codex", ".codex/sessions/2026/11/16/rollout-1.jsonl"),
        ("gemini", ".gemini/tmp/p/chats/session-1.jsonl"),
    ] {
        let text = std::fs::read_to_string(fixtures.join(format!("{agent}.jsonl"))).unwrap();
        let file = world.home.join(place);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text.replace("/workspace/demo", here)).unwrap();
        if agent == "gemini" {
            std::fs::write(world.home.join(".gemini/tmp/p/.project_root"), here).unwrap();
        }
        // Of another folder, and newer.
        let other = file.with_file_name("rollout-session-2.jsonl");
        std::fs::write(other, text.replace("/workspace/demo", "/elsewhere")).unwrap();
        let done = world.covey(&["session", "import", "--from", agent, "--list"]).await;
        assert!(done.out.contains("Do it.") && done.out.contains(place), "{done:?}");
        assert_eq!(done.out.lines().count(), 1, "{done:?}");
        let done = world.covey(&["session", "import", "--from", agent, "--json"]).await;
        let report: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
        assert_eq!((report["agent"].as_str(), report["turns"].as_u64()), (Some(agent), Some(1)), "{report}");
    }
    for (agent, why) in [("opencode", "opencode export"), ("manus", "can not be taken over")] {
        let done = world.covey(&["session", "import", "--from", agent]).await;
        assert_eq!(done.code, Some(2));
        assert!(done.err.contains(why) && done.err.contains("hint:"), "{done:?}");
    }
    std::fs::remove_dir_all(world.home.join(".codex")).unwrap();
    let done = world.covey(&["session", "import", "--from", "codex"]).await;
    assert!(done.err.contains("`codex` had no session in") && done.err.contains("hint:"), "{done:?}");
}
