//! What the built-in agent's tools may ask of their session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::delegate::Delegation;
use agents::{Answer, Question, Reporter, Services};
use async_trait::async_trait;
use protocol::{
    CallId, Notice, NoticeLevel, OptionKind, PermissionOption, Plan, SuggestedAction, SuggestedActions,
    ToolCallUpdate, ToolContent, Update,
};
use tools::{Desk, Errand, PersonQuestion, ToolError};

/// Front ends hear how far a call is at most this often.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
/// The end of what a running call wrote, as much as a card shows.
const PROGRESS_TAIL: usize = 2048;
/// Where long outputs are, in the session's folder.
pub(super) const OUTPUTS: &str = "outputs";

/// One turn's desk.
pub(super) struct TurnDesk {
    pub(super) services: Arc<dyn Services>,
    pub(super) reporter: Reporter,
    pub(super) delegation: Delegation,
    told: Mutex<HashMap<CallId, Instant>>,
}

impl TurnDesk {
    pub(super) fn new(services: Arc<dyn Services>, reporter: Reporter, delegation: Delegation) -> Self {
        Self { services, reporter, delegation, told: Mutex::default() }
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

    async fn warn(&self, text: String) {
        self.reporter.send(Update::Notice(Notice { level: NoticeLevel::Warning, text })).await;
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

    async fn delegate(&self, errand: Errand) -> Result<String, ToolError> {
        self.delegation.send(errand).await
    }

    async fn complete(&self, system: String, prompt: String, max_tokens: u32) -> Option<String> {
        self.delegation.complete(system, prompt, max_tokens, &self.reporter).await
    }

    fn outputs(&self) -> PathBuf {
        self.services.folder().join(OUTPUTS)
    }

    async fn skill(&self, name: &str) -> Result<String, ToolError> {
        let skills = &self.delegation.extras().skills;
        match skills.iter().find(|skill| skill.name == name) {
            Some(skill) => {
                skill.text().map_err(|error| ToolError(format!("could not read the skill: {error}")))
            }
            None => {
                let known: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
                Err(ToolError(format!("there is no skill `{name}`; there are: {}", known.join(", "))))
            }
        }
    }

    fn memory(&self) -> Option<PathBuf> {
        self.delegation.extras().memory_folder.clone()
    }
}
