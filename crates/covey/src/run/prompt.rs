//! What is asked: the words, and the pictures that go with them.

use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use protocol::{Content, Image, Source};

use crate::exit::Failure;

/// More than any model reads.
const MAX_PROMPT: u64 = 8 << 20;
const MAX_IMAGE: u64 = 20 << 20;

pub(super) fn read(prompt: Option<&str>, images: &[PathBuf]) -> Result<Vec<Content>, Failure> {
    let text = match prompt {
        Some("-") => stdin()?,
        Some(text) => text.to_owned(),
        None => {
            return Err(Failure::usage("there is no prompt")
                .hint("covey run \"what does this project do?\", or `covey run -` to read it from stdin"));
        }
    };
    if text.trim().is_empty() && images.is_empty() {
        return Err(Failure::usage("the prompt is empty"));
    }
    let mut content: Vec<Content> =
        images.iter().map(|path| read_image(path).map(Content::Image)).collect::<Result<_, _>>()?;
    content.push(Content::Text { text });
    Ok(content)
}

fn stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(MAX_PROMPT + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::usage(format!("could not read the prompt from stdin: {error}")))?;
    if bytes.len() as u64 > MAX_PROMPT {
        return Err(Failure::usage(format!("the prompt on stdin is larger than {} MiB", MAX_PROMPT >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| Failure::usage("the prompt on stdin is not UTF-8 text"))
}

/// A picture from a file, by what the file holds.
pub(crate) fn read_image(path: &Path) -> Result<Image, Failure> {
    let refuse = |why: String| Failure::usage(format!("can not attach `{}`: {why}", path.display()));
    let metadata = path.metadata().map_err(|error| refuse(error.to_string()))?;
    // Opening a pipe would wait for somebody to write to it.
    if !metadata.is_file() {
        return Err(refuse("it is not a file".to_owned()));
    }
    if metadata.len() > MAX_IMAGE {
        return Err(refuse(format!("it is larger than {} MiB", MAX_IMAGE >> 20)));
    }
    let bytes = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
    let media_type = Image::media_type_of(&bytes)
        .ok_or_else(|| refuse("it is no PNG, JPEG, GIF or WebP picture".to_owned()))?;
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Image { media_type: media_type.to_owned(), name, source: Source::Data(data) })
}
