//! MCP servers, as people use them; the server is `covey mcp serve` itself.

use serde_json::{Value, json};
use testkit::{Consent, OAuthServer, browse};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::world::{Done, World, finish, mode};

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

/// Logs in at the server `guarded`; the person's browser is played.
async fn log_in(world: &World) -> Done {
    let mut child = world.command(&["mcp", "login", "guarded"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = loop {
        let line = lines.next_line().await.unwrap().expect("the address is shown");
        if let Some(url) = line.trim().strip_prefix("http") {
            break format!("http{url}");
        }
        assert!(!line.contains("error"), "{line}");
    };
    assert_eq!(browse(&url).await.unwrap().status, 200);
    finish(child).await
}

#[tokio::test]
async fn a_server_that_wants_a_login_gets_one_and_it_is_renewed() {
    let script = "reply\n  call: mcp__guarded__whoami {}\nmodel: Hello.\nforever\n";
    let world = World::new(script).await;
    let vendor = OAuthServer::start().await.unwrap();
    assert_eq!(world.covey(&["mcp", "add", "guarded", "--url", &vendor.mcp_url()]).await.code, Some(0));
    let test = world.covey(&["mcp", "test", "guarded"]).await;
    assert_eq!(test.code, Some(5), "{test:?}");
    assert!(
        test.err.contains("wants a login") && test.err.contains("hint: covey mcp login guarded"),
        "{test:?}"
    );

    // What is given holds for a moment only, so that the next use has to renew it.
    vendor.set(|behaviour| behaviour.expires_in = Some(1));
    let done = log_in(&world).await;
    assert_eq!((done.code, done.out.as_str()), (Some(0), "logged in to `guarded`\n"), "{done:?}");
    assert_eq!(vendor.requests_to("/register").len(), 1);
    assert!(vendor.requests_to("/authorize")[0].field("code_challenge").is_some_and(|word| word.len() == 43));
    assert_eq!(vendor.requests_to("/authorize")[0].field("resource"), Some(vendor.mcp_url().as_str()));

    vendor.set(|behaviour| behaviour.expires_in = Some(3600));
    let (run, result) = world.result(&["--allow", "mcp__guarded__*", "who am I?"]).await;
    assert_eq!((run.code, &result["text"]), (Some(0), &"Hello.".into()), "{run:?}");
    let told = world.server.requests().last().unwrap().json["messages"].to_string();
    assert!(told.contains("you are ada"), "{told}");
    let grants: Vec<String> = vendor
        .requests_to("/token")
        .iter()
        .map(|request| request.field("grant_type").unwrap().to_owned())
        .collect();
    assert_eq!(grants, ["authorization_code", "refresh_token"]);

    // Secrets are in the one file that is for them, and nowhere else.
    assert_eq!(mode(&world.home.join("auth.json")), 0o600);
    let secrets = vendor.secrets();
    let mut folders = vec![world.home.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("auth.json") {
                let content = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                assert!(!secrets.iter().any(|secret| content.contains(secret)), "{}", path.display());
            }
        }
    }
    assert!(!secrets.iter().any(|secret| run.out.contains(secret) || run.err.contains(secret)));

    // One that the vendor takes back is asked for anew.
    vendor.revoke();
    let test = world.covey(&["mcp", "test", "guarded"]).await;
    assert!(test.code == Some(5) && test.err.contains("hint: covey mcp login guarded"), "{test:?}");
    assert_eq!(log_in(&world).await.code, Some(0));
    assert_eq!(world.covey(&["mcp", "test", "guarded"]).await.code, Some(0));

    // The login belongs to the address, not to the name.
    let other = OAuthServer::start().await.unwrap();
    assert_eq!(world.covey(&["mcp", "remove", "guarded"]).await.code, Some(0));
    assert_eq!(world.covey(&["mcp", "add", "guarded", "--url", &other.mcp_url()]).await.code, Some(0));
    assert_eq!(world.covey(&["mcp", "test", "guarded"]).await.code, Some(5));
    assert!(
        other
            .requests()
            .iter()
            .all(|request| request.headers.iter().all(|(name, _)| name != "authorization"))
    );
    assert!(world.covey(&["mcp", "logout", "guarded"]).await.out.contains("forgot"));
    assert!(world.covey(&["mcp", "logout", "guarded"]).await.out.contains("there is no login"));
}

#[tokio::test]
async fn a_login_that_is_refused_says_so() {
    let world = World::new("").await;
    let vendor = OAuthServer::start().await.unwrap();
    vendor.set(|behaviour| behaviour.consent = Consent::Deny);
    world.covey(&["mcp", "add", "guarded", "--url", &vendor.mcp_url()]).await;
    let done = log_in(&world).await;
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(!world.home.join("auth.json").exists());
}
