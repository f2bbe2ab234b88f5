//! Our own tools, offered to others.

use std::sync::Arc;

use async_trait::async_trait;
use mcp::{Offered, Offers, Person, Pipes, Sample, Server, ServerConfig, Starter, ToolInfo, serve};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

struct Adder;

#[async_trait]
impl Offers for Adder {
    fn tools(&self) -> Vec<ToolInfo> {
        let number = json!({"type": "integer"});
        vec![ToolInfo {
            name: "add".to_owned(),
            description: "Adds two numbers.".to_owned(),
            schema: json!({"type": "object", "properties": {"a": number, "b": number}}),
            read_only: true,
        }]
    }

    fn instructions(&self) -> String {
        "Add things up.".to_owned()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Offered {
        match (tool, arguments["a"].as_i64(), arguments["b"].as_i64()) {
            ("add", Some(a), Some(b)) => Ok((a + b).to_string()),
            _ => Err("two numbers are needed".to_owned()),
        }
    }
}

/// Both ends of the wire in one process.
struct Here;

impl Starter for Here {
    fn start(&self, _config: &ServerConfig) -> Result<Pipes, String> {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let ((output, input), (from, to)) = (tokio::io::split(ours), tokio::io::split(theirs));
        let served = tokio::spawn(serve(from, to, Arc::new(Adder), CancellationToken::new()));
        Ok(Pipes {
            input: Box::new(input),
            output: Box::new(output),
            complaints: Box::new(tokio::io::empty()),
            process: Box::new(served),
        })
    }
}

struct Nobody;

#[async_trait]
impl Person for Nobody {
    async fn fill(&self, _: &str, _: &str, _: &Value) -> Option<Value> {
        None
    }

    async fn sample(&self, _: &str, _: Sample) -> Option<String> {
        None
    }
}

#[tokio::test]
async fn our_client_uses_our_server() {
    let server = Server::new("adder", ServerConfig::default(), Arc::new(Here), None);
    let proposal = server.proposal().await.unwrap();
    assert_eq!(proposal.tools, Adder.tools());
    server.agree(proposal).await;
    let call = |arguments: Value| {
        let server = &server;
        async move { server.call("add", arguments.as_object().unwrap().clone(), Arc::new(Nobody)).await }
    };
    assert_eq!(call(json!({"a": 2, "b": 40})).await.unwrap().text, "42");
    let failed = call(json!({})).await.unwrap();
    assert!(failed.is_error);
    assert_eq!(failed.text, "two numbers are needed");
}
