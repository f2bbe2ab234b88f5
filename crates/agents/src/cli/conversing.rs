//! Agents whose process stays for as long as the session does, and is talked to turn by turn.

use std::sync::Arc;

use futures::stream::BoxStream;
use protocol::{AgentId, Stop, Update};
use tokio_util::sync::CancellationToken;

use crate::fleet::{Post, Trouble};
use crate::idle::{Kept, Rests};
use crate::memory::Memory;
use crate::past;
use crate::telling::{End, Telling, fail, is_child};
use crate::{Agent, Reporter, Turn, report};

/// A process that speaks one of the dialects.
pub(super) trait Converses: Rests + Sized {
    /// Starts it, and takes up its session where it can; says whether it did.
    fn start(
        post: &Post,
        turn: &Turn,
        memory: Option<&Memory>,
        reporter: &Reporter,
    ) -> impl Future<Output = Result<(Self, bool), Trouble>> + Send;

    /// Whether the process that is there will do for this turn.
    fn serves(&self, post: &Post, turn: &Turn) -> bool;

    /// What it calls the session that it has.
    fn session(&self) -> Option<&str>;

    /// Sends the prompt, and what has to be told before it, and follows the turn to its end.
    fn follow(
        &mut self,
        post: &Post,
        turn: &Turn,
        preamble: Option<String>,
        telling: &mut Telling,
        cancel: &CancellationToken,
    ) -> impl Future<Output = Result<End, Trouble>> + Send;
}

pub(crate) struct Conversing<P> {
    inner: Arc<Inner<P>>,
}

struct Inner<P> {
    post: Post,
    /// The process between turns.
    kept: Kept<P>,
}

impl<P: Converses> Conversing<P> {
    pub(super) fn new(post: Post) -> Self {
        let kept = Kept::new(post.fleet.options.idle);
        Self { inner: Arc::new(Inner { post, kept }) }
    }
}

impl<P: Converses> Agent for Conversing<P> {
    fn id(&self) -> AgentId {
        self.inner.post.id.clone()
    }

    fn prompt(&self, turn: Turn, cancel: CancellationToken) -> BoxStream<'static, Update> {
        let inner = self.inner.clone();
        report(move |reporter| async move { inner.run(turn, cancel, reporter).await })
    }

    fn is_running(&self) -> bool {
        self.inner.kept.is_there()
    }
}

impl<P: Converses> Inner<P> {
    async fn run(&self, turn: Turn, cancel: CancellationToken, reporter: Reporter) {
        let post = &self.post;
        if let Some(other) = post.other_way() {
            return other.answer(turn, cancel, &reporter).await;
        }
        let kept = if is_child(&turn) { None } else { self.kept.take().await };
        let memory = past::remembered(post, &turn).await;
        let ready = tokio::select! {
            ready = self.ready(kept, memory.as_ref(), &turn, &reporter) => ready,
            () = cancel.cancelled() => {
                return reporter.send(Update::Done { stop: Stop::Cancelled, cause: None }).await;
            }
        };
        let (mut process, took_up) = match ready {
            Ok(ready) => ready,
            Err(trouble) => match post.other_way_after(&trouble) {
                Some(other) => return other.answer(turn, cancel, &reporter).await,
                None => return fail(&reporter, trouble).await,
            },
        };
        let knows = memory.filter(|_| took_up);
        let preamble = past::preamble(post, &turn, knows.as_ref().map(|memory| &memory.turn)).await;
        let mut telling = Telling::new(&turn, reporter.clone(), post.cwd.clone());
        let ended = process.follow(post, &turn, preamble, &mut telling, &cancel).await;
        telling.finish().await;
        let end = match ended {
            Ok(end) => end,
            Err(trouble) => {
                post.fleet.crashed(&post.id);
                return fail(&reporter, trouble).await;
            }
        };
        if let Some(session) = process.session() {
            past::remember(post, &turn, session);
        }
        if end.clean && !is_child(&turn) {
            self.kept.bring_back(process).await;
        }
        reporter.send(Update::Done { stop: end.stop, cause: end.cause }).await;
    }

    /// The process that is there, or a new one that takes up its session.
    async fn ready(
        &self,
        kept: Option<P>,
        memory: Option<&Memory>,
        turn: &Turn,
        reporter: &Reporter,
    ) -> Result<(P, bool), Trouble> {
        if let Some(process) = kept.filter(|process| process.serves(&self.post, turn)) {
            return Ok((process, true));
        }
        self.post.fleet.after_crashes(&self.post.id).await?;
        let (process, took_up) = P::start(&self.post, turn, memory, reporter).await?;
        process.on_roll().is_ready();
        Ok((process, took_up))
    }
}
