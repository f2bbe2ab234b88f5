//! MCP servers, as people use them; the server is `covey mcp serve` itself.

use serde_json::{Value, json};

use crate::world::World;

const CALL: &str = r#"
    reply
      call: mcp__self__read {"path": "notes.txt"}
    model: Read.
"#;

/// A world whose agent may use Covey's own server, started like any other program.
async fn with_server(script: &str) -> World {
    let world = World::new(script).await;
    world.write("notes.txt", "the tide is out\n");
    let program = env!("CARGO_BIN_EXE_covey");
    // The server is in the sandbox: it sees the program and its settings only if it says that it needs them.
    let folder = std::path::Path::new(program).parent().unwrap().to_string_lossy().into_owned();
    let home = world.home.to_string_lossy().into_owned();
    let home_variable = format!("COVEY_HOME={home}");
    let mut add =
        vec!["mcp", "add", "self", "--env", &home_variable, "--read", &folder, "--write", &home, "--"];
    add.extend([program, "mcp", "serve"]);
    let done = world.covey(&add).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    world
}

#[tokio::test]
async fn servers_are_added_listed_tested_and_removed() {
    let world = with_server("").await;
    let list: Value = serde_json::from_str(&world.covey(&["mcp", "list", "--json"]).await.out).unwrap();
    assert_eq!(list["servers"][0]["name"], "self");
    assert_eq!(list["servers"][0]["tools"], json!(null));
    let test = world.covey(&["mcp", "test", "self", "--json"]).await;
    assert_eq!(test.code, Some(0), "{test:?}");
    let offered: Value = serde_json::from_str(&test.out).unwrap();
    let names: Vec<&str> =
        offered["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"code_search") && names.contains(&"session_list"), "{names:?}");
    let list = world.covey(&["mcp", "list"]).await;
    assert!(list.out.contains("tools"), "{list:?}");
    let again = world.covey(&["mcp", "add", "self", "--", "x"]).await;
    assert_eq!(again.code, Some(2), "{again:?}");
    assert_eq!(world.covey(&["mcp", "remove", "self"]).await.code, Some(0));
    assert_eq!(world.covey(&["mcp", "remove", "self"]).await.code, Some(2));
    let unknown = world.covey(&["mcp", "test", "self"]).await;
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("hint:"), "{unknown:?}");
    for wrong in [
        &["mcp", "add", "a b", "--", "x"][..],
        &["mcp", "add", "x"],
        &["mcp", "add", "x", "--url", "ftp://example.org"],
        &["mcp", "add", "x", "--url", "https://example.org", "--header", "nothing"],
        &["mcp", "add", "x", "--env", "=1", "--", "y"],
    ] {
        assert_eq!(world.covey(wrong).await.code, Some(2), "{wrong:?}");
    }
}

#[tokio::test]
async fn a_server_s_tool_is_called_through_the_guard_and_what_it_says_is_data() {
    let world = with_server(CALL).await;
    let (done, result) = world.result(&["--allow", "mcp__self__*", "read the notes"]).await;
    assert_eq!(result["stop"], "done", "{done:?}");
    let last = world.server.requests().last().unwrap().json["messages"].to_string();
    assert!(last.contains("the tide is out") && last.contains(r#"from=\"mcp__self__read\""#), "{last}");

    // Nobody is there to say yes.
    let world = with_server(CALL).await;
    let (done, _) = world.result(&["read the notes"]).await;
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(!world.server.requests().last().unwrap().json.to_string().contains("the tide is out"));
}

#[tokio::test]
async fn a_server_that_does_not_start_is_told_of_and_the_work_goes_on() {
    let world = World::new("model: Hello.\n").await;
    assert_eq!(world.covey(&["mcp", "add", "gone", "--", "no-such-program"]).await.code, Some(0));
    let done = world.covey(&["run", "hello"]).await;
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Hello.\n"), "{done:?}");
    assert!(done.err.contains("could not start `gone`"), "{done:?}");
}

#[tokio::test]
async fn our_server_shows_nothing_outside_the_project_and_changes_nothing() {
    let world = World::new("").await;
    std::fs::write(world.home.join("secret.txt"), "hunter2").unwrap();
    world.write(".env", "TOKEN=hunter3\n");
    let call = |id: u32, name: &str, arguments: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
    let outside = world.home.join("secret.txt");
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        call(1, "read", json!({"path": outside})),
        call(2, "read", json!({"path": ".env"})),
        call(3, "write", json!({"path": "x", "content": "y"})),
        call(4, "session_show", json!({"session": "../../etc/passwd"})),
        call(5, "read", json!({"path": 7})),
        call(6, "list_dir", json!({"path": "."})),
    ];
    let mut child = world.command(&["mcp", "serve"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = tokio::io::BufReader::new(child.stdout.take().unwrap());
    let mut answers = Vec::new();
    for line in lines {
        let wants_answer = line.get("id").is_some();
        tokio::io::AsyncWriteExt::write_all(&mut stdin, format!("{line}\n").as_bytes()).await.unwrap();
        if wants_answer {
            let mut answer = String::new();
            tokio::io::AsyncBufReadExt::read_line(&mut stdout, &mut answer).await.unwrap();
            answers.push(serde_json::from_str::<Value>(&answer).unwrap());
        }
    }
    drop(stdin);
    assert!(child.wait().await.unwrap().success());
    for answer in &answers[1..6] {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(!answer.to_string().contains("hunter"), "{answer}");
    }
    assert_eq!(answers[6]["result"]["isError"], false, "{}", answers[6]);
    assert!(!world.project.join("x").exists());
}
