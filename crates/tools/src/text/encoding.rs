//! Bytes to text and back, without loss.

/// How much is looked at to tell text from other things.
const HEAD: usize = 8 * 1024;
/// Bytes that are not UTF-8 in a file that otherwise is are kept as characters that nobody uses.
const STRAY: u32 = 0xF700;

/// How a file spells its characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    Utf8Mark,
    /// UTF-8 with some bytes in it that are not.
    Utf8Broken,
    Latin1,
    Utf16 {
        big: bool,
        mark: bool,
    },
}

/// Why bytes are no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a binary file")]
pub(crate) struct NotText;

/// A character that the file's encoding does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file is in {encoding}, which has no `{character}`")]
pub(crate) struct Unencodable {
    encoding: &'static str,
    character: char,
}

impl Encoding {
    /// What the start of a file (or all of it) looks like.
    pub(crate) fn detect(start: &[u8]) -> Result<Self, NotText> {
        if start.starts_with(b"\xff\xfe") {
            return Ok(Self::Utf16 { big: false, mark: true });
        }
        if start.starts_with(b"\xfe\xff") {
            return Ok(Self::Utf16 { big: true, mark: true });
        }
        let head = &start[..start.len().min(HEAD)];
        if head.contains(&0) {
            return utf16_without_mark(head);
        }
        let mark = start.starts_with(b"\xef\xbb\xbf");
        let error = match std::str::from_utf8(start) {
            Ok(_) => return Ok(if mark { Self::Utf8Mark } else { Self::Utf8 }),
            Err(error) => error,
        };
        // A character that the end of the piece cuts through is no fault.
        if error.error_len().is_none() {
            return Ok(if mark { Self::Utf8Mark } else { Self::Utf8 });
        }
        let strange = head.iter().filter(|byte| is_strange(**byte)).count();
        if strange * 50 > head.len() {
            return Err(NotText);
        }
        let high = start.iter().filter(|byte| !byte.is_ascii()).count();
        let broken: usize = start.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
        Ok(if mark || broken * 4 < high { Self::Utf8Broken } else { Self::Latin1 })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Utf8 | Self::Utf8Mark | Self::Utf8Broken => "UTF-8",
            Self::Latin1 => "Latin-1",
            Self::Utf16 { .. } => "UTF-16",
        }
    }
}

pub(super) fn decode(bytes: &[u8]) -> Result<(Encoding, String), NotText> {
    let encoding = Encoding::detect(bytes)?;
    let text = match encoding {
        Encoding::Utf8 | Encoding::Utf8Mark => {
            let text = if encoding == Encoding::Utf8Mark { &bytes[3..] } else { bytes };
            match std::str::from_utf8(text) {
                Ok(text) => text.to_owned(),
                Err(_) => return Ok((Encoding::Utf8Broken, keep_stray(bytes)?)),
            }
        }
        Encoding::Utf8Broken => keep_stray(bytes)?,
        Encoding::Latin1 => bytes.iter().map(|byte| char::from(*byte)).collect(),
        Encoding::Utf16 { big, mark } => {
            let (pairs, rest) = bytes[if mark { 2 } else { 0 }..].as_chunks::<2>();
            let unit = if big { u16::from_be_bytes } else { u16::from_le_bytes };
            let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|pair| unit(*pair))).collect();
            // What can not be put back as it was is not ours to change.
            text.ok().filter(|_| rest.is_empty()).ok_or(NotText)?
        }
    };
    Ok((encoding, text))
}

pub(super) fn encode(encoding: Encoding, text: &str) -> Result<Vec<u8>, Unencodable> {
    let refuse = |character| Unencodable { encoding: encoding.name(), character };
    Ok(match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf8Mark => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        Encoding::Utf8Broken => {
            let mut bytes = Vec::with_capacity(text.len());
            for character in text.chars() {
                match stray_byte(character) {
                    Some(byte) => bytes.push(byte),
                    None => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            bytes
        }
        Encoding::Latin1 => text
            .chars()
            .map(|character| u8::try_from(u32::from(character)).map_err(|_| refuse(character)))
            .collect::<Result<_, _>>()?,
        Encoding::Utf16 { big, mark } => {
            let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            let units = mark.then_some(0xFEFF).into_iter().chain(text.encode_utf16());
            units.flat_map(bytes).collect()
        }
    })
}

fn keep_stray(bytes: &[u8]) -> Result<String, NotText> {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        if chunk.valid().chars().any(|character| stray_byte(character).is_some()) {
            return Err(NotText);
        }
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(STRAY + u32::from(*byte))));
    }
    Ok(text)
}

fn stray_byte(character: char) -> Option<u8> {
    u8::try_from(u32::from(character).checked_sub(STRAY)?).ok().filter(|byte| *byte >= 0x80)
}

/// As it may be shown: without the characters that stand for strange bytes.
pub(crate) fn shown(character: char) -> char {
    if stray_byte(character).is_some() { '\u{fffd}' } else { character }
}

/// Control characters that text does not have.
fn is_strange(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x0c | 0x1b)
}

fn utf16_without_mark(head: &[u8]) -> Result<Encoding, NotText> {
    let pairs = head.len() / 2;
    let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    // Mostly Latin letters: nearly every other byte is zero, and none of the rest.
    if pairs > 8 && odd * 10 > pairs * 7 && even * 20 < pairs {
        Ok(Encoding::Utf16 { big: false, mark: false })
    } else if pairs > 8 && even * 10 > pairs * 7 && odd * 20 < pairs {
        Ok(Encoding::Utf16 { big: true, mark: false })
    } else {
        Err(NotText)
    }
}
