//! Our own tools, for whoever speaks the protocol.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::ServiceExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::ToolInfo;

/// What is offered, and who does it.
#[async_trait]
pub trait Offers: Send + Sync {
    fn tools(&self) -> Vec<ToolInfo>;

    /// How to use them together, in a few sentences.
    fn instructions(&self) -> String;

    async fn call(&self, tool: &str, arguments: Value) -> Offered;
}

/// What comes of a call: for the caller to read, either way.
pub type Offered = Result<String, String>;

struct Desk(Arc<dyn Offers>);

impl rmcp::ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        config.server_info = Implementation::new("covey", env!("CARGO_PKG_VERSION"));
        config.instructions = Some(self.0.instructions());
        config
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |info: ToolInfo| {
            let schema = info.schema.as_object().cloned().unwrap_or_default();
            Tool::new(info.name, info.description, schema)
                .with_annotations(ToolAnnotations::new().read_only(info.read_only))
        };
        Ok(ListToolsResult::with_all_items(self.0.tools().into_iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let said = tokio::select! {
            said = self.0.call(&request.name, arguments) => said,
            () = context.ct.cancelled() => Err("cancelled".to_owned()),
        };
        Ok(match said {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]).into(),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]).into(),
        })
    }
}

/// Serves until the other side hangs up or `shutdown` is set. The error says why it could not begin.
pub async fn serve(
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    offers: Arc<dyn Offers>,
    shutdown: CancellationToken,
) -> Result<(), String> {
    let running = Desk(offers).serve_with_ct((input, output), shutdown).await;
    let running = running.map_err(|error| error.to_string())?;
    running.waiting().await.map(drop).map_err(|error| error.to_string())
}
