//! A Chromium that is there already, driven over its debugging protocol.

mod socket;

use std::time::Duration;

use project::{Program, Running, Streams, Task};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use socket::Socket;

use crate::{ToolContext, ToolError};

const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const START: Duration = Duration::from_secs(30);
const ANSWER: Duration = Duration::from_secs(30);
/// How much of what a page says on its console is kept.
const MAX_LINES: usize = 200;
const MAX_LINE: usize = 1000;

/// The browser of a session, started when it is first used.
#[derive(Default)]
pub(crate) struct Browser {
    open: Mutex<Option<Window>>,
}

impl Browser {
    /// Does something with the window. One that was not finished, because the call was cancelled or the connection
    /// broke, leaves the connection in the middle of a message: the window is gone then, and the next call opens another.
    pub(crate) async fn with<T>(
        &self,
        context: &ToolContext,
        work: impl AsyncFnOnce(&mut Window) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let mut slot = self.open.lock().await;
        let mut window = match slot.take() {
            Some(window) => window,
            None => Window::open(context).await?,
        };
        let done = work(&mut window).await;
        if !window.is_broken {
            *slot = Some(window);
        }
        done
    }

    /// Whether a page was opened.
    pub(crate) async fn is_open(&self) -> bool {
        self.open.lock().await.is_some()
    }
}

/// One page in a browser of its own.
pub(crate) struct Window {
    socket: Socket,
    /// Names the page in every message.
    page: String,
    last: u64,
    console: Vec<String>,
    loads: u64,
    is_broken: bool,
    /// Reads what the browser prints; with it goes the browser.
    program: JoinHandle<()>,
}

impl Drop for Window {
    fn drop(&mut self) {
        self.program.abort();
    }
}

impl Window {
    async fn open(context: &ToolContext) -> Result<Self, ToolError> {
        let mut running = start(context).await?;
        let address = timeout(START, address(running.as_mut()))
            .await
            .map_err(|_| ToolError("the browser did not start in time".to_owned()))?
            .map_err(|said| ToolError(format!("the browser did not start: {said}")))?;
        // Somebody has to read on, or it would stop at a full pipe.
        let program = tokio::spawn(async move { while running.output().await.is_some() {} });
        let socket = Socket::connect(&address).await;
        let socket = socket.map_err(|error| ToolError(format!("the browser does not answer: {error}")))?;
        let mut window = Self {
            socket,
            page: String::new(),
            last: 0,
            console: Vec::new(),
            loads: 0,
            is_broken: false,
            program,
        };
        let target = window.ask("Target.createTarget", json!({"url": "about:blank"})).await?;
        let attached = window
            .ask("Target.attachToTarget", json!({"targetId": target["targetId"], "flatten": true}))
            .await?;
        window.page = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            window.ask(domain, json!({})).await?;
        }
        Ok(window)
    }

    /// Sends a command and waits for its answer; events on the way are noted.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Result<Value, ToolError> {
        self.last += 1;
        let id = self.last;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.page.is_empty() {
            message["sessionId"] = json!(self.page);
        }
        // Until the answer is there, the connection is in between.
        self.is_broken = true;
        let exchange = async {
            self.socket.send(&message.to_string()).await?;
            loop {
                let message: Value =
                    serde_json::from_slice(&self.socket.receive().await?).unwrap_or_default();
                if message["id"] == id {
                    return Ok::<_, std::io::Error>(message);
                }
                note(&mut self.console, &mut self.loads, &message);
            }
        };
        let mut answer = timeout(ANSWER, exchange)
            .await
            .map_err(|_| ToolError(format!("the browser did not answer to {method}")))?
            .map_err(|error| ToolError(format!("the browser went away: {error}")))?;
        self.is_broken = false;
        if let Some(error) = answer["error"]["message"].as_str() {
            return Err(ToolError(format!("the browser refuses {method}: {error}")));
        }
        Ok(answer["result"].take())
    }

    /// Goes to an address and waits until the page is loaded.
    pub(crate) async fn go(&mut self, url: &str) -> Result<String, ToolError> {
        let loads = self.loads;
        self.console.clear();
        let answer = self.ask("Page.navigate", json!({"url": url})).await?;
        if let Some(error) = answer["errorText"].as_str().filter(|error| !error.is_empty()) {
            return Err(ToolError(format!("`{url}` did not open: {error}")));
        }
        let wait = async {
            while self.loads == loads {
                // Asking for something harmless lets the events come in.
                self.evaluate("1").await?;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Ok::<_, ToolError>(())
        };
        // A page that loads for ever is looked at as it is.
        if let Ok(result) = timeout(Duration::from_secs(15), wait).await {
            result?;
        } else if self.is_broken {
            return Err(ToolError(format!("`{url}` did not open in time")));
        }
        self.describe().await
    }

    /// Where it is and what it shows, in text.
    pub(crate) async fn describe(&mut self) -> Result<String, ToolError> {
        let script = "location.href + '\\nTitle: ' + document.title + '\\n\\n' + (document.body ? document.body.innerText : '').slice(0, 8000)";
        Ok(self.evaluate(script).await?.as_str().unwrap_or_default().to_owned())
    }

    /// Runs an expression in the page; promises are waited for.
    pub(crate) async fn evaluate(&mut self, expression: &str) -> Result<Value, ToolError> {
        let params = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true, "timeout": 10_000
        });
        let mut answer = self.ask("Runtime.evaluate", params).await?;
        let thrown = &answer["exceptionDetails"];
        if !thrown.is_null() {
            let text = thrown["exception"]["description"].as_str().or_else(|| thrown["text"].as_str());
            return Err(ToolError(format!("the page threw: {}", text.unwrap_or("something"))));
        }
        Ok(answer["result"]["value"].take())
    }

    /// Where the middle of an element is, after it was brought into view.
    async fn middle(&mut self, selector: &str) -> Result<(f64, f64), ToolError> {
        let script = format!(
            "(() => {{ const e = document.querySelector({}); if (!e) return null; \
             e.scrollIntoView({{block: 'center', inline: 'center'}}); const r = e.getBoundingClientRect(); \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            json!(selector)
        );
        let found = self.evaluate(&script).await?;
        match (found[0].as_f64(), found[1].as_f64()) {
            (Some(x), Some(y)) => Ok((x, y)),
            _ => Err(ToolError(format!("nothing on the page is `{selector}`"))),
        }
    }

    pub(crate) async fn click(&mut self, selector: &str) -> Result<(), ToolError> {
        let (x, y) = self.middle(selector).await?;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.ask("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    pub(crate) async fn type_into(&mut self, selector: &str, text: &str) -> Result<(), ToolError> {
        self.click(selector).await?;
        let focus = format!("document.querySelector({}).focus()", json!(selector));
        self.evaluate(&focus).await?;
        self.ask("Input.insertText", json!({"text": text})).await.map(drop)
    }

    /// What the page looks like, as a PNG in base 64.
    pub(crate) async fn picture(&mut self) -> Result<String, ToolError> {
        let answer = self.ask("Page.captureScreenshot", json!({"format": "png"})).await?;
        Ok(answer["data"].as_str().unwrap_or_default().to_owned())
    }

    /// What the page said on its console since it was opened.
    pub(crate) async fn console(&mut self) -> Result<String, ToolError> {
        // What was said until now comes in before the answer to this.
        self.evaluate("1").await?;
        Ok(self.console.join("\n"))
    }
}

/// Keeps what an event tells.
fn note(console: &mut Vec<String>, loads: &mut u64, event: &Value) {
    let params = &event["params"];
    let line = match event["method"].as_str() {
        Some("Page.loadEventFired") => {
            *loads += 1;
            return;
        }
        Some("Runtime.consoleAPICalled") => {
            let said =
                params["args"].as_array().into_iter().flatten().map(|argument| match &argument["value"] {
                    Value::Null => argument["description"].as_str().unwrap_or("null").to_owned(),
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
            format!("{}: {}", params["type"].as_str().unwrap_or("log"), said.collect::<Vec<_>>().join(" "))
        }
        Some("Runtime.exceptionThrown") => {
            let details = &params["exceptionDetails"];
            let text = details["exception"]["description"].as_str().or_else(|| details["text"].as_str());
            format!("exception: {}", text.unwrap_or_default())
        }
        Some("Log.entryAdded") => {
            let entry = &params["entry"];
            format!(
                "{}: {}",
                entry["level"].as_str().unwrap_or("log"),
                entry["text"].as_str().unwrap_or_default()
            )
        }
        _ => return,
    };
    if console.len() < MAX_LINES {
        console.push(line.chars().take(MAX_LINE).collect());
    }
}

/// Starts the first browser that is there.
async fn start(context: &ToolContext) -> Result<Box<dyn Running>, ToolError> {
    let profile = context.desk.outputs().join("browser");
    for name in NAMES {
        let mut argv = vec![name.to_owned(), format!("--user-data-dir={}", profile.display())];
        let options = [
            "--headless=new",
            "--remote-debugging-port=0",
            "--no-first-run",
            "--disable-gpu",
            "--disable-extensions",
            "--disable-sync",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
        ];
        argv.extend(options.map(str::to_owned));
        // Its own sandbox does not run as root; ours still does.
        argv.extend(rustix::process::geteuid().is_root().then(|| "--no-sandbox".to_owned()));
        argv.push("about:blank".to_owned());
        let task = Task {
            program: Program::Argv(argv),
            cwd: context.cwd.clone(),
            env: vec![],
            streams: Streams::Out,
        };
        match context.host.start(task).await {
            Ok(running) => return Ok(running),
            Err(error) if error.to_string().contains("was not found") => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(ToolError("no Chromium or Chrome is installed here".to_owned()))
}

/// The address that a starting browser prints; else what it printed instead.
async fn address(running: &mut dyn Running) -> Result<String, String> {
    let mut said = String::new();
    while let Some(piece) = running.output().await {
        said.push_str(&String::from_utf8_lossy(&piece));
        let found = said.split_once("DevTools listening on ").and_then(|(_, rest)| rest.split_once('\n'));
        if let Some((address, _)) = found {
            return Ok(address.trim().to_owned());
        }
    }
    Err(said.lines().last().unwrap_or("it said nothing").to_owned())
}
