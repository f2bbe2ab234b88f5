//! The scripted model server as a program: for trying Covey by hand, and as the partner in benches.

use std::io::Write;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use testkit::{Delivery, FakeAcpAgent, ModelServer, Reply, Script, ServerOptions, Then};
use tokio::sync::mpsc;

const USAGE: &str = "\
usage: covey-testkit model-server [options]
       covey-testkit acp-agent [--banner] [--load] [--resume] [--fork] [--folders] [--thinking] [--locked] [--mute] [--modes] [--state DIR] [--die]

A model provider on 127.0.0.1 that speaks OpenAI Chat, OpenAI Responses, Anthropic Messages and Gemini.
Without a script it obeys the prompt: [[tool:NAME {\"json\":1}]] [[think]] [[slow]] [[error:529]] [[repeat:N]] [[say:TEXT]]

  --port N        the port to listen on (default: a free one)
  --script FILE   replies to give in order, then as without a script
  --deltas N      answer every request beyond the script with N equal text deltas
  --frame-writes  write those deltas one at a time, not 32 KB at a time
  --record FILE   append each request to FILE, one JSON object a line
  --json          print {\"url\",\"base_url\",\"port\",\"config\"} in one line instead of text
";

#[derive(Default)]
struct Arguments {
    options: ServerOptions,
    deltas: Option<usize>,
    frame_writes: bool,
    record: Option<String>,
    json: bool,
}

/// `covey-testkit acp-agent`: an agent for tests, which obeys its prompt.
fn acp_agent(words: impl Iterator<Item = String>) -> ExitCode {
    let mut agent = FakeAcpAgent::default();
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--banner" => agent.banner = true,
            "--load" => agent.load = true,
            "--resume" => agent.resume = true,
            "--fork" => agent.fork = true,
            "--folders" => agent.folders = true,
            "--thinking" => agent.thinking = true,
            "--locked" => agent.locked = true,
            "--mute" => agent.mute = true,
            "--modes" => agent.modes = true,
            "--state" => agent.state = words.next().map(Into::into),
            "--die" => return fail("this agent dies at once", 7),
            // Whatever a real agent might be given besides.
            _ => {}
        }
    }
    match agent.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string(), 1),
    }
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("acp-agent") {
        return acp_agent(std::env::args().skip(2));
    }
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print(USAGE);
            return ExitCode::SUCCESS;
        }
        Err(message) => return fail(&format!("{message}\n\n{USAGE}"), 2),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&format!("no runtime: {error}"), 1),
    };
    match runtime.block_on(serve(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message, 1),
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    match words.next().as_deref() {
        Some("model-server") => {}
        Some("--help" | "-h" | "help") => return Ok(None),
        Some(other) => return Err(format!("`{other}` is not `model-server`")),
        None => return Err("what shall I be?".to_owned()),
    }
    let mut arguments = Arguments::default();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` wants a value"));
        match word.as_str() {
            "--port" => arguments.options.port = number(&value()?)?,
            "--deltas" => arguments.deltas = Some(number(&value()?)?),
            "--record" => arguments.record = Some(value()?),
            "--script" => {
                let file = value()?;
                let text = std::fs::read_to_string(&file).map_err(|error| format!("`{file}`: {error}"))?;
                arguments.options.script =
                    text.parse::<Script>().map_err(|error| format!("`{file}`: {error}"))?;
            }
            "--frame-writes" => arguments.frame_writes = true,
            "--json" => arguments.json = true,
            "--help" | "-h" => return Ok(None),
            _ => return Err(format!("`{word}` is not an option")),
        }
    }
    Ok(Some(arguments))
}

async fn serve(mut arguments: Arguments) -> Result<(), String> {
    arguments.options.then = match arguments.deltas {
        Some(count) => {
            let delivery = if arguments.frame_writes { Delivery::Frames } else { Delivery::Bulk };
            Then::Always(Reply::repeat(count, "word ").delivery(delivery))
        }
        None => Then::Obey,
    };
    let mut requests = None;
    if let Some(file) = &arguments.record {
        let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
        let (sender, receiver) = mpsc::unbounded_channel();
        arguments.options.record = Some(sender);
        requests = Some((receiver, opened.map_err(|error| format!("`{file}`: {error}"))?));
    }
    let server =
        ModelServer::with(arguments.options).await.map_err(|error| format!("can not listen: {error}"))?;
    let config = server.config();
    if arguments.json {
        let port = server.address().port();
        let line =
            json!({"url": server.url(), "base_url": server.base_url(), "port": port, "config": config});
        print(&format!("{line}\n"));
    } else {
        print(&format!("model server on {}\n\n# config.toml\n{config}", server.url()));
    }
    let Some((mut receiver, mut file)) = requests else {
        std::future::pending::<()>().await;
        return Ok(());
    };
    while let Some(request) = receiver.recv().await {
        // Keys are worth nothing here, but someone may have pointed a real client at us.
        let secret = |name: &str| name == "authorization" || name.ends_with("-api-key") || name == "cookie";
        let headers = request.headers.iter().filter(|(name, _)| !secret(name));
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let line = json!({
            "time_ms": time, "method": request.method, "path": request.path,
            "headers": headers.map(|(name, value)| (name.clone(), json!(value))).collect::<serde_json::Map<_, _>>(),
            "bytes": request.body.len(), "body": request.json,
        });
        writeln!(file, "{line}").map_err(|error| format!("can not record: {error}"))?;
    }
    Ok(())
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number that fits"))
}

fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that went away does not want the text.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn fail(message: &str, code: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "covey-testkit: {message}");
    ExitCode::from(code)
}
