//! What agents are given: maps, neighbours, symbols, and pieces that fit a prompt.

mod auto;
mod map;
mod neighbours;
mod symbol;

pub use auto::{AutoContext, AutoOptions};
pub use map::RepoMap;
pub use neighbours::{Related, Relation};
pub use symbol::{Place, SymbolReport};

/// About how many tokens a text is to a model.
pub(crate) fn tokens_of(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// The part of a qualified name that people call it by.
pub(crate) fn short_name(name: &str) -> &str {
    name.rsplit(['.', '#', ' ']).next().and_then(|name| name.rsplit("::").next()).unwrap_or(name)
}
