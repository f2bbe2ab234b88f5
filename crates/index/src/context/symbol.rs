//! Where a name is defined, and who uses it.

use super::short_name;
use crate::chunk::{Kind, Level};
use crate::search::Searcher;
use crate::store::View;
use crate::tokens::{Token, hash, tokens};

/// A place in the code.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    pub file: String,
    pub line: u32,
    /// Where a definition ends; the line itself for anything else.
    pub end_line: u32,
    /// For a definition its signature, else the line itself.
    pub text: String,
    /// For a definition its full name, else the symbol that the line is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
}

/// What is known of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct SymbolReport {
    pub definitions: Vec<Place>,
    /// Lines that use the name; by its letters, so another thing of the same name is among them.
    pub callers: Vec<Place>,
}

impl Searcher {
    /// Definitions of `name` (`apply`, `Cart.apply`, `Cart::apply`) and lines that use it, at most `limit` of each.
    pub fn symbol(&self, name: &str, limit: usize) -> SymbolReport {
        let state = self.state();
        let view = &state.view;
        let short = short_name(name.trim()).trim_end_matches("()").to_owned();
        let mut report = SymbolReport::default();
        if short.is_empty() {
            return report;
        }
        let qualified = |text: &str| text.replace("::", ".").replace('#', ".");
        let wanted = qualified(name.trim().trim_end_matches("()"));
        let mut lines = std::collections::HashSet::new();
        for file in (0..view.file_end()).filter(|file| view.is_live(*file)) {
            let row = view.file(file);
            for chunk in row.first_chunk..row.first_chunk + row.chunk_count {
                let symbol = view.chunk(chunk);
                let fits = symbol.level == Level::Symbol
                    && symbol.kind != Kind::Section
                    && short_name(symbol.name) == short
                    && (wanted == short || qualified(symbol.name).ends_with(&wanted));
                if fits {
                    report.definitions.push(Place {
                        file: row.path.to_owned(),
                        line: symbol.start_line,
                        end_line: symbol.end_line,
                        text: symbol.signature.to_owned(),
                        symbol: Some(symbol.name.to_owned()),
                    });
                }
            }
            for (line, kind, defined) in row.definitions().filter(|(_, _, defined)| *defined == short) {
                let (text, symbol) = (format!("{} {defined}", kind.word()), Some(defined.to_owned()));
                report.definitions.push(Place {
                    file: row.path.to_owned(),
                    line,
                    end_line: line,
                    text,
                    symbol,
                });
                lines.insert((row.path.to_owned(), line));
            }
        }
        // Code before tests, and the shortest name, which is nearest to what was asked.
        report.definitions.sort_by_key(|place| {
            let tests = crate::rules::Part::of(&place.file) != crate::rules::Part::Code;
            (tests, place.symbol.as_ref().map_or(0, String::len), place.file.clone(), place.line)
        });
        report.definitions.truncate(limit);
        self.callers(&state.view, &short, &report.definitions.clone(), limit, &mut report.callers);
        report.callers.retain(|place| !lines.contains(&(place.file.clone(), place.line)));
        report
    }

    /// Definitions whose name begins like this, then those that have it within; whatever the case of its letters.
    pub fn named_like(&self, beginning: &str, limit: usize) -> Vec<Place> {
        let state = self.state();
        let view = &state.view;
        let wanted = beginning.replace("::", ".").to_lowercase();
        let mut found = Vec::new();
        for file in (0..view.file_end()).filter(|file| view.is_live(*file)) {
            let row = view.file(file);
            let tests = crate::rules::Part::of(row.path) != crate::rules::Part::Code;
            for chunk in row.first_chunk..row.first_chunk + row.chunk_count {
                let symbol = view.chunk(chunk);
                if symbol.level != Level::Symbol || symbol.kind == Kind::Section {
                    continue;
                }
                let name = symbol.name.replace("::", ".").replace('#', ".").to_lowercase();
                let short = short_name(&name);
                let rank = match short.starts_with(&wanted) || name.starts_with(&wanted) {
                    true => usize::from(short != wanted),
                    false if name.contains(&wanted) => 2,
                    false => continue,
                };
                let place = Place {
                    file: row.path.to_owned(),
                    line: symbol.start_line,
                    end_line: symbol.end_line,
                    text: symbol.signature.to_owned(),
                    symbol: Some(symbol.name.to_owned()),
                };
                found.push(((rank, tests, name.len()), place));
            }
        }
        found.sort_by(|(a, one), (b, other)| (a, &one.file, one.line).cmp(&(b, &other.file, other.line)));
        found.dedup_by(|(_, later), (_, earlier)| later.symbol == earlier.symbol);
        found.truncate(limit);
        found.into_iter().map(|(_, place)| place).collect()
    }

    fn callers(
        &self,
        view: &dyn View,
        name: &str,
        definitions: &[Place],
        limit: usize,
        out: &mut Vec<Place>,
    ) {
        let mut term = None;
        tokens(name, |kind, token| {
            if kind == Token::Whole || term.is_none() {
                term = Some(hash(token));
            }
        });
        let Some(term) = term else { return };
        let mut chunks: Vec<u32> = Vec::new();
        view.postings(term, false, &mut |posting| {
            if posting.body > 0 {
                chunks.push(posting.at);
            }
        });
        // Reading files is what costs; those that define it or are code come first.
        chunks.sort_by_key(|chunk| (view.file(view.chunk(*chunk).file).part.byte(), *chunk));
        let mut current: Option<(u32, String)> = None;
        for chunk in chunks {
            if out.len() >= limit {
                return;
            }
            let row = view.chunk(chunk);
            let path = view.file(row.file).path;
            if current.as_ref().is_none_or(|(file, _)| *file != row.file) {
                let Some(text) = self.text(path) else { continue };
                current = Some((row.file, text));
            }
            let Some((_, text)) = &current else { continue };
            let skip = (row.start_line as usize).saturating_sub(1);
            for (at, line) in text.lines().enumerate().skip(skip).take(row.end_line as usize - skip) {
                let number = at as u32 + 1;
                let known = |place: &Place| place.file == path && place.line == number;
                let defines = definitions
                    .iter()
                    .any(|place| place.file == path && line.contains(&place.text) && !place.text.is_empty());
                if has_word(line, name) && !defines && !out.iter().any(known) && out.len() < limit {
                    let symbol = (!row.name.is_empty()).then(|| row.name.to_owned());
                    let text = crate::language::prefix(line.trim(), 200).to_owned();
                    out.push(Place { file: path.to_owned(), line: number, end_line: number, text, symbol });
                }
            }
        }
    }
}

/// Whether a name stands in a line by itself.
fn has_word(line: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name)
        .any(|(at, _)| !line[..at].ends_with(is_word) && !line[at + name.len()..].starts_with(is_word))
}
