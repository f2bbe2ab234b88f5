//! Markdown as rows.
//!
//! A message is laid out while it is still being written. [`settled`] says how much of it can not change any more
//! whatever follows, so each frame lays out only the last block.

mod blocks;
mod table;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::text::{Line, plain};

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Lays out `text` within `columns`.
pub(crate) fn rows(text: &str, columns: usize) -> Vec<Line> {
    let text = plain(text);
    let mut layout = blocks::Layout::new(columns);
    for event in Parser::new_ext(&text, options()) {
        layout.event(event);
    }
    layout.finish()
}

/// How many bytes of `text` are blocks that are complete: all but the last.
pub(crate) fn settled(text: &str) -> usize {
    let mut depth = 0usize;
    let mut last = 0;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(_) => {
                if depth == 0 {
                    last = range.start;
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ if depth == 0 => last = range.start,
            _ => {}
        }
    }
    // A cut in the middle of a line would change what the rest means.
    text[..last].rfind('\n').map_or(0, |at| at + 1)
}

/// Lines of a fenced block of code at the start of `text` that is not closed, complete ones only: where the last of
/// them ends, and the fence with its language.
pub(crate) fn open_fence(text: &str) -> Option<&str> {
    let first = text.split_inclusive('\n').next()?;
    let mark = first.trim_start_matches(' ');
    let fence = first.len() - mark.len() < 4 && (mark.starts_with("```") || mark.starts_with("~~~"));
    fence.then(|| first.trim())
}

fn is_inline_end(tag: &TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

fn is_inline(tag: &Tag<'_>) -> bool {
    is_inline_end(&tag.to_end())
}

#[cfg(test)]
mod tests;
