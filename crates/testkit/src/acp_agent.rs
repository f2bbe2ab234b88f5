//! An agent that speaks the Agent Client Protocol and does what the prompt says, the forbidden things too.
//!
//! Each line of a prompt is a directive, one after the other:
//!
//! ```text
//! say TEXT            a piece of the answer
//! think TEXT          a thought
//! run COMMAND         asks, then runs it itself
//! run! COMMAND        runs it without asking
//! write PATH TEXT     asks, then has the client write it
//! write! PATH TEXT    writes it itself, without asking
//! read PATH           has the client read it, and says what it got
//! terminal COMMAND    has the client run it, waits, and says what came out
//! terminals           kills one terminal, reads its output, releases it, and asks again
//! plan, commands, usage, unknown, notify, request, sound
//! mode, thinking      says how it was set; process, how many sessions it has
//! folders             says which folders it has besides its own
//! recall              says which prompts this session had
//! flood N             N pieces at once
//! hang                waits to be cancelled; hang! does not heed that either
//! late                asks for permission after it was cancelled
//! die, garbage, long BYTES, duplicate, stranger, stderr TEXT
//! ```

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// How the agent presents itself.
#[derive(Debug, Clone, Default)]
pub struct FakeAcpAgent {
    /// Prints lines that are no messages before anything else.
    pub banner: bool,
    /// Can take up sessions by telling all of them again.
    pub load: bool,
    /// Can take up sessions silently.
    pub resume: bool,
    /// Can copy sessions.
    pub fork: bool,
    /// Takes more folders than one.
    pub folders: bool,
    /// Can be told how much to think.
    pub thinking: bool,
    /// Wants a login.
    pub locked: bool,
    /// Never says who it is.
    pub mute: bool,
    /// Has modes `plan` and `default`.
    pub modes: bool,
    /// Where it keeps its sessions; without it, it forgets them.
    pub state: Option<PathBuf>,
}

struct Running {
    options: FakeAcpAgent,
    lines: Receiver<Value>,
    next: i64,
    session: String,
    sessions: u32,
    mode: String,
    thinking: String,
    folders: Vec<String>,
    cancelled: bool,
    calls: u32,
    /// Requests that came while an answer was waited for.
    held: Vec<Value>,
}

impl FakeAcpAgent {
    /// Talks on standard input and output until the input ends.
    pub fn run(self) -> io::Result<()> {
        if self.banner {
            println("Welcome to the fake agent!\n{ this is no JSON")?;
            writeln!(io::stderr(), "fake agent: started")?;
        }
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if let Ok(value) = serde_json::from_str::<Value>(&line)
                    && sender.send(value).is_err()
                {
                    break;
                }
            }
        });
        let mut running = Running {
            options: self,
            lines,
            next: 0,
            session: String::new(),
            sessions: 0,
            mode: "default".to_owned(),
            thinking: "medium".to_owned(),
            folders: Vec::new(),
            cancelled: false,
            calls: 0,
            held: Vec::new(),
        };
        while let Some(message) = running.receive() {
            running.handle(&message)?;
        }
        Ok(())
    }
}

fn println(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

fn send(message: &Value) -> io::Result<()> {
    println(&message.to_string())
}

impl Running {
    fn receive(&mut self) -> Option<Value> {
        if self.held.is_empty() { self.lines.recv().ok() } else { Some(self.held.remove(0)) }
    }

    fn handle(&mut self, message: &Value) -> io::Result<()> {
        let id = message.get("id").cloned();
        let params = &message["params"];
        if let Some(folders) = params["additionalDirectories"].as_array() {
            self.folders = folders.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        }
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" if self.options.mute => return Ok(()),
            "initialize" => json!({
                "protocolVersion": 1,
                "agentCapabilities": {
                    "loadSession": self.options.load,
                    "promptCapabilities": {"image": true, "embeddedContext": true},
                    "sessionCapabilities": self.session_capabilities(),
                },
                "agentInfo": {"name": "fake", "version": "1.0.0"},
                "authMethods": [{"id": "fake-login", "name": "Log in to the fake"}],
            }),
            "session/new" if self.options.locked => {
                let error = json!({"code": -32000, "message": "Authentication required"});
                return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            "session/new" => {
                self.begin_session();
                self.commands()?;
                self.opened(json!({"sessionId": self.session}))
            }
            "session/fork" if self.options.fork => {
                self.session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                let known = self.remembered();
                self.begin_session();
                known.iter().for_each(|prompt| self.remember(prompt));
                self.opened(json!({"sessionId": self.session}))
            }
            "session/set_config_option" => {
                self.thinking = params["value"].as_str().unwrap_or_default().to_owned();
                json!({"configOptions": self.config_options()})
            }
            "session/load" | "session/resume" => {
                self.session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                let known = self.remembered();
                if known.is_empty() {
                    let error = json!({"code": -32002, "message": "no such session"});
                    return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                }
                if message["method"] == "session/load" {
                    for prompt in known {
                        self.update(
                            json!({"sessionUpdate": "user_message_chunk", "content": text(&prompt)}),
                        )?;
                        self.say("told again")?;
                    }
                }
                self.opened(json!({}))
            }
            "session/set_mode" => {
                self.mode = params["modeId"].as_str().unwrap_or_default().to_owned();
                json!({})
            }
            "session/prompt" => {
                self.cancelled = false;
                if let Some(session) = params["sessionId"].as_str() {
                    self.session = session.to_owned();
                }
                let blocks = params["prompt"].as_array().cloned().unwrap_or_default();
                let stop = self.prompt(&blocks)?;
                let stop = if self.cancelled { "cancelled" } else { stop };
                json!({"stopReason": stop})
            }
            "session/cancel" => return Ok(()),
            other => {
                let error = json!({"code": -32601, "message": format!("`{other}` is not known to the fake")});
                return send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        };
        send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn begin_session(&mut self) {
        self.sessions += 1;
        // Inside a sandbox every process may have the same number.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        self.session = format!("fake-{}-{}", now.as_nanos(), self.sessions);
    }

    fn session_capabilities(&self) -> Value {
        let mut can = json!({});
        let all = [
            (self.options.resume, &["resume", "list"][..]),
            (self.options.fork, &["fork"]),
            (self.options.folders, &["additionalDirectories"]),
        ];
        for (has, names) in all {
            names.iter().filter(|_| has).for_each(|name| can[*name] = json!({}));
        }
        can
    }

    fn config_options(&self) -> Value {
        let levels = ["off", "low", "medium", "high"].map(|name| json!({"value": name, "name": name}));
        json!([{"id": "thought", "name": "Thinking", "category": "thought_level", "type": "select",
            "currentValue": self.thinking, "options": levels}])
    }

    fn opened(&self, mut answer: Value) -> Value {
        if self.options.thinking {
            answer["configOptions"] = self.config_options();
        }
        if self.options.modes {
            answer["modes"] = json!({
                "currentModeId": self.mode,
                "availableModes": [{"id": "default", "name": "Default"}, {"id": "plan", "name": "Plan"}],
            });
        }
        answer
    }

    fn commands(&self) -> io::Result<()> {
        let command =
            json!({"name": "compact", "description": "Summarise", "input": {"hint": "what to keep"}});
        self.update(json!({"sessionUpdate": "available_commands_update", "availableCommands": [command]}))
    }

    fn remembered(&self) -> Vec<String> {
        let Some(folder) = &self.options.state else { return vec![] };
        let text = std::fs::read_to_string(folder.join(&self.session)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn remember(&self, prompt: &str) {
        let Some(folder) = &self.options.state else { return };
        let file = std::fs::OpenOptions::new().append(true).create(true).open(folder.join(&self.session));
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{}", json!(prompt));
        }
    }

    fn prompt(&mut self, blocks: &[Value]) -> io::Result<&'static str> {
        let whole: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        self.remember(&whole.join("\n"));
        // What was put before the prompt is context, not a directive.
        let directives = whole.last().copied().unwrap_or_default().to_owned();
        for line in directives.lines() {
            self.drain();
            if self.cancelled {
                return Ok("cancelled");
            }
            let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
            match word {
                "refuse" => return Ok("refusal"),
                "blocks" => {
                    let kinds: Vec<&str> = blocks.iter().filter_map(|block| block["type"].as_str()).collect();
                    self.say(&kinds.join(" "))?;
                }
                _ => self.directive(word, rest)?,
            }
        }
        Ok("end_turn")
    }

    fn directive(&mut self, word: &str, rest: &str) -> io::Result<()> {
        match word {
            "" => Ok(()),
            "say" => self.say(rest),
            "think" => self.update(json!({"sessionUpdate": "agent_thought_chunk", "content": text(rest)})),
            "mode" => self.say(&self.mode.clone()),
            "thinking" => self.say(&self.thinking.clone()),
            "folders" => self.say(&format!("folders: {}", self.folders.join(", "))),
            "process" => self.say(&format!("process with {} sessions", self.sessions)),
            "sound" => {
                let sound = json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAAAAAA"});
                self.update(json!({"sessionUpdate": "agent_message_chunk", "content": sound}))
            }
            "recall" => self.say(&self.remembered().join(" | ")),
            "run" => self.run_command(rest, true),
            "run!" => self.run_command(rest, false),
            "write" => self.write(rest, true),
            "write!" => self.write(rest, false),
            "read" => {
                let answer =
                    self.ask("fs/read_text_file", json!({"sessionId": self.session, "path": rest}))?;
                self.say(&told(&answer, "content"))
            }
            "terminal" => self.terminal(rest),
            "kill" => self.kill(rest),
            "plan" => {
                let entries = json!([
                    {"content": "look", "priority": "high", "status": "completed"},
                    {"content": "act", "priority": "medium", "status": "pending"},
                ]);
                self.update(json!({"sessionUpdate": "plan", "entries": entries}))
            }
            "usage" => {
                let cost = json!({"amount": rest.parse::<f64>().unwrap_or(0.5), "currency": "USD"});
                self.update(
                    json!({"sessionUpdate": "usage_update", "used": 1200, "size": 8000, "cost": cost}),
                )
            }
            "unknown" => self.update(json!({"sessionUpdate": "hologram_update", "shape": "cube"})),
            "notify" => {
                send(&json!({"jsonrpc": "2.0", "method": "_fake/secret", "params": {}}))?;
                send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"no": "session"}}))?;
                send(&json!({"jsonrpc": "2.0", "method": "hologram/shown", "params": {}}))
            }
            "request" => {
                let answer = self.ask("hologram/show", json!({"sessionId": self.session}))?;
                self.say(&format!("the client answered {}", answer["error"]["code"]))
            }
            "flood" => {
                let count: u32 = rest.parse().unwrap_or(1000);
                let piece = json!({"jsonrpc": "2.0", "method": "session/update", "params": {
                    "sessionId": self.session,
                    "update": {"sessionUpdate": "agent_message_chunk", "content": text("word ")},
                }})
                .to_string();
                let mut out = io::BufWriter::new(io::stdout().lock());
                for _ in 0..count {
                    out.write_all(piece.as_bytes())?;
                    out.write_all(b"\n")?;
                }
                out.flush()
            }
            "hang" | "hang!" => {
                while !self.cancelled || word == "hang!" {
                    let Some(message) = self.receive_raw() else { return Ok(()) };
                    self.note(message);
                }
                Ok(())
            }
            "late" => {
                self.directive("hang", "")?;
                let allowed = self.permission("late", "execute", json!({"command": "touch late.txt"}))?;
                self.say(if allowed { "late and allowed" } else { "late and refused" })
            }
            "die" => std::process::exit(3),
            "stderr" => writeln!(io::stderr(), "{rest}"),
            "garbage" => println("{\"jsonrpc\": \"2.0\", \"method\": oops}\nplain noise\n{\"neither\": 1}"),
            "long" => {
                let bytes: usize = rest.parse().unwrap_or(100 << 20);
                let mut out = io::BufWriter::new(io::stdout().lock());
                out.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"")?;
                let block = vec![b'x'; 1 << 20];
                for _ in 0..bytes.div_ceil(block.len()) {
                    out.write_all(&block)?;
                }
                out.write_all(b"\"}\n")?;
                out.flush()
            }
            "duplicate" => {
                for title in ["first", "second"] {
                    let call = json!({"toolCallId": "same", "title": title, "kind": "read", "status": "completed",
                        "content": [{"type": "content", "content": text(title)}]});
                    let mut begun = call.clone();
                    begun["sessionUpdate"] = json!("tool_call");
                    self.update(begun)?;
                }
                send(&json!({"jsonrpc": "2.0", "id": 0, "result": {}}))
            }
            "stranger" => {
                let update = json!({"sessionUpdate": "agent_message_chunk", "content": text("not for you")});
                send(&json!({"jsonrpc": "2.0", "method": "session/update",
                    "params": {"sessionId": "somebody-else", "update": update}}))
            }
            _ => self.say(&format!("You said: {word} {rest}")),
        }
    }

    fn say(&self, words: &str) -> io::Result<()> {
        self.update(json!({"sessionUpdate": "agent_message_chunk", "content": text(words)}))
    }

    fn update(&self, update: Value) -> io::Result<()> {
        let params = json!({"sessionId": self.session, "update": update});
        send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    }

    fn run_command(&mut self, command: &str, asks: bool) -> io::Result<()> {
        let call = self.begin(command, "execute", json!({"command": command}))?;
        if asks && !self.permission(&call, "execute", json!({"command": command}))? {
            return self.end(&call, "failed", "refused");
        }
        let output = std::process::Command::new("sh").args(["-c", command]).output()?;
        let said = [output.stdout, output.stderr].concat();
        let status = if output.status.success() { "completed" } else { "failed" };
        self.end(&call, status, &String::from_utf8_lossy(&said))
    }

    fn write(&mut self, rest: &str, asks: bool) -> io::Result<()> {
        let (path, content) = rest.split_once(' ').unwrap_or((rest, ""));
        let absolute = std::env::current_dir()?.join(path);
        let input = json!({"file_path": absolute, "content": content});
        let call = self.begin(&format!("write {path}"), "edit", input.clone())?;
        if asks && !self.permission(&call, "edit", input)? {
            return self.end(&call, "failed", "refused");
        }
        let done = if asks {
            let params = json!({"sessionId": self.session, "path": absolute, "content": content});
            let answer = self.ask("fs/write_text_file", params)?;
            answer.get("error").map_or(Ok(()), |error| Err(error["message"].to_string()))
        } else {
            std::fs::write(&absolute, content).map_err(|error| error.to_string())
        };
        match done {
            Ok(()) => self.end(&call, "completed", "written"),
            Err(why) => self.end(&call, "failed", &why),
        }
    }

    fn terminal(&mut self, command: &str) -> io::Result<()> {
        let params = json!({"sessionId": self.session, "command": "sh", "args": ["-c", command], "outputByteLimit": 20});
        let created = self.ask("terminal/create", params)?;
        let Some(terminal) = created["result"]["terminalId"].as_str().map(str::to_owned) else {
            return self.say(&told(&created, "terminalId"));
        };
        let of = json!({"sessionId": self.session, "terminalId": terminal});
        let exit = self.ask("terminal/wait_for_exit", of.clone())?;
        let output = self.ask("terminal/output", of.clone())?;
        self.ask("terminal/release", of.clone())?;
        let gone = self.ask("terminal/output", of)?;
        self.say(&format!(
            "exit {} output {} truncated {} then {}",
            exit["result"]["exitCode"],
            output["result"]["output"],
            output["result"]["truncated"],
            gone["error"]["code"]
        ))
    }

    fn kill(&mut self, command: &str) -> io::Result<()> {
        let params = json!({"sessionId": self.session, "command": "sh", "args": ["-c", command]});
        let created = self.ask("terminal/create", params)?;
        let of = json!({"sessionId": self.session, "terminalId": created["result"]["terminalId"]});
        self.ask("terminal/kill", of.clone())?;
        let exit = self.ask("terminal/wait_for_exit", of.clone())?;
        let output = self.ask("terminal/output", of.clone())?;
        self.ask("terminal/release", of)?;
        self.say(&format!("signal {} kept {}", exit["result"]["signal"], output["result"]["output"]))
    }

    fn begin(&mut self, title: &str, kind: &str, input: Value) -> io::Result<String> {
        self.calls += 1;
        let call = format!("call-{}", self.calls);
        // First without its arguments, as many agents do.
        self.update(json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": kind, "kind": kind,
            "status": "pending", "rawInput": {}}))?;
        self.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "title": title, "rawInput": input}))?;
        Ok(call)
    }

    fn end(&mut self, call: &str, status: &str, output: &str) -> io::Result<()> {
        self.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status,
            "content": [{"type": "content", "content": text(output)}]}))
    }

    fn permission(&mut self, call: &str, kind: &str, input: Value) -> io::Result<bool> {
        let options = json!([
            {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
            {"optionId": "always", "name": "Always", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
        ]);
        let tool = json!({"toolCallId": call, "kind": kind, "rawInput": input});
        let params = json!({"sessionId": self.session, "toolCall": tool, "options": options});
        let answer = self.ask("session/request_permission", params)?;
        let outcome = &answer["result"]["outcome"];
        Ok(outcome["outcome"] == "selected" && outcome["optionId"] == "yes")
    }

    /// Asks the client and waits for its answer; what else comes meanwhile is kept.
    fn ask(&mut self, method: &str, params: Value) -> io::Result<Value> {
        let id = self.next;
        self.next += 1;
        send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let Some(message) = self.receive_raw() else { return Ok(json!({})) };
            if message.get("method").is_none() && message["id"] == id {
                return Ok(message);
            }
            self.note(message);
        }
    }

    fn receive_raw(&mut self) -> Option<Value> {
        self.lines.recv().ok()
    }

    fn drain(&mut self) {
        while let Ok(message) = self.lines.try_recv() {
            self.note(message);
        }
    }

    fn note(&mut self, message: Value) {
        if message["method"] == "session/cancel" {
            self.cancelled = true;
        } else if message.get("method").is_some() {
            self.held.push(message);
        }
    }
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

fn told(answer: &Value, field: &str) -> String {
    match answer.get("error") {
        Some(error) => format!("error {}: {}", error["code"], error["message"].as_str().unwrap_or_default()),
        None => answer["result"][field].as_str().unwrap_or_default().to_owned(),
    }
}
