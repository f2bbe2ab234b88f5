//! Large content goes beside the log, so that the log stays quick to read.

use base64::Engine as _;
use protocol::{Content, EventBody, Image, Resource, Source, ToolContent};
use sessions::Blobs;

use super::turn::Records;

/// Text of tool results above this is kept as a blob.
const LARGE_TEXT: usize = 32 * 1024;
/// So much of it stays in the log, for people.
const SHOWN_TEXT: usize = 2 * 1024;
/// Pictures above this, in base64.
const LARGE_IMAGE: usize = 4 * 1024;

/// Replaces large content by references. What can not be stored stays inline: nothing is lost over it.
pub(super) fn move_to_blobs(records: &mut Records, blobs: &Blobs) {
    for (_, body) in records {
        match body {
            // What a person wrote stays where they look for it, however long it is.
            EventBody::UserPrompt(prompt) => {
                prompt.content.iter_mut().for_each(|content| move_image(content, blobs))
            }
            EventBody::ToolCallUpdate(update) => {
                for content in update.content.iter_mut().flatten() {
                    if let ToolContent::Content { content } = content {
                        move_image(content, blobs);
                        move_text(content, blobs);
                    }
                }
            }
            _ => {}
        }
    }
}

fn move_text(content: &mut Content, blobs: &Blobs) {
    let Content::Text { text } = content else { return };
    if text.len() <= LARGE_TEXT {
        return;
    }
    if let Ok(blob) = blobs.put(text.as_bytes()) {
        let uri = format!("blob:{}", blob.hash);
        let media_type = Some("text/plain".to_owned());
        let head = Some(format!("{}\n…", &text[..text.floor_char_boundary(SHOWN_TEXT)]));
        *content = Content::Resource(Resource { uri, media_type, text: head, blob: Some(blob) });
    }
}

fn move_image(content: &mut Content, blobs: &Blobs) {
    let Content::Image(Image { source, .. }) = content else { return };
    let Source::Data(data) = source else { return };
    if data.len() <= LARGE_IMAGE {
        return;
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(data.as_bytes());
    if let Some(blob) = bytes.ok().and_then(|bytes| blobs.put(&bytes).ok()) {
        *source = Source::Blob(blob);
    }
}
