//! Ids of calls, as the wire that they are sent on wants them.
//!
//! A history may come from several providers, and each makes ids in its own way or not at all. What one refuses is
//! mapped, always to the same, so that a request stays the beginning of the next.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::message::Dialect;
use crate::random::random;
use crate::{Block, Message, Request, Role, ToolResult};

/// What a wire accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdRule {
    Any,
    /// Letters, digits, `_` and `-`, at most 64.
    Safe,
    /// Exactly nine letters and digits: Mistral.
    Nine,
}

impl IdRule {
    fn accepts(self, id: &str) -> bool {
        let safe = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
        match self {
            Self::Any => !id.is_empty(),
            Self::Safe => (1..=64).contains(&id.len()) && id.bytes().all(safe),
            Self::Nine => id.len() == 9 && id.bytes().all(|c| c.is_ascii_alphanumeric()),
        }
    }

    fn fit(self, id: &str) -> Cow<'_, str> {
        if self.accepts(id) { Cow::Borrowed(id) } else { Cow::Owned(self.make(id, 0)) }
    }

    /// An id that follows from another and a number.
    fn make(self, id: &str, number: u32) -> String {
        let mut hash = fnv(id.bytes().chain(number.to_le_bytes()));
        if self != Self::Nine {
            return format!("call_{hash:016x}");
        }
        let letters = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let nine = (0..9).map(|_| {
            let letter = letters[(hash % 62) as usize];
            hash /= 62;
            char::from(letter)
        });
        nine.collect()
    }
}

/// FNV-1a: the same on every machine and in every version, which the standard library's hashes need not be.
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The calls of the answer that is being written, or whose results are.
#[derive(Debug, Default)]
pub(crate) struct Calls<'a> {
    calls: Vec<NamedCall<'a>>,
    /// Whether each id follows from the call alone, and not from what else is in the history.
    plain: bool,
}

#[derive(Debug)]
struct NamedCall<'a> {
    original: &'a str,
    id: Cow<'a, str>,
    name: &'a str,
}

impl<'a> Calls<'a> {
    fn of(message: &'a Message, rule: IdRule, seen: &mut HashSet<Cow<'a, str>>) -> Self {
        let mut plain = true;
        let calls = message.calls().map(|call| {
            let mut id = rule.fit(&call.id);
            let mut number = 0;
            while !seen.insert(id.clone()) {
                plain = false;
                number += 1;
                id = Cow::Owned(rule.make(&call.id, number));
            }
            NamedCall { original: &call.id, id, name: &call.name }
        });
        Self { calls: calls.collect(), plain }
    }

    /// The id of the call at this place in its answer.
    pub(crate) fn id(&self, place: usize) -> &str {
        self.calls.get(place).map_or("", |call| &call.id)
    }

    /// The results in a message, each with the id and the name of its call.
    pub(crate) fn results<'m>(&'m self, message: &'m Message) -> Vec<(&'m ToolResult, &'m str, &'m str)> {
        let mut used = vec![false; self.calls.len()];
        let results = message.blocks().iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        });
        let named = results.map(|result| {
            let places = self.calls.iter().enumerate();
            let found = places
                .filter(|(place, call)| !used[*place] && call.original == result.call)
                .map(|(place, _)| place)
                .next();
            match found {
                Some(place) => {
                    used[place] = true;
                    (result, &*self.calls[place].id, self.calls[place].name)
                }
                None => (result, result.call.as_str(), "unknown"),
            }
        });
        named.collect()
    }
}

/// The pieces of all messages of a request, in order. Empty ones say nothing.
pub(crate) fn pieces<'a>(
    request: &'a Request,
    dialect: Dialect,
    origin: &str,
    rule: IdRule,
    make: impl Fn(&Message, &Calls<'_>) -> String,
) -> Vec<(Role, Cow<'a, str>)> {
    let mut seen = HashSet::new();
    let mut calls = Calls::default();
    let pieces = request.messages.iter().map(|message| {
        if message.role() == Role::Assistant {
            calls = Calls::of(message, rule, &mut seen);
        }
        let piece = if message.role() == Role::User || calls.plain {
            message.piece(dialect, origin, |message| make(message, &calls))
        } else {
            Cow::Owned(make(message, &calls))
        };
        (message.role(), piece)
    });
    pieces.collect()
}

/// Ids for the calls of an answer: the server's if no other call has it, else one of ours. Random, because a history
/// may hold many answers of a server that sends none.
#[derive(Debug, Default)]
pub(crate) struct Fresh(Vec<String>);

impl Fresh {
    pub(crate) fn id(&mut self, wire: &str) -> String {
        let taken = wire.is_empty() || self.0.iter().any(|id| id == wire);
        let id = if taken { format!("call_{:016x}", random()) } else { wire.to_owned() };
        self.0.push(id.clone());
        id
    }

    /// Whether there was a call.
    pub(crate) fn any(&self) -> bool {
        !self.0.is_empty()
    }
}

#[cfg(test)]
mod tests;
