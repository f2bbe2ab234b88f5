//! Values by key, each with its origin.

use std::collections::BTreeMap;

use super::{Entry, KeyPath, Origin};

/// A table, or a value that later layers replace as a whole.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Table(BTreeMap<String, Node>),
    Leaf { value: toml::Value, origin: Origin, secret: bool },
}

impl Default for Node {
    fn default() -> Self {
        Self::Table(BTreeMap::new())
    }
}

impl Node {
    /// Lays `upper` over this: tables key by key, everything else replaced.
    pub(super) fn merge(&mut self, upper: Node) {
        match (self, upper) {
            (Self::Table(lower), Self::Table(upper)) => {
                for (name, node) in upper {
                    match lower.get_mut(&name) {
                        Some(below) => below.merge(node),
                        None => {
                            lower.insert(name, node);
                        }
                    }
                }
            }
            (below, upper) => *below = upper,
        }
    }

    /// This node at `path` instead of at the top.
    pub(super) fn under(self, path: &[String]) -> Self {
        path.iter().rev().fold(self, |node, name| Self::Table(BTreeMap::from([(name.clone(), node)])))
    }

    pub(super) fn find(&self, path: &KeyPath) -> Option<&Node> {
        path.parts().iter().try_fold(self, |node, name| match node {
            Self::Table(table) => table.get(name),
            Self::Leaf { .. } => None,
        })
    }

    pub(super) fn to_value(&self) -> toml::Value {
        match self {
            Self::Leaf { value, .. } => value.clone(),
            Self::Table(table) => {
                toml::Value::Table(table.iter().map(|(name, node)| (name.clone(), node.to_value())).collect())
            }
        }
    }

    pub(super) fn first_origin(&self) -> Option<&Origin> {
        match self {
            Self::Leaf { origin, .. } => Some(origin),
            Self::Table(table) => table.values().find_map(Self::first_origin),
        }
    }

    pub(super) fn collect_entries<'a>(&'a self, path: &mut KeyPath, entries: &mut Vec<Entry<'a>>) {
        match self {
            Self::Leaf { value, origin, secret } => {
                entries.push(Entry { key: path.clone(), value, origin, secret: *secret });
            }
            Self::Table(table) => {
                for (name, node) in table {
                    path.push(name);
                    node.collect_entries(path, entries);
                    path.pop();
                }
            }
        }
    }
}
