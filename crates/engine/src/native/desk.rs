//! What the built-in agent's tools may ask of their session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agents::{Answer, Question, Reporter, Services};
use async_trait::async_trait;
use protocol::{
    CallId, OptionKind, PermissionOption, Plan, SuggestedAction, SuggestedActions, ToolCallUpdate,
    ToolContent, Update,
};
use tools::{Desk, Errand, PersonQuestion, ToolError};

/// Front ends hear how far a call is at most this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// The end of what a running call wrote, as much as a card shows.
const PROGRESS_TAIL: usize = 2048;
const OUTPUTS: &str = "outputs";

/// One turn's desk.
pub(super) struct TurnDesk {
    pub(super) services: Arc<dyn Services>,
    pub(super) reporter: Reporter,
    told: Mutex<HashMap<CallId, Instant>>,
}

impl TurnDesk {
    pub(super) fn new(services: Arc<dyn Services>, reporter: Reporter) -> Self {
        Self { services, reporter, told: Mutex::default() }
    }

    /// Whether it is time to say something about the call again.
    fn is_due(&self, call: &CallId) -> bool {
        let Ok(mut told) = self.told.lock() else { return false };
        let now = Instant::now();
        match told.get(call) {
            Some(last) if now.duration_since(*last) < PROGRESS_EVERY => false,
            _ => {
                told.insert(call.clone(), now);
                true
            }
        }
    }
}

#[async_trait]
impl Desk for TurnDesk {
    fn progress(&self, call: &CallId, text: &str) {
        if !self.is_due(call) {
            return;
        }
        let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(PROGRESS_TAIL))..];
        let content = Some(vec![ToolContent::text(tail)]);
        // When the reader is behind, the next one tells more anyway.
        self.reporter
            .try_send(Update::ToolCallUpdate(ToolCallUpdate { content, ..ToolCallUpdate::of(call.clone()) }));
    }

    async fn plan(&self, plan: Plan) {
        self.reporter.send(Update::Plan(plan)).await;
    }

    async fn suggest(&self, actions: Vec<SuggestedAction>) {
        self.reporter.send(Update::SuggestedActions(SuggestedActions { actions })).await;
    }

    async fn ask(&self, question: PersonQuestion) -> Option<String> {
        let choice = |(at, name): (usize, String)| PermissionOption {
            id: format!("{}", at + 1),
            name,
            kind: OptionKind::AllowOnce,
        };
        let mut names = question.options.clone();
        if names.is_empty() {
            // A free answer comes with the choice.
            names.push("Answer".to_owned());
        }
        let answer = self
            .services
            .ask(Question {
                call: Some(question.call),
                title: question.question,
                reasons: vec![],
                options: names.iter().cloned().enumerate().map(choice).collect(),
                is_question: true,
                refused: None,
            })
            .await;
        match answer {
            Answer::Allowed { option, said } => said.or_else(|| {
                let at = option.parse::<usize>().ok()?.checked_sub(1)?;
                names.get(at).cloned()
            }),
            Answer::Denied { .. } | Answer::Cancelled => None,
        }
    }

    async fn delegate(&self, _errand: Errand) -> Result<String, ToolError> {
        Err(ToolError("there are no sub-agents here; do it yourself".to_owned()))
    }

    fn outputs(&self) -> PathBuf {
        self.services.folder().join(OUTPUTS)
    }

    async fn skill(&self, name: &str) -> Result<String, ToolError> {
        Err(ToolError(format!("there is no skill `{name}`")))
    }
}
