//! No log keeps a secret that a tool came upon.

use std::borrow::Cow;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use guard::Redactor;
use protocol::{Content, ToolContent, Update};

/// What tools of any agent gave and changed, with secrets masked. The built-in agent masks before it tells its model;
/// masking again changes nothing, so that log and model agree.
pub(super) fn masked(
    updates: BoxStream<'static, Update>,
    redactor: Arc<Redactor>,
) -> BoxStream<'static, Update> {
    let mask = move |mut update: Update| {
        if let Update::ToolCallUpdate(call) = &mut update {
            call.content.iter_mut().flatten().for_each(|content| mask(content, &redactor));
        }
        update
    };
    updates.map(mask).boxed()
}

fn mask(content: &mut ToolContent, redactor: &Redactor) {
    match content {
        ToolContent::Content { content: Content::Text { text } } => mask_text(text, redactor),
        ToolContent::Diff { old, new, .. } => {
            old.iter_mut().for_each(|old| mask_text(old, redactor));
            mask_text(new, redactor);
        }
        _ => {}
    }
}

fn mask_text(text: &mut String, redactor: &Redactor) {
    if let Cow::Owned(masked) = redactor.redact(text) {
        *text = masked;
    }
}
