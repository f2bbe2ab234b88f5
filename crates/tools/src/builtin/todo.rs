//! `todo`: the list of what is to be done, as front ends draw it.

use async_trait::async_trait;
use guard::Action;
use protocol::{Plan, PlanEntry, PlanPriority, PlanStatus, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const MAX_ITEMS: usize = 50;

pub(crate) struct Todo;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    text: String,
    #[serde(default)]
    status: PlanStatus,
}

#[async_trait]
impl Tool for Todo {
    fn name(&self) -> &str {
        "todo"
    }

    fn description(&self) -> &str {
        "Keep the to-do list of a task with several steps. Send the whole list each time; one item in progress."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "maxItems": MAX_ITEMS,
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string", "minLength": 1},
                            "status": {"enum": ["pending", "in_progress", "completed"]}
                        },
                        "required": ["text"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["items"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Think
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, _input: &Value) -> String {
        "todo".to_owned()
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        if input.items.len() > MAX_ITEMS {
            return Err(ToolError(format!("{} items are too many, {MAX_ITEMS} at most", input.items.len())));
        }
        let done = input.items.iter().filter(|item| item.status == PlanStatus::Completed).count();
        let all = input.items.len();
        let entry = |item: Item| PlanEntry {
            content: item.text,
            priority: PlanPriority::default(),
            status: item.status,
        };
        context.desk.plan(Plan { entries: input.items.into_iter().map(entry).collect() }).await;
        Ok(ToolOutput::new(format!("noted: {done} of {all} done\n"), format!("{done} of {all} done")))
    }
}
