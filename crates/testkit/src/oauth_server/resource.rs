//! An MCP server that wants a login, beside the authorization server that gives it: the two find each other as the
//! specification says, and clients register themselves.

use serde_json::{Value, json};

use super::OAuthRequest;
use super::answer::Answer;
use super::state::State;

pub(super) const RESOURCE: &str = "/mcp";

impl State {
    /// RFC 9728: who gives tokens for the resource.
    pub(super) fn resource_metadata(&self) -> Answer {
        let base = self.base();
        let body = json!({"resource": format!("{base}{RESOURCE}"), "authorization_servers": [base]});
        Answer::json(200, body)
    }

    /// RFC 8414: where things are done.
    pub(super) fn server_metadata(&self) -> Answer {
        let base = self.base();
        Answer::json(
            200,
            json!({
                "issuer": base,
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }),
        )
    }

    /// RFC 7591: a client that nobody knew before.
    pub(super) fn register(&mut self, request: &OAuthRequest) -> Answer {
        let Ok(Value::Object(mut asked)) = serde_json::from_str(&request.body) else {
            return Answer::json(400, json!({"error": "invalid_client_metadata"}));
        };
        let redirects = asked.get("redirect_uris").and_then(Value::as_array);
        if redirects.is_none_or(Vec::is_empty) {
            return Answer::json(400, json!({"error": "invalid_redirect_uri"}));
        }
        let client = self.new_client();
        asked.insert("client_id".to_owned(), client.into());
        Answer::json(201, Value::Object(asked))
    }

    /// One tool, for whoever has a token.
    pub(super) fn resource(&self, request: &OAuthRequest) -> Answer {
        let header = request.headers.iter().find(|(name, _)| name == "authorization");
        let token = header.and_then(|(_, value)| value.strip_prefix("Bearer "));
        if !token.is_some_and(|token| self.accepts(token)) {
            let metadata = format!("{}/.well-known/oauth-protected-resource{RESOURCE}", self.base());
            let error = if token.is_some() { "error=\"invalid_token\", " } else { "" };
            let challenge = format!("Bearer {error}resource_metadata=\"{metadata}\"");
            return Answer {
                challenge: Some(challenge),
                ..Answer::json(401, json!({"error": "unauthorized"}))
            };
        }
        if request.method != "POST" {
            return Answer::page(405, "it has nothing to say by itself");
        }
        let Ok(asked) = serde_json::from_str::<Value>(&request.body) else {
            return Answer::page(400, "that is not JSON");
        };
        let Some(id) = asked.get("id") else { return Answer::page(202, "") };
        let result = match asked["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "guarded", "version": "1"},
            }),
            "tools/list" => json!({"tools": [{
                "name": "whoami", "description": "Says who is logged in.",
                "inputSchema": {"type": "object", "properties": {}},
            }]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "you are ada"}]}),
            _ => json!({}),
        };
        Answer::json(200, json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }
}
