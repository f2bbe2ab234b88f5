//! Decoding a file block by block, for looking at it only.

use super::{Encoding, NotText};

/// Turns the blocks of a file into UTF-8 (with what is not UTF-8 left in, to be shown as such).
pub(crate) struct Decoder {
    encoding: Encoding,
    /// The start of a unit that the last block cut through.
    rest: Vec<u8>,
    started: bool,
}

impl Decoder {
    /// `start` is the first block.
    pub(crate) fn new(start: &[u8]) -> Result<Self, NotText> {
        Ok(Self { encoding: Encoding::detect(start)?, rest: Vec::new(), started: false })
    }

    /// The next block.
    pub(crate) fn push(&mut self, block: Vec<u8>) -> Vec<u8> {
        let first = !std::mem::replace(&mut self.started, true);
        match self.encoding {
            Encoding::Utf8 | Encoding::Utf8Broken => block,
            Encoding::Utf8Mark if first => block[block.len().min(3)..].to_vec(),
            Encoding::Utf8Mark => block,
            Encoding::Latin1 => block.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes(),
            Encoding::Utf16 { big, mark } => {
                self.rest.extend_from_slice(&block);
                let skip = if first && mark { 2.min(self.rest.len()) } else { 0 };
                let unit = if big { u16::from_be_bytes } else { u16::from_le_bytes };
                let (pairs, _) = self.rest[skip..].as_chunks::<2>();
                let mut units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
                // Half of a pair waits for its other half.
                if units.last().is_some_and(|unit| (0xD800..0xDC00).contains(unit)) {
                    units.pop();
                }
                let used = skip + units.len() * 2;
                self.rest.drain(..used);
                String::from_utf16_lossy(&units).into_bytes()
            }
        }
    }
}
