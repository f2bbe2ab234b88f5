//! What a model is asked.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::reasoning::Effort;
use crate::{Message, Wire};

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
    /// How much the model may think; the provider's own choice without it.
    pub reasoning: Option<Effort>,
    /// The shape that the answer's text must have.
    pub output_schema: Option<Arc<OutputSchema>>,
}

/// A shape for the text of an answer, as JSON Schema.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputSchema {
    /// Letters, digits, `_` and `-`.
    pub name: String,
    pub schema: Value,
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

/// The tools of a request, in a fixed order and serialised once for each wire: their text is the longest part of the
/// prefix that providers cache, so it must not change by a byte.
#[derive(Debug, Default)]
pub struct ToolSet {
    specs: Vec<ToolSpec>,
    pieces: [OnceLock<Box<str>>; 4],
    weight: OnceLock<f64>,
}

impl ToolSet {
    pub fn new(specs: Vec<ToolSpec>) -> Arc<Self> {
        Arc::new(Self { specs, ..Self::default() })
    }

    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// The tools as a wire wants them, with commas between them.
    pub(crate) fn piece(&self, wire: Wire, make: impl Fn(&ToolSpec) -> Value) -> &str {
        self.pieces[wire as usize].get_or_init(|| {
            let tools: Vec<_> = self.specs.iter().map(|spec| make(spec).to_string()).collect();
            tools.join(",").into_boxed_str()
        })
    }

    /// What they count in an estimate, kept from the first time.
    pub(crate) fn weight(&self, make: impl FnOnce(&[ToolSpec]) -> f64) -> f64 {
        *self.weight.get_or_init(|| make(&self.specs))
    }
}
