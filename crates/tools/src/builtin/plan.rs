//! `plan`: a plan, written down as a file of the project.

use async_trait::async_trait;
use guard::{Action, Change};
use project::Expect;
use protocol::{Content, FileWrite, PlanEntry, PlanPriority, PlanStatus, ToolContent, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const FOLDER: &str = ".covey/plans";
const MAX_STEPS: usize = 50;

pub(crate) struct Plan;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    title: String,
    text: String,
}

#[async_trait]
impl Tool for Plan {
    fn name(&self) -> &str {
        "plan"
    }

    fn description(&self) -> &str {
        "Write the plan for a larger change as Markdown into `.covey/plans/` and show it. Lines `- [ ] …` become the to-do list."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "minLength": 1, "maxLength": 100},
                "text": {"type": "string", "minLength": 1, "description": "Markdown: goal, steps, risks, how it is checked"}
            },
            "required": ["title", "text"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, input: &Value) -> String {
        format!("plan: {}", input.get("title").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let title = input.get("title").and_then(Value::as_str).unwrap_or_default();
        vec![Action::Write { change: Change::Create, paths: vec![context.path(file_name(title))] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let name = file_name(&input.title);
        let path = context.path(&name);
        let text = format!("# {}\n\n{}\n", input.title.trim(), input.text.trim_end());
        let bytes = text.len() as u64;
        let stamp = context.host.write(&path, text.clone().into_bytes(), Expect::Anything).await?;
        context.state.saw(&path, stamp);
        let entries = steps(&input.text);
        let summary = format!("{} steps", entries.len());
        if !entries.is_empty() {
            context.desk.plan(protocol::Plan { entries }).await;
        }
        Ok(ToolOutput {
            shown: vec![ToolContent::Content { content: Content::text(text) }],
            wrote: vec![FileWrite { path: name.clone(), bytes, call: None, blob: None }],
            ..ToolOutput::new(format!("written to `{name}`\n"), summary)
        })
    }
}

/// A file of that title: the same title replaces the plan.
fn file_name(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.len() >= 60 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    format!("{FOLDER}/{}.md", if slug.is_empty() { "plan" } else { slug })
}

/// The check list in a plan.
fn steps(text: &str) -> Vec<PlanEntry> {
    let step = |line: &str| {
        let rest = line.trim_start().strip_prefix(['-', '*'])?.trim_start();
        let (status, content) = match rest.split_at_checked(3)? {
            ("[ ]", content) => (PlanStatus::Pending, content),
            ("[x]" | "[X]", content) => (PlanStatus::Completed, content),
            _ => return None,
        };
        let content = content.trim().to_owned();
        (!content.is_empty()).then_some(PlanEntry { content, priority: PlanPriority::default(), status })
    };
    text.lines().filter_map(step).take(MAX_STEPS).collect()
}
