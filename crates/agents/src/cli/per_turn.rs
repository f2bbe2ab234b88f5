//! Agents that are asked anew for each turn and remember the conversation themselves.

use std::sync::Arc;
use std::time::Duration;

use acp::News;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use protocol::{AgentId, Mode, NoticeLevel, Stop, StopCause, Update, Usage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::lines::{LineProcess, Spoken};
use super::words;
use crate::compaction::began_anew;
use crate::fleet::{Post, Trouble};
use crate::memory::Memory;
use crate::narrator::notice;
use crate::telling::{Telling, fail};
use crate::{Agent, Reporter, Turn, past, report, thinking};

/// How a turn ended, and why.
pub(crate) type Ended = (Stop, Option<StopCause>);

/// Works on one turn.
pub(crate) type Run =
    for<'a> fn(&'a Post, Asked<'a>, &'a CancellationToken) -> BoxFuture<'a, Result<Ended, Trouble>>;

/// One turn, and what the agent is sent for it.
pub(crate) struct Asked<'a> {
    pub(crate) turn: &'a Turn,
    /// What it remembers, if it took part before.
    pub(crate) memory: Option<Memory>,
    /// With what has to be told before it.
    pub(crate) prompt: String,
    /// Something is told before it.
    told: bool,
    pub(crate) telling: Telling,
}

pub(crate) struct PerTurn {
    post: Arc<Post>,
    run: Run,
}

impl PerTurn {
    pub(crate) fn new(post: Post, run: Run) -> Self {
        Self { post: Arc::new(post), run }
    }
}

impl Agent for PerTurn {
    fn id(&self) -> AgentId {
        self.post.id.clone()
    }

    fn prompt(&self, turn: Turn, cancel: CancellationToken) -> BoxStream<'static, Update> {
        let (post, run) = (self.post.clone(), self.run);
        report(move |reporter| async move {
            if began_anew(&post, &turn, &reporter).await {
                return reporter.send(Update::Done { stop: Stop::Done, cause: None }).await;
            }
            let asked = Asked::of(&post, &turn, &reporter).await;
            match run(&post, asked, &cancel).await {
                Ok((stop, cause)) => reporter.send(Update::Done { stop, cause }).await,
                Err(trouble) => fail(&reporter, trouble).await,
            }
        })
    }
}

impl<'a> Asked<'a> {
    async fn of(post: &Post, turn: &'a Turn, reporter: &Reporter) -> Self {
        // None of them can copy a session; one that is a copy is told what happened.
        let memory = past::remembered(post, turn).await.filter(|memory| !memory.forks);
        let preamble = past::preamble(post, turn, memory.as_ref().map(|memory| &memory.turn)).await;
        let telling = Telling::new(turn, reporter.clone(), post.cwd.clone());
        let told = preamble.is_some();
        Self { turn, memory, prompt: words(turn, preamble), told, telling }
    }

    /// Says so if the agent can only look, because it can not ask and somebody wants to be asked.
    pub(crate) async fn only_looks(&self, post: &Post) {
        if post.known.only_looks(self.turn.mode) && self.turn.mode >= Mode::Ask {
            let text = format!(
                "`{}` does not ask before it acts, so in this mode it can only look; --mode auto lets it work",
                post.id
            );
            self.telling.send(vec![notice(NoticeLevel::Info, text)]).await;
        }
    }
}

/// What a line of a program means.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard {
    News(Box<News>),
    /// What it calls its session.
    Session(String),
    Usage(Usage),
    Done {
        error: Option<String>,
    },
}

impl Heard {
    pub(super) fn news(news: News) -> Self {
        Self::News(Box::new(news))
    }
}

/// Reads what a program prints in one run, line by line.
pub(super) trait Reads: Default + Send {
    fn read(&mut self, line: &Value) -> Vec<Heard>;
}

/// How a program gets its prompt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Argument,
    Input,
}

/// How much of a prompt fits on a command line everywhere.
const MOST: usize = 100_000;
/// How long a program may take to end when it has said its last.
const LEAVING: Duration = Duration::from_millis(500);

/// Starts a program for one turn and follows it to its end.
pub(super) async fn through_program<R: Reads>(
    post: &Post,
    mut asked: Asked<'_>,
    mut args: Vec<String>,
    by: By,
    cancel: &CancellationToken,
) -> Result<Ended, Trouble> {
    asked.only_looks(post).await;
    if by == By::Argument {
        let bytes = asked.prompt.len();
        if bytes > MOST {
            let message =
                format!("`{}` takes prompts of at most {MOST} bytes, and this one has {bytes}", post.id);
            return Err(Trouble::new(message));
        }
        args.push(asked.prompt.clone());
    }
    let start = post.start(asked.turn.mode, &args);
    let mut process = LineProcess::start(&start, &post.fleet.options, &post.id)?;
    let _working = process.on_roll().work();
    if by == By::Input {
        process.write(asked.prompt.as_bytes()).await;
    }
    process.close_input();
    let mut reader = R::default();
    let telling = &mut asked.telling;
    let ended = loop {
        let spoken = tokio::select! {
            spoken = process.next() => spoken,
            // There is nothing to tell it; it ends with its process.
            () = cancel.cancelled() => break Ok((Stop::Cancelled, None)),
        };
        let heard = match spoken {
            Some(Spoken::Json(line)) => reader.read(&line),
            Some(Spoken::TooLong { bytes }) => {
                telling.passed_over(bytes).await;
                vec![]
            }
            None => {
                let said = process.last_words().await;
                let message = format!("`{}` ended without an answer{said}", post.id);
                break Err(Trouble::unreachable(message, None));
            }
        };
        let mut end = None;
        for heard in heard {
            match heard {
                Heard::News(news) => telling.news(*news, |_| false).await,
                Heard::Session(session) => past::remember(post, asked.turn, &session),
                Heard::Usage(usage) => telling.usage(post.model.as_deref(), usage).await,
                Heard::Done { error: None } => end = Some(Ok((Stop::Done, None))),
                Heard::Done { error: Some(error) } => {
                    end = Some(Err(Trouble::new(format!("`{}` reports: {error}", post.id))));
                }
            }
        }
        if let Some(end) = end {
            break end;
        }
    };
    if matches!(ended, Ok((Stop::Done, _))) {
        // What it still says is its own affair, but its session is written when it ends by itself.
        let leaving = async { while process.next().await.is_some() {} };
        let _ = tokio::time::timeout(LEAVING, leaving).await;
    }
    telling.finish().await;
    ended
}

/// The words of its command line that the catalogue says: how much to think, and which session to take up.
pub(super) async fn catalogued(post: &Post, asked: &Asked<'_>) -> Vec<String> {
    let interface = &post.known.entry.interface;
    let mut args = Vec::new();
    if let Some(effort) = asked.turn.effort {
        match post.known.thinking(effort).filter(|_| !interface.thinking_args.is_empty()) {
            Some(level) => {
                args.extend(interface.thinking_args.iter().map(|arg| arg.replace("{level}", level)));
            }
            None => asked.telling.send(vec![thinking::not_offered(&post.id, effort)]).await,
        }
    }
    if interface.resume_args.is_empty() && asked.told {
        asked.telling.send(vec![past::begins_anew(&post.id)]).await;
    }
    if let Some(memory) = &asked.memory {
        args.extend(interface.resume_args.iter().map(|arg| arg.replace("{session}", &memory.session)));
    }
    args
}

/// What a reader makes of a capture, a line each.
#[cfg(test)]
pub(super) fn told<R: Reads>(capture: &str) -> String {
    let mut reader = R::default();
    let mut told: Vec<String> = Vec::new();
    for line in capture.lines() {
        for heard in reader.read(&serde_json::from_str(line).unwrap()) {
            let words =
                |content: &protocol::Content| content.as_text().unwrap_or_default().replace('\n', "|");
            let line = match heard {
                Heard::News(news) => match *news {
                    News::Said { content, message } => {
                        let start = format!("{} says: ", message.unwrap_or_default());
                        match told.last_mut().filter(|last| last.starts_with(&start)) {
                            Some(last) => {
                                last.push_str(&words(&content));
                                continue;
                            }
                            None => start + &words(&content),
                        }
                    }
                    News::Tool(tool) => format!(
                        "{}: {} {:?} {}",
                        tool.call,
                        tool.title.unwrap_or_default(),
                        tool.status.unwrap(),
                        tool.content
                            .iter()
                            .flatten()
                            .map(|content| format!("{content:?}"))
                            .collect::<String>()
                    ),
                    other => format!("{other:?}"),
                },
                other => format!("{other:?}"),
            };
            told.push(line);
        }
    }
    told.join("\n")
}
