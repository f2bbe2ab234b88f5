//! Shell text, read as a shell reads it.
//!
//! [`parse`] turns text into a [`Script`]: commands with their words still in pieces. Nothing is guessed: what the
//! grammar here does not know is a [`ParseError`], and whoever judges treats that as danger.

mod braces;
mod characters;
mod commands;
mod expand;
mod syntax;
mod syntax_walk;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use characters::unescape;
pub(crate) use expand::{Arg, Value, Variables};
pub(crate) use syntax::{
    Assignment, Change, Command, Direction, ParseError, Piece, Redirect, Script, Simple, Target, Word,
};

/// Reads a whole text.
pub(crate) fn parse(text: &str) -> Result<Script, ParseError> {
    commands::Parser::new(text).script()
}
