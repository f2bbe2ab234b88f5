//! `covey auth`, and what is sent with the accounts it keeps.

use serde_json::Value;
use testkit::{OAuthServer, browse};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::world::{World, finish, mode};

async fn with_provider(script: &str) -> World {
    let world = World::bare(script).await;
    world.configure(&format!(
        "model = \"mine/m\"\n[providers.mine]\nwire = \"openai-chat\"\nbase_url = \"{}\"\napi_key_env = \"MINE_KEY\"\n",
        world.server.base_url()
    ));
    world
}

async fn status(world: &World) -> Vec<Value> {
    let done = world.covey(&["auth", "status", "--json"]).await;
    let status: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    status["accounts"].as_array().unwrap().clone()
}

#[tokio::test]
async fn keys_are_kept_privately_used_chosen_and_forgotten() {
    let world = with_provider("model: hi\nforever\n").await;
    assert!(status(&world).await.is_empty());
    for (label, key) in [("work", "sk-canary-work"), ("home", "sk-canary-home")] {
        let done = world
            .covey_with_stdin(&["auth", "login", "mine", "--label", label, "--key-stdin"], key.as_bytes())
            .await;
        assert_eq!(done.code, Some(0), "{done:?}");
        assert!(!done.out.contains("canary") && !done.err.contains("canary"), "{done:?}");
    }
    assert_eq!(mode(&world.home.join("auth.json")), 0o600);
    let accounts = status(&world).await;
    assert_eq!(accounts.len(), 2);
    assert_eq!(accounts.iter().find(|account| account["active"] == true).unwrap()["label"], "home");
    world.result(&["hello"]).await;
    assert_eq!(world.server.request(0).await.header("authorization"), Some("Bearer sk-canary-home"));
    assert_eq!(world.covey(&["auth", "use", "mine", "work"]).await.code, Some(0));
    world.result(&["hello"]).await;
    assert_eq!(world.server.request(1).await.header("authorization"), Some("Bearer sk-canary-work"));
    // What is in the environment goes before what is kept.
    let mut command = world.command(&["run", "hello"]);
    finish(command.env("MINE_KEY", "sk-from-environment").spawn().unwrap()).await;
    assert_eq!(world.server.request(2).await.header("authorization"), Some("Bearer sk-from-environment"));
    assert_eq!(world.covey(&["auth", "use", "mine", "nobody"]).await.code, Some(2));
    assert_eq!(world.covey(&["auth", "logout", "mine"]).await.code, Some(0));
    assert!(status(&world).await.is_empty());
}

#[tokio::test]
async fn the_next_account_asks_at_once_when_one_has_had_enough() {
    let world =
        with_provider("reply\n  fault: 429 retry-after=600\nmodel: from the other\nmodel: again\n").await;
    for (label, key) in [("a", "sk-canary-aaaa"), ("b", "sk-canary-bbbb")] {
        world
            .covey_with_stdin(&["auth", "login", "mine", "--label", label, "--key-stdin"], key.as_bytes())
            .await;
    }
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!((done.code, &result["text"]), (Some(0), &"from the other".into()), "{done:?}");
    assert!(!done.types().contains(&"retry".to_owned()), "nobody waited");
    let keys: Vec<String> = world
        .server
        .requests()
        .iter()
        .map(|request| request.header("authorization").unwrap().to_owned())
        .collect();
    assert_eq!(keys, ["Bearer sk-canary-bbbb", "Bearer sk-canary-aaaa"]);
    // The next process knows which one rests.
    assert!(
        status(&world)
            .await
            .iter()
            .any(|account| account["label"] == "b" && account["limited_until"].is_string())
    );
    world.result(&["hello"]).await;
    assert_eq!(world.server.request(2).await.header("authorization"), Some("Bearer sk-canary-aaaa"));
    no_canary(&world, &done.out);
}

/// No key is in any file but the one that keeps it, nor in what was printed.
fn no_canary(world: &World, printed: &str) {
    assert!(!printed.contains("canary"), "{printed}");
    let mut folders = vec![world.home.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("auth.json") {
                let content = std::fs::read(&path).unwrap();
                assert!(!String::from_utf8_lossy(&content).contains("canary"), "{}", path.display());
            }
        }
    }
}

#[tokio::test]
async fn a_login_in_the_browser_ends_in_an_account_that_works() {
    let world = with_provider("model: hi\n").await;
    let vendor = OAuthServer::start().await.unwrap();
    let config = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    world.configure(&format!(
        "{config}[providers.mine.oauth]\nauthorize_url = \"{}\"\ntoken_url = \"{}\"\nclient_id = \"test-client\"\n",
        vendor.authorize_url(),
        vendor.token_url()
    ));
    let mut child = world.command(&["auth", "login", "mine"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = loop {
        let line = lines.next_line().await.unwrap().expect("the address is shown");
        if let Some(url) = line.trim().strip_prefix("http") {
            break format!("http{url}");
        }
    };
    assert_eq!(browse(&url).await.unwrap().status, 200);
    let done = finish(child).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let accounts = status(&world).await;
    assert_eq!(
        (&accounts[0]["kind"], &accounts[0]["active"]),
        (&"oauth".into(), &true.into()),
        "{accounts:?}"
    );
    let (run, _) = world.result(&["hello"]).await;
    assert_eq!(run.code, Some(0), "{run:?}");
    let sent = world.server.request(0).await;
    let token = sent.header("authorization").unwrap().strip_prefix("Bearer ").unwrap().to_owned();
    assert!(vendor.secrets().contains(&token), "what was sent is what the vendor gave");
    assert!(!run.out.contains(&token));
}

#[tokio::test]
async fn wrong_usage_of_auth_is_told() {
    let world = with_provider("").await;
    for arguments in [
        &["auth", "login", "nobody", "--key-stdin"][..],
        &["auth", "login", "mine"],
        &["auth", "login", "mine", "--device"],
        &["auth", "login", "mine", "--key-stdin"],
    ] {
        let done = world.covey(arguments).await;
        assert_eq!(done.code, Some(2), "{arguments:?}: {done:?}");
        assert!(done.err.starts_with("error:"), "{}", done.err);
    }
    std::fs::write(world.home.join("auth.json"), "{ not json").unwrap();
    let done = world.covey(&["auth", "status"]).await;
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains("auth.json") && done.err.contains("hint:"), "{}", done.err);
}

#[tokio::test]
async fn a_provider_that_quotes_our_secrets_does_not_get_them_into_anything() {
    for fault in [
        "error after=1 message=\"bad key sk-canary-0123 and x-canary-team\"",
        "401 message=\"bad key sk-canary-0123 and x-canary-team\"",
        "400 message=\"bad key sk-canary-0123 and x-canary-team\"",
        "500 message=\"bad key sk-canary-0123 and x-canary-team\"",
    ] {
        let world = World::bare(&format!("reply\n  text: some words\n  fault: {fault}\nforever\n")).await;
        world.configure(&format!(
            "model = \"mine/m\"\n[providers.mine]\nwire = \"openai-chat\"\nbase_url = \"{}\"\napi_key_env = \"KEY\"\nretries = 0\nheaders = {{ x-team = \"x-canary-team\" }}\n",
            world.server.base_url()
        ));
        // The settings hold the header, so they are left out of the search.
        let mut command = world.command(&["run", "--json", "hello"]);
        let done = finish(command.env("KEY", "sk-canary-0123").spawn().unwrap()).await;
        assert_ne!(done.code, Some(0), "{done:?}");
        assert!(done.out.contains("***"), "{fault}: {}", done.out);
        std::fs::remove_file(world.home.join("config.toml")).unwrap();
        no_canary(&world, &format!("{}{}", done.out, done.err));
    }
}

#[tokio::test]
async fn a_damaged_store_is_an_error_and_not_a_request_without_a_key() {
    let world = with_provider("model: hi\nforever\n").await;
    world.covey_with_stdin(&["auth", "login", "mine", "--key-stdin"], b"sk-canary-aaaa").await;
    std::fs::write(world.home.join("auth.json"), "{").unwrap();
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!(done.code, Some(5), "{done:?}");
    assert!(result["error"]["message"].as_str().unwrap().contains("auth.json"), "{result}");
    assert!(world.server.requests().is_empty());
}

/// Answers every request with what it was sent: the rudest provider there is.
async fn echo_server() -> std::net::SocketAddr {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = vec![0; 16 << 10];
            let read = socket.read(&mut request).await.unwrap_or(0);
            let heard = String::from_utf8_lossy(&request[..read]).replace(['\r', '\n', '"'], " ");
            let body = format!("{{\"error\":{{\"message\":\"{heard}\"}}}}");
            let head = format!(
                "HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
        }
    });
    address
}

#[tokio::test]
async fn a_provider_that_quotes_our_key_when_asked_for_its_models_is_quoted_without_it() {
    let world = World::bare("").await;
    let address = echo_server().await;
    world.configure(&format!(
        "[providers.mine]\nwire = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\napi_key_env = \"KEY\"\n"
    ));
    let mut command = world.command(&["models", "--refresh"]);
    let done = finish(command.env("KEY", "sk-canary-0123").spawn().unwrap()).await;
    assert!(done.err.contains("does not tell its models") && done.err.contains("***"), "{done:?}");
    no_canary(&world, &format!("{}{}", done.out, done.err));
}
