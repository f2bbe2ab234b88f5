//! Pictures, for models that can see.

use project::ByteRange;

use crate::page::Source;
use crate::{Picture, ToolContext, ToolError};

/// The most that every provider takes.
const MAX_BYTES: u64 = 5 * 1024 * 1024;

pub(crate) async fn load(
    context: &ToolContext,
    source: &Source,
    media_type: &str,
    total: u64,
) -> Result<Picture, ToolError> {
    if total > MAX_BYTES {
        return Err(ToolError(format!("a picture of {total} bytes is too large (at most {MAX_BYTES})")));
    }
    let limit = usize::try_from(total).unwrap_or_default();
    let bytes = source.read(context, ByteRange::first(limit)).await?.bytes;
    Ok(Picture { media_type: media_type.to_owned(), bytes })
}
