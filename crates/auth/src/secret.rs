//! Keys and tokens, kept out of logs and messages.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

/// A key or a token. It can be shown in no way but [`Secret::reveal`], and can not be serialised: only a
/// [`Book`](crate::Book) writes secrets down, in the form that a store keeps.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(Arc<str>);

/// So many letters of a key are a part of it wherever they stand.
const LONG: usize = 8;
/// So many are, where the rest is masked.
const SHORT: usize = 4;
/// What programs put in place of what they do not show.
const MASKS: [char; 7] = ['*', '.', '…', '•', 'x', 'X', '_'];
/// What may follow a word without being part of it.
const END: [char; 6] = ['.', ',', ';', ':', '!', '?'];

fn is_gap(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '=' | ',')
}

impl Secret {
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The secret itself, for the header or the form that it is sent in.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes the secret out of a text that someone else wrote: providers quote keys that they refuse, whole or with the
    /// middle left out (`sk-…1234`). Of the latter nothing is left, either: an end of a key helps to find out whose it is.
    pub fn redact(&self, text: String) -> String {
        // Something shorter is no key, and would blot out ordinary words.
        if self.0.len() < 8 {
            return text;
        }
        let text = if text.contains(&*self.0) { text.replace(&*self.0, "***") } else { text };
        let mut clean = String::with_capacity(text.len());
        for piece in text.split_inclusive(is_gap) {
            let word = piece.trim_end_matches(is_gap);
            let (mut bare, after) = (word.trim_end_matches(END), &piece[word.len()..]);
            if bare.is_empty() {
                bare = word;
            }
            match self.is_quoted_by(bare) || self.is_quoted_by(word) {
                true => clean.push_str("***"),
                false => clean.push_str(bare),
            }
            clean.push_str(&word[bare.len()..]);
            clean.push_str(after);
        }
        clean
    }

    /// Whether a word shows a part of it: a long one, or both ends with something in place of the middle.
    fn is_quoted_by(&self, word: &str) -> bool {
        let same = |pairs: &mut dyn Iterator<Item = (char, char)>| pairs.take_while(|(a, b)| a == b).count();
        let start = same(&mut self.0.chars().zip(word.chars()));
        let end = same(&mut self.0.chars().rev().zip(word.chars().rev()));
        let all = word.chars().count();
        // With eight letters and no more of it the word may be the usual beginning of such keys: that goes, too.
        if start >= LONG || end >= LONG {
            return true;
        }
        let rest: Vec<char> = word.chars().skip(start).take(all.saturating_sub(start + end)).collect();
        let masked = !rest.is_empty() && rest.iter().all(|c| MASKS.contains(c));
        masked && start + end >= SHORT
    }

    /// Nothing but blanks, as in a variable that is set to nothing.
    pub(crate) fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests;
