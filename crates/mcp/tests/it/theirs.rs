//! Other people's servers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mcp::{Agreement, Difference, McpError, Person, Pipes, Sample, Server, ServerConfig, Starter};
use serde_json::{Map, Value, json};

/// Starts programs as they are: what they may do is not the question here.
pub(crate) struct Plain;

impl Starter for Plain {
    fn start(&self, config: &ServerConfig) -> Result<Pipes, String> {
        let mut command = project::command(config.command.as_ref().unwrap());
        command
            .args(&config.args)
            .stdin(project::Stream::Piped)
            .stdout(project::Stream::Piped)
            .stderr(project::Stream::Piped);
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        Ok(Pipes {
            input: Box::new(child.stdin.take().unwrap()),
            output: Box::new(child.stdout.take().unwrap()),
            complaints: Box::new(child.stderr.take().unwrap()),
            process: Box::new(child),
        })
    }
}

/// Answers every question the same, and remembers it.
struct Someone(Option<Value>, Mutex<Vec<String>>);

#[async_trait]
impl Person for Someone {
    async fn fill(&self, server: &str, message: &str, _schema: &Value) -> Option<Value> {
        self.1.lock().unwrap().push(format!("{server}: {message}"));
        self.0.clone()
    }

    async fn sample(&self, _server: &str, _request: Sample) -> Option<String> {
        None
    }
}

fn someone(answer: Option<Value>) -> Arc<Someone> {
    Arc::new(Someone(answer, Mutex::default()))
}

/// The program beside this test's own.
fn odd_server() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join("examples/odd_server")
}

fn odd(behaviour: &str, agreement: Option<Agreement>) -> Server {
    let config = ServerConfig {
        command: Some(odd_server().to_string_lossy().into_owned()),
        args: vec![behaviour.to_owned()],
        timeout: Some(2),
        ..ServerConfig::default()
    };
    Server::new("odd", config, Arc::new(Plain), agreement)
}

/// A server whose tools were agreed to while it was honest.
async fn agreed(behaviour: &str) -> Server {
    let agreement = odd("honest", None).proposal().await.unwrap();
    odd(behaviour, Some(agreement))
}

fn text(words: &str) -> Map<String, Value> {
    json!({"text": words}).as_object().unwrap().clone()
}

#[tokio::test]
async fn tools_prompts_and_resources_are_used() {
    let server = agreed("honest").await;
    assert_eq!(server.tools()[0].name, "echo");
    assert!(server.tools()[0].read_only);
    let outcome = server.call("echo", text("hi"), someone(None)).await.unwrap();
    assert_eq!(outcome.text, "echo hi");
    assert_eq!(outcome.images, [("image/png".to_owned(), "iVBORw0KGgo=".to_owned())]);
    assert_eq!(server.known_prompts()[0].name, "greet");
    let arguments = json!({"who": "Ada"}).as_object().unwrap().clone();
    assert_eq!(server.prompt("greet", arguments).await.unwrap().text, "Say hello to Ada.");
    assert_eq!(server.resources().await.unwrap()[0].uri, "odd://one");
    assert_eq!(server.resource("odd://one").await.unwrap().text, "odd://one:\nthe one resource");
    let error = server.call("rm", text(""), someone(None)).await.unwrap_err();
    assert_eq!(error, McpError::Unknown { server: "odd".to_owned(), name: "rm".to_owned() });
}

#[tokio::test]
async fn what_is_not_json_is_no_reason_to_give_up() {
    let server = agreed("banner").await;
    assert_eq!(server.call("echo", text("hi"), someone(None)).await.unwrap().text, "echo hi");
}

#[tokio::test]
async fn a_server_that_changed_is_held_until_somebody_looks() {
    let server = agreed("changed").await;
    let error = server.call("echo", text("hi"), someone(None)).await.unwrap_err();
    assert_eq!(error, McpError::Held { server: "odd".to_owned(), tool: "echo".to_owned() });
    let differences = server.differences().await.unwrap();
    let names: Vec<&str> = differences.iter().map(Difference::tool).collect();
    assert_eq!(names, ["echo", "new"]);
    // What is new is not offered before it was accepted.
    assert_eq!(server.tools().len(), 1);
    let proposal = server.proposal().await.unwrap();
    server.agree(proposal).await;
    assert_eq!(server.call("echo", text("hi"), someone(None)).await.unwrap().text, "echo hi");
    assert_eq!(server.tools().len(), 2);
}

#[tokio::test]
async fn a_server_that_changes_while_it_runs_is_held_too() {
    let server = agreed("turncoat").await;
    assert_eq!(server.call("echo", text("hi"), someone(None)).await.unwrap().text, "echo hi");
    // The news that its tools changed comes right behind the answer; asking once more reads both.
    server.resources().await.unwrap();
    let error = server.call("echo", text("hi"), someone(None)).await.unwrap_err();
    assert!(matches!(error, McpError::Held { .. }), "{error:?}");
    // The person hears of it, once.
    let news = server.news().await.unwrap();
    assert!(news.contains("`echo`") && news.ends_with("covey mcp accept odd"), "{news}");
    assert_eq!(server.news().await, None);
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why_and_is_left_alone_for_a_while() {
    let server = odd("broken", None);
    let error = server.list().await.unwrap_err();
    assert!(error.to_string().contains("no such database"), "{error}");
    assert!(matches!(server.list().await.unwrap_err(), McpError::Resting { failures: 1, .. }));
    let nothing =
        ServerConfig { command: Some("no-such-program-anywhere".to_owned()), ..ServerConfig::default() };
    let server = Server::new("odd", nothing, Arc::new(Plain), None);
    assert!(matches!(server.list().await.unwrap_err(), McpError::NotStarted { .. }));
}

#[tokio::test]
async fn one_that_never_answers_costs_its_time_limit_and_no_more() {
    let limit = std::time::Duration::from_secs(2);
    let timed_out = McpError::TimedOut { server: "odd".to_owned(), limit };
    assert_eq!(odd("silent", None).list().await.unwrap_err(), timed_out);
    let server = agreed("hang").await;
    assert_eq!(server.call("echo", text("hi"), someone(None)).await.unwrap_err(), timed_out);
    // It is still there for everything else.
    assert_eq!(server.resources().await.unwrap().len(), 1);
}

#[tokio::test]
async fn one_that_hangs_altogether_is_ended_and_started_again() {
    let server = agreed("frozen").await;
    let limit = std::time::Duration::from_secs(2);
    let hung = McpError::Hung { server: "odd".to_owned(), limit };
    assert_eq!(server.call("echo", text("hi"), someone(None)).await.unwrap_err(), hung);
    assert_eq!(server.resources().await.unwrap().len(), 1);
}

#[tokio::test]
async fn one_that_dies_is_started_again() {
    let server = agreed("die").await;
    let error = server.call("echo", text("hi"), someone(None)).await.unwrap_err();
    assert!(error.to_string().starts_with("`odd` ended in the middle of a call"), "{error}");
    assert_eq!(server.resources().await.unwrap().len(), 1);
}

#[tokio::test]
async fn floods_are_cut_off() {
    let server = agreed("huge").await;
    let outcome = server.call("echo", text("hi"), someone(None)).await.unwrap();
    assert!(outcome.text.len() < 2 << 20 && outcome.text.ends_with("[the rest is left out]"));
    // 256 MB in one line: read, dropped, and the call runs into its time limit.
    let error = agreed("flood").await.call("echo", text("hi"), someone(None)).await.unwrap_err();
    assert!(matches!(error, McpError::TimedOut { .. } | McpError::Gone { .. }), "{error:?}");
    assert_eq!(odd("many", None).list().await.unwrap().len(), 500);
    let error = agreed("nonsense").await.call("echo", text("hi"), someone(None)).await;
    assert!(error.is_err() || error.unwrap().text.is_empty());
}

#[tokio::test]
async fn what_a_server_asks_goes_to_the_person() {
    let server = agreed("asks").await;
    let person = someone(Some(json!({"colour": "teal"})));
    let outcome = server.call("echo", text("hi"), person.clone()).await.unwrap();
    assert!(
        outcome.text.contains(r#""action":"accept""#) && outcome.text.contains("teal"),
        "{}",
        outcome.text
    );
    assert_eq!(*person.1.lock().unwrap(), ["odd: which colour?"]);
    let outcome = server.call("echo", text("hi"), someone(None)).await.unwrap();
    assert!(outcome.text.contains(r#""action":"decline""#), "{}", outcome.text);
}
