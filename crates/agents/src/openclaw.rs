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
use protocol::{Content, Mode, Stop, StopCause, Usage};
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cli::{Asked, Ended, LineProcess, Spoken};
use crate::fleet::{Post, Trouble};
use crate::past;
use crate::telling::Telling;
use gateway::Gateway;
use reader::{Heard, Reader};

/// A run that is not over by then is stopped.
const DEADLINE: Duration = Duration::from_secs(60 * 60);

pub(crate) fn run<'a>(
    post: &'a Post,
    asked: Asked<'a>,
    cancel: &'a CancellationToken,
) -> BoxFuture<'a, Result<Ended, Trouble>> {
    ask(post, asked, cancel).boxed()
}

async fn ask(post: &Post, mut asked: Asked<'_>, cancel: &CancellationToken) -> Result<Ended, Trouble> {
    // The same name each time, so that it remembers, and one that no other session has.
    let known = asked.memory.take().map(|memory| memory.session);
    let session = known.unwrap_or_else(|| format!("covey-{}", unique()));
    let free = asked.turn.mode >= Mode::Auto;
    let gateway = if free { Gateway::connect(post).await } else { Ok(None) };
    let ended = match gateway {
        Ok(Some(gateway)) => through_gateway(gateway, post, &session, &mut asked, cancel).await,
        // Nobody listens, or nobody may be asked: its program does it here.
        Ok(None) if !post.program.as_os_str().is_empty() => {
            asked.only_looks(post).await;
            through_program(post, &session, &mut asked, cancel).await
        }
        Ok(None) => Err(Trouble::unreachable(
            format!("no gateway of `{}` listens, and its program is not installed", post.id),
            Some("openclaw gateway run, or: covey agents install openclaw".to_owned()),
        )),
        Err(trouble) => Err(trouble),
    };
    asked.telling.finish().await;
    if ended.is_ok() {
        past::remember(post, asked.turn, &session);
    }
    ended
}

async fn through_gateway(
    mut gateway: Gateway,
    post: &Post,
    session: &str,
    asked: &mut Asked<'_>,
    cancel: &CancellationToken,
) -> Result<Ended, Trouble> {
    let mut reader = Reader::new();
    let level = asked.turn.effort.and_then(|effort| post.known.thinking(effort));
    reader.asked(gateway.agent(&asked.prompt, session, &unique(), level).await?);
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

async fn through_program(
    post: &Post,
    session: &str,
    asked: &mut Asked<'_>,
    cancel: &CancellationToken,
) -> Result<Ended, Trouble> {
    let mut args = vec!["agent", "--local", "--json", "--session-id", session];
    if let Some(level) = asked.turn.effort.and_then(|effort| post.known.thinking(effort)) {
        args.extend(["--thinking", level]);
    }
    args.extend(["--message", &asked.prompt]);
    let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
    let start = post.start(asked.turn.mode, &args);
    let mut process = LineProcess::start_whole(&start, &post.fleet.options, &post.id)?;
    let _working = process.on_roll().work();
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
