//! One request on its way through the routes.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;

use super::{Blame, Health, Route};
use crate::model::EventStream;
use crate::{Block, CallError, ModelEvent, Request, RetryPolicy};

pub(super) struct Run {
    routes: Arc<[Route]>,
    health: Arc<Health>,
    policy: RetryPolicy,
    request: Request,
    state: State,
    /// Routes that failed in this round.
    failed: Vec<usize>,
    /// The route that was asked last, to tell of a change.
    last: Option<usize>,
    /// Rounds that are over.
    rounds: u32,
    /// Something of the current answer was handed out.
    shown: bool,
}

enum State {
    Choose { because: Option<CallError> },
    Wait { wait: Duration },
    Read { route: usize, answer: EventStream, asked: i64, latency: Option<i64> },
    Over,
}

type Item = Result<ModelEvent, CallError>;

impl Run {
    pub(super) fn new(
        routes: Arc<[Route]>,
        health: Arc<Health>,
        policy: RetryPolicy,
        request: Request,
    ) -> Self {
        let state = State::Choose { because: None };
        Self { routes, health, policy, request, state, failed: vec![], last: None, rounds: 0, shown: false }
    }

    pub(super) async fn next(mut self) -> Option<(Item, Self)> {
        loop {
            let event = match std::mem::replace(&mut self.state, State::Over) {
                State::Over => return None,
                State::Wait { wait } => {
                    tokio::time::sleep(wait).await;
                    self.failed.clear();
                    self.state = State::Choose { because: None };
                    None
                }
                State::Choose { because } => self.choose(because),
                State::Read { route, answer, asked, latency } => {
                    self.read(route, answer, asked, latency).await?
                }
            };
            if let Some(event) = event {
                return Some((event, self));
            }
        }
    }

    /// Takes the next route, or begins a new round, or gives up.
    fn choose(&mut self, because: Option<CallError>) -> Option<Item> {
        let Some(route) = self.pick(because.as_ref()) else {
            return Some(self.new_round(because));
        };
        let (asked, model) = (self.health.now(), &self.routes[route].model);
        let answer = model.stream(self.request.clone());
        self.state = State::Read { route, answer, asked, latency: None };
        let changed = self.last.replace(route).filter(|last| *last != route);
        let told = changed.map(|last| {
            let reason = because.map_or_else(|| "it is not well".to_owned(), |error| error.to_string());
            let (from, to) = (self.routes[last].model.id().clone(), model.id().clone());
            let shown = std::mem::take(&mut self.shown);
            Ok(ModelEvent::Switch { from, to, reason, shown })
        });
        // Not the preferred one from the start is worth telling, too.
        told.or_else(|| {
            (route != 0 && self.rounds == 0 && self.failed.is_empty()).then(|| self.passed_over(route))
        })
    }

    fn passed_over(&self, route: usize) -> Item {
        let (from, to) = (self.routes[0].model.id().clone(), self.routes[route].model.id().clone());
        Ok(ModelEvent::Switch { from, to, reason: self.why_not(0), shown: false })
    }

    fn why_not(&self, route: usize) -> String {
        let Route { model, .. } = &self.routes[route];
        if !self.can_take(route, None) {
            return "it can not take this request".to_owned();
        }
        let status = self.health.status().into_iter().find(|status| status.model == *model.id());
        status.and_then(|status| status.reason).unwrap_or_else(|| "it is not well".to_owned())
    }

    /// The first route that can take the request, has not failed in this round, and is well.
    fn pick(&self, because: Option<&CallError>) -> Option<usize> {
        let open = |route: &usize| !self.failed.contains(route) && self.can_take(*route, because);
        let admitted = |route: &usize| {
            let Route { model, fingerprint } = &self.routes[*route];
            self.health.admit(model.id(), fingerprint)
        };
        let candidates = || (0..self.routes.len()).filter(open);
        candidates().find(admitted).or_else(|| {
            // When nobody is well, a closed door is knocked at all the same: the person has no other.
            let stuck = self.failed.is_empty() && because.is_none();
            candidates().find(|route| stuck && (self.routes.len() == 1 || self.may_recover(*route)))
        })
    }

    fn may_recover(&self, route: usize) -> bool {
        let Route { model, fingerprint } = &self.routes[route];
        self.health.free_at(model.id(), fingerprint).is_some()
    }

    fn can_take(&self, route: usize, because: Option<&CallError>) -> bool {
        let info = self.routes[route].model.info();
        let images = || {
            let blocks = self.request.messages.iter().flat_map(|message| message.blocks());
            blocks.into_iter().any(|block| matches!(block, Block::Image(_)))
        };
        let larger =
            || match (self.last.and_then(|last| self.routes[last].model.info().context), info.context) {
                (Some(last), Some(this)) => this > last,
                _ => true,
            };
        (info.capabilities.tools || self.request.tools.is_empty())
            && (info.capabilities.images || !images())
            && (!matches!(because, Some(CallError::TooLong { .. })) || larger())
    }

    /// Every route has failed: wait and ask again, or give up.
    fn new_round(&mut self, because: Option<CallError>) -> Item {
        let Some(error) = because else {
            let provider = self.routes[0].model.id().to_string();
            let what = format!("no route can take this request; {}", self.why_not(0));
            return Err(CallError::Unreachable { provider, address: "any route".to_owned(), what });
        };
        let Some(wait) = self.policy.wait(&error, self.rounds + 1) else { return Err(error) };
        self.rounds += 1;
        self.state = State::Wait { wait };
        let shown = std::mem::take(&mut self.shown);
        Ok(ModelEvent::Restart { attempt: self.rounds, reason: error.to_string(), wait, shown })
    }

    async fn read(
        &mut self,
        route: usize,
        mut answer: EventStream,
        asked: i64,
        latency: Option<i64>,
    ) -> Option<Option<Item>> {
        let Route { model, fingerprint } = self.routes[route].clone();
        match answer.next().await {
            None => None,
            Some(Ok(event)) => {
                self.shown = true;
                let latency = latency.unwrap_or_else(|| self.health.now() - asked);
                if matches!(event, ModelEvent::Stop(_)) {
                    self.health.succeeded(model.id(), &fingerprint, latency);
                }
                self.state = State::Read { route, answer, asked, latency: Some(latency) };
                Some(Some(Ok(event)))
            }
            Some(Err(error)) => {
                // The failed connection is closed before anyone waits.
                drop(answer);
                let blame = blame(&error, self.health.now());
                self.health.failed(model.id(), &fingerprint, blame, &error.to_string());
                self.failed.push(route);
                let final_word = blame == Blame::Caller && !matches!(error, CallError::TooLong { .. });
                if final_word {
                    return Some(Some(Err(error)));
                }
                self.state = State::Choose { because: Some(error) };
                Some(None)
            }
        }
    }
}

/// Whose fault a failed call is.
fn blame(error: &CallError, now: i64) -> Blame {
    let until = |wait: Option<Duration>| {
        let wait = wait.map_or(5_000, |wait| i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
        Blame::Park { until: now.saturating_add(wait) }
    };
    match error {
        CallError::RateLimited { retry_after, .. } => until(*retry_after),
        CallError::BadCredential { .. } | CallError::OutOfCredit { .. } => Blame::Credentials,
        CallError::TooLong { .. } | CallError::Refused { .. } => Blame::Caller,
        CallError::CallerMistake { status: 404, .. } => Blame::Route,
        CallError::CallerMistake { .. } => Blame::Caller,
        CallError::Overloaded { .. }
        | CallError::Unreachable { .. }
        | CallError::BrokenStream { .. }
        | CallError::NotThisApi { .. }
        | CallError::TimedOut { .. }
        | CallError::TooLarge { .. } => Blame::Route,
    }
}
