//! What a server may ask of us while it works.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::Value;

/// Somebody who can be asked while a call runs.
#[async_trait]
pub trait Person: Send + Sync {
    /// A server wants to know something; the answer fits `schema`. None when the person says no or is not there.
    async fn fill(&self, server: &str, message: &str, schema: &Value) -> Option<Value>;

    /// A server wants something of the model. None when the person says no or is not there.
    async fn sample(&self, server: &str, request: Sample) -> Option<String>;
}

/// What a server wants of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub system: Option<String>,
    pub prompt: String,
    pub max_tokens: u32,
}

#[derive(Clone)]
pub(crate) struct Handler {
    pub(crate) server: String,
    /// Who is asked: whoever made the call that runs now.
    pub(crate) person: Arc<Mutex<Option<Arc<dyn Person>>>>,
    /// The server said that its tools are other ones now.
    pub(crate) tools_changed: Arc<AtomicBool>,
}

impl Handler {
    fn person(&self) -> Option<Arc<dyn Person>> {
        self.person.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[expect(deprecated, reason = "servers in the field still sample, and the answer goes through the person")]
mod sampling {
    use rmcp::model::{
        CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessage, SamplingMessageContentBlock,
    };

    use super::Sample;

    pub(super) fn request(params: CreateMessageRequestParams) -> Sample {
        let mut prompt = String::new();
        for message in params.messages {
            for block in message.content.into_vec() {
                if let SamplingMessageContentBlock::Text(text) = block {
                    prompt.push_str(&text.text);
                    prompt.push('\n');
                }
            }
        }
        Sample { system: params.system_prompt, prompt, max_tokens: params.max_tokens }
    }

    pub(super) fn result(text: String) -> CreateMessageResult {
        let content = SamplingMessageContentBlock::text(text);
        CreateMessageResult::new(SamplingMessage::new(Role::Assistant, content), "covey".to_owned())
    }
}

#[expect(deprecated, reason = "see above")]
impl rmcp::ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        capabilities.sampling = Some(Default::default());
        ClientConfig::new(capabilities, Implementation::new("covey", env!("CARGO_PKG_VERSION")))
    }

    async fn create_message(
        &self,
        params: rmcp::model::CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        let refused = || ErrorData::invalid_request("the person did not allow it", None);
        let person = self.person().ok_or_else(refused)?;
        let said = person.sample(&self.server, sampling::request(params)).await;
        said.map(sampling::result).ok_or_else(refused)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // An address to open is not something to be answered here: a server could send the person anywhere.
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let Some(person) = self.person() else { return Ok(ElicitResult::new(ElicitationAction::Decline)) };
        let schema = serde_json::to_value(requested_schema).unwrap_or_default();
        Ok(match person.fill(&self.server, &message, &schema).await {
            Some(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.store(true, Ordering::Relaxed);
    }
}
