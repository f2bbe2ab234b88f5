//! Cursor's agent, over its stream of JSON. One process for each prompt; its chats are taken up by name.

mod reader;

use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use protocol::{AgentId, Mode, NoticeLevel, Stop, Update};
use tokio_util::sync::CancellationToken;

use super::lines::{LineProcess, Spoken};
use super::words;
use crate::compaction::began_anew;
use crate::fleet::{Post, Trouble};
use crate::handover::{self, HISTORY_BYTES};
use crate::memory::Memory;
use crate::narrator::notice;
use crate::telling::{Telling, fail, is_child};
use crate::{Agent, Reporter, Turn, report};
use reader::{Heard, Reader};

/// How much of a prompt fits on a command line everywhere.
const MOST: usize = 100_000;

pub(crate) struct CursorAgent {
    post: Arc<Post>,
}

impl CursorAgent {
    pub(crate) fn new(post: Post) -> Self {
        Self { post: Arc::new(post) }
    }
}

impl Agent for CursorAgent {
    fn id(&self) -> AgentId {
        self.post.id.clone()
    }

    fn prompt(&self, turn: Turn, cancel: CancellationToken) -> BoxStream<'static, Update> {
        let post = self.post.clone();
        report(move |reporter| async move {
            let ended = run(&post, &turn, &cancel, &reporter).await;
            match ended {
                Ok(stop) => reporter.send(Update::Done { stop, cause: None }).await,
                Err(trouble) => fail(&reporter, trouble).await,
            }
        })
    }
}

async fn run(
    post: &Post,
    turn: &Turn,
    cancel: &CancellationToken,
    reporter: &Reporter,
) -> Result<Stop, Trouble> {
    if began_anew(post, turn, reporter).await {
        return Ok(Stop::Done);
    }
    let memory = if is_child(turn) { None } else { Memory::read(&turn.services.folder(), &post.id) };
    let events = if is_child(turn) { None } else { turn.services.history(HISTORY_BYTES).await.ok() };
    let since = memory.as_ref().map(|memory| &memory.turn);
    let preamble = events.and_then(|events| handover::preamble(&events, &post.id, since));
    let prompt = words(turn, preamble);
    if prompt.len() > MOST {
        let message =
            format!("`{}` takes prompts of at most {MOST} bytes, and this one has {}", post.id, prompt.len());
        return Err(Trouble::new(message));
    }
    let mut args: Vec<String> =
        ["-p", "--output-format", "stream-json", "--stream-partial-output"].map(str::to_owned).to_vec();
    if let Some(mode) = post.known.mode(turn.mode) {
        args.extend(["--mode".to_owned(), mode.to_owned()]);
    }
    // Its process runs inside our walls, and asks nobody: force is what lets it act at all.
    if !post.known.only_looks(turn.mode) && turn.mode >= Mode::Auto {
        args.push("--force".to_owned());
    }
    if let Some(model) = &post.model {
        args.extend(["--model".to_owned(), model.clone()]);
    }
    if let Some(memory) = &memory {
        args.extend(["--resume".to_owned(), memory.session.clone()]);
    }
    args.extend(["--".to_owned(), prompt]);
    let start = post.start(turn.mode, &args);
    let mut process = LineProcess::start(&start, &post.fleet.options, &post.id)?;
    let _working = process.on_roll().work();
    process.close_input();
    let mut telling = Telling::new(turn, reporter.clone(), post.cwd.clone());
    if post.known.only_looks(turn.mode) && turn.mode >= Mode::Ask {
        let text = format!(
            "`{}` does not ask before it acts, so in this mode it can only look; --mode auto lets it work",
            post.id
        );
        telling.send(vec![notice(NoticeLevel::Info, text)]).await;
    }
    let mut reader = Reader::default();
    let stop = loop {
        tokio::select! {
            spoken = process.next() => match spoken {
                Some(Spoken::Json(line)) => {
                    if let Some(stop) = hear(reader.read(&line), post, turn, &mut telling).await? {
                        break stop;
                    }
                }
                Some(Spoken::TooLong { .. }) => {}
                None => {
                    telling.finish().await;
                    let said = process.last_words().await;
                    return Err(Trouble::unreachable(format!("`{}` ended without an answer{said}", post.id), None));
                }
            },
            // There is nothing to tell it; it ends with its process.
            () = cancel.cancelled() => break Stop::Cancelled,
        }
    };
    // What it still says is its own affair, but its session is written when it ends by itself.
    let _ =
        tokio::time::timeout(Duration::from_millis(500), async { while process.next().await.is_some() {} })
            .await;
    telling.finish().await;
    Ok(stop)
}

async fn hear(
    heard: Vec<Heard>,
    post: &Post,
    turn: &Turn,
    telling: &mut Telling,
) -> Result<Option<Stop>, Trouble> {
    for heard in heard {
        match heard {
            Heard::News(news) => telling.news(*news, |_| false).await,
            Heard::Session(session) if !is_child(turn) => {
                Memory { session, turn: turn.id.clone() }.write(&turn.services.folder(), &post.id);
            }
            Heard::Session(_) => {}
            Heard::Done { error: None } => return Ok(Some(Stop::Done)),
            Heard::Done { error: Some(error) } => {
                telling.finish().await;
                return Err(Trouble::new(format!("`{}` reports: {error}", post.id)));
            }
        }
    }
    Ok(None)
}
