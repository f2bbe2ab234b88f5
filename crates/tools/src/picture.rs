//! Pictures, for models that can see.

use project::ByteRange;

use crate::page::Source;
use crate::{Picture, ToolContext, ToolError};

/// The most that every provider takes.
const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// What kind of picture starts like this. Names lie; bytes do not.
pub(crate) fn media_type(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

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
