//! Sub-agents: a child turn with a role, fewer tools and a part of the budget.

use std::sync::{Arc, Mutex, PoisonError};

use agents::{Child, Turn};
use protocol::{Content, Limits, Mode, Stop, Usage};
use tokio::sync::Semaphore;
use tools::{Errand, ToolError};

use super::agent::{Inner, NativeAgent};
use super::extras::Extras;
use super::roles::Role;

/// How deep sub-agents may start sub-agents.
const MAX_DEPTH: usize = 2;
/// Sub-agents of one turn that run at the same time.
const AT_ONCE: usize = 4;
/// No report is longer than this.
const MAX_REPORT: usize = 24 * 1024;

/// What a turn's sub-agents share.
pub(super) struct Delegation {
    inner: Arc<Inner>,
    turn: Turn,
    /// What the turn and its children used up so far.
    spent: Arc<Mutex<Usage>>,
    places: Semaphore,
}

impl Delegation {
    pub(super) fn new(inner: Arc<Inner>, turn: Turn, spent: Arc<Mutex<Usage>>) -> Self {
        Self { inner, turn, spent, places: Semaphore::new(AT_ONCE) }
    }

    pub(super) fn extras(&self) -> &Extras {
        &self.inner.extras
    }

    pub(super) async fn send(&self, errand: Errand) -> Result<String, ToolError> {
        let depth = self.turn.id.as_str().matches('.').count();
        if depth >= MAX_DEPTH {
            return Err(ToolError("sub-agents this deep start no others; do it yourself".to_owned()));
        }
        let role = self.role(errand.role.as_deref())?;
        let model = match &role.model {
            Some(name) => self.inner.model_for(name)?,
            None => self.inner.model.clone(),
        };
        let id = model.id().clone();
        let agent = Arc::new(NativeAgent::child(&self.inner, model, &role));
        let mode = if role.read_only { self.turn.mode.min(Mode::Explore) } else { self.turn.mode };
        // The place is held until the report is there; closing it needs the semaphore to be dropped, which it is not.
        let _place = self.places.acquire().await;
        let child = Child {
            agent,
            model: Some(id),
            prompt: vec![Content::text(errand.prompt)],
            mode,
            limits: self.limits(&role),
        };
        let end = self.turn.services.child(child).await;
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent += end.usage;
        drop(spent);
        let mut report = end.said;
        report.truncate(report.floor_char_boundary(MAX_REPORT));
        match end.stop {
            Stop::Done | Stop::Denied if !report.trim().is_empty() => Ok(report),
            stop => {
                Err(ToolError(format!("the sub-agent ended without an answer ({}). {report}", stop.as_str())))
            }
        }
    }

    fn role(&self, name: Option<&str>) -> Result<Role, ToolError> {
        let wanted = name.unwrap_or("default");
        let roles = self.inner.roles();
        roles.iter().find(|role| role.name == wanted).cloned().ok_or_else(|| {
            let known: Vec<&str> = roles.iter().map(|role| role.name.as_str()).collect();
            ToolError(format!("there is no role `{wanted}`; there are: {}", known.join(", ")))
        })
    }

    /// What is left of the parent's.
    fn limits(&self, role: &Role) -> Limits {
        let spent = *self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let parent = &self.turn.limits;
        Limits {
            max_steps: Some(parent.max_steps.map_or(role.max_steps, |most| most.min(role.max_steps))),
            max_tokens: parent.max_tokens.map(|most| most.saturating_sub(spent.total())),
            max_cost_usd: parent
                .max_cost_usd
                .map(|most| (most - spent.cost_usd.unwrap_or_default()).max(0.0)),
            timeout_ms: parent.timeout_ms,
        }
    }
}
