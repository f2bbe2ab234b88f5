//! OpenClaw: its gateway over a WebSocket, and its program for those who run none.
//!
//! The gateway works outside any sandbox of ours and asks in channels of its own, so it is used only where nobody wants
//! to be asked; in other modes its program is started here, inside the walls.

mod gateway;
mod reader;

use std::time::Duration;

use acp::News;
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{Content, Mode, NoticeLevel, Stop, StopCause, Usage};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cli::{Asked, Ended, LineProcess, Spoken, words};
use crate::fallback::is_misuse;
use crate::fleet::{Post, Trouble};
use crate::narrator::notice;
use crate::past;
use crate::telling::Telling;
use gateway::{Gateway, Run};
use reader::{Heard, Reader};

/// A run that is not over by then is stopped.
const DEADLINE: Duration = Duration::from_secs(60 * 60);
/// The same for its program, which would give up sooner.
const DEADLINE_SECONDS: &str = "3600";

pub(crate) fn run<'a>(
    post: &'a Post,
    asked: Asked<'a>,
    cancel: &'a CancellationToken,
) -> BoxFuture<'a, Result<Ended, Trouble>> {
    ask(post, asked, cancel).boxed()
}

async fn ask(post: &Post, mut asked: Asked<'_>, cancel: &CancellationToken) -> Result<Ended, Trouble> {
    let free = asked.turn.mode >= Mode::Auto;
    let gateway = if free { Gateway::connect(post).await? } else { None };
    let ended = match gateway {
        Some(gateway) => {
            // The same name each time, so that it remembers, and one that no other session has.
            let known = asked.memory.as_ref().map(|memory| memory.session.clone());
            let session = known.unwrap_or_else(|| format!("covey-{}", unique()));
            let ended = through_gateway(gateway, post, &session, &mut asked, cancel).await;
            if ended.is_ok() {
                past::remember(post, asked.turn, &session);
            }
            ended
        }
        // Nobody listens, or nobody may be asked: its program does it here.
        None if !post.program.as_os_str().is_empty() => {
            asked.only_looks(post).await;
            // It knows nothing of what the gateway knows, and keeps nothing.
            asked.prompt = words(asked.turn, past::preamble(post, asked.turn, None).await);
            through_program(post, &mut asked, cancel).await
        }
        None => Err(Trouble::unreachable(
            format!("no gateway of `{}` listens, and its program is not installed", post.id),
            Some("openclaw gateway run, or: covey agents install openclaw".to_owned()),
        )),
    };
    asked.telling.finish().await;
    ended
}

async fn through_gateway(
    mut gateway: Gateway,
    post: &Post,
    session: &str,
    asked: &mut Asked<'_>,
    cancel: &CancellationToken,
) -> Result<Ended, Trouble> {
    if let Err(trouble) = gateway.settle(session, &post.cwd).await
        && asked.memory.is_none()
    {
        let text = format!("`{}` works in its own folder, not in this project: {}", post.id, trouble.message);
        asked.telling.send(vec![notice(NoticeLevel::Warning, text)]).await;
    }
    let mut reader = Reader::new();
    let level = asked.turn.effort.and_then(|effort| post.known.thinking(effort));
    let run =
        Run { prompt: &asked.prompt, session, key: &unique(), thinking: level, model: post.model.as_deref() };
    reader.asked(gateway.agent(&run).await?);
    let deadline = Instant::now() + DEADLINE;
    loop {
        let frame = tokio::select! {
            frame = gateway.next() => frame,
            () = cancel.cancelled() => {
                gateway.stop(reader.run(), session).await;
                return Ok((Stop::Cancelled, None));
            }
            () = tokio::time::sleep_until(deadline) => {
                gateway.stop(reader.run(), session).await;
                return Ok((Stop::Limit, Some(StopCause::Timeout)));
            }
        };
        let Some(frame) = frame else {
            return Err(Trouble::new(format!(
                "the gateway of `{}` closed the connection in the middle of its work",
                post.id
            )));
        };
        for heard in reader.read(&frame) {
            if let Some(end) = hear(heard, post, &mut asked.telling).await? {
                return Ok(end);
            }
        }
    }
}

/// By its own program, in the project. What is not known to an older one is said to it in other words.
async fn through_program(
    post: &Post,
    asked: &mut Asked<'_>,
    cancel: &CancellationToken,
) -> Result<Ended, Trouble> {
    let level = asked.turn.effort.and_then(|effort| post.known.thinking(effort));
    let mut more: Vec<&str> = Vec::new();
    more.extend(level.into_iter().flat_map(|level| ["--thinking", level]));
    more.extend(post.model.iter().flat_map(|model| ["--model", model]));
    let cwd = post.cwd.to_string_lossy();
    let exec =
        ["agent", "exec", "--json", "--timeout", DEADLINE_SECONDS, "--cwd", &cwd, "--message-file", "-"];
    let prompt = asked.prompt.clone();
    let ended = follow_program(post, &[&exec, more.as_slice()].concat(), &prompt, asked, cancel).await;
    match ended {
        Err(trouble) if trouble.unreachable && is_misuse(&trouble.message) => {
            let session = format!("covey-{}", unique());
            let local = ["agent", "--local", "--json", "--session-id", &session, "--message", &prompt];
            follow_program(post, &[&local, more.as_slice()].concat(), "", asked, cancel).await
        }
        ended => ended,
    }
}

async fn follow_program(
    post: &Post,
    args: &[&str],
    input: &str,
    asked: &mut Asked<'_>,
    cancel: &CancellationToken,
) -> Result<Ended, Trouble> {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    let start = post.start(asked.turn.mode, &args);
    let mut process = LineProcess::start_whole(&start, &post.fleet.options, &post.id)?;
    let _working = process.on_roll().work();
    process.write(input.as_bytes()).await;
    process.close_input();
    let mut reader = Reader::new();
    loop {
        tokio::select! {
            spoken = process.next() => match spoken {
                Some(Spoken::Json(value)) => {
                    for heard in reader.read_program(&value) {
                        if let Some(end) = hear(heard, post, &mut asked.telling).await? {
                            return Ok(end);
                        }
                    }
                }
                Some(Spoken::TooLong { .. }) => {}
                None => {
                    let said = process.last_words().await;
                    return Err(Trouble::unreachable(format!("`{}` ended without an answer{said}", post.id), None));
                }
            },
            // There is nothing to tell it; it ends with its process.
            () = cancel.cancelled() => return Ok((Stop::Cancelled, None)),
        }
    }
}

async fn hear(heard: Heard, post: &Post, telling: &mut Telling) -> Result<Option<Ended>, Trouble> {
    match heard {
        Heard::News(news) => telling.news(*news, |_| false).await,
        Heard::Usage(usage) => telling.usage(post.model.as_deref(), usage).await,
        Heard::Done => return Ok(Some((Stop::Done, None))),
        Heard::Failed(why) => return Err(Trouble::new(format!("`{}` reports: {why}", post.id))),
    }
    Ok(None)
}

/// A name that was never used.
fn unique() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let random = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

/// A piece of an answer.
fn said(text: &str, message: &str) -> Heard {
    Heard::News(Box::new(News::Said { content: Content::text(text), message: Some(message.to_owned()) }))
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    let (cache_read, cache_write) = (count("cacheRead"), count("cacheWrite"));
    let cost = value.pointer("/cost/total").and_then(Value::as_f64).filter(|cost| *cost > 0.0);
    let counted = Usage {
        input: count("input") + cache_read + cache_write,
        output: count("output"),
        cache_read,
        cache_write,
        reasoning: 0,
        cost_usd: cost,
    };
    (counted.total() > 0).then_some(counted)
}
