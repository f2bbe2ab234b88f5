//! Sub-agents: a child turn with a role, fewer tools and a part of the budget.

use std::sync::{Arc, Mutex, PoisonError};

use agents::{Child, Heard, HookCall, Reporter, Turn};
use futures::StreamExt;
use guard::HookSays;
use models::{Message, Request};
use protocol::{Content, HookEvent, Limits, Mode, Stop, Update, Usage, UsageReport};
use tokio::sync::Semaphore;
use tools::{Errand, ToolError};

use super::agent::{Inner, NativeAgent, believable};
use super::extras::Extras;
use super::roles::Role;

/// How deep sub-agents may start sub-agents.
const MAX_DEPTH: usize = 2;
/// Sub-agents of one turn that run at the same time.
const AT_ONCE: usize = 4;
/// No report is longer than this.
const MAX_REPORT: usize = 24 * 1024;
/// What a server may have the model say, in tokens.
const MAX_SAMPLE: u32 = 4_096;

/// What a turn's sub-agents share.
pub(super) struct Delegation {
    inner: Arc<Inner>,
    turn: Turn,
    /// What the turn and its children used up so far.
    spent: Arc<Mutex<Usage>>,
    places: Semaphore,
    heard: Heard,
}

impl Delegation {
    pub(super) fn new(inner: Arc<Inner>, turn: Turn, spent: Arc<Mutex<Usage>>, heard: Heard) -> Self {
        Self { inner, turn, spent, places: Semaphore::new(AT_ONCE), heard }
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
        let call = HookCall::new(HookEvent::SubagentStart)
            .with("role", role.name.as_str())
            .with("prompt", errand.prompt.as_str());
        let hook = self.heard.tell(call).await;
        if let Some(HookSays::Deny { because }) = hook.says {
            return Err(ToolError(format!("a hook did not let the sub-agent start: {because}")));
        }
        let added = hook.context.iter().map(|text| format!("\n\n[a hook says: {text}]"));
        let prompt = added.fold(errand.prompt, |prompt, text| prompt + &text);
        let child = Child {
            agent,
            model: Some(id),
            prompt: vec![Content::text(prompt)],
            mode,
            limits: self.limits(&role),
        };
        let end = self.turn.services.child(child).await;
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += end.usage;
        let mut report = end.said;
        report.truncate(report.floor_char_boundary(MAX_REPORT));
        let call = HookCall::new(HookEvent::SubagentEnd)
            .with("role", role.name.as_str())
            .with("stop", end.stop.as_str())
            .with("report", report.as_str());
        for note in self.heard.tell(call).await.context {
            report.push_str(&format!("\n[a hook says: {note}]"));
        }
        match end.stop {
            Stop::Done | Stop::Denied if !report.trim().is_empty() => Ok(report),
            stop => {
                Err(ToolError(format!("the sub-agent ended without an answer ({}). {report}", stop.as_str())))
            }
        }
    }

    /// One answer of the session's model to somebody else's prompt. It costs and counts like any other call.
    pub(super) async fn complete(
        &self,
        system: String,
        prompt: String,
        max_tokens: u32,
        reporter: &Reporter,
    ) -> Option<String> {
        let model = self.inner.model.as_ref();
        let request = Request {
            max_output: Some(max_tokens.clamp(1, MAX_SAMPLE)),
            ..Request::new(system, vec![Message::user(prompt)])
        };
        let mut events = model.stream(request.clone());
        let mut answer = models::Answer::default();
        while let Some(event) = events.next().await {
            answer.apply(&event.ok()?);
        }
        let told = answer.usage;
        let blocks = answer.into_blocks();
        let (usage, estimated) = believable(model, told, &request, &blocks);
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += usage;
        let model = Some(model.id().clone());
        reporter.send(Update::Usage(UsageReport { model, usage, estimated })).await;
        let text = Message::assistant(blocks).text();
        (!text.trim().is_empty()).then_some(text)
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
