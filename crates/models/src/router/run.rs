//! One request on its way through the routes.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::StreamExt;

use super::order::Standing;
use super::{Blame, Condition, Health, Route};
use crate::error::span;
use crate::model::EventStream;
use crate::{Block, CallError, ModelEvent, Request, RetryPolicy};

/// How long one request waits in all until routes that are left alone may be asked again. Longer is told and not
/// waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often to look whether the call that tries a route is done.
const PAUSE: Duration = Duration::from_millis(250);

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
    /// Why it failed.
    last_error: Option<CallError>,
    /// Rounds that are over.
    rounds: u32,
    /// How long was waited for routes that nobody may ask.
    waited: Duration,
    /// Something of the current answer was handed out.
    shown: bool,
    /// Tokens of the prompt, as each route counts them.
    sizes: Vec<OnceLock<u64>>,
}

enum State {
    Choose { because: Option<CallError> },
    Wait { wait: Duration },
    Read { route: usize, answer: EventStream, asked: i64, latency: Option<i64>, admission: Admission },
    Over,
}

/// That a route is being asked. Dropped without a report, it lets the next caller try.
struct Admission {
    health: Arc<Health>,
    route: Route,
    open: bool,
}

impl Drop for Admission {
    fn drop(&mut self) {
        if self.open {
            self.health.abandoned(self.route.model.id(), &self.route.fingerprint);
        }
    }
}

type Item = Result<ModelEvent, CallError>;

impl Run {
    pub(super) fn new(
        routes: Arc<[Route]>,
        health: Arc<Health>,
        policy: RetryPolicy,
        request: Request,
    ) -> Self {
        Self {
            state: State::Choose { because: None },
            failed: Vec::new(),
            last: None,
            last_error: None,
            rounds: 0,
            waited: Duration::ZERO,
            shown: false,
            sizes: vec![OnceLock::new(); routes.len()],
            routes,
            health,
            policy,
            request,
        }
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
                State::Read { route, answer, asked, latency, admission } => {
                    self.read(route, answer, asked, latency, admission).await?
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
            return match because {
                Some(error) => Some(self.new_round(error)),
                None => self.nobody(),
            };
        };
        let (asked, model) = (self.health.now(), &self.routes[route].model);
        let answer = model.stream(self.request.clone());
        let admission =
            Admission { health: self.health.clone(), route: self.routes[route].clone(), open: true };
        self.state = State::Read { route, answer, asked, latency: None, admission };
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
        Ok(ModelEvent::Switch { from, to, reason: self.why_not(0, route), shown: false })
    }

    fn why_not(&self, route: usize, instead: usize) -> String {
        if !self.can_take(route, None) {
            return "it can not take this request".to_owned();
        }
        if !self.fits(route) {
            return "the prompt is longer than its window".to_owned();
        }
        let standing = |route: usize| Standing::of(&self.routes[route], &self.health);
        let better = standing(route).why_after(&standing(instead)).map(str::to_owned);
        let well = self.condition(route) == Condition::Closed;
        let reason = || self.health.reason(self.routes[route].model.id());
        let reason = if well { better.or_else(reason) } else { reason().or(better) };
        reason.unwrap_or_else(|| "it is not well".to_owned())
    }

    /// The best route that can take the request, has not failed in this round, and is well.
    fn pick(&self, because: Option<&CallError>) -> Option<usize> {
        let open = |route: &usize| !self.failed.contains(route) && self.can_take(*route, because);
        let mut able: Vec<usize> = (0..self.routes.len()).filter(open).collect();
        if able.len() > 1 && able.iter().any(|route| self.fits(*route)) {
            able.retain(|route| self.fits(*route));
        }
        if able.windows(2).any(|pair| self.routes[pair[0]].rank == self.routes[pair[1]].rank) {
            let standing = |route: usize| (route, Standing::of(&self.routes[route], &self.health));
            let mut standings: Vec<_> = able.into_iter().map(standing).collect();
            // The sort is stable, so what is equal in all stays in the order in which it was written.
            standings.sort_by(|(_, one), (_, other)| one.compare(other));
            able = standings.into_iter().map(|(route, _)| route).collect();
        }
        let admitted = |route: &&usize| {
            let Route { model, fingerprint, .. } = &self.routes[**route];
            self.health.admit(model.id(), fingerprint)
        };
        if let Some(route) = able.iter().find(admitted) {
            return Some(*route);
        }
        if because.is_some() || !self.failed.is_empty() {
            return None;
        }
        // Nobody may be asked. Two doors are knocked at all the same: one whose provider named no time, after our own
        // wait, and one that refused us, if there is no other: only its owner knows whether that was put right.
        let waited = self.rounds > 0;
        let parked = |route: &&usize| waited && matches!(self.condition(**route), Condition::Parked { .. });
        let refused = || able.iter().all(|route| self.condition(*route) == Condition::Disabled);
        able.iter().find(parked).or_else(|| able.first().filter(|_| refused())).copied()
    }

    fn condition(&self, route: usize) -> Condition {
        let Route { model, fingerprint, .. } = &self.routes[route];
        self.health.condition(model.id(), fingerprint)
    }

    /// Whether the prompt fits into the window, as far as both are known. Only a reason to prefer another.
    fn fits(&self, route: usize) -> bool {
        let model = &self.routes[route].model;
        let size = || *self.sizes[route].get_or_init(|| model.estimate(&self.request));
        model.info().context.is_none_or(|window| size() <= u64::from(window))
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
            && (info.capabilities.structured || self.request.output_schema.is_none())
            && (info.capabilities.images || !images())
            && (!matches!(because, Some(CallError::TooLong { .. })) || larger())
    }

    /// Every route has failed: wait and ask again, or give up.
    fn new_round(&mut self, error: CallError) -> Item {
        let Some(wait) = self.policy.wait(&error, self.rounds + 1) else { return Err(error) };
        let reason = error.to_string();
        self.last_error = Some(error);
        self.restart(reason, wait)
    }

    fn restart(&mut self, reason: String, wait: Duration) -> Item {
        self.rounds += 1;
        self.state = State::Wait { wait };
        let shown = std::mem::take(&mut self.shown);
        Ok(ModelEvent::Restart { attempt: self.rounds, reason, wait, shown })
    }

    /// No route may be asked, and none has failed just now: waits if that is short, else says when it will be tried.
    fn nobody(&mut self) -> Option<Item> {
        let free_in = |route: usize| {
            let Route { model, fingerprint, .. } = &self.routes[route];
            self.health.free_in(model.id(), fingerprint)
        };
        let able = (0..self.routes.len()).filter(|route| self.can_take(*route, None));
        let soonest = able.filter_map(|route| Some((free_in(route)?, route))).min();
        let Some((left, route)) = soonest else {
            let provider = self.provider(0);
            let what = format!("no route can take this request; {}", self.why_not(0, 0));
            let address = "any route".to_owned();
            return Some(Err(CallError::Unreachable { provider, address, what }));
        };
        let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
        let probed = self.condition(route) == Condition::HalfOpen;
        let wait = if probed { left.min(PAUSE) } else { left };
        if self.policy.retries > 0 && self.waited + wait <= PATIENCE {
            self.waited += wait.max(Duration::from_millis(1));
            if self.rounds > 0 || probed {
                self.state = State::Wait { wait };
                return None;
            }
            let reason = self.resting(route, left).to_string();
            return Some(self.restart(reason, wait));
        }
        Some(Err(self.last_error.take().unwrap_or_else(|| self.resting(route, left))))
    }

    fn provider(&self, route: usize) -> String {
        let id = self.routes[route].model.id();
        id.split().map_or_else(|| id.to_string(), |(provider, _)| provider.to_owned())
    }

    /// Says that a route is left alone, why, and for how long.
    fn resting(&self, route: usize, left: Duration) -> CallError {
        let (provider, retry_after) = (self.provider(route), Some(left));
        let reason = self.health.reason(self.routes[route].model.id());
        let reason = reason.unwrap_or_else(|| "it failed".to_owned());
        if matches!(self.condition(route), Condition::Parked { .. }) {
            let message = format!("it is left alone for {}, as it asked ({reason})", span(left));
            return CallError::RateLimited { provider, retry_after, message };
        }
        let message = format!("it failed too often and is tried again in {} ({reason})", span(left));
        CallError::Overloaded { provider, retry_after, message }
    }

    async fn read(
        &mut self,
        route: usize,
        mut answer: EventStream,
        asked: i64,
        latency: Option<i64>,
        mut admission: Admission,
    ) -> Option<Option<Item>> {
        let Route { model, fingerprint, rank } = self.routes[route].clone();
        match answer.next().await {
            None => None,
            Some(Ok(event)) => {
                self.shown = true;
                let latency = latency.unwrap_or_else(|| self.health.now() - asked);
                if matches!(event, ModelEvent::Stop(_)) {
                    admission.open = false;
                    self.health.succeeded(model.id(), &fingerprint, latency);
                    if self.routes.iter().filter(|route| route.rank == rank).count() > 1 {
                        self.health.keep_latency(model.id());
                    }
                }
                self.state = State::Read { route, answer, asked, latency: Some(latency), admission };
                Some(Some(Ok(event)))
            }
            Some(Err(error)) => {
                // The failed connection is closed before anyone waits.
                drop(answer);
                admission.open = false;
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
