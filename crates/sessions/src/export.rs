//! A session as a document, written as a stream in constant memory.

use std::io::{self, Write};

use crate::error::StoreError;
use crate::reader::Reader;

mod diff;
mod html;
mod json;
mod markdown;
mod rich;
mod words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Markdown,
    /// `{"session":{…},"events":[…]}`, the events as they were recorded.
    Json,
    /// `[…]`: the events alone.
    JsonEvents,
    /// One page that needs nothing else, runs nothing and loads nothing.
    Html,
}

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Read(#[from] StoreError),
    #[error("could not write the export")]
    Write(#[from] io::Error),
}

/// Writes a session to `out`.
pub fn export(reader: &mut Reader, format: Format, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut out = io::BufWriter::with_capacity(64 << 10, out);
    match format {
        Format::Markdown => markdown::write(reader, &mut out)?,
        Format::Json => json::write(reader, json::Shape::Session, &mut out)?,
        Format::JsonEvents => json::write(reader, json::Shape::Events, &mut out)?,
        Format::Html => html::write(reader, &mut out)?,
    }
    Ok(out.flush()?)
}
