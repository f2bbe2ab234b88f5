//! The tools that a session has, by name.

use std::sync::Arc;

use crate::{Tool, builtin};

/// An ordered set of tools. The order is fixed, because it is part of the prefix that providers cache.
#[derive(Clone)]
pub struct Toolbox {
    tools: Arc<[Arc<dyn Tool>]>,
}

impl Toolbox {
    /// No tools at all, for models that can not use them.
    pub fn empty() -> Self {
        Self { tools: Arc::new([]) }
    }

    /// The built-in tools.
    pub fn builtin() -> Self {
        Self { tools: builtin::ALL.iter().map(|make| make()).collect() }
    }

    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }
}
