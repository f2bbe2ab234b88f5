//! The tools that a session has, by name.

use std::sync::Arc;

use crate::search::Finder;
use crate::{Tool, builtin};

/// An ordered set of tools. The order is fixed, because it is part of the prefix that providers cache.
///
/// A model is sent the core ones. The rest is deferred: `tool_search` tells of them and `call_tool` calls them, so the
/// list that is sent never changes.
#[derive(Clone)]
pub struct Toolbox {
    tools: Arc<[Arc<dyn Tool>]>,
}

/// The tool through which deferred tools are called. The pipeline knows it by name.
pub const DISPATCHER: &str = "call_tool";

impl Toolbox {
    /// No tools at all, for models that can not use them.
    pub fn empty() -> Self {
        Self { tools: Arc::new([]) }
    }

    /// The built-in tools.
    pub fn builtin() -> Self {
        Self { tools: builtin::ALL.iter().map(|make| make()).collect() }
    }

    /// These and more. One whose name is taken is left out: a server can not replace a tool of ours.
    pub fn with(&self, more: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        let mut tools: Vec<Arc<dyn Tool>> = self.tools.to_vec();
        for tool in more {
            if !tools.iter().any(|known| known.name() == tool.name()) {
                tools.push(tool);
            }
        }
        Self { tools: tools.into() }
    }

    /// Only those that `keep` says.
    pub fn filtered(&self, keep: impl Fn(&dyn Tool) -> bool) -> Self {
        Self { tools: self.tools.iter().filter(|tool| keep(tool.as_ref())).cloned().collect() }
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// Those that the model is told of at once.
    pub fn core(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter().filter(|tool| tool.is_core())
    }

    pub fn deferred(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter().filter(|tool| !tool.is_core())
    }

    /// The deferred tools that fit a description best.
    pub fn find(&self, query: &str, limit: usize) -> Vec<Arc<dyn Tool>> {
        Finder::new(self.deferred().cloned()).find(query, limit)
    }
}
