//! Code with holes: `$X` is one piece of code, the same wherever it stands again; `$_` any; `$$$` any number of pieces.

use std::collections::HashMap;

use tree_sitter::{Node, Parser, Tree};

use super::{Language, Match};
use crate::ToolError;

/// A hole is read by the grammar as a name like this.
const HOLE: &str = "covey_hole_";
const MANY: &str = "covey_many_";
/// Comparisons of one place, so that holes that can be filled in many ways do not take for ever.
const MAX_STEPS: usize = 20_000;

#[derive(Debug)]
pub(crate) struct Pattern {
    source: String,
    tree: Tree,
    /// Where in the source the pattern itself is.
    range: std::ops::Range<usize>,
}

impl Pattern {
    pub(crate) fn new(text: &str, language: Language) -> Result<Self, ToolError> {
        let text = with_names(text.trim());
        if text.is_empty() {
            return Err(ToolError("the pattern is empty".to_owned()));
        }
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).map_err(|error| ToolError(error.to_string()))?;
        for around in language.surroundings() {
            let Some(at) = around.find('@') else { continue };
            let source = around.replacen('@', &text, 1);
            let range = at..at + text.len();
            let Some(tree) = parser.parse(&source, None) else { continue };
            let pattern = Self { source, tree, range };
            if !pattern.tree.root_node().has_error() && pattern.root().is_some() {
                return Ok(pattern);
            }
        }
        Err(ToolError(
            "the pattern is not one whole piece of code (an expression, a statement, a definition) in this language"
                .to_owned(),
        ))
    }

    /// The innermost node that is all of the pattern.
    fn root(&self) -> Option<Node<'_>> {
        let node = self.tree.root_node().descendant_for_byte_range(self.range.start, self.range.end)?;
        (node.byte_range() == self.range && node.is_named()).then_some(node)
    }

    pub(super) fn find(&self, tree: &Tree, text: &str) -> Vec<Match> {
        let Some(root) = self.root() else { return vec![] };
        let mut found = Vec::new();
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            if node.kind_id() == root.kind_id() || is_hole(self.text(root)) && node.is_named() {
                let mut matching = Matching { pattern: self, text, holes: HashMap::new(), steps: 0 };
                if matching.fits(root, node) {
                    let mut holes: Vec<(String, String)> = matching
                        .holes
                        .into_iter()
                        .map(|(name, text)| (format!("${name}"), text.to_owned()))
                        .collect();
                    holes.sort();
                    found.push(Match::new(node, text, holes));
                }
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return found;
                }
            }
        }
    }

    fn text(&self, node: Node<'_>) -> &str {
        &self.source[node.byte_range()]
    }
}

/// Comparing the pattern with one place.
struct Matching<'a> {
    pattern: &'a Pattern,
    text: &'a str,
    holes: HashMap<String, &'a str>,
    steps: usize,
}

impl<'a> Matching<'a> {
    fn fits(&mut self, told: Node<'_>, real: Node<'_>) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            return false;
        }
        let words = self.pattern.text(told);
        if is_hole(words) {
            return real.is_named() && self.fill(words.trim_start_matches(HOLE), real);
        }
        if told.kind_id() != real.kind_id() {
            return false;
        }
        if told.child_count() == 0 {
            return words == &self.text[real.byte_range()];
        }
        let (told, real) = (children(told), children(real));
        self.all_fit(&told, &real)
    }

    /// The same name is the same code everywhere.
    fn fill(&mut self, name: &str, real: Node<'_>) -> bool {
        let text: &'a str = &self.text[real.byte_range()];
        name == "_" || *self.holes.entry(name.to_owned()).or_insert(text) == text
    }

    fn all_fit(&mut self, told: &[Node<'_>], real: &[Node<'_>]) -> bool {
        let Some((first, rest)) = told.split_first() else { return real.is_empty() };
        if is_many(self.pattern.text(*first)) {
            // With nothing in its place the comma behind it is nothing, too.
            if let Some((comma, after)) = rest.split_first()
                && !comma.is_named()
                && self.try_fit(after, real)
            {
                return true;
            }
            return (0..=real.len()).any(|taken| self.try_fit(rest, &real[taken..]));
        }
        let Some((next, left)) = real.split_first() else { return false };
        self.fits(*first, *next) && self.all_fit(rest, left)
    }

    /// What a try filled in is forgotten when it fails.
    fn try_fit(&mut self, told: &[Node<'_>], real: &[Node<'_>]) -> bool {
        let before = self.holes.clone();
        let fits = self.steps <= MAX_STEPS && self.all_fit(told, real);
        if !fits {
            self.holes = before;
        }
        fits
    }
}

/// Without comments, which may stand anywhere.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|child| !child.is_extra()).collect()
}

fn is_hole(text: &str) -> bool {
    text.strip_prefix(HOLE).is_some_and(is_name)
}

fn is_many(text: &str) -> bool {
    text.trim_end_matches(';').strip_prefix(MANY).is_some_and(is_name)
}

fn is_name(text: &str) -> bool {
    text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// With names in place of holes.
fn with_names(text: &str) -> String {
    let mut named = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        named.push_str(&rest[..at]);
        rest = &rest[at..];
        let dollars = rest.len() - rest.trim_start_matches('$').len();
        let after = &rest[dollars..];
        let name = &after[..after
            .find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
            .unwrap_or(after.len())];
        match dollars {
            1 if !name.is_empty() => named.push_str(&format!("{HOLE}{name}")),
            3 => named.push_str(&format!("{MANY}{name}")),
            // A dollar of the language itself, as in PHP or a shell.
            _ => named.push_str(&format!("{}{name}", &rest[..dollars])),
        }
        rest = &after[name.len()..];
    }
    named + rest
}
