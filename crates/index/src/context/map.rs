//! A ranked outline of a project within a budget.

use super::{short_name, tokens_of};
use crate::chunk::{Kind, Level};
use crate::rules::Part;
use crate::search::Searcher;
use crate::store::View;
use crate::tokens::{Token, hash, tokens};

/// How many symbols are looked at; the rest of a very large project is ranked by its files alone.
const MAX_SYMBOLS: usize = 40_000;

/// A file's score, its number, and its symbols with how often each is referred to.
type Ranked = (f32, u32, Vec<(f32, u32)>);

/// An outline for a model to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoMap {
    pub text: String,
    /// How many files are in it, of how many.
    pub files: usize,
    pub of: usize,
}

impl Searcher {
    /// The files that others refer to most, with their most referred symbols, within about `budget` tokens. Files named in
    /// `focus` come first.
    pub fn repo_map(&self, budget: usize, focus: &[String]) -> RepoMap {
        let state = self.state();
        let view = &state.view;
        let mut ranked: Vec<Ranked> = Vec::new();
        let mut looked_at = 0;
        for file in (0..view.file_end()).filter(|file| view.is_live(*file)) {
            let row = view.file(file);
            let weight = match row.part {
                Part::Code => 1.0,
                Part::Settings => 0.2,
                Part::Example => 0.3,
                Part::Test | Part::Docs | Part::History => 0.1,
            };
            let mut symbols = Vec::new();
            for chunk in row.first_chunk..row.first_chunk + row.chunk_count {
                let symbol = view.chunk(chunk);
                if symbol.level == Level::Symbol && !symbol.name.is_empty() && looked_at < MAX_SYMBOLS {
                    looked_at += 1;
                    symbols.push((references(view, file, short_name(symbol.name)), chunk));
                }
            }
            let sum: f32 = symbols.iter().map(|(count, _)| (1.0 + count).ln()).sum();
            let focused = focus.iter().any(|path| path == row.path);
            // A long file has many symbols; that alone does not make it important.
            let score = weight * sum / (1.0 + symbols.len() as f32).sqrt() + if focused { 1e6 } else { 0.0 };
            symbols.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            ranked.push((score, file, symbols));
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(view.file(a.1).path.cmp(view.file(b.1).path)));
        let of = ranked.len();
        let mut text = String::new();
        let mut files = 0;
        for (_, file, symbols) in ranked {
            let part = outline_of(view, file, &symbols);
            if tokens_of(&text) + tokens_of(&part) > budget {
                // A smaller one may still fit, but the order would mislead.
                break;
            }
            text.push_str(&part);
            files += 1;
        }
        RepoMap { text, files, of }
    }
}

/// How many pieces outside of a file have a name.
fn references(view: &dyn View, file: u32, name: &str) -> f32 {
    let mut wanted = None;
    // The whole identifier where it has several words, else the only word.
    tokens(name, |kind, token| {
        if kind == Token::Whole || wanted.is_none() {
            wanted = Some(hash(token));
        }
    });
    // A short word is used for many things.
    let Some(wanted) = wanted.filter(|_| name.len() > 3) else { return 0.0 };
    let range = view.file(file);
    let own = range.first_chunk..range.first_chunk + range.chunk_count;
    let mut count = 0;
    view.postings(wanted, false, &mut |posting| count += u32::from(!own.contains(&posting.at)));
    count.min(200) as f32
}

fn outline_of(view: &dyn View, file: u32, symbols: &[(f32, u32)]) -> String {
    const MOST: usize = 12;
    let mut out = format!("{}\n", view.file(file).path.replace('\n', "\u{fffd}"));
    let mut chosen: Vec<u32> = symbols.iter().take(MOST).map(|(_, chunk)| *chunk).collect();
    chosen.sort_unstable();
    for chunk in chosen {
        let row = view.chunk(chunk);
        let shown =
            if row.signature.is_empty() || row.kind == Kind::Section { row.name } else { row.signature };
        let indent = if row.parent.is_some() { "    " } else { "  " };
        out.push_str(&format!("{indent}{}: {}\n", row.start_line, crate::language::prefix(shown, 120)));
    }
    if symbols.len() > MOST {
        out.push_str(&format!("  … {} more\n", symbols.len() - MOST));
    }
    out
}
