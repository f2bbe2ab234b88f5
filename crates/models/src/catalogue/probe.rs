//! Finding model servers on this machine.

use std::time::Duration;

use futures::future::join_all;
use protocol::ModelRef;
use serde::Deserialize;

/// Loopback answers within a few milliseconds, or nobody is there.
pub const PROBE_TIMEOUT: Duration = Duration::from_millis(150);

/// A list of models is short. Something that sends more is something else.
const LIST_LIMIT: usize = 1 << 20;

/// A model server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    pub provider: String,
    pub base_url: String,
    /// The models it can answer with, by the server's own names. It may have none yet.
    pub models: Vec<String>,
}

impl LocalServer {
    /// The first model, as [`crate::Catalogue::resolve`] takes it.
    pub fn first(&self) -> Option<ModelRef> {
        self.models.first().map(|model| ModelRef::new(format!("{}/{model}", self.provider)))
    }
}

#[derive(Deserialize)]
struct List {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
}

/// Asks all of these ports at once for their models. What does not answer in time, or answers something else, is not
/// a model server.
pub async fn probe_local(ports: &[(String, u16)], timeout: Duration) -> Vec<LocalServer> {
    let asked = ports.iter().map(|(provider, port)| async move {
        let base_url = format!("http://127.0.0.1:{port}/v1");
        let models = tokio::time::timeout(timeout, list(&base_url)).await.ok()??;
        Some(LocalServer { provider: provider.clone(), base_url, models })
    });
    join_all(asked).await.into_iter().flatten().collect()
}

async fn list(base_url: &str) -> Option<Vec<String>> {
    let url = format!("{base_url}/models").parse().ok()?;
    let mut response = net::client(&url).ok()?.get(url).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        if body.len() + chunk.len() > LIST_LIMIT {
            return None;
        }
        body.extend_from_slice(&chunk);
    }
    let list: List = serde_json::from_slice(&body).ok()?;
    // Servers list their embedding models among the others.
    Some(list.data.into_iter().map(|entry| entry.id).filter(|id| !id.contains("embed")).collect())
}
