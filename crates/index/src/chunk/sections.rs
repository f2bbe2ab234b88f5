//! Files without a grammar: prose and settings by section, styles by rule, the rest by windows.

use super::{Kind, Symbol, Symbols};
use crate::language::{Language, prefix};

/// A section shorter than this goes with the one before.
const SHORT: u32 = 3;
const MAX_SECTIONS: usize = 5_000;

pub(super) fn sections(language: Language, lines: &[&str]) -> Symbols {
    let starts = match language {
        Language::Markdown => headings(lines),
        Language::Toml => tables(lines),
        Language::Yaml => keys(lines, |line| !line.starts_with([' ', '\t', '-', '#', '.', '%']), ':'),
        Language::Json => json_keys(lines),
        Language::Css => rules(lines),
        Language::Html => elements(lines),
        // Unknown grammars: what looks like a definition at the margin.
        _ => margins(lines),
    };
    let mut symbols: Vec<Symbol> = Vec::new();
    let last = lines.len() as u32;
    let flat = language != Language::Markdown;
    for (at, (line, depth, name)) in starts.iter().enumerate() {
        let next = starts[at + 1..].iter().find(|(_, other, _)| flat || other <= depth);
        let end = next.map_or(last, |(next, ..)| next - 1);
        if flat
            && end - line + 1 < SHORT
            && symbols.last().is_some_and(|before| before.end + 1 == *line && before.end - before.start < 30)
        {
            if let Some(before) = symbols.last_mut() {
                before.end = end;
            }
            continue;
        }
        symbols.push(Symbol {
            name: name.clone(),
            kind: Kind::Section,
            signature: prefix(lines[*line as usize - 1].trim(), 200).to_owned(),
            start: *line,
            end,
            absolute: false,
        });
    }
    Symbols { symbols, definitions: Vec::new() }
}

type Start = (u32, usize, String);

fn start(at: usize, depth: usize, name: &str) -> Start {
    (at as u32 + 1, depth, prefix(name.trim(), 80).to_owned())
}

fn headings(lines: &[&str]) -> Vec<Start> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        match fence {
            Some(mark) => {
                if trimmed.starts_with(mark) {
                    fence = None;
                }
                continue;
            }
            None if trimmed.starts_with("```") => fence = Some("```"),
            None if trimmed.starts_with("~~~") => fence = Some("~~~"),
            None => {}
        }
        let depth = line.bytes().take_while(|byte| *byte == b'#').count();
        if (1..=6).contains(&depth) && line[depth..].starts_with(' ') {
            found.push(start(at, depth, line[depth..].trim_end_matches('#')));
        } else if at > 0
            && is_underline(line)
            && !lines[at - 1].trim().is_empty()
            && lines[at - 1].len() <= line.len() + 2
        {
            found.push(start(at - 1, if line.starts_with('=') { 1 } else { 2 }, lines[at - 1]));
        }
        if found.len() >= MAX_SECTIONS {
            break;
        }
    }
    found.dedup_by_key(|(line, ..)| *line);
    found
}

/// The line under a title, in Markdown and reStructuredText.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 3 && ["=", "-", "~", "^"].iter().any(|mark| line.trim_start_matches(mark).is_empty())
}

fn tables(lines: &[&str]) -> Vec<Start> {
    let is_table = |line: &&str| line.starts_with('[') && line.trim_end().ends_with(']');
    let found = lines.iter().enumerate().filter(|(_, line)| is_table(line));
    found.take(MAX_SECTIONS).map(|(at, line)| start(at, 1, line.trim().trim_matches(['[', ']']))).collect()
}

/// The keys of the outermost object: those with the least indentation.
fn json_keys(lines: &[&str]) -> Vec<Start> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_key = |line: &str| line.trim_start().starts_with('"');
    let least = lines.iter().filter(|line| is_key(line)).map(|line| indent(line)).min();
    keys(lines, |line| is_key(line) && Some(indent(line)) == least, ':')
}

fn keys(lines: &[&str], is_key: impl Fn(&str) -> bool, mark: char) -> Vec<Start> {
    let found = lines.iter().enumerate().filter_map(|(at, line)| {
        let (key, _) = line.split_once(mark).filter(|_| is_key(line))?;
        Some(start(at, 1, key.trim().trim_matches(['"', '\''])))
    });
    found.take(MAX_SECTIONS).collect()
}

/// Rules at the outermost level, by counting braces.
fn rules(lines: &[&str]) -> Vec<Start> {
    let mut found = Vec::new();
    let mut depth = 0i64;
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim();
        if depth == 0 && !trimmed.is_empty() && !trimmed.starts_with(['}', '/', '*']) {
            let continues = at > 0 && lines[at - 1].trim_end().ends_with(',');
            if !continues && found.len() < MAX_SECTIONS {
                found.push(start(at, 1, trimmed.trim_end_matches(['{', ',', ' '])));
            }
        }
        depth += trimmed.matches('{').count() as i64 - trimmed.matches('}').count() as i64;
        depth = depth.max(0);
    }
    found
}

/// Elements with an id, headings, scripts, templates and styles.
fn elements(lines: &[&str]) -> Vec<Start> {
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let big = [
            "<script",
            "<style",
            "<template",
            "<body",
            "<head",
            "<main",
            "<section",
            "<form",
            "<nav",
            "<h1",
            "<h2",
        ];
        let name = if let Some((_, rest)) = trimmed.split_once(" id=\"").filter(|_| trimmed.starts_with('<'))
        {
            rest.split('"').next().map(|id| format!("#{id}"))
        } else {
            let tag = big.iter().find(|tag| trimmed.starts_with(**tag));
            tag.map(|tag| tag[1..].to_owned())
        };
        if let Some(name) = name.filter(|_| found.len() < MAX_SECTIONS) {
            found.push(start(at, 1, &name));
        }
    }
    found
}

/// Lines at the margin that start with a word and are followed by indented ones, after an empty line or another such block.
fn margins(lines: &[&str]) -> Vec<Start> {
    let mut found: Vec<Start> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let begins = line.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '(' || c == '@');
        let indented =
            lines.get(at + 1).is_some_and(|next| next.starts_with([' ', '\t']) && !next.trim().is_empty());
        if begins && indented && found.len() < MAX_SECTIONS {
            found.push(start(at, 1, &definition_name(line)));
        }
    }
    // A file that is all such lines is a list.
    if found.len() * 3 > lines.len() { Vec::new() } else { found }
}

/// The word that a line defines, if it has the look: the last one before a bracket, or the second.
fn definition_name(line: &str) -> String {
    let head = line.split(['(', '{', '=', ':', '<']).next().unwrap_or(line);
    let word = head.split_whitespace().rfind(|word| word.chars().any(char::is_alphanumeric));
    word.unwrap_or(head).to_owned()
}
