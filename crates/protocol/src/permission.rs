//! Questions to the person, and their answers. An answer names the request it answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CallId, RequestId};

/// May this happen?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PermissionRequest {
    pub request: RequestId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
    /// The exact action.
    pub title: String,
    /// Why it is asked, in words for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    pub options: Vec<PermissionOption>,
    /// Not whether something may happen, but something the agent wants to know. The answer is an option's name or, as
    /// the reason, free text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_question: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PermissionOption {
    pub id: String,
    pub name: String,
    pub kind: OptionKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    AllowOnce,
    AllowAlways,
    /// Once, and not as it stands: the reason of the answer is what runs instead.
    AllowEdited,
    RejectOnce,
    RejectAlways,
}

impl OptionKind {
    pub fn allows(self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways | Self::AllowEdited)
    }
}

/// What a front end answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Decision {
    Choose {
        option: String,
        /// Goes to the model when it is a refusal; what runs instead when it allows something edited.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        reason: Option<String>,
    },
    /// Neither yes nor no: the question is withdrawn and the call refused.
    Dismiss,
}

/// The answer, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct PermissionAnswer {
    pub request: RequestId,
    pub outcome: PermissionOutcome,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub option: Option<String>,
    pub by: AnsweredBy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PermissionOutcome {
    Approved,
    Denied,
    Cancelled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    Person,
    /// A rule or a mode decided.
    Policy,
    /// Nobody was there to ask, so the answer is no.
    Nobody,
}
