//! The person, as a server may ask them while one of its tools runs.

use std::sync::Arc;

use async_trait::async_trait;
use mcp::{Person, Sample};
use protocol::CallId;
use serde_json::{Map, Value};
use tools::{Desk, PersonQuestion};

/// More fields than this are no question.
const MAX_FIELDS: usize = 20;
const MAX_SHOWN: usize = 2_000;
const ALLOW: &str = "Allow";
const NO: &str = "No";

pub(super) struct Asked {
    pub(super) desk: Arc<dyn Desk>,
    pub(super) call: CallId,
}

impl Asked {
    async fn ask(&self, question: String, options: Vec<String>) -> Option<String> {
        self.desk.ask(PersonQuestion { call: self.call.clone(), question, options }).await
    }
}

#[async_trait]
impl Person for Asked {
    /// One question a field. No to one is no to all.
    async fn fill(&self, server: &str, message: &str, schema: &Value) -> Option<Value> {
        let message = &message[..message.floor_char_boundary(MAX_SHOWN)];
        let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        if fields.is_empty() {
            let options = vec![ALLOW.to_owned(), NO.to_owned()];
            let said = self.ask(format!("`{server}` asks: {message}"), options).await?;
            return (said == ALLOW).then(|| Value::Object(Map::new()));
        }
        let mut filled = Map::new();
        for (name, field) in fields.iter().take(MAX_FIELDS) {
            let what = field
                .get("description")
                .or_else(|| field.get("title"))
                .and_then(Value::as_str)
                .unwrap_or(name);
            let question = format!("`{server}` asks: {message}\n{what}");
            filled.insert(name.clone(), read(&self.ask(question, choices(field)).await?, field)?);
        }
        Some(Value::Object(filled))
    }

    async fn sample(&self, server: &str, request: Sample) -> Option<String> {
        let shown = &request.prompt[..request.prompt.floor_char_boundary(MAX_SHOWN)];
        let question = format!("`{server}` wants to ask the model, at your cost:\n{shown}");
        let said = self.ask(question, vec![ALLOW.to_owned(), NO.to_owned()]).await?;
        if said != ALLOW {
            return None;
        }
        self.desk.complete(request.system.unwrap_or_default(), request.prompt, request.max_tokens).await
    }
}

fn choices(field: &Value) -> Vec<String> {
    if field.get("type").and_then(Value::as_str) == Some("boolean") {
        return vec!["Yes".to_owned(), NO.to_owned()];
    }
    let words = field.get("enum").and_then(Value::as_array).into_iter().flatten();
    words.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What the person said, as the field wants it.
fn read(said: &str, field: &Value) -> Option<Value> {
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => match said.to_lowercase().as_str() {
            "yes" | "y" | "true" => Some(true.into()),
            "no" | "n" | "false" => Some(false.into()),
            _ => None,
        },
        Some("integer") => said.trim().parse::<i64>().ok().map(Value::from),
        Some("number") => said.trim().parse::<f64>().ok().map(Value::from),
        _ => Some(said.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_read_as_the_field_wants_them() {
        assert_eq!(read("Yes", &json!({"type": "boolean"})), Some(json!(true)));
        assert_eq!(read("perhaps", &json!({"type": "boolean"})), None);
        assert_eq!(read(" 7 ", &json!({"type": "integer"})), Some(json!(7)));
        assert_eq!(read("7.5", &json!({"type": "integer"})), None);
        assert_eq!(read("7.5", &json!({"type": "number"})), Some(json!(7.5)));
        assert_eq!(read("x", &json!({"type": "string"})), Some(json!("x")));
        assert_eq!(choices(&json!({"enum": ["a", "b", 3]})), ["a", "b"]);
    }
}
