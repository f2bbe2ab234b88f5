//! Manus, over its HTTP API: a task for each prompt, looked at until it is done.
//!
//! It works on machines of its own. Nothing here is read or written for it; what it gets is the prompt.

mod reader;

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use net::{Client, Method, StatusCode, Url};
use protocol::{AgentId, NoticeLevel, Stop, StopCause, Usage};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cli::{Asked, Ended};
use crate::fleet::{Post, Trouble};
use crate::narrator::notice;
use crate::telling::Telling;
use crate::{past, thinking};
use reader::{Reader, Status};

const KEY: &str = "MANUS_API_KEY";
/// Between two looks: short at first, for what is quick, then as its makers ask for.
const FIRST_LOOK: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_secs(3);
/// A task that is not done by then is called off.
const DEADLINE: Duration = Duration::from_secs(4 * 60 * 60);
const PATIENCE: Duration = Duration::from_secs(60);
/// Looks that may fail in a row: a network that is gone for a moment costs no task.
const MISSES: u32 = 5;

/// Where the tasks are.
struct Api {
    http: Client,
    base: String,
    key: String,
    id: AgentId,
}

pub(crate) fn run<'a>(
    post: &'a Post,
    asked: Asked<'a>,
    cancel: &'a CancellationToken,
) -> BoxFuture<'a, Result<Ended, Trouble>> {
    order(post, asked, cancel).boxed()
}

async fn order(post: &Post, asked: Asked<'_>, cancel: &CancellationToken) -> Result<Ended, Trouble> {
    let Asked { turn, memory, prompt: text, mut telling, .. } = asked;
    let api = Api::of(post)?;
    if let Some(effort) = turn.effort {
        telling.send(vec![thinking::not_offered(&post.id, effort)]).await;
    }
    let model = post.model.clone().or_else(|| post.known.entry.models.default.clone());
    let mut order = json!({
        "model": model, "task_mode": "agent",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": text}]}],
    });
    if let Some(memory) = &memory {
        order["previous_response_id"] = json!(memory.session);
    }
    let made = tokio::select! {
        made = api.call(Method::POST, "", Some(&order)) => made?,
        () = cancel.cancelled() => return Ok((Stop::Cancelled, None)),
    };
    let Some(task) = made.get("id").and_then(Value::as_str).map(str::to_owned) else {
        return Err(Trouble::new(format!("`{}` made a task and did not name it", post.id)));
    };
    let mut following = Following { api: &api, task: &task, reader: Reader::default() };
    let end = following.follow(made, &mut telling, cancel).await;
    telling.finish().await;
    if let Some(usage) = following.reader.usage() {
        telling.usage(model.as_deref(), usage).await;
    }
    if end.is_ok() {
        past::remember(post, turn, &task);
    }
    end
}

struct Following<'a> {
    api: &'a Api,
    task: &'a str,
    reader: Reader,
}

impl Following<'_> {
    async fn follow(
        &mut self,
        made: Value,
        telling: &mut Telling,
        cancel: &CancellationToken,
    ) -> Result<Ended, Trouble> {
        let deadline = Instant::now() + DEADLINE;
        let (mut pause, mut misses, mut seen) = (FIRST_LOOK, 0, made);
        let path = format!("/{}", self.task);
        loop {
            for news in self.reader.read(&seen) {
                telling.news(news, |_| false).await;
            }
            match self.reader.status(&seen) {
                Status::Working => {}
                Status::Done => return Ok((Stop::Done, None)),
                Status::WaitsForAnswer => {
                    let text = format!("`{}` waits for an answer; your next prompt is one", self.api.id);
                    telling.send(vec![notice(NoticeLevel::Info, text)]).await;
                    return Ok((Stop::Done, None));
                }
                Status::Failed(why) => {
                    return Err(Trouble::new(format!("`{}` reports: {why}", self.api.id)));
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = cancel.cancelled() => {
                    self.call_off().await;
                    return Ok((Stop::Cancelled, None));
                }
                () = tokio::time::sleep_until(deadline) => {
                    self.call_off().await;
                    return Ok((Stop::Limit, Some(StopCause::Timeout)));
                }
            }
            pause = (pause * 3 / 2).min(LOOK);
            let look = tokio::select! {
                look = self.api.call(Method::GET, &path, None) => look,
                () = cancel.cancelled() => {
                    self.call_off().await;
                    return Ok((Stop::Cancelled, None));
                }
            };
            match look {
                Ok(now) => (seen, misses) = (now, 0),
                Err(_) if misses < MISSES => misses += 1,
                Err(trouble) => return Err(trouble),
            }
        }
    }

    /// A task goes on costing until it is called off.
    async fn call_off(&self) {
        let path = format!("/{}", self.task);
        let calling = self.api.call(Method::DELETE, &path, None);
        // A session waits two seconds for a cancelled agent.
        let _ = tokio::time::timeout(Duration::from_millis(1500), calling).await;
    }
}

impl Api {
    fn of(post: &Post) -> Result<Self, Trouble> {
        let config = &post.known.config;
        let key = config.env.get(KEY).cloned().or_else(|| (post.fleet.options.env)(KEY));
        let Some(key) = key.filter(|key| !key.is_empty()) else {
            let hint = format!("export {KEY}=…");
            return Err(Trouble::unreachable(format!("`{}` needs {KEY}", post.id), Some(hint)));
        };
        let base = config.url.as_ref().or(post.known.entry.interface.url.as_ref());
        let base = base.map(|base| base.trim_end_matches('/').to_owned()).unwrap_or_default();
        let wrong = |why: String| {
            Trouble::unreachable(
                format!("`agents.{}.url`: {why}", post.id),
                Some("such as https://api.manus.im".to_owned()),
            )
        };
        let url = Url::parse(&base).map_err(|error| wrong(error.to_string()))?;
        let http = net::client(&url).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { http, base: format!("{base}/v1/responses"), key, id: post.id.clone() })
    }

    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Trouble> {
        let id = &self.id;
        let mut request = self.http.request(method, format!("{}{path}", self.base)).timeout(PATIENCE);
        // The key has a header of its own; the other one must be there and is not looked at.
        request = request.header("API_KEY", &self.key).header(net::header::AUTHORIZATION, "Bearer -");
        if let Some(body) = body {
            request = request.header(net::header::CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let unreachable = |error: net::HttpError| {
            Trouble::unreachable(format!("`{id}` can not be reached: {}", net::describe(&error)), None)
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let text = response.text().await.map_err(unreachable)?;
        if status.is_success() {
            let answer = if text.trim().is_empty() { Ok(json!({})) } else { serde_json::from_str(&text) };
            return answer
                .map_err(|error| Trouble::new(format!("`{id}` answered with what is no JSON: {error}")));
        }
        let said: Option<Value> = serde_json::from_str(&text).ok();
        let said =
            said.as_ref().and_then(reader::complaint).unwrap_or_else(|| text.chars().take(300).collect());
        Err(match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Trouble::unreachable(
                format!("`{id}` does not take the key: {said}"),
                Some(format!("look at {KEY}")),
            ),
            StatusCode::TOO_MANY_REQUESTS => Trouble::unreachable(
                format!("`{id}` takes no more tasks now: {said}"),
                Some("try again later".to_owned()),
            ),
            status => Trouble::new(format!("`{id}` answered {status}: {said}")),
        })
    }
}

/// Counts, as far as they are told.
fn usage(value: &Value) -> Option<Usage> {
    let usage = value.get("usage")?;
    let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    let counted = Usage { input: count("input_tokens"), output: count("output_tokens"), ..Usage::default() };
    (!counted.is_empty()).then_some(counted)
}
