//! A list to choose from, narrowed by typing.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::permission::edit;
use crate::composer::Buffer;
use crate::keys::{Code, Key};
use crate::text::{Ground, Ink, Line, Style, fit, plain_line};

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Choice {
    /// What is chosen: an id, a path.
    pub(crate) value: String,
    pub(crate) label: String,
    /// In the right margin.
    pub(crate) detail: String,
    /// Rows that are shown for the one that is selected.
    pub(crate) preview: Vec<String>,
    /// The words that were found in what is behind it.
    pub(crate) hit: Option<String>,
    /// Cannot be chosen, and why.
    pub(crate) refused: Option<String>,
}

impl Choice {
    pub(crate) fn new(value: impl Into<String>, label: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into(), detail: detail.into(), ..Self::default() }
    }
}

/// What became of a key.
#[derive(Debug, PartialEq)]
pub(crate) enum Picked {
    Waits,
    /// Another one is selected, or the words changed.
    Moved,
    Value(String),
    /// A key with a meaning of its own in this list, and what is selected.
    Other(Key, String),
    Closed,
}

pub(crate) struct Picker {
    title: String,
    choices: Vec<Choice>,
    found: Vec<usize>,
    pub(crate) words: Buffer,
    selected: usize,
    /// The first one that is shown.
    top: usize,
    hint: String,
    /// The words that were looked for elsewhere, too.
    pub(crate) searched: String,
}

impl Picker {
    pub(crate) fn new(title: impl Into<String>, choices: Vec<Choice>) -> Self {
        let found = (0..choices.len()).collect();
        Self {
            title: title.into(),
            choices,
            found,
            words: Buffer::default(),
            selected: 0,
            top: 0,
            hint: String::new(),
            searched: String::new(),
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    pub(crate) fn select(mut self, value: &str) -> Self {
        self.selected = self.choices.iter().position(|choice| choice.value == value).unwrap_or(0);
        self
    }

    pub(crate) fn search(mut self, words: &str) -> Self {
        self.words.insert(words);
        self.narrow();
        self
    }

    pub(crate) fn replace(&mut self, choices: Vec<Choice>) {
        self.choices = choices;
        self.narrow();
    }

    pub(crate) fn current(&self) -> Option<&Choice> {
        self.found.get(self.selected).map(|at| &self.choices[*at])
    }

    pub(crate) fn set_preview(&mut self, value: &str, preview: Vec<String>) {
        if let Some(choice) = self.choices.iter_mut().find(|choice| choice.value == value) {
            choice.preview = preview;
        }
    }

    /// One whose content has the words that are searched for; `preview` is where.
    pub(crate) fn add_hit(&mut self, words: &str, choice: Choice, preview: Vec<String>) {
        let known = self.choices.iter().position(|known| known.value == choice.value);
        let at = known.unwrap_or_else(|| {
            self.choices.push(choice);
            self.choices.len() - 1
        });
        let (selected, top) = (self.selected, self.top);
        (self.choices[at].hit, self.choices[at].preview) = (Some(words.to_owned()), preview);
        self.narrow();
        (self.selected, self.top) = (selected.min(self.found.len().saturating_sub(1)), top);
    }

    /// By the label first, then those whose content has the words.
    fn narrow(&mut self) {
        let words = self.words.text().trim();
        let mut found = fuzzy(words, self.choices.iter().map(|choice| choice.label.clone()));
        // What stands in the margin has to be named exactly, or every few letters would fit something there.
        let named = |at: &usize| {
            let detail = self.choices[*at].detail.to_lowercase();
            words.to_lowercase().split_whitespace().all(|word| detail.contains(word))
        };
        let named: Vec<usize> =
            (0..self.choices.len()).filter(named).filter(|at| !found.contains(at)).collect();
        found.extend(named);
        let is_hit = |at: &usize| !words.is_empty() && self.choices[*at].hit.as_deref() == Some(words);
        let hits: Vec<usize> =
            (0..self.choices.len()).filter(is_hit).filter(|at| !found.contains(at)).collect();
        found.extend(hits);
        self.found = found;
        (self.selected, self.top) = (0, 0);
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.words.insert(&plain_line(text));
        self.narrow();
    }

    pub(crate) fn key(&mut self, key: Key) -> Picked {
        let count = self.found.len().max(1);
        match (key.code, key.ctrl) {
            (Code::Esc, _) | (Code::Char('c' | 'd' | 'g'), true) => return Picked::Closed,
            (Code::Up, _) | (Code::Char('p'), true) => self.selected = (self.selected + count - 1) % count,
            (Code::Down, _) | (Code::Char('n'), true) => self.selected = (self.selected + 1) % count,
            (Code::PageUp, _) => self.selected = self.selected.saturating_sub(8),
            (Code::PageDown, _) => self.selected = (self.selected + 8).min(count - 1),
            (Code::Enter, false) => {
                return match self.current() {
                    Some(choice) if choice.refused.is_none() => Picked::Value(choice.value.clone()),
                    _ => Picked::Waits,
                };
            }
            (Code::Tab, _) | (Code::Delete, _) | (Code::Char('r' | 'x' | 'o'), true) => {
                return match self.current() {
                    Some(choice) => Picked::Other(key, choice.value.clone()),
                    None => Picked::Waits,
                };
            }
            _ => {
                edit(&mut self.words, key);
                self.narrow();
            }
        }
        Picked::Moved
    }

    /// Rows within `columns` by at most `height`, and the caret.
    pub(crate) fn rows(&mut self, columns: usize, height: usize) -> (Vec<Line>, (usize, usize)) {
        let mut head = Line::of(format!(" {} ", self.title), Style::new(Ink::Accent).bold());
        head.push("› ", Ink::Faint);
        let caret = (0, head.width() + crate::text::width(self.words.text()));
        head.push(self.words.text(), Ink::Text);
        let count = Line::of(format!("{} of {} ", self.found.len(), self.choices.len()), Ink::Faint);
        let mut rows = vec![head.aligned(count, columns)];
        let preview: Vec<String> = self.current().map(|choice| choice.preview.clone()).unwrap_or_default();
        let preview_rows = preview.len().min(height / 3);
        let room = height.saturating_sub(2 + preview_rows + usize::from(preview_rows > 0)).clamp(1, 14);
        self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(room));
        if self.found.is_empty() {
            rows.push(Line::of("   nothing fits", Ink::Faint));
        }
        for (number, at) in self.found.iter().enumerate().skip(self.top).take(room) {
            let choice = &self.choices[*at];
            let here = number == self.selected;
            let mut line = Line::of(if here { " › " } else { "   " }, Ink::Accent);
            let detail = fit(&plain_line(&choice.detail), columns / 2);
            let space = columns.saturating_sub(crate::text::width(&detail) + 6).max(10);
            let style = match (&choice.refused, here) {
                (Some(_), _) => Style::new(Ink::Faint),
                (None, true) => Style::default().bold(),
                (None, false) => Style::default(),
            };
            line.push(fit(&plain_line(&choice.label), space), style);
            let line = line.aligned(Line::of(format!("{detail} "), Ink::Faint), columns);
            rows.push(if here { line.on(Ground::Selected, columns) } else { line });
        }
        if preview_rows > 0 {
            rows.push(Line::of(" ".to_owned() + &"─".repeat(columns.saturating_sub(2)), Ink::Line));
            let skip = preview.len() - preview_rows;
            rows.extend(preview.iter().skip(skip).map(|text| {
                Line::of(format!("   {}", fit(&plain_line(text), columns.saturating_sub(4))), Ink::Soft)
            }));
        }
        let refused = self.current().and_then(|choice| choice.refused.clone());
        let hint = refused.unwrap_or_else(|| match self.hint.is_empty() {
            true => "enter choose · esc back".to_owned(),
            false => format!("enter choose · {} · esc back", self.hint),
        });
        rows.push(Line::of(format!(" {}", fit(&hint, columns.saturating_sub(2))), Ink::Faint));
        (rows, caret)
    }
}

/// Which of `labels` fit `words`, the best first; all of them, in order, without words.
fn fuzzy(words: &str, labels: impl Iterator<Item = String>) -> Vec<usize> {
    if words.trim().is_empty() {
        return labels.enumerate().map(|(at, _)| at).collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(words, CaseMatching::Ignore, Normalization::Smart);
    let mut buffer = Vec::new();
    let mut scored: Vec<(u32, usize)> = labels
        .enumerate()
        .filter_map(|(at, label)| {
            Some((pattern.score(Utf32Str::new(&label, &mut buffer), &mut matcher)?, at))
        })
        .collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().map(|(_, at)| at).collect()
}
