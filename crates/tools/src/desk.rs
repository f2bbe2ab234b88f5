//! What a tool may ask of the session around it. The engine implements it; a tool never knows the engine.

use std::path::PathBuf;

use async_trait::async_trait;
use protocol::{CallId, Plan, SuggestedAction};

use crate::ToolError;

/// The session, as a tool sees it.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Shows how far the call is: the end of what it wrote so far. May be called often; front ends hear of it a few times
    /// a second.
    fn progress(&self, call: &CallId, text: &str);

    /// Replaces the plan that front ends draw.
    async fn plan(&self, plan: Plan);

    /// Offers the person something to press.
    async fn suggest(&self, actions: Vec<SuggestedAction>);

    /// Tells the person something that they should look at. The model does not hear of it.
    async fn warn(&self, _text: String) {}

    /// Asks the person. None when nobody is there.
    async fn ask(&self, question: PersonQuestion) -> Option<String>;

    /// Has a sub-agent do something and waits for its report.
    async fn delegate(&self, errand: Errand) -> Result<String, ToolError>;

    /// Has the session's model answer one prompt, for somebody whom the person allowed that. None when it can not.
    async fn complete(&self, _system: String, _prompt: String, _max_tokens: u32) -> Option<String> {
        None
    }

    /// A private folder of the session, for outputs too long for the model.
    fn outputs(&self) -> PathBuf;

    /// The full text of a skill.
    async fn skill(&self, name: &str) -> Result<String, ToolError>;

    /// The person's own folder for what is to be remembered of this project; None where nothing is remembered.
    fn memory(&self) -> Option<PathBuf> {
        None
    }
}

/// Something to ask the person.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonQuestion {
    pub call: CallId,
    pub question: String,
    /// Empty for a free answer.
    pub options: Vec<String>,
}

/// Something for a sub-agent to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Errand {
    pub call: CallId,
    /// The job description, by name.
    pub role: Option<String>,
    /// A few words for the person.
    pub title: String,
    pub prompt: String,
}
