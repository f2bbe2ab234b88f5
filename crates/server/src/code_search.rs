//! What `/rag/` needs of an index. `covey` hands one in.

use async_trait::async_trait;
use client::ClientError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Finds code in a project.
#[async_trait]
pub trait CodeSearch: Send + Sync {
    /// Brings the index of a folder up to date.
    async fn index(&self, folder: String) -> Result<IndexReport, ClientError>;

    async fn query(&self, query: CodeQuery) -> Result<Vec<CodeHit>, ClientError>;
}

/// What to look for, and where.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub struct CodeQuery {
    /// Words, a name, a question.
    #[schemars(length(min = 1, max = 10000))]
    pub query: String,
    /// The folder; where the server was started if absent.
    #[serde(default)]
    pub folder: Option<String>,
    /// How many at the most.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 100))]
    pub limit: u32,
}

fn ten() -> u32 {
    10
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CodeHit {
    pub file: String,
    pub start_line: u32,
    pub end_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    pub score: f64,
    pub text: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct IndexReport {
    pub files: u64,
    pub pieces: u64,
}
