//! The protocol's own reference servers, which `cargo xtask test` fetches. Where they are missing these stories are skipped.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use mcp::{Person, Sample, Server, ServerConfig};
use serde_json::{Map, Value, json};

use crate::theirs::Plain;

/// The program in the search path, if it is there.
fn program(name: &str) -> Option<String> {
    let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    found.map(|path| path.to_string_lossy().into_owned())
}

/// Says yes to forms, and thinks for servers.
struct Ada;

#[async_trait]
impl Person for Ada {
    async fn fill(&self, _: &str, _: &str, schema: &Value) -> Option<Value> {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        Some(required.iter().filter_map(|name| Some((name.as_str()?.to_owned(), json!("Ada")))).collect())
    }

    async fn sample(&self, _: &str, _: Sample) -> Option<String> {
        Some("It is teal.".to_owned())
    }
}

async fn agreed(config: ServerConfig) -> Server {
    let new = |agreement| Server::new("reference", config.clone(), Arc::new(Plain), agreement);
    let agreement = new(None).proposal().await.unwrap();
    new(Some(agreement))
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// What every transport must carry.
async fn is_used(server: &Server) {
    let call =
        async |tool: &str, input: Value| server.call(tool, object(input), Arc::new(Ada)).await.unwrap();
    assert!(server.tools().iter().any(|tool| tool.name == "echo" && tool.read_only));
    assert_eq!(call("echo", json!({"message": "hello"})).await.text, "Echo: hello");
    assert!(call("get-sum", json!({"a": 2, "b": 40})).await.text.contains("42"));
    let image = call("get-tiny-image", json!({})).await;
    assert_eq!(image.images.len(), 1, "{}", image.text);
    let linked = call("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1})).await;
    assert!(linked.text.contains("demo://resource"), "{}", linked.text);
    let asked = call("trigger-elicitation-request", json!({})).await.text;
    assert!(asked.contains("Ada"), "{asked}");
    let thought = call("trigger-sampling-request", json!({"prompt": "which colour?"})).await.text;
    assert!(thought.contains("It is teal."), "{thought}");
    let wrong = server.call("get-sum", object(json!({"a": "two"})), Arc::new(Ada)).await;
    assert!(wrong.map_or_else(|error| error.to_string(), |told| told.text).contains("nvalid"));
    let prompt = server.prompt("args-prompt", object(json!({"city": "Lima"}))).await.unwrap();
    assert!(prompt.text.contains("Lima"), "{}", prompt.text);
    let resources = server.resources().await.unwrap();
    let read = server.resource(&resources[0].uri).await.unwrap();
    assert!(read.text.len() > resources[0].uri.len() + 10, "{}", read.text);
}

#[tokio::test]
async fn over_standard_streams() {
    let Some(command) = program("mcp-server-everything") else { return };
    is_used(&agreed(ServerConfig { command: Some(command), ..ServerConfig::default() }).await).await;
}

#[tokio::test]
async fn over_http() {
    let Some(command) = program("mcp-server-everything") else { return };
    // Nobody else listens on a port that was just free.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut server = std::process::Command::new(command)
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ready = BufReader::new(server.stderr.take().unwrap())
        .lines()
        .any(|line| line.is_ok_and(|line| line.contains(&port.to_string())));
    assert!(ready, "it never listened");
    let url = Some(format!("http://127.0.0.1:{port}/mcp"));
    is_used(&agreed(ServerConfig { url, ..ServerConfig::default() }).await).await;
    server.kill().unwrap();
    server.wait().unwrap();
}

#[tokio::test]
async fn a_server_of_files_works_on_real_files() {
    let Some(command) = program("mcp-server-filesystem") else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("a.txt"), "hello").unwrap();
    let args = vec![root.to_string_lossy().into_owned()];
    let server = agreed(ServerConfig { command: Some(command), args, ..ServerConfig::default() }).await;
    let read = async |path: &std::path::Path| {
        server.call("read_text_file", object(json!({"path": path})), Arc::new(Ada)).await
    };
    assert!(read(&root.join("a.txt")).await.unwrap().text.contains("hello"));
    let refused = read("/etc/hostname".as_ref()).await;
    let told = refused.map_or_else(|error| error.to_string(), |told| told.text);
    assert!(told.contains("denied"), "{told}");
}
