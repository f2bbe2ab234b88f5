//! `web_search`: pages about something.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::web;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct WebSearch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    query: String,
    #[serde(default)]
    limit: Option<usize>,
}

#[async_trait]
impl Tool for WebSearch {
    fn name(&self) -> &str {
        "web_search"
    }

    fn description(&self) -> &str {
        "Search the web; answers titles, addresses and snippets. Read a page with `web_fetch`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1, "maxLength": 400},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20, "description": "8 if absent"}
            },
            "required": ["query"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Fetch
    }

    fn group(&self) -> Group {
        Group::Web
    }

    fn title(&self, input: &Value) -> String {
        format!("web_search {}", input.get("query").and_then(Value::as_str).unwrap_or_default())
    }

    /// The query goes to the service; without one, nothing goes anywhere.
    fn actions(&self, _input: &Value, context: &ToolContext) -> Vec<Action> {
        let endpoint = web::settings(&context.state).search.and_then(|provider| provider.endpoint().ok());
        endpoint.map_or_else(|| vec![Action::Inward], |url| vec![Action::Fetch { url: url.to_string() }])
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        Duration::from_secs(30)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let Some(provider) = web::settings(&context.state).search else {
            return Err(ToolError(
                "no search service is set up; the person can do it with `covey config set web.search` (searxng, brave, exa, tavily) or a key in BRAVE_API_KEY, EXA_API_KEY or TAVILY_API_KEY".to_owned(),
            ));
        };
        let hits = web::search(&provider, &input.query, input.limit.unwrap_or(8).clamp(1, 20)).await?;
        let mut text: String = hits
            .iter()
            .enumerate()
            .map(|(index, hit)| format!("{}. {}\n   {}\n   {}\n", index + 1, hit.title, hit.url, hit.snippet))
            .collect();
        if hits.is_empty() {
            text.push_str("(nothing found)\n");
        }
        let summary = format!("{} found by {}", hits.len(), provider.name());
        Ok(ToolOutput { is_foreign: true, ..ToolOutput::new(text, summary) })
    }
}
