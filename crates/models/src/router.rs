//! One model made of several: routes in order of preference, with a breaker each.
//!
//! A [`Router`] is a [`Model`]. It asks the first route that can take the request and is well, and among equals the
//! best ([`Route::rank`]). When that fails, before or in the middle of an answer, it says [`ModelEvent::Switch`] and
//! asks the next: at most one switch per failure, and never without telling. When every route has failed once it waits
//! as [`RetryPolicy`] says and begins again. Where all are left alone for a while, it says until when.

mod breaker;
mod health;
mod order;
mod run;

use std::sync::Arc;

use futures::{StreamExt, stream};
use protocol::ModelRef;

pub use breaker::{Blame, Breaker, Condition};
pub use health::{Health, RouteStatus};

#[cfg(doc)]
use crate::ModelEvent;
use crate::model::{EventStream, Model, ModelInfo};
use crate::{Request, RetryPolicy};
use run::Run;

/// A way to an answer: a model that makes one attempt per stream.
#[derive(Clone)]
pub struct Route {
    pub model: Arc<dyn Model>,
    /// Its place in the order of preference, from 0. Routes that share one are equals.
    pub rank: usize,
    /// Changes when the settings do that a refusal of our credentials depends on.
    pub fingerprint: String,
}

/// Several routes behind the face of one model.
pub struct Router {
    routes: Arc<[Route]>,
    health: Arc<Health>,
    policy: RetryPolicy,
}

impl Router {
    /// `routes` in order of preference: their ranks never fall. None when there are none.
    pub fn new(routes: Vec<Route>, health: Arc<Health>, policy: RetryPolicy) -> Option<Self> {
        (!routes.is_empty()).then(|| Self { routes: routes.into(), health, policy })
    }
}

impl Model for Router {
    /// Of the preferred route. [`ModelEvent::Switch`] says when another one answers.
    fn id(&self) -> &ModelRef {
        self.routes[0].model.id()
    }

    /// Of the preferred route; what another one lacks keeps it from being asked.
    fn info(&self) -> &ModelInfo {
        self.routes[0].model.info()
    }

    fn estimate(&self, request: &Request) -> u64 {
        self.routes[0].model.estimate(request)
    }

    fn stream(&self, request: Request) -> EventStream {
        let run = Run::new(self.routes.clone(), self.health.clone(), self.policy.clone(), request);
        stream::unfold(run, Run::next).boxed()
    }
}
