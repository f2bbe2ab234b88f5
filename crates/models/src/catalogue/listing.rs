//! What providers say they have, asked live and remembered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use net::Url;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Catalogue, ResolveError};
use crate::{CallError, ModelConfig, Wire};

/// A list is short. Something that sends more is something else.
const LIST_LIMIT: usize = 8 << 20;
const PATIENCE: Duration = Duration::from_secs(5);
/// Names that are longer are not names.
const MAX_NAME: usize = 200;
/// A list that is older is asked for anew when somebody looks.
pub const FRESH_MS: i64 = 24 * 3_600_000;

/// A model that a provider named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedModel {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error(transparent)]
    Call(#[from] CallError),
}

impl Catalogue {
    /// Asks a provider for its models.
    pub async fn list_live(&self, provider: &str) -> Result<Vec<ListedModel>, ListError> {
        let config = self.provider(provider)?;
        let target = self.target(provider, "", &config, &ModelConfig::default())?;
        let wire = config.wire.unwrap_or(Wire::OpenaiChat);
        let broken = |what: String| CallError::BrokenStream { provider: provider.to_owned(), what };
        let read = async {
            let sent = target
                .client()?
                .get(address(&target.quirks.openai_base(&target.base, ""), wire))
                .headers(target.headers()?)
                .send()
                .await;
            let mut response = sent.map_err(|error| target.unreachable(net::describe(&error)))?;
            let status = response.status();
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(|error| broken(net::describe(&error)))? {
                if body.len() + chunk.len() > LIST_LIMIT {
                    return Err(CallError::TooLarge { provider: provider.to_owned(), limit: LIST_LIMIT });
                }
                body.extend_from_slice(&chunk);
            }
            if !status.is_success() {
                let body = String::from_utf8_lossy(&body[..body.len().min(4096)]).into_owned();
                return Err(crate::error::classify(
                    provider,
                    &target.address(),
                    Some(status.as_u16()),
                    None,
                    &body,
                ));
            }
            parse(&body).ok_or_else(|| target.not_this_api("it sent no list of models"))
        };
        match tokio::time::timeout(PATIENCE, read).await {
            Ok(list) => Ok(list.map_err(|error| target.without_secrets(error))?),
            Err(_) => Err(target.timed_out(crate::Waiting::FirstByte, PATIENCE).into()),
        }
    }
}

fn address(base: &Url, wire: Wire) -> Url {
    let mut url = base.clone();
    let (tail, query) = match wire {
        Wire::Anthropic => ("v1/models", Some("limit=1000")),
        Wire::Gemini => ("v1beta/models", Some("pageSize=1000")),
        _ => ("models", None),
    };
    url.set_path(&format!("{}/{tail}", base.path().trim_end_matches('/')));
    if query.is_some() {
        url.set_query(query);
    }
    url
}

/// The three shapes there are: `data` with `id`s, and Gemini's `models` with `name`s.
fn parse(body: &[u8]) -> Option<Vec<ListedModel>> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let list = body.get("data").or_else(|| body.get("models"))?.as_array()?;
    let model = |entry: &Value| {
        let name = entry.get("id").or_else(|| entry.get("name"))?.as_str()?;
        let name = name.strip_prefix("models/").unwrap_or(name);
        let plain = !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control);
        let context = ["context_length", "context_window", "max_context_length", "inputTokenLimit"];
        let context = context.iter().find_map(|field| entry.get(field)?.as_u64());
        plain.then(|| ListedModel {
            name: name.to_owned(),
            context: context.and_then(|n| u32::try_from(n).ok()),
        })
    };
    Some(list.iter().filter_map(model).collect())
}

/// The lists as they were when last asked for, in a file that can be deleted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Listings {
    by_provider: BTreeMap<String, Listing>,
    #[serde(skip)]
    path: PathBuf,
}

/// One provider's list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Listing {
    /// When it was asked for, in milliseconds since 1970.
    pub fetched: i64,
    pub models: Vec<ListedModel>,
}

impl Listings {
    /// What is in the file; nothing if there is none or it is damaged.
    pub fn load(path: &Path) -> Self {
        let small = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= LIST_LIMIT as u64);
        let text = small.then(|| std::fs::read(path).ok()).flatten();
        let by_provider = text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        Self { by_provider, path: path.to_owned() }
    }

    pub fn get(&self, provider: &str) -> Option<&Listing> {
        self.by_provider.get(provider)
    }

    pub fn put(&mut self, provider: &str, models: Vec<ListedModel>) {
        self.by_provider.insert(provider.to_owned(), Listing { fetched: now(), models });
    }

    pub fn save(&self) -> std::io::Result<()> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let part = self.path.with_extension(format!("{}.part", std::process::id()));
        std::fs::write(&part, serde_json::to_vec(&self.by_provider)?)?;
        std::fs::rename(&part, &self.path)
    }
}

impl Listing {
    /// How old it is. One from the future is of a clock that went back: nobody knows how old, so it is not fresh.
    pub fn age_ms(&self) -> i64 {
        let age = now().saturating_sub(self.fetched);
        // A moment is what two clocks differ by.
        if age < -60_000 { FRESH_MS + 1 } else { age.max(0) }
    }
}

fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_list_is_understood_and_nonsense_is_not() {
        let names = |body: &str| {
            parse(body.as_bytes()).map(|list| list.into_iter().map(|m| m.name).collect::<Vec<_>>())
        };
        assert_eq!(
            names(r#"{"object":"list","data":[{"id":"a/b","context_length":9},{"id":7},{}]}"#).unwrap(),
            ["a/b"]
        );
        assert_eq!(
            names(r#"{"models":[{"name":"models/gemini-x","inputTokenLimit":5}]}"#).unwrap(),
            ["gemini-x"]
        );
        assert_eq!(names(r#"{"data":[{"id":"\u001b[2J"},{"id":""}]}"#).unwrap(), Vec::<String>::new());
        for nonsense in ["", "[]", "{}", "<html>", r#"{"data":3}"#] {
            assert_eq!(names(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn addresses_follow_the_wire() {
        let url = |base: &str, wire| address(&base.parse().unwrap(), wire).to_string();
        assert_eq!(url("http://h/v1/", Wire::OpenaiChat), "http://h/v1/models");
        assert_eq!(url("http://h", Wire::Anthropic), "http://h/v1/models?limit=1000");
        assert_eq!(url("http://h", Wire::Gemini), "http://h/v1beta/models?pageSize=1000");
    }
}
