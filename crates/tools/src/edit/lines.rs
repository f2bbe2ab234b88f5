//! A text as lines, and what two lines have in common.

use std::collections::HashMap;
use std::ops::Range;

pub(super) struct Lines<'a> {
    pub(super) text: &'a str,
    /// Without their ends.
    pub(super) all: Vec<&'a str>,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut starts = Vec::new();
        let mut all = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            starts.push(at);
            all.push(line.strip_suffix('\n').unwrap_or(line));
            at += line.len();
        }
        Self { text, all, starts }
    }

    /// Where a line starts; for the one after the last, the end of the text.
    pub(super) fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// Some lines with the end of the last one.
    pub(super) fn range(&self, lines: Range<usize>) -> Range<usize> {
        self.start(lines.start)..self.start(lines.end)
    }

    /// Some lines, numbered, for an answer.
    pub(super) fn numbered(&self, lines: Range<usize>) -> String {
        let lines = lines.start..lines.end.min(self.all.len());
        lines.map(|at| format!("{}\t{}\n", at + 1, crate::report::cut(self.all[at]))).collect()
    }
}

pub(super) fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// What a line says, whatever typographer it went through: models spell quotes and dashes as they like.
pub(crate) fn essence(line: &str) -> String {
    let fold = |character| match character {
        '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    };
    let mut text = String::with_capacity(line.len());
    for character in line.trim().chars().map(fold) {
        // A run of white space inside counts as one.
        if !character.is_whitespace() {
            text.push(character);
        } else if !text.ends_with(' ') {
            text.push(' ');
        }
    }
    text
}

/// How the indents of what a model wrote become those of the file.
#[derive(Default)]
pub(crate) struct Indents(HashMap<String, String>);

impl Indents {
    /// Learns from a pair of lines; false when they contradict what is known.
    pub(crate) fn learn(&mut self, told: &str, real: &str) -> bool {
        if told.trim().is_empty() {
            return true;
        }
        let real = indent(real);
        self.0.entry(indent(told).to_owned()).or_insert_with(|| real.to_owned()) == real
    }

    /// A line as it would stand in the file.
    pub(crate) fn fit(&self, line: &str) -> String {
        let told = indent(line);
        let rest = &line[told.len()..];
        if rest.is_empty() {
            return line.to_owned();
        }
        if let Some(real) = self.0.get(told) {
            return format!("{real}{rest}");
        }
        // Deeper than any known one: as much deeper in the file.
        let known = self.0.iter().filter(|(known, _)| told.starts_with(known.as_str()));
        match known.max_by_key(|(known, _)| known.len()) {
            Some((known, real)) => format!("{real}{}{rest}", &told[known.len()..]),
            None => line.to_owned(),
        }
    }
}
