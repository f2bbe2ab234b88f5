//! `tool(pattern)`, as people write it.

use std::fmt;
use std::str::FromStr;

/// One rule: `shell(cargo test *)`, `edit(src/**)`, `web_fetch(docs.example.org)`, `mcp__github__*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    pub(super) tool: String,
    pub(super) pattern: Option<Pattern>,
}

/// What is between the brackets, both ways of reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// For commands: words, of which unquoted stars match.
    pub(super) words: Vec<PatternWord>,
    /// For paths and hosts: all of it.
    pub(super) whole: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PatternWord {
    pub(super) text: String,
    /// Stars in it are only stars.
    pub(super) literal: bool,
}

/// Why a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a rule: {problem}")]
pub struct RuleError {
    pub text: String,
    pub problem: &'static str,
}

impl RuleError {
    pub fn hint(&self) -> String {
        "write it as `tool(pattern)`, such as `shell(cargo test *)`, `edit(src/**)` or `web_fetch(docs.rs)`"
            .into()
    }
}

impl Rule {
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How much of it is spelled out: the more, the more it is meant for just this.
    pub(super) fn specificity(&self) -> usize {
        let letters = |text: &str| text.chars().filter(|c| !matches!(c, '*' | '?')).count();
        let pattern = self.pattern.as_ref().map_or(0, |pattern| letters(&pattern.whole));
        // Any pattern is more specific than any tool name without one.
        pattern * 1000 + letters(&self.tool).min(999)
    }

    /// The rule that allows exactly this command.
    pub(crate) fn for_command(argv: &[String]) -> String {
        format!("shell({})", argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+^~#!&".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let wrong = |problem| RuleError { text: text.to_owned(), problem };
        let (tool, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| wrong("the closing bracket is missing"))?;
                (tool, Some(inner.trim()))
            }
        };
        if tool.is_empty() {
            return Err(wrong("the tool's name is missing"));
        }
        if !tool.chars().all(|c| c.is_alphanumeric() || "_-.*?:/".contains(c)) {
            return Err(wrong("a tool's name has letters, digits, `_`, `-` and stars"));
        }
        let pattern = match pattern {
            None | Some("*" | "**") => None,
            Some("") => return Err(wrong("there is nothing between the brackets")),
            Some(inner) => Some(Pattern {
                words: words(inner).ok_or_else(|| wrong("a quote is not closed"))?,
                whole: inner.to_owned(),
            }),
        };
        Ok(Self { text: text.to_owned(), tool: tool.to_owned(), pattern })
    }
}

/// Splits as a shell would, as far as quotes go.
fn words(text: &str) -> Option<Vec<PatternWord>> {
    let mut found = Vec::new();
    let mut word: Option<PatternWord> = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            ' ' | '\t' | '\n' => found.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert(PatternWord { text: String::new(), literal: false });
                word.literal = true;
                loop {
                    match characters.next()? {
                        end if end == c => break,
                        inner => word.text.push(inner),
                    }
                }
            }
            '\\' => {
                let word = word.get_or_insert(PatternWord { text: String::new(), literal: false });
                word.literal = true;
                word.text.push(characters.next()?);
            }
            c => word.get_or_insert(PatternWord { text: String::new(), literal: false }).text.push(c),
        }
    }
    found.extend(word);
    Some(found)
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
