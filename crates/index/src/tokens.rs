//! Code tokens: sub-words of identifiers, the whole identifier, a light stem.
//!
//! `getPagerExecutable`, `get_pager_executable` and "get the pager executables" share the tokens that matter. The index
//! keeps only hashes of tokens, so hashing is part of the format: a change here is a new [`crate::FORMAT`].

/// A longer run of letters is data, not a word.
const MAX_WORD: usize = 128;

/// What a token is of its identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// One of its words, stemmed.
    Part,
    /// All of it, where it has several words.
    Whole,
}

/// A stable hash of a token.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    // FNV-1a and a final mix, so that the sorted dictionary spreads.
    let mut state = 0xcbf2_9ce4_8422_2325u64;
    for byte in bytes {
        state = (state ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state ^= state >> 32;
    state.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Hands every token of `text` to `emit`, in order, the parts of an identifier before the whole.
pub(crate) fn tokens(text: &str, mut emit: impl FnMut(Token, &[u8])) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if !is_word(byte) {
            at += 1;
            continue;
        }
        let start = at;
        let mut ascii = true;
        while at < bytes.len() && is_word(bytes[at]) {
            ascii &= bytes[at].is_ascii();
            at += 1;
        }
        // Bytes above ASCII start and end characters as a whole, so this is a boundary.
        let word = &text[start..at];
        if ascii {
            ascii_word(word.as_bytes(), &mut emit);
        } else {
            other_words(word, &mut emit);
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn ascii_word(word: &[u8], emit: &mut impl FnMut(Token, &[u8])) {
    if word.len() > MAX_WORD {
        return;
    }
    let mut whole = [0u8; MAX_WORD];
    let mut whole_len = 0;
    let mut parts = 0;
    let mut start = 0;
    while start < word.len() {
        if word[start] == b'_' {
            start += 1;
            continue;
        }
        let end = part_end(word, start);
        let from = whole_len;
        for byte in &word[start..end] {
            whole[whole_len] = byte.to_ascii_lowercase();
            whole_len += 1;
        }
        let part = &whole[from..whole_len];
        if worth(part) {
            let mut stemmed = [0u8; MAX_WORD];
            emit(Token::Part, stem(part, &mut stemmed));
        }
        parts += 1;
        start = end;
    }
    if parts > 1 && whole_len > 2 {
        emit(Token::Whole, &whole[..whole_len]);
    }
}

/// Long numbers are literals that nobody looks for by a part.
fn worth(part: &[u8]) -> bool {
    part.len() <= 6 || !part.iter().all(u8::is_ascii_hexdigit) || !part.iter().any(u8::is_ascii_digit)
}

/// Where the word that starts at `start` ends: at `_`, before a capital after a small letter or digit, and before the last
/// capital of a run that a small letter follows (`HTTPServer`).
fn part_end(word: &[u8], start: usize) -> usize {
    let mut end = start + 1;
    while end < word.len() {
        let (before, here) = (word[end - 1], word[end]);
        let cut = here == b'_'
            || (here.is_ascii_uppercase() && !before.is_ascii_uppercase())
            || (before.is_ascii_uppercase()
                && here.is_ascii_lowercase()
                && end - 1 > start
                && word[end - 2].is_ascii_uppercase());
        if cut {
            // The last capital of a run belongs to the word after it.
            return if here.is_ascii_lowercase() { end - 1 } else { end };
        }
        end += 1;
    }
    end
}

/// Words of other scripts: lower case, and single characters where a script writes no spaces.
fn other_words(word: &str, emit: &mut impl FnMut(Token, &[u8])) {
    let mut current = String::new();
    let mut previous_wide: Option<char> = None;
    let flush = |current: &mut String, emit: &mut dyn FnMut(Token, &[u8])| {
        if !current.is_empty() && current.len() <= MAX_WORD {
            let mut stemmed = [0u8; MAX_WORD];
            if current.is_ascii() {
                emit(Token::Part, stem(current.as_bytes(), &mut stemmed));
            } else {
                emit(Token::Part, current.as_bytes());
            }
        }
        current.clear();
    };
    for character in word.chars() {
        if is_wide(character) {
            flush(&mut current, emit);
            let mut buffer = [0u8; 8];
            emit(Token::Part, character.encode_utf8(&mut buffer).as_bytes());
            if let Some(before) = previous_wide {
                let mut pair = String::with_capacity(8);
                pair.push(before);
                pair.push(character);
                emit(Token::Whole, pair.as_bytes());
            }
            previous_wide = Some(character);
            continue;
        }
        previous_wide = None;
        if character.is_alphanumeric() && current.len() < MAX_WORD {
            current.extend(character.to_lowercase());
        } else {
            flush(&mut current, emit);
        }
    }
    flush(&mut current, emit);
}

fn is_wide(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{0e00}'..='\u{0e7f}' | '\u{20000}'..='\u{2ffff}')
}

/// Plural, `-ing`, `-ed` and a final `e`: enough for "parse", "parses", "parsed" and "parsing" to meet.
fn stem<'b>(word: &[u8], buffer: &'b mut [u8; MAX_WORD]) -> &'b [u8] {
    let mut length = word.len();
    buffer[..length].copy_from_slice(word);
    let ends = |length: usize, suffix: &[u8]| word[..length].ends_with(suffix);
    if length > 4 && ends(length, b"ies") {
        buffer[length - 3] = b'y';
        return &buffer[..length - 2];
    }
    if length > 3
        && ends(length, b"s")
        && !ends(length, b"ss")
        && !ends(length, b"us")
        && !ends(length, b"is")
    {
        length -= 1;
    }
    let cut = if length > 5 && ends(length, b"ing") {
        3
    } else if length > 4 && ends(length, b"ed") {
        2
    } else {
        0
    };
    if cut > 0 && word[..length - cut].iter().any(|letter| b"aeiouy".contains(letter)) {
        length -= cut;
        let last = word[length - 1];
        // "running", but not "calling".
        if length > 3 && last == word[length - 2] && !b"aeiouls".contains(&last) {
            length -= 1;
        }
    }
    if length > 4 && word[length - 1] == b'e' {
        length -= 1;
    }
    &buffer[..length]
}

#[cfg(test)]
mod tests;
