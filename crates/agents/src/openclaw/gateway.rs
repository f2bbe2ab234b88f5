//! The gateway's frames: requests, their answers, and events.

use std::path::Path;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::fleet::{Post, Trouble};

/// The versions of its protocol: gateways take one of them.
const OLDEST: u64 = 3;
const NEWEST: u64 = 4;
const CONNECTING: Duration = Duration::from_secs(10);
const ANSWERING: Duration = Duration::from_secs(30);

pub(super) struct Gateway {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    requests: u32,
    id: String,
    /// The version that it chose.
    protocol: u64,
}

/// What it is asked to do.
pub(super) struct Run<'a> {
    pub(super) prompt: &'a str,
    pub(super) session: &'a str,
    /// A name for this run that no other has.
    pub(super) key: &'a str,
    pub(super) thinking: Option<&'a str>,
    pub(super) model: Option<&'a str>,
}

impl Gateway {
    /// None when nobody listens there.
    pub(super) async fn connect(post: &Post) -> Result<Option<Self>, Trouble> {
        let known = &post.known;
        let url = known.config.url.as_ref().or(known.entry.interface.url.as_ref());
        let Some(url) = url else { return Ok(None) };
        let connecting = tokio_tungstenite::connect_async(url.as_str());
        let Ok(Ok((socket, _))) = tokio::time::timeout(CONNECTING, connecting).await else {
            return match &known.config.url {
                // Somebody who named it wants that one.
                Some(url) => Err(Trouble::unreachable(
                    format!("no gateway of `{}` listens at {url}", post.id),
                    Some("openclaw gateway run".to_owned()),
                )),
                None => Ok(None),
            };
        };
        let mut gateway = Self { socket, requests: 0, id: post.id.to_string(), protocol: OLDEST };
        tokio::time::timeout(CONNECTING, gateway.introduce(post)).await.unwrap_or_else(|_| {
            Err(Trouble::unreachable(format!("the gateway of `{}` does not answer", post.id), None))
        })?;
        Ok(Some(gateway))
    }

    async fn introduce(&mut self, post: &Post) -> Result<(), Trouble> {
        // It speaks first.
        while let Some(frame) = self.next().await {
            if frame["event"] == "connect.challenge" {
                break;
            }
        }
        let options = &post.fleet.options;
        let mut hello = json!({
            "minProtocol": OLDEST, "maxProtocol": NEWEST,
            "client": {"id": "cli", "version": options.version, "platform": std::env::consts::OS, "mode": "cli"},
            // Without the last a session works in the gateway's folder, not in the project.
            "role": "operator", "scopes": ["operator.read", "operator.write", "operator.admin"],
            // Else it tells that a tool ran, but not with what nor what came of it.
            "caps": ["tool-events"], "locale": "en",
        });
        const TOKEN: &str = "OPENCLAW_GATEWAY_TOKEN";
        let token = post.known.config.env.get(TOKEN).cloned().or_else(|| (options.env)(TOKEN));
        if let Some(token) = token.or_else(|| written_token(&options.user_home)) {
            hello["auth"] = json!({"token": token});
        }
        let (_, hello) = self.request("connect", hello).await.map_err(|trouble| Trouble {
            hint: Some(format!("set {TOKEN}, or gateway.auth.token in ~/.openclaw/openclaw.json")),
            unreachable: true,
            ..trouble
        })?;
        self.protocol = hello["protocol"].as_u64().unwrap_or(OLDEST);
        Ok(())
    }

    /// Has a session work in a folder. One that is there already is left as it is.
    pub(super) async fn settle(&mut self, session: &str, cwd: &Path) -> Result<(), Trouble> {
        if self.protocol == OLDEST {
            return Err(Trouble::new("its version has no word for that".to_owned()));
        }
        self.request("sessions.create", json!({"key": session, "cwd": cwd})).await.map(drop)
    }

    /// Starts a run, and answers with the id of the request and what it was answered with.
    pub(super) async fn agent(&mut self, run: &Run<'_>) -> Result<(String, Value), Trouble> {
        let mut params = json!({"message": run.prompt, "idempotencyKey": run.key, "sessionKey": run.session});
        if let Some(level) = run.thinking {
            params["thinking"] = json!(level);
        }
        if let Some(model) = run.model {
            params["model"] = json!(model);
        }
        self.request("agent", params).await
    }

    /// Stops one run, and no other.
    pub(super) async fn stop(&mut self, run: Option<&str>, session: &str) {
        let params = json!({"runId": run, "sessionKey": session});
        let method = if self.protocol == OLDEST { "agent.stop" } else { "chat.abort" };
        let stopping = self.request(method, params);
        // A session waits two seconds for a cancelled agent.
        let _ = tokio::time::timeout(Duration::from_millis(1200), stopping).await;
        let _ = self.socket.close(None).await;
    }

    /// The next frame; none when the connection ended.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await?.ok()? {
                Message::Text(text) => {
                    if let Ok(frame) = serde_json::from_str(text.as_str()) {
                        return Some(frame);
                    }
                }
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    async fn request(&mut self, method: &str, params: Value) -> Result<(String, Value), Trouble> {
        self.requests += 1;
        let id = format!("covey-{}", self.requests);
        let frame = json!({"type": "req", "id": id, "method": method, "params": params});
        let gone = || Trouble::unreachable("the gateway closed the connection".to_owned(), None);
        self.socket.send(Message::text(frame.to_string())).await.map_err(|_| gone())?;
        let answer = async {
            while let Some(frame) = self.next().await {
                if frame["type"] == "res" && frame["id"] == id.as_str() {
                    return Some(frame);
                }
            }
            None
        };
        let answer = tokio::time::timeout(ANSWERING, answer).await.ok().flatten().ok_or_else(gone)?;
        if answer["ok"] == false {
            let said = answer.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason");
            return Err(Trouble::new(format!("the gateway of `{}` refuses `{method}`: {said}", self.id)));
        }
        Ok((id, answer["payload"].clone()))
    }
}

/// The token in the person's own settings of it.
fn written_token(home: &Path) -> Option<String> {
    let text = std::fs::read_to_string(home.join(".openclaw/openclaw.json")).ok()?;
    let value: Value = serde_json::from_str(&strict(&text)).ok()?;
    value.pointer("/gateway/auth/token")?.as_str().map(str::to_owned)
}

/// JSON with comments and commas too many, without them. Names without quotes are left as they are.
fn strict(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' if quoted => {
                out.push(c);
                out.extend(rest.next());
            }
            '"' => {
                quoted = !quoted;
                out.push(c);
            }
            '/' if !quoted && rest.peek() == Some(&'/') => {
                while rest.peek().is_some_and(|c| *c != '\n') {
                    rest.next();
                }
            }
            '/' if !quoted && rest.peek() == Some(&'*') => {
                rest.next();
                let mut last = ' ';
                for c in rest.by_ref() {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
            }
            '}' | ']' if !quoted => {
                let end = out.trim_end().trim_end_matches(',').len();
                out.truncate(end);
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_among_comments_and_commas() {
        let home = std::env::temp_dir().join(format!("covey-openclaw-{}", std::process::id()));
        std::fs::create_dir_all(home.join(".openclaw")).unwrap();
        let text = "{ // mine\n \"gateway\": { /* local */ \"auth\": { \"token\": \"a//b,}\", }, }, }";
        std::fs::write(home.join(".openclaw/openclaw.json"), text).unwrap();
        assert_eq!(written_token(&home).as_deref(), Some("a//b,}"));
        std::fs::remove_dir_all(home).unwrap();
    }
}
