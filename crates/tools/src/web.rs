//! Looking things up outside: pages, and searches for them.

mod fetch;
mod markdown;
mod provider;

use std::sync::{PoisonError, RwLock};

pub(crate) use fetch::{Page, fetch};
pub use provider::SearchProvider;
pub(crate) use provider::search;

use crate::ToolState;

/// What the person set for the web.
#[derive(Debug, Clone, Default)]
pub struct WebSettings {
    /// Who is asked; nobody if absent.
    pub search: Option<SearchProvider>,
    /// Whether pages of this machine and the network behind it may be fetched.
    pub allow_private: bool,
}

/// The settings as a session's tools see them.
#[derive(Default)]
struct Web {
    settings: RwLock<WebSettings>,
}

/// Hands the person's settings to the web tools of a session.
pub fn set_web(state: &ToolState, settings: WebSettings) {
    *state.extra::<Web>().settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
}

pub(crate) fn settings(state: &ToolState) -> WebSettings {
    state.extra::<Web>().settings.read().unwrap_or_else(PoisonError::into_inner).clone()
}
