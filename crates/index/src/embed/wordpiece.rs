//! The tokeniser of BERT: words, cut into the longest pieces that the vocabulary has.

use std::collections::HashMap;

const UNKNOWN: &str = "[UNK]";
/// Longer words are unknown, as in the original.
const MAX_WORD: usize = 100;

pub(super) struct WordPiece {
    vocabulary: HashMap<String, u32>,
    unknown: u32,
    first: u32,
    last: u32,
}

impl WordPiece {
    /// One piece a line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let pieces = text.lines().enumerate();
        let vocabulary: HashMap<String, u32> =
            pieces.map(|(id, piece)| (piece.to_owned(), id as u32)).collect();
        let find = |name: &str| {
            vocabulary.get(name).copied().ok_or_else(|| format!("the vocabulary has no `{name}`"))
        };
        Ok(Self { unknown: find(UNKNOWN)?, first: find("[CLS]")?, last: find("[SEP]")?, vocabulary })
    }

    pub(super) fn len(&self) -> usize {
        self.vocabulary.len()
    }

    /// The ids of a text, at most `limit` with the marks around it.
    pub(super) fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = vec![self.first];
        let room = limit - 1;
        let mut word = String::new();
        let mut before = ' ';
        for character in text.chars() {
            if ids.len() >= room {
                break;
            }
            // camelCase is two words.
            if character.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
                self.flush(&mut word, &mut ids);
            }
            before = character;
            if character == '\0' || character == '\u{fffd}' || is_control(character) {
                continue;
            }
            if character.is_whitespace() {
                self.flush(&mut word, &mut ids);
            } else if is_punctuation(character) || is_ideograph(character) {
                self.flush(&mut word, &mut ids);
                word.push(character);
                self.flush(&mut word, &mut ids);
            } else if character.is_ascii() {
                word.push(character.to_ascii_lowercase());
            } else {
                word.extend(character.to_lowercase().filter_map(without_accent));
            }
        }
        self.flush(&mut word, &mut ids);
        ids.truncate(room);
        ids.push(self.last);
        ids
    }

    /// Cuts the word into pieces and forgets it.
    fn flush(&self, word: &mut String, ids: &mut Vec<u32>) {
        if word.is_empty() {
            return;
        }
        let before = ids.len();
        if word.chars().count() > MAX_WORD {
            ids.push(self.unknown);
            word.clear();
            return;
        }
        let mut start = 0;
        let mut piece = String::with_capacity(word.len() + 2);
        'word: while start < word.len() {
            let mut end = word.len();
            while end > start {
                piece.clear();
                if start > 0 {
                    piece.push_str("##");
                }
                piece.push_str(&word[start..end]);
                if let Some(id) = self.vocabulary.get(&piece) {
                    ids.push(*id);
                    start = end;
                    continue 'word;
                }
                end = word[..end].char_indices().next_back().map_or(start, |(at, _)| at);
            }
            ids.truncate(before);
            ids.push(self.unknown);
            break;
        }
        word.clear();
    }
}

fn is_control(character: char) -> bool {
    (character.is_control() && !matches!(character, '\t' | '\n' | '\r'))
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}')
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(character, '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}' | '\u{f900}'..='\u{faff}')
}

/// The letter under an accent, for the accents of European languages; combining marks vanish.
fn without_accent(character: char) -> Option<char> {
    const PLAIN: &[(&str, char)] = &[
        ("àáâãäåāăą", 'a'),
        ("çćĉċč", 'c'),
        ("ďđ", 'd'),
        ("èéêëēĕėęě", 'e'),
        ("ĝğġģ", 'g'),
        ("ĥ", 'h'),
        ("ìíîïĩīĭį", 'i'),
        ("ĵ", 'j'),
        ("ķ", 'k'),
        ("ĺļľ", 'l'),
        ("ñńņň", 'n'),
        ("òóôõöōŏő", 'o'),
        ("ŕŗř", 'r'),
        ("śŝşš", 's'),
        ("ţť", 't'),
        ("ùúûüũūŭůűų", 'u'),
        ("ŵ", 'w'),
        ("ýÿŷ", 'y'),
        ("źżž", 'z'),
    ];
    if matches!(character, '\u{300}'..='\u{36f}') {
        return None;
    }
    let plain = PLAIN.iter().find(|(accented, _)| accented.contains(character));
    Some(plain.map_or(character, |(_, plain)| *plain))
}
