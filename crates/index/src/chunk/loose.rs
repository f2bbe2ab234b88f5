//! Code that belongs to no symbol: long stretches of it become pieces of their own.

use super::{Chunk, Kind, Level};
use crate::language::Language;

/// Fewer lines than this stay with the file.
const FEW: usize = 6;
/// How long a piece may be.
const WINDOW: usize = 40;

/// Gives long stretches of lines that belong to the file a piece each.
pub(super) fn fill(language: Language, lines: &[&str], owners: &mut [u32], chunks: &mut Vec<Chunk>) {
    let mut at = 0;
    while at < lines.len() {
        if owners[at] != 0 {
            at += 1;
            continue;
        }
        let end = owners[at..].iter().position(|owner| *owner != 0).map_or(lines.len(), |offset| at + offset);
        stretch(language, lines, at, end, owners, chunks);
        at = end;
    }
}

fn stretch(
    language: Language,
    lines: &[&str],
    from: usize,
    to: usize,
    owners: &mut [u32],
    chunks: &mut Vec<Chunk>,
) {
    let mut at = from;
    while at < to {
        // Without the empty lines around it and the imports at its start.
        while at < to && (lines[at].trim().is_empty() || is_preamble(language, lines[at])) {
            at += 1;
        }
        let mut end = (at + WINDOW).min(to);
        if end < to {
            // An empty line in the second half is a better place to cut.
            let gap = (at + WINDOW / 2..end).rev().find(|line| lines[*line].trim().is_empty());
            end = gap.unwrap_or(end);
        }
        let mut last = end;
        while last > at && lines[last - 1].trim().is_empty() {
            last -= 1;
        }
        let full = lines[at..last].iter().filter(|line| !line.trim().is_empty()).count();
        if full >= FEW {
            let number = chunks.len() as u32;
            owners[at..last].fill(number);
            chunks.push(Chunk {
                level: Level::Symbol,
                kind: Kind::Loose,
                name: String::new(),
                signature: String::new(),
                start_line: at as u32 + 1,
                end_line: last as u32,
                parent: None,
            });
        }
        at = end.max(at + 1);
    }
}

fn is_preamble(language: Language, line: &str) -> bool {
    let line = line.trim_start();
    let words: &[&str] = match language {
        Language::Python => &["import ", "from ", "#!", "# -*-"],
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            &["import ", "'use strict'", "\"use strict\""]
        }
        Language::Rust => &["use ", "mod ", "pub mod ", "pub use ", "extern crate "],
        Language::Go | Language::Java | Language::Kotlin | Language::Scala => &["import ", "package "],
        Language::C | Language::Cpp => &["#include", "#pragma"],
        Language::CSharp => &["using "],
        Language::Ruby => &["require"],
        Language::Php => &["use ", "<?php", "namespace "],
        _ => &[],
    };
    words.iter().any(|word| line.starts_with(word))
}
