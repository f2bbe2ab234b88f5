//! Changes that are made once, however often they are sent.
//!
//! A client that lost its socket does not know whether its change arrived, so it sends it again under the same key. A
//! change runs to its end even when the socket that brought it is gone: whoever sends it again gets the answer.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use client::{Client, ClientError, Failure};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use protocol::{Op, Receipt};
use tokio_util::task::TaskTracker;

/// Keys that are remembered. Prompts are remembered by their sessions as well, for good.
const KEPT: usize = 4096;
/// A longer key is not one that we gave out.
const MAX_KEY: usize = 200;

type Outcome = Shared<BoxFuture<'static, Result<Receipt, ClientError>>>;

pub(crate) struct Submitted {
    client: Arc<dyn Client>,
    tasks: TaskTracker,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    outcomes: HashMap<String, Outcome>,
    order: VecDeque<String>,
}

impl Submitted {
    pub(crate) fn new(client: Arc<dyn Client>, tasks: TaskTracker) -> Self {
        Self { client, tasks, known: Mutex::default() }
    }

    pub(crate) async fn submit(&self, op: Op, key: Option<String>) -> Result<Receipt, ClientError> {
        let Some(key) = key else { return self.start(op).await };
        if key.is_empty() || key.len() > MAX_KEY {
            let message = format!("a key has 1 to {MAX_KEY} bytes");
            return Err(ClientError { kind: Failure::Invalid, message, hint: None });
        }
        let op = match op {
            Op::StartTurn { session, prompt, key: own, limits, attended } => {
                Op::StartTurn { session, prompt, key: own.or_else(|| Some(key.clone())), limits, attended }
            }
            other => other,
        };
        let outcome = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match known.outcomes.get(&key) {
                Some(outcome) => outcome.clone(),
                None => {
                    let outcome = self.start(op);
                    known.remember(key.clone(), outcome.clone());
                    outcome
                }
            }
        };
        let result = outcome.await;
        if result.is_err() {
            // Nothing was made, so the key is free to try again.
            self.known.lock().unwrap_or_else(PoisonError::into_inner).outcomes.remove(&key);
        }
        result
    }

    /// Makes the change in a task of its own.
    fn start(&self, op: Op) -> Outcome {
        let client = self.client.clone();
        let task = self.tasks.spawn(async move { client.submit(op).await });
        let outcome = task.map(|result| {
            result.unwrap_or_else(|_| {
                let message = "the change was cut off".to_owned();
                Err(ClientError { kind: Failure::Closed, message, hint: None })
            })
        });
        outcome.boxed().shared()
    }
}

impl Known {
    fn remember(&mut self, key: String, outcome: Outcome) {
        while self.order.len() >= KEPT {
            if let Some(oldest) = self.order.pop_front() {
                self.outcomes.remove(&oldest);
            }
        }
        self.order.push_back(key.clone());
        self.outcomes.insert(key, outcome);
    }
}
