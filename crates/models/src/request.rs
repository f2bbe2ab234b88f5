//! What a model is asked.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::Message;

/// One call to a model. Cloning it copies pointers.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Empty for none.
    pub system: Arc<str>,
    pub messages: Vec<Arc<Message>>,
    pub tools: Arc<ToolSet>,
    /// The most tokens that the answer may have; the provider's own limit without it.
    pub max_output: Option<u32>,
    pub temperature: Option<f32>,
}

impl Request {
    pub fn new(system: impl Into<Arc<str>>, messages: Vec<Arc<Message>>) -> Self {
        Self { system: system.into(), messages, ..Self::default() }
    }

    pub fn with_tools(mut self, tools: Arc<ToolSet>) -> Self {
        self.tools = tools;
        self
    }
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub schema: Value,
}

/// The tools of a request, in a fixed order and serialised once: their text is the longest part of the prefix that
/// providers cache, so it must not change by a byte.
#[derive(Debug, Default)]
pub struct ToolSet {
    specs: Vec<ToolSpec>,
    openai_chat: OnceLock<Box<str>>,
}

impl ToolSet {
    pub fn new(specs: Vec<ToolSpec>) -> Arc<Self> {
        Arc::new(Self { specs, openai_chat: OnceLock::new() })
    }

    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    pub(crate) fn openai_chat(&self, make: impl FnOnce(&[ToolSpec]) -> String) -> &str {
        self.openai_chat.get_or_init(|| make(&self.specs).into_boxed_str())
    }
}
