//! The session's code index, for the tools that ask it.

use std::sync::{Arc, OnceLock};

use index::{Cancel, IfBusy, Index, Searcher, Watch};

use crate::{ToolContext, ToolError, ToolState};

/// What the tools of a session keep of it.
#[derive(Default)]
struct CodeIndex {
    searcher: OnceLock<Searcher>,
    /// Keeps the index fresh as long as the session is open.
    watch: OnceLock<Arc<Watch>>,
}

/// Gives a session's tools an index to ask. One that is there is kept fresh from now on; without one, nothing is read
/// before a tool asks.
pub fn set_index(state: &ToolState, index: &Index) {
    // The first one stays: a session does not change its project.
    let kept = state.extra::<CodeIndex>();
    let _ = kept.searcher.set(index.searcher());
    if index.exists() {
        kept.watch.get_or_init(|| index.keep());
    }
}

/// Asks the index where blocking is allowed, after bringing it up to date. Dropping the future stops the update.
pub(crate) async fn ask<T: Send + 'static>(
    context: &ToolContext,
    question: impl FnOnce(&Searcher) -> Result<T, index::IndexError> + Send + 'static,
) -> Result<T, ToolError> {
    let kept = context.state.extra::<CodeIndex>();
    let Some(searcher) = kept.searcher.get().cloned() else {
        return Err(ToolError("there is no code index here; use grep and glob".to_owned()));
    };
    let cancel = Cancel::default();
    let stop = StopOnDrop(cancel.clone());
    let work = tokio::task::spawn_blocking(move || {
        match searcher.index().update(IfBusy::Refuse, &|_| {}, &cancel) {
            // Whoever holds it brings it up to date; what is there is good enough.
            Ok(_) | Err(index::IndexError::Busy { .. }) => {}
            Err(error) => return Err(error),
        }
        kept.watch.get_or_init(|| searcher.index().keep());
        question(&searcher)
    });
    let answer = work.await;
    drop(stop);
    match answer {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(ToolError(format!("the code index could not answer: {error}; use grep"))),
        Err(_) => Err(ToolError("the code index crashed; use grep".to_owned())),
    }
}

struct StopOnDrop(Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
