//! `ask_user`: a question to the person.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, PersonQuestion, Tool, ToolContext, ToolError, ToolOutput};

const MAX_OPTIONS: usize = 8;
/// People go to lunch.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) struct AskUser;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    question: String,
    #[serde(default)]
    options: Vec<String>,
}

#[async_trait]
impl Tool for AskUser {
    fn name(&self) -> &str {
        "ask_user"
    }

    fn description(&self) -> &str {
        "Ask the person what only they can decide, and wait for the answer. Not for what the files can tell."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "minLength": 1},
                "options": {"type": "array", "maxItems": MAX_OPTIONS, "items": {"type": "string", "minLength": 1},
                    "description": "to choose from"}
            },
            "required": ["question"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("ask: {}", input.get("question").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        PATIENCE
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Input { question, options } = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        if options.len() > MAX_OPTIONS {
            return Err(ToolError(format!("{} options are too many, {MAX_OPTIONS} at most", options.len())));
        }
        let question = PersonQuestion { call: context.call.clone(), question, options };
        Ok(match context.desk.ask(question).await {
            Some(answer) => ToolOutput::new(format!("the person answers: {answer}\n"), "answered"),
            None => ToolOutput::new(
                "nobody is there to answer; go on with your best judgement\n",
                "nobody is there",
            ),
        })
    }
}
