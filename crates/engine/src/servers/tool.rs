//! A server's tool, as the model calls it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use guard::Action;
use mcp::{Server, ToolInfo};
use protocol::ToolKind;
use serde_json::Value;
use tools::{Group, Picture, Tool, ToolContext, ToolError, ToolOutput};

use super::person::Asked;

pub(super) struct ServerTool {
    server: Arc<Server>,
    info: ToolInfo,
    name: String,
    is_core: bool,
}

impl ServerTool {
    pub(super) fn new(server: Arc<Server>, info: ToolInfo, is_core: bool) -> Self {
        let name = mcp::tool_name(server.name(), &info.name);
        Self { server, info, name, is_core }
    }
}

#[async_trait]
impl Tool for ServerTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.info.description
    }

    fn schema(&self) -> Value {
        self.info.schema.clone()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn group(&self) -> Group {
        Group::Foreign
    }

    fn is_core(&self) -> bool {
        self.is_core
    }

    fn title(&self, input: &Value) -> String {
        const SHOWN: usize = 200;
        let mut shown = input.to_string();
        if shown.len() > SHOWN {
            shown.truncate(shown.floor_char_boundary(SHOWN));
            shown.push('…');
        }
        format!("{}: {} {shown}", self.server.name(), self.info.name)
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Foreign { read_only: self.info.read_only }]
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        // It may have to be started first, and ask the person on the way.
        self.server.config().time_limit() + Duration::from_secs(600)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Value::Object(arguments) = input else {
            return Err(ToolError("the arguments are one object".to_owned()));
        };
        let person = Arc::new(Asked { desk: context.desk.clone(), call: context.call.clone() });
        let outcome = self.server.call(&self.info.name, arguments, person).await;
        if let Some(news) = self.server.news().await {
            context.desk.warn(news).await;
        }
        let outcome = outcome.map_err(|error| ToolError(error.to_string()))?;
        if outcome.is_error {
            // What failed is still somebody else's text.
            return Err(ToolError(guard::as_data(&self.name, &outcome.text)));
        }
        let decode = |(media_type, data): (String, String)| {
            let bytes = base64::engine::general_purpose::STANDARD.decode(data).ok()?;
            Some(Picture { media_type, bytes })
        };
        let summary = format!("{} bytes", outcome.text.len());
        Ok(ToolOutput {
            images: outcome.images.into_iter().filter_map(decode).collect(),
            is_foreign: true,
            ..ToolOutput::new(outcome.text, summary)
        })
    }
}
