//! The API for scripts.

use serde_json::{Value, json};

use super::support::*;
use crate::world::{PATIENCE, World};

#[tokio::test]
async fn a_script_can_have_a_whole_conversation() {
    let world = World::new("model: Hello there.").await;
    let served = serve(&world).await;
    assert_eq!(served.ask("GET", "/api/health", json!(null)).await.json()["status"], "ok");
    let made = served.ask("POST", "/api/sessions", json!({"title": "First", "key": "s1"})).await;
    assert_eq!(made.status, 201, "{made:?}");
    let session = made.json()["session"].as_str().unwrap().to_owned();
    // Sent again it is the same session.
    assert_eq!(
        served.ask("POST", "/api/sessions", json!({"title": "First", "key": "s1"})).await.json(),
        made.json()
    );

    let at = format!("/api/sessions/{session}");
    let asked = served.ask("POST", &format!("{at}/prompt"), json!({"text": "hi", "key": "p1"})).await;
    assert_eq!((asked.status, asked.json()["turn"].clone()), (202, json!("t1")));
    let again = served.ask("POST", &format!("{at}/prompt"), json!({"text": "hi", "key": "p1"})).await;
    assert_eq!(again.json(), asked.json());

    // Follows by asking for what came after the last event it saw.
    let (mut after, mut types) = (0, Vec::new());
    while !types.contains(&"turn_end".to_owned()) {
        let page = served.ask("GET", &format!("{at}/events?after={after}&limit=3"), json!(null)).await.json();
        for event in page.as_array().unwrap() {
            after = event["seq"].as_u64().unwrap();
            types.push(event["type"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(types.iter().filter(|kind| *kind == "user_prompt").count(), 1);
    let back = served.ask("GET", &format!("{at}/events?before=3&limit=10"), json!(null)).await.json();
    assert_eq!(back.as_array().unwrap().len(), 2);

    let change = served.ask("PATCH", &at, json!({"title": "Second", "mode": "plan", "pinned": true})).await;
    assert_eq!(change.status, 200, "{change:?}");
    let view = served.ask("GET", &at, json!(null)).await.json();
    assert_eq!(
        (&view["title"], &view["mode"], &view["marks"]["pinned"]),
        (&json!("Second"), &json!("plan"), &json!(true))
    );
    let list = served.ask("GET", "/api/sessions", json!(null)).await.json();
    assert_eq!(list[0]["session"], session.as_str());

    let page = served.ask("GET", &format!("{at}/export?format=html"), json!(null)).await;
    assert!(
        page.body.contains("Hello there.")
            && page.header("content-disposition").unwrap().starts_with("attachment")
    );
    let found = served.ask("GET", "/api/search?q=hello", json!(null)).await.json();
    assert_eq!(found[0]["session"], session.as_str());
    let spent = served.ask("GET", "/api/usage?days=2", json!(null)).await.json();
    assert_eq!(spent[0]["calls"], 1);
    for path in ["/api/models", "/api/agents", "/api/tools"] {
        assert!(!served.ask("GET", path, json!(null)).await.json().as_array().unwrap().is_empty(), "{path}");
    }

    let fork = served.ask("POST", &format!("{at}/fork"), json!({"at": 3})).await;
    assert_eq!(fork.status, 201);
    assert_eq!(served.ask("DELETE", &at, json!(null)).await.status, 204);
    assert_eq!(served.ask("GET", &at, json!(null)).await.status, 404);
    assert_eq!(served.ask("DELETE", &at, json!(null)).await.status, 404);
    assert_eq!(world.sessions().len(), 1);
}

#[tokio::test]
async fn what_can_not_be_done_says_why() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let made = served.ask("POST", "/api/sessions", json!(null)).await.json();
    let at = format!("/api/sessions/{}", made["session"].as_str().unwrap());
    let unknown = "/api/sessions/20200101-000000-00000000";
    let cases = [
        ("GET", unknown.to_owned(), json!(null), 404, "not_found"),
        ("GET", "/api/sessions/..%2f..%2fetc".to_owned(), json!(null), 404, "not_found"),
        ("GET", "/api/nothing".to_owned(), json!(null), 404, "not_found"),
        ("PUT", at.clone(), json!({}), 405, "invalid"),
        ("POST", format!("{at}/prompt"), json!({}), 400, "invalid"),
        ("POST", format!("{at}/prompt"), json!({"text": "  "}), 400, "invalid"),
        ("POST", format!("{at}/prompt"), json!({"txt": "hi"}), 400, "invalid"),
        ("POST", format!("{at}/permissions/r1"), json!({"type": "dismiss"}), 400, "invalid"),
        ("POST", "/api/sessions".to_owned(), json!({"cwd": "/no/such/folder"}), 400, "invalid"),
        ("POST", "/api/sessions".to_owned(), json!({"mode": "everything"}), 400, "invalid"),
        ("GET", format!("{at}/events?after=x"), json!(null), 400, "invalid"),
        ("GET", format!("{at}/blobs/zz?bytes=1"), json!(null), 404, "not_found"),
        ("POST", "/v1/chat/completions".to_owned(), json!({}), 501, "unavailable"),
    ];
    for (method, path, body, status, error) in cases {
        let answer = served.ask(method, &path, body).await;
        assert_eq!(
            (answer.status, answer.json()["error"].clone()),
            (status, json!(error)),
            "{method} {path}: {answer:?}"
        );
        assert!(!answer.json()["message"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn the_document_names_everything_that_there_is() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let document = served.ask("GET", "/api/openapi.json", json!(null)).await.json();
    let mut names = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            names.push(format!(
                "{method} {path} -> {}",
                operation["responses"].as_object().unwrap().keys().next().unwrap()
            ));
        }
    }
    insta::assert_snapshot!(names.join("\n"));
    // Every reference leads somewhere.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
                map.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(&document, &mut found);
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[tokio::test]
async fn code_is_found_in_projects_of_the_server_and_nowhere_else() {
    let world = World::new("model: hello").await;
    world.write(
        "cart.rs",
        "/// Takes a coupon off the total.\npub fn apply_coupon(total: u32) -> u32 {\n    total - 1\n}\n",
    );
    world.write("other.rs", "pub fn unrelated() {}\n");
    let served = serve(&world).await;
    let report = served.ask("POST", "/rag/index", json!({})).await;
    assert_eq!((report.status, &report.json()["files"]), (200, &json!(2)), "{report:?}");
    let found = served.ask("POST", "/rag/query", json!({"query": "apply_coupon", "limit": 3})).await.json();
    assert_eq!(found[0]["file"], "cart.rs", "{found}");
    assert!(found[0]["text"].as_str().unwrap().contains("total - 1"), "{found}");

    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("secret.rs"), "fn secret() {}\n").unwrap();
    for path in ["/rag/index", "/rag/query"] {
        let body = json!({"query": "secret", "folder": elsewhere.path()});
        let body = if path == "/rag/index" { json!({"folder": elsewhere.path()}) } else { body };
        let refused = served.ask("POST", path, body).await;
        assert_eq!((refused.status, &refused.json()["error"]), (400, &json!("invalid")), "{refused:?}");
    }
    let missing = served.ask("POST", "/rag/query", json!({"query": "x", "folder": "/no/such/folder"})).await;
    assert!(matches!(missing.status, 400 | 404), "{missing:?}");
}

#[tokio::test]
async fn an_index_stays_fresh_while_the_server_runs() {
    let world = World::new("model: hello").await;
    world.write("cart.rs", "pub fn apply_coupon(total: u32) -> u32 {\n    total - 1\n}\n");
    assert_eq!(world.covey(&["index"]).await.code, Some(0));
    let _served = serve(&world).await;
    std::fs::create_dir(world.project.join("later")).unwrap();
    world.write("later/user.py", "def check_password(password):\n    return hash(password) == 1\n");
    // Another process, and one that only looks.
    let fresh = async {
        loop {
            let status = world.covey(&["index", "status", "--json"]).await.lines().remove(0);
            if status["files"] == 2 && status["vectors"] == status["passages"] {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, fresh).await.unwrap();
}

#[tokio::test]
async fn what_is_chosen_for_all_sessions_is_kept_and_holds_at_once() {
    let world = World::new("reply\n  call: shell {\"command\": \"echo hi\"}\nmodel: Done.").await;
    let file = world.home.join("config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text}\n[mcp.tools]\ncommand = \"no-such-program\"\ndisabled = true\n"))
        .unwrap();
    let served = serve(&world).await;
    let before = served.ask("GET", "/api/settings", json!(null)).await.json();
    assert_eq!(
        (&before["mode"], &before["servers"][0]["enabled"]),
        (&json!("ask"), &json!(false)),
        "{before}"
    );
    let change = json!({"mode": "edit", "rule": {"rule": "shell(echo *)", "effect": "deny"}});
    let after = served.ask("PATCH", "/api/settings", change).await.json();
    assert_eq!(after["mode"], "edit");
    assert!(
        after["rules"]
            .as_array()
            .unwrap()
            .contains(&json!({"rule": "shell(echo *)", "effect": "deny", "own": true}))
    );
    let session = served.ask("POST", "/api/sessions", json!({})).await.json()["session"].clone();
    let path = format!("/api/sessions/{}", session.as_str().unwrap());
    assert_eq!(served.ask("GET", &path, json!(null)).await.json()["mode"], "edit");

    // A rule is taken away again; what is wrong changes nothing.
    let gone = json!({"rule": {"rule": "shell(echo *)", "effect": "default"}});
    assert_eq!(served.ask("PATCH", "/api/settings", gone).await.json()["rules"], json!([]));
    for wrong in [
        json!({"model": "nobody/nothing"}),
        json!({"server": {"name": "other", "enabled": true}}),
        json!({"rule": {"rule": "shell(", "effect": "allow"}}),
        json!({"colour": "red"}),
    ] {
        let refused = served.ask("PATCH", "/api/settings", wrong.clone()).await;
        assert_eq!(refused.status, 400, "{wrong}: {refused:?}");
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains("mode = \"edit\"") && kept.contains("[providers.testkit]"), "{kept}");
}
