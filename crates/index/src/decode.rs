//! Bytes to text, whatever wrote them.

/// Text of a file, or that it is none.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decoded {
    Text(String),
    Binary,
}

/// How much is looked at to tell text from other things.
const HEAD: usize = 8 * 1024;

/// UTF-8 as it is; UTF-16 by its mark or its zeros; what else looks like text as Latin-1, line for line.
pub(crate) fn decode(bytes: Vec<u8>) -> Decoded {
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return Decoded::Text(utf16(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return Decoded::Text(utf16(rest, u16::from_be_bytes));
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    if head.contains(&0) {
        return utf16_without_mark(head, &bytes);
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.starts_with('\u{feff}') => Decoded::Text(text['\u{feff}'.len_utf8()..].to_owned()),
        Ok(text) => Decoded::Text(text),
        Err(error) => {
            let bytes = error.into_bytes();
            let strange = bytes[..bytes.len().min(HEAD)].iter().filter(|byte| is_strange(**byte)).count();
            if strange * 50 > bytes.len().min(HEAD) {
                return Decoded::Binary;
            }
            let utf8_mostly = String::from_utf8_lossy(&bytes);
            let broken = utf8_mostly.matches('\u{fffd}').count();
            let high = bytes.iter().filter(|byte| !byte.is_ascii()).count();
            // A few broken places in UTF-8 stay broken; otherwise every high byte is a letter of Latin-1.
            if broken * 4 < high {
                return Decoded::Text(utf8_mostly.into_owned());
            }
            Decoded::Text(bytes.iter().map(|byte| char::from(*byte)).collect())
        }
    }
}

/// Control characters that text does not have.
fn is_strange(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x0c | 0x1b)
}

fn utf16_without_mark(head: &[u8], bytes: &[u8]) -> Decoded {
    let pairs = head.len() / 2;
    let even = head.iter().step_by(2).filter(|byte| **byte == 0).count();
    let odd = head.iter().skip(1).step_by(2).filter(|byte| **byte == 0).count();
    // Mostly Latin letters: nearly every other byte is zero, and none of the rest.
    if pairs > 8 && odd * 10 > pairs * 7 && even * 20 < pairs {
        Decoded::Text(utf16(bytes, u16::from_le_bytes))
    } else if pairs > 8 && even * 10 > pairs * 7 && odd * 20 < pairs {
        Decoded::Text(utf16(bytes, u16::from_be_bytes))
    } else {
        Decoded::Binary
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|result| result.unwrap_or('\u{fffd}')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        match decode(bytes.to_vec()) {
            Decoded::Text(text) => text,
            Decoded::Binary => "(binary)".to_owned(),
        }
    }

    #[test]
    fn every_usual_encoding_is_read() {
        assert_eq!(text("größe".as_bytes()), "größe");
        assert_eq!(text(b"\xef\xbb\xbfhello"), "hello");
        assert_eq!(text(b"gr\xf6\xdfe = 1\n"), "größe = 1\n");
        let little: Vec<u8> = "fn größe() {}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "fn größe() {}\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [[b"\xff\xfe".to_vec(), little.clone()].concat(), little] {
            assert_eq!(text(&bytes), "fn größe() {}\n");
        }
        for bytes in [[b"\xfe\xff".to_vec(), big.clone()].concat(), big] {
            assert_eq!(text(&bytes), "fn größe() {}\n");
        }
    }

    #[test]
    fn what_is_no_text_is_left_alone() {
        assert_eq!(text(b"\x7fELF\x00\x01\x02"), "(binary)");
        assert_eq!(text(b"a\0b"), "(binary)");
        assert_eq!(text(&(0u8..=255).cycle().skip(1).take(254).collect::<Vec<_>>()), "(binary)");
    }

    #[test]
    fn a_broken_place_in_utf8_costs_that_place() {
        assert_eq!(
            text("größe größe größe größe\u{fffd}".replace('\u{fffd}', "").as_bytes()),
            "größe größe größe größe"
        );
        let broken =
            [b"gr\xc3\xb6\xc3\x9fe gr\xc3\xb6\xc3\x9fe gr\xc3\xb6\xc3\x9fe ".as_slice(), b"\xff"].concat();
        assert_eq!(text(&broken), "größe größe größe \u{fffd}");
    }
}
