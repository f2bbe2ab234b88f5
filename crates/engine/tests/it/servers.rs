//! MCP servers that come and go while a session is open.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp::ServerConfig;
use protocol::{Mode, Op};

use crate::play::World;

/// A server with one tool, in a language that every machine here has.
const SERVER: &str = r#"
import json, sys
name = sys.argv[1]
for line in sys.stdin:
    asked = json.loads(line)
    method, answer = asked.get("method"), {}
    if "id" not in asked:
        continue
    if method == "initialize":
        answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": name, "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "greet", "description": "Greets.", "inputSchema": {"type": "object", "properties": {}}}]}
    elif method == "tools/call":
        answer = {"content": [{"type": "text", "text": "hello from " + name}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"#;

#[tokio::test]
async fn a_server_that_is_added_or_changed_is_there_at_the_next_prompt() {
    let servers = Arc::new(Mutex::new(BTreeMap::new()));
    let set = servers.clone();
    let script = "
        reply
          call: mcp__greeter__greet {}
        model: One.
        model: Nothing to greet with.
        reply
          call: mcp__greeter__greet {}
        model: Two.
        model: Gone.
    ";
    let world = World::new(script).await.with_servers(Arc::new(move || set.lock().unwrap().clone())).await;
    world.write("server.py", SERVER);
    let session = world.session().await;
    world.engine.submit(Op::SetMode { session: session.clone(), mode: Mode::Full }).await.unwrap();
    let set_greeter = |name: Option<&str>| {
        let config = |name: &str| ServerConfig {
            command: Some("python3".to_owned()),
            args: vec![world.project.join("server.py").display().to_string(), name.to_owned()],
            ..ServerConfig::default()
        };
        *servers.lock().unwrap() =
            name.map(|name| ("greeter".to_owned(), config(name))).into_iter().collect();
    };
    let knows =
        async |request: usize| world.server.request(request).await.text().contains("mcp__greeter__greet");
    // Added between the making of the session and its first prompt.
    set_greeter(Some("Ada"));
    world.ask(&session, "greet").await;
    assert!(knows(0).await);
    assert!(world.server.request(1).await.text().contains("hello from Ada"));
    set_greeter(None);
    world.ask(&session, "greet").await;
    assert!(!world.server.request(2).await.json["tools"].to_string().contains("greeter"));
    set_greeter(Some("Bob"));
    world.ask(&session, "greet").await;
    assert!(world.server.request(4).await.text().contains("hello from Bob"));
    set_greeter(None);
    world.ask(&session, "greet").await;
    let tools = world.server.request(5).await.json["tools"].to_string();
    assert!(!tools.contains("greeter"), "{tools}");
}
