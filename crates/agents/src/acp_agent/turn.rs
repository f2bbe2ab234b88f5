//! One prompt: sent, followed, answered, and told.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use acp::{News, Odd, PromptBlock, PromptEnd};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use protocol::{Content, NoticeLevel, Stop, StopCause, Update, Usage};
use tokio_util::sync::CancellationToken;

use super::Inner;
use super::connection::{Arrived, explain};
use super::requests::Requests;
use super::session::{Live, Ready, between_turns, ready};
use crate::compaction::{self, began_anew};
use crate::fleet::Trouble;
use crate::gate::Gate;
use crate::narrator::notice;
use crate::past;
use crate::stopping::Stopping;
use crate::telling::{End, Telling, fail, inlined, is_child};
use crate::{Reporter, Turn};

pub(super) async fn run(inner: &Arc<Inner>, turn: Turn, cancel: CancellationToken, reporter: Reporter) {
    if let Some(other) = inner.post.other_way() {
        return other.answer(turn, cancel, &reporter).await;
    }
    let kept = if is_child(&turn) { None } else { inner.kept.take().await };
    if began_anew(&inner.post, &turn, &reporter).await {
        return reporter.send(Update::Done { stop: Stop::Done, cause: None }).await;
    }
    let prepared = tokio::select! {
        ready = ready(&inner.post, kept, &turn, &reporter) => ready,
        () = cancel.cancelled() => {
            // What was being opened ends with this.
            return reporter.send(Update::Done { stop: Stop::Cancelled, cause: None }).await;
        }
    };
    let Ready { mut live, preamble } = match prepared {
        Ok(ready) => ready,
        Err(trouble) => match inner.post.other_way_after(&trouble) {
            Some(other) => return other.answer(turn, cancel, &reporter).await,
            None => return fail(&reporter, trouble).await,
        },
    };
    let mut following = Following::new(inner, &turn, &live, reporter.clone());
    let prompt = following.blocks(&turn, preamble, &live).await;
    let end = match following.follow(&mut live, prompt, &cancel).await {
        Ok(end) => end,
        Err(trouble) => {
            inner.post.fleet.crashed(&inner.post.id);
            return fail(&reporter, trouble).await;
        }
    };
    if end.clean && !is_child(&turn) {
        past::remember(&inner.post, &turn, &live.session.id);
        inner.kept.bring_back(live).await;
    }
    reporter.send(Update::Done { stop: end.stop, cause: end.cause }).await;
}

/// A prompt that runs.
struct Following<'a> {
    inner: &'a Inner,
    telling: Telling,
    requests: Requests,
    /// What the session has cost, as the agent counts.
    cost_usd: Option<f64>,
    /// The prompt is that it make its conversation smaller.
    compacts: bool,
}

type Answering = FuturesUnordered<BoxFuture<'static, ()>>;

impl<'a> Following<'a> {
    fn new(inner: &'a Inner, turn: &Turn, live: &Live, reporter: Reporter) -> Self {
        let requests = Requests {
            peer: live.connection.client.peer().clone(),
            gate: Gate::new(turn, reporter.clone()),
            host: turn.services.host(),
            reporter: reporter.clone(),
            cwd: inner.post.cwd.clone(),
            allowed: Arc::new(Mutex::new(HashSet::new())),
            written: Arc::new(Mutex::new(HashSet::new())),
        };
        Self {
            inner,
            telling: Telling::new(turn, reporter, inner.post.cwd.clone()),
            requests,
            cost_usd: None,
            compacts: compaction::is_asked(turn),
        }
    }

    /// The prompt in the agent's terms. What it can not take is named.
    async fn blocks(&self, turn: &Turn, preamble: Option<String>, live: &Live) -> Vec<PromptBlock> {
        let takes = live.connection.agreed.takes;
        let mut blocks = Vec::new();
        let told = preamble.map(Content::text);
        for content in told.iter().chain(&turn.prompt) {
            let content = inlined(content, turn);
            match PromptBlock::new(&content, takes) {
                Ok(block) => blocks.push(block),
                Err(lost) => {
                    let text = format!("`{}` does not get {lost}", self.inner.post.id);
                    self.telling.reporter.send(notice(NoticeLevel::Warning, text)).await;
                }
            }
        }
        blocks
    }

    async fn follow(
        &mut self,
        live: &mut Live,
        prompt: Vec<PromptBlock>,
        cancel: &CancellationToken,
    ) -> Result<End, Trouble> {
        let connection = live.connection.clone();
        let (client, session) = (&connection.client, live.session.id.clone());
        // What arrived since the last turn belongs to no prompt.
        while let Ok(arrived) = live.arrived.try_recv() {
            between_turns(&connection, arrived, &self.telling.reporter).await;
        }
        let prompting = client.prompt(&session, prompt);
        tokio::pin!(prompting);
        let mut answering: Answering = FuturesUnordered::new();
        let mut stopping = Stopping::default();
        let end = loop {
            tokio::select! {
                end = &mut prompting => break end,
                () = cancel.cancelled(), if !stopping.has_begun() => {
                    stopping.begin(Stop::Cancelled, None);
                    // A connection that is closed is noticed by the next arm.
                    let _ = client.cancel(&session).await;
                }
                Some(()) = answering.next() => {}
                arrived = live.arrived.recv() => match arrived {
                    Some(arrived) => self.take(arrived, live, &mut answering).await,
                    None => {
                        // It may have answered before it went.
                        if let Some(end) = prompting.as_mut().now_or_never() {
                            break end;
                        }
                        let said = connection.last_words().await;
                        self.telling.finish().await;
                        return Err(explain(&self.inner.post.id, &acp::CallError::Closed, &said));
                    }
                },
                () = stopping.over() => {
                    // It does not listen. Its process is ended; the next prompt starts another.
                    self.telling.finish().await;
                    return Ok(stopping.forced());
                }
            }
            if !stopping.has_begun()
                && let Some(cause) = self.over_limit(live)
            {
                stopping.begin(Stop::Limit, Some(cause));
                let _ = client.cancel(&session).await;
            }
        };
        let end = match end {
            Ok(end) => end,
            Err(error) => {
                if error == acp::CallError::Closed {
                    // What it said before it went was overtaken by the news of its end.
                    while let Some(arrived) = live.arrived.recv().await {
                        self.take(arrived, live, &mut answering).await;
                    }
                }
                let said = connection.last_words().await;
                self.telling.finish().await;
                return Err(explain(&self.inner.post.id, &error, &said));
            }
        };
        self.catch_up(live, &end, &mut answering).await;
        self.report_usage(live, end.usage).await;
        if self.compacts && end.stop == Stop::Done {
            let updates = self.telling.narrator.compacted(String::new(), 0);
            self.telling.send(updates).await;
        }
        self.telling.finish().await;
        Ok(stopping.ended(end.stop, end.cause))
    }

    /// The answer overtook what came before it; that is taken now.
    async fn catch_up(&mut self, live: &mut Live, end: &PromptEnd, answering: &mut Answering) {
        let mut handled = live.connection.handled();
        loop {
            tokio::select! {
                biased;
                arrived = live.arrived.recv() => match arrived {
                    Some(arrived) => self.take(arrived, live, answering).await,
                    None => break,
                },
                Some(()) = answering.next() => {}
                () = reached(&mut handled, end.before) => break,
            }
        }
        while let Ok(arrived) = live.arrived.try_recv() {
            self.take(arrived, live, answering).await;
        }
    }

    async fn take(&mut self, arrived: Arrived, live: &mut Live, answering: &mut Answering) {
        match arrived {
            Arrived::News(News::Options(options)) => live.session.options = options,
            Arrived::News(news) => {
                if let News::Window { cost_usd: Some(cost), .. } = news {
                    self.cost_usd = Some(cost);
                }
                let requests = &self.requests;
                self.telling.news(news, |path| requests.wrote(path)).await;
            }
            Arrived::Ask { id, ask } => {
                let narrator = &mut self.telling.narrator;
                let (updates, answer) = self.requests.answer(id, ask, narrator, &live.terminals);
                self.telling.send(updates).await;
                answering.push(answer);
            }
            Arrived::Odd(odd) => match odd {
                Odd::TooLong { bytes } => self.telling.passed_over(bytes).await,
                Odd::NotAMessage { why, .. } => {
                    let text = format!("the agent sent what is no message: {why}");
                    self.telling.send(vec![notice(NoticeLevel::Warning, text)]).await;
                }
                Odd::Noise(_) | Odd::Unasked(_) => {}
            },
        }
    }

    /// Tokens as they are told with the answer, money as the session's total has grown.
    async fn report_usage(&mut self, live: &mut Live, usage: Option<Usage>) {
        let cost = self.cost_usd.map(|total| {
            let grown = (total - live.cost_usd).max(0.0);
            live.cost_usd = total;
            grown
        });
        if usage.is_none() && cost.is_none_or(|cost| cost == 0.0) {
            return;
        }
        let usage = Usage { cost_usd: cost, ..usage.unwrap_or_default() };
        self.telling.usage(self.inner.post.model.as_deref(), usage).await;
    }

    /// Until its end an agent tells only what it costs; that is what can be held.
    fn over_limit(&self, live: &Live) -> Option<StopCause> {
        let grown = self.cost_usd.map_or(0.0, |total| total - live.cost_usd);
        self.telling.too_expensive(grown).then_some(StopCause::Budget)
    }
}

async fn reached(handled: &mut tokio::sync::watch::Receiver<u64>, before: u64) {
    // A count that can not grow any more has reached what it can.
    let _ = handled.wait_for(|count| *count >= before).await;
}
