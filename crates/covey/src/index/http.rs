//! Embedders that are asked over HTTP. Code leaves the machine, so a person has to choose one.

use std::time::Duration;

use ::index::{Embedder, IndexError, Purpose};
use net::Url;
use serde_json::{Value, json};

use crate::exit::Failure;

/// Waiting longer says that nobody is there.
const PATIENCE: Duration = Duration::from_secs(60);
const TRIES: u32 = 3;

/// Whose format is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    /// And everything compatible with it.
    OpenAi,
    Voyage,
    Gemini,
    Ollama,
}

pub(super) struct HttpEmbedder {
    service: Service,
    id: String,
    model: String,
    base: Url,
    key: Option<String>,
    dimensions: usize,
}

impl HttpEmbedder {
    pub(super) fn new(
        service: Service,
        model: Option<String>,
        base_url: Option<&str>,
        key_variable: Option<&str>,
        dimensions: Option<usize>,
    ) -> Result<Self, Failure> {
        let (usual_model, usual_base, usual_key, usual_dimensions) = match service {
            Service::OpenAi => {
                ("text-embedding-3-small", "https://api.openai.com/v1", "OPENAI_API_KEY", 1536)
            }
            Service::Voyage => ("voyage-code-3", "https://api.voyageai.com/v1", "VOYAGE_API_KEY", 1024),
            Service::Gemini => (
                "gemini-embedding-001",
                "https://generativelanguage.googleapis.com/v1beta",
                "GEMINI_API_KEY",
                768,
            ),
            Service::Ollama => ("nomic-embed-text", "http://127.0.0.1:11434", "", 768),
        };
        let base = base_url.unwrap_or(usual_base);
        let base = Url::parse(base).map_err(|error| {
            Failure::usage(format!("`{base}` is not an address: {error}"))
                .hint("covey config set index.base_url URL")
        })?;
        let variable = key_variable.unwrap_or(usual_key);
        let key = project::process_env(variable).filter(|key| !key.is_empty() && !variable.is_empty());
        let needs_key = service != Service::Ollama && base_url.is_none();
        if needs_key && key.is_none() {
            return Err(Failure::usage(format!("the embedder needs a key, and `{variable}` is not set"))
                .hint("set it, or use the one that comes along: covey config set index.embedder built-in"));
        }
        let model = model.unwrap_or_else(|| usual_model.to_owned());
        let dimensions = dimensions.unwrap_or(usual_dimensions);
        let name = format!("{service:?}").to_lowercase();
        let id = format!("{name}/{model}/{dimensions}");
        Ok(Self { service, id, model, base, key, dimensions })
    }

    fn failed(&self, what: impl Into<String>) -> IndexError {
        IndexError::Embedder { id: self.id.clone(), what: what.into() }
    }

    /// Where to send which body.
    fn request(&self, purpose: Purpose, texts: &[&str]) -> (String, Value) {
        let query = purpose == Purpose::Query;
        let base = self.base.as_str().trim_end_matches('/');
        match self.service {
            Service::OpenAi => {
                let mut body = json!({"model": self.model, "input": texts, "encoding_format": "float"});
                if self.model.starts_with("text-embedding-3") {
                    body["dimensions"] = self.dimensions.into();
                }
                (format!("{base}/embeddings"), body)
            }
            Service::Voyage => (
                format!("{base}/embeddings"),
                json!({"model": self.model, "input": texts, "input_type": if query { "query" } else { "document" },
                    "output_dimension": self.dimensions}),
            ),
            Service::Gemini => {
                let task = if query { "CODE_RETRIEVAL_QUERY" } else { "RETRIEVAL_DOCUMENT" };
                let requests: Vec<Value> = texts
                    .iter()
                    .map(|text| {
                        json!({"model": format!("models/{}", self.model), "content": {"parts": [{"text": text}]},
                            "taskType": task, "outputDimensionality": self.dimensions})
                    })
                    .collect();
                (format!("{base}/models/{}:batchEmbedContents", self.model), json!({"requests": requests}))
            }
            Service::Ollama => (format!("{base}/api/embed"), json!({"model": self.model, "input": texts})),
        }
    }

    /// The vectors in an answer, in the order of the texts.
    fn vectors(&self, answer: &Value) -> Option<Vec<Vec<f32>>> {
        let numbers = |value: &Value| -> Option<Vec<f32>> {
            value.as_array()?.iter().map(|number| number.as_f64().map(|number| number as f32)).collect()
        };
        let list: Vec<&Value> = match self.service {
            Service::OpenAi | Service::Voyage => {
                let mut rows: Vec<&Value> = answer["data"].as_array()?.iter().collect();
                rows.sort_by_key(|row| row["index"].as_u64());
                rows.into_iter().map(|row| &row["embedding"]).collect()
            }
            Service::Gemini => answer["embeddings"].as_array()?.iter().map(|row| &row["values"]).collect(),
            Service::Ollama => answer["embeddings"].as_array()?.iter().collect(),
        };
        list.into_iter().map(numbers).collect()
    }

    async fn send(&self, url: &str, body: &Value) -> Result<Value, (bool, String)> {
        let once = |error: String| (false, error);
        let client = net::client(&self.base).map_err(|error| once(error.to_string()))?;
        let mut request =
            client.post(url).timeout(PATIENCE).header(net::header::CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = match self.service {
                Service::Gemini => request.header("x-goog-api-key", key),
                _ => request.header(net::header::AUTHORIZATION, format!("Bearer {key}")),
            };
        }
        let response =
            request.body(body.to_string()).send().await.map_err(|error| (true, net::describe(&error)))?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(|error| (true, net::describe(&error)))?;
        if !status.is_success() {
            // What the service says may hold what was sent; its number says enough.
            let again = status.as_u16() == 429 || status.is_server_error();
            return Err((again, format!("it answered {status}")));
        }
        serde_json::from_slice(&bytes).map_err(|_| once("its answer is not JSON".to_owned()))
    }
}

impl Embedder for HttpEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let (url, body) = self.request(purpose, texts);
        // Callers are threads of their own, so each may wait in its own way.
        let answer = crate::block_on(async {
            let mut tries = 0;
            loop {
                tries += 1;
                match self.send(&url, &body).await {
                    Ok(answer) => return Ok(answer),
                    Err((true, _)) if tries < TRIES => {
                        tokio::time::sleep(Duration::from_millis(400 * u64::from(tries * tries))).await;
                    }
                    Err((_, what)) => return Err(Failure::new(what)),
                }
            }
        });
        let answer = answer.map_err(|failure| self.failed(failure.message))?;
        let mut vectors = self.vectors(&answer).ok_or_else(|| self.failed("its answer has no vectors"))?;
        if vectors.len() != texts.len() {
            return Err(self.failed(format!(
                "it answered {} vectors for {} texts",
                vectors.len(),
                texts.len()
            )));
        }
        if let Some(vector) = vectors.iter().find(|vector| vector.len() != self.dimensions) {
            let what = format!(
                "its vectors have {} numbers, not {}; set index.dimensions",
                vector.len(),
                self.dimensions
            );
            return Err(self.failed(what));
        }
        for vector in &mut vectors {
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-12);
            vector.iter_mut().for_each(|value| *value /= length);
        }
        Ok(vectors)
    }

    fn batch(&self) -> usize {
        64
    }

    fn is_local(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
