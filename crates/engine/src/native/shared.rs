//! What sessions have in common, once in memory: most have the same tools, and those of a project the same instructions.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use models::ToolSet;

/// As many kinds of either are looked through.
const KINDS: usize = 64;

/// What the sessions of an engine share.
#[derive(Default)]
pub(crate) struct Shared {
    tools: Mutex<Vec<Weak<ToolSet>>>,
    texts: Mutex<Vec<Weak<str>>>,
}

impl Shared {
    /// The same tools, as somebody has them already.
    pub(super) fn tools(&self, own: Arc<ToolSet>) -> Arc<ToolSet> {
        one_of(&self.tools, own, |known, own| known.specs() == own.specs())
    }

    pub(super) fn text(&self, own: Arc<str>) -> Arc<str> {
        one_of(&self.texts, own, |known, own| known == own)
    }
}

fn one_of<T: ?Sized>(known: &Mutex<Vec<Weak<T>>>, own: Arc<T>, same: impl Fn(&T, &T) -> bool) -> Arc<T> {
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|one| one.strong_count() > 0);
    if let Some(found) = known.iter().filter_map(Weak::upgrade).find(|one| same(one, &own)) {
        return found;
    }
    if known.len() < KINDS {
        known.push(Arc::downgrade(&own));
    }
    own
}
