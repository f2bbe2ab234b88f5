//! `note`: what must not be forgotten in this session.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, ToolState};

const MAX_NOTES: usize = 50;
const MAX_NOTE: usize = 2000;

pub(crate) struct Note;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    drop: Option<usize>,
}

#[async_trait]
impl Tool for Note {
    fn name(&self) -> &str {
        "note"
    }

    fn description(&self) -> &str {
        "Keep a short note that survives when old messages are summarised; without `text`, list the notes."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1},
                "drop": {"type": "integer", "minimum": 1, "description": "number of a note to take off"}
            },
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Think
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, _input: &Value) -> String {
        "note".to_owned()
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let notes = context.state.extra::<Notes>();
        if let Some(number) = input.drop {
            notes.take_off(number)?;
        }
        if let Some(text) = input.text {
            notes.add(text)?;
        }
        let all = notes.all();
        let text = if all.is_empty() { "(no notes)\n".to_owned() } else { listed(&all) };
        Ok(ToolOutput::new(text, format!("{} kept", all.len())))
    }
}

/// The notes of a session.
#[derive(Default)]
struct Notes {
    notes: Mutex<Vec<String>>,
}

impl Notes {
    fn add(&self, text: String) -> Result<(), ToolError> {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if text.len() > MAX_NOTE {
            return Err(ToolError(format!("a note has {MAX_NOTE} bytes at most, this one {}", text.len())));
        }
        if notes.len() >= MAX_NOTES {
            return Err(ToolError(format!("{MAX_NOTES} notes are enough: take one off with `drop`")));
        }
        if !notes.contains(&text) {
            notes.push(text);
        }
        Ok(())
    }

    fn take_off(&self, number: usize) -> Result<(), ToolError> {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if number == 0 || number > notes.len() {
            return Err(ToolError(format!("there is no note {number}, only {}", notes.len())));
        }
        notes.remove(number - 1);
        Ok(())
    }

    fn all(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn listed(notes: &[String]) -> String {
    notes.iter().enumerate().map(|(index, note)| format!("{}. {note}\n", index + 1)).collect()
}

/// What the model noted in this session, for whoever shortens its history.
pub fn notes(state: &ToolState) -> Vec<String> {
    state.extra::<Notes>().all()
}
