//! Those who can be asked for pages.

use std::time::Duration;

use net::{Method, Url, header};
use serde_json::{Value, json};

use crate::ToolError;

const LIMIT: Duration = Duration::from_secs(20);
const MAX_BYTES: usize = 2 * 1024 * 1024;
const MAX_SNIPPET: usize = 500;

/// A search service, with what it takes to use it.
#[derive(Clone)]
pub enum SearchProvider {
    /// One's own instance, with its JSON format switched on.
    SearXng {
        url: Url,
    },
    Brave {
        key: String,
        url: Option<Url>,
    },
    Exa {
        key: String,
        url: Option<Url>,
    },
    Tavily {
        key: String,
        url: Option<Url>,
    },
}

/// Without the keys.
impl std::fmt::Debug for SearchProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// One page that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
}

impl SearchProvider {
    pub fn name(&self) -> &'static str {
        match self {
            Self::SearXng { .. } => "SearXNG",
            Self::Brave { .. } => "Brave",
            Self::Exa { .. } => "Exa",
            Self::Tavily { .. } => "Tavily",
        }
    }

    /// Where the question goes.
    pub(crate) fn endpoint(&self) -> Result<Url, ToolError> {
        let (own, usual) = match self {
            Self::SearXng { url } => {
                return url
                    .join("search")
                    .map_err(|error| ToolError(format!("SearXNG's address is wrong: {error}")));
            }
            Self::Brave { url, .. } => (url, "https://api.search.brave.com/res/v1/web/search"),
            Self::Exa { url, .. } => (url, "https://api.exa.ai/search"),
            Self::Tavily { url, .. } => (url, "https://api.tavily.com/search"),
        };
        match own {
            Some(url) => Ok(url.clone()),
            None => Url::parse(usual).map_err(|error| ToolError(error.to_string())),
        }
    }

    fn request(&self, query: &str, limit: usize) -> Result<net::RequestBuilder, ToolError> {
        let mut url = self.endpoint()?;
        match self {
            Self::SearXng { .. } => {
                url.query_pairs_mut().extend_pairs([("q", query), ("format", "json")]).finish()
            }
            Self::Brave { .. } => {
                url.query_pairs_mut().extend_pairs([("q", query), ("count", &limit.to_string())]).finish()
            }
            Self::Exa { .. } | Self::Tavily { .. } => &mut url,
        };
        let client = net::client(&url).map_err(|error| ToolError(error.to_string()))?;
        let post = |name: &'static str, key: &str, body: Value| {
            let request = client.request(Method::POST, url.clone()).header(name, key);
            request.header(header::CONTENT_TYPE, "application/json").body(body.to_string())
        };
        Ok(match self {
            Self::SearXng { .. } => client.get(url.clone()),
            Self::Brave { key, .. } => client.get(url.clone()).header("x-subscription-token", key),
            Self::Exa { key, .. } => {
                let body = json!({"query": query, "numResults": limit, "contents": {"highlights": true}});
                post("x-api-key", key, body)
            }
            Self::Tavily { key, .. } => {
                post("authorization", &format!("Bearer {key}"), json!({"query": query, "max_results": limit}))
            }
        })
    }

    fn hits(&self, answer: &Value, limit: usize) -> Vec<Hit> {
        let list = match self {
            Self::Brave { .. } => &answer["web"]["results"],
            Self::SearXng { .. } | Self::Exa { .. } | Self::Tavily { .. } => &answer["results"],
        };
        let hit = |found: &Value| {
            let text = |name: &str| found[name].as_str().map(str::to_owned);
            let highlights = || {
                Some(
                    found["highlights"]
                        .as_array()?
                        .iter()
                        .filter_map(Value::as_str)
                        .collect::<Vec<_>>()
                        .join(" … "),
                )
            };
            let snippet =
                text("content").or_else(|| text("description")).or_else(highlights).or_else(|| text("text"));
            let snippet = snippet.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            Some(Hit {
                url: text("url")?,
                title: text("title").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "),
                snippet: snippet.chars().take(MAX_SNIPPET).collect(),
            })
        };
        list.as_array().into_iter().flatten().filter_map(hit).take(limit).collect()
    }
}

/// Asks, and gives the pages that were found.
pub(crate) async fn search(
    provider: &SearchProvider,
    query: &str,
    limit: usize,
) -> Result<Vec<Hit>, ToolError> {
    let name = provider.name();
    let request = provider.request(query, limit)?.header(header::ACCEPT, "application/json");
    let work = async {
        let mut answer = request.send().await.map_err(|error| net::describe(&error))?;
        if !answer.status().is_success() {
            return Err(format!("it answers {}", answer.status()));
        }
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| net::describe(&error))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MAX_BYTES {
                return Err("its answer is too large".to_owned());
            }
        }
        serde_json::from_slice::<Value>(&bytes).map_err(|_| "its answer makes no sense".to_owned())
    };
    let answer =
        tokio::time::timeout(LIMIT, work).await.unwrap_or_else(|_| Err("it took too long".to_owned()));
    let answer = answer.map_err(|what| ToolError(format!("{name} could not be asked: {what}")))?;
    Ok(provider.hits(&answer, limit))
}
