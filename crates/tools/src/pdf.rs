//! The text of a PDF, as far as it holds some: no pictures of pages are read, nothing encrypted is opened.
//!
//! What is here is what text needs and no more: objects are found by looking for them, not by the file's own table of
//! contents, so that a damaged file is read like any other. A file may be made by an enemy: every loop, depth and size has
//! an end, and what is not understood is passed over. `docs/decisions/0039-text-of-a-pdf.md` says why it is our own.

mod content;
mod document;
mod font;
mod glyphs;
mod object;
#[cfg(test)]
mod tests;

use document::Document;

use crate::report::counted;

/// A page is as long as a book's at most.
const MAX_PAGES: usize = 2000;
/// Of text altogether.
const MAX_TEXT: usize = 4 << 20;

/// Why there is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoText {
    #[error("it is encrypted")]
    Encrypted,
    #[error("it holds no text; its pages may be pictures")]
    OnlyPictures,
    #[error("its fonts are missing, so nobody knows what its letters are; the file may be cut off")]
    NoFonts,
    #[error("it has no pages that can be read")]
    Damaged,
}

/// The text of all pages, each under a line that says which it is. Blocks for as long as computing takes.
pub(crate) fn text(bytes: &[u8]) -> Result<String, NoText> {
    let document = Document::read(bytes);
    if document.is_encrypted() {
        return Err(NoText::Encrypted);
    }
    let pages = document.pages(MAX_PAGES);
    if pages.is_empty() {
        return Err(NoText::Damaged);
    }
    let (mut all, mut found, mut unknown) = (String::new(), false, 0);
    for (at, page) in pages.iter().enumerate() {
        let said = content::text(&document, page, MAX_TEXT.saturating_sub(all.len()));
        let text = said.text.trim_end();
        found |= !text.trim().is_empty();
        unknown += said.unknown;
        all.push_str(&format!("--- page {} ---\n{text}\n", at + 1));
        if said.unknown > 0 {
            let count = counted(said.unknown, "letter");
            all.push_str(&format!("[left out: {count}, whose font is missing; the file may be cut off]\n"));
        }
        if all.len() >= MAX_TEXT {
            all.push_str("… the rest is left out\n");
            break;
        }
    }
    match (found, unknown) {
        (true, _) => Ok(all),
        (false, 0) => Err(NoText::OnlyPictures),
        (false, _) => Err(NoText::NoFonts),
    }
}
