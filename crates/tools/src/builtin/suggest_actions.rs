//! `suggest_actions`: buttons for the person.

use async_trait::async_trait;
use guard::Action;
use protocol::{SuggestedAction, SuggestedStep, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const MAX_ACTIONS: usize = 5;
/// In characters.
const MAX_LABEL: usize = 40;

pub(crate) struct SuggestActions;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    actions: Vec<Offer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Offer {
    label: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    input: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    SendMessage,
    FillInput,
    RunTool,
}

#[async_trait]
impl Tool for SuggestActions {
    fn name(&self) -> &str {
        "suggest_actions"
    }

    fn description(&self) -> &str {
        "Offer the person up to five next steps as buttons: a message to send, text to start from, or a tool to run."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "actions": {
                    "type": "array", "minItems": 1, "maxItems": MAX_ACTIONS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "label": {"type": "string", "minLength": 1, "maxLength": MAX_LABEL},
                            "type": {"enum": ["send_message", "fill_input", "run_tool"]},
                            "text": {"type": "string", "description": "for send_message and fill_input"},
                            "tool": {"type": "string", "description": "for run_tool"},
                            "input": {"type": "object", "description": "arguments of the tool"}
                        },
                        "required": ["label", "type"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["actions"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, _input: &Value) -> String {
        "suggest_actions".to_owned()
    }

    /// What a button does is judged when it is pressed.
    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let count = input.actions.len();
        if count == 0 || count > MAX_ACTIONS {
            return Err(ToolError(format!("{count} actions, but 1 to {MAX_ACTIONS} can be shown")));
        }
        let actions = input.actions.into_iter().map(Offer::into_action).collect::<Result<Vec<_>, _>>()?;
        let mut labels: Vec<&str> = actions.iter().map(|action| action.label.as_str()).collect();
        labels.sort_unstable();
        if labels.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ToolError("two actions have the same label".to_owned()));
        }
        context.desk.suggest(actions).await;
        Ok(ToolOutput::new("shown\n", format!("{count} shown")))
    }
}

impl Offer {
    fn into_action(self) -> Result<SuggestedAction, ToolError> {
        let label = self.label.trim().to_owned();
        let fault = |what: &str| Err(ToolError(format!("the action `{label}` {what}")));
        if label.is_empty() || label.chars().count() > MAX_LABEL || label.chars().any(char::is_control) {
            return fault(&format!("needs a label of 1 to {MAX_LABEL} characters on one line"));
        }
        let action = match (self.kind, self.text, self.tool) {
            (Kind::SendMessage, Some(text), None) if !text.trim().is_empty() => {
                SuggestedStep::SendMessage { text }
            }
            (Kind::FillInput, Some(text), None) => SuggestedStep::FillInput { text },
            (Kind::RunTool, None, Some(tool)) if !tool.is_empty() => {
                SuggestedStep::RunTool { tool, input: self.input.unwrap_or_else(|| json!({})) }
            }
            (Kind::SendMessage | Kind::FillInput, ..) => return fault("needs `text` and no `tool`"),
            (Kind::RunTool, ..) => return fault("needs `tool` and no `text`"),
        };
        Ok(SuggestedAction { label, action })
    }
}
