//! Symbols by tree-sitter.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, TreeCursor};

use super::grammar::{Grammar, Rule};
use super::{Definition, Kind, Symbol, Symbols};
use crate::language::{Language, prefix};

/// No file is worth more than this. Then it is cut by lines.
const PATIENCE: Duration = Duration::from_millis(1500);
/// Deeper than this is data.
const MAX_DEPTH: usize = 256;
/// More than any file that people wrote.
const MAX_SYMBOLS: usize = 20_000;

thread_local! {
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// What the grammar finds; nothing if it takes too long.
pub(super) fn symbols(grammar: &Grammar, language: Language, text: &str, lines: &[&str]) -> Option<Symbols> {
    PARSER.with_borrow_mut(|parser| {
        parser.reset();
        parser.set_language(&grammar.language).ok()?;
        let deadline = Instant::now() + PATIENCE;
        let bytes = text.as_bytes();
        let mut late = |_: &tree_sitter::ParseState| {
            if Instant::now() > deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut late);
        let mut read = |offset: usize, _| bytes.get(offset..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options))?;
        let mut finder = Finder { grammar, language, text, lines, found: Symbols::default() };
        finder.walk(&mut tree.walk(), deadline);
        Some(finder.found)
    })
}

struct Finder<'a> {
    grammar: &'a Grammar,
    language: Language,
    text: &'a str,
    lines: &'a [&'a str],
    found: Symbols,
}

impl Finder<'_> {
    /// All nodes in order, without recursion: a file may nest as deep as it likes.
    fn walk(&mut self, cursor: &mut TreeCursor<'_>, deadline: Instant) {
        let mut depth = 0usize;
        let mut visited = 0usize;
        // Where the wrappers that are open start, by depth.
        let mut wrappers: Vec<(usize, u32)> = Vec::new();
        loop {
            let node = cursor.node();
            visited += 1;
            let rule = self.grammar.rule(node.kind_id());
            while wrappers.last().is_some_and(|(at, _)| *at >= depth) {
                wrappers.pop();
            }
            if rule == Some(Rule::Wrapper) {
                wrappers.push((depth, node.start_position().row as u32 + 1));
            } else if let Some(rule) = rule {
                let start = wrappers.iter().map(|(_, line)| *line).min();
                if self.note(rule, node, start) {
                    wrappers.clear();
                }
            }
            let one_line = node.start_position().row == node.end_position().row;
            let deeper = !one_line && depth < MAX_DEPTH && self.found.symbols.len() < MAX_SYMBOLS;
            if visited.is_multiple_of(4096) && Instant::now() > deadline {
                return;
            }
            // What starts and ends on one line holds at most a symbol that a wrapper announced.
            let wraps = one_line && rule == Some(Rule::Wrapper) && depth < MAX_DEPTH;
            if (deeper || wraps) && cursor.goto_first_child() {
                depth += 1;
                continue;
            }
            loop {
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
                depth -= 1;
            }
        }
    }

    /// Notes the node if it is a symbol.
    fn note(&mut self, rule: Rule, node: Node<'_>, wrapper: Option<u32>) -> bool {
        let rows = node.end_position().row - node.start_position().row;
        let kind = match rule {
            Rule::Wrapper => return false,
            Rule::Symbol(kind) => kind,
            Rule::WithBody(kind) if node.child_by_field_name("body").is_some() => kind,
            Rule::WithBody(_) => return false,
            Rule::Value => match value_kind(node) {
                Some(kind) if rows >= 1 || wrapper.is_some() => kind,
                _ => return false,
            },
            Rule::Small(kind) if rows >= 3 => kind,
            Rule::Small(kind) => {
                if let Some(name) = self.name_of(node) {
                    self.define(name, kind, node);
                }
                return false;
            }
        };
        let Some(name) = self.name_of(node) else { return false };
        let own = node.start_position().row as u32 + 1;
        let start = wrapper.unwrap_or(own).min(own);
        let start = self.with_comment(start);
        // Grammars end some nodes at the start of the line after.
        let end = node.end_position();
        let end = if end.column == 0 && end.row > node.start_position().row { end.row } else { end.row + 1 };
        let absolute = kind == Kind::Method && self.language == Language::Go;
        self.found.symbols.push(Symbol {
            name,
            kind,
            signature: self.signature(node),
            start,
            end: (end as u32).max(own),
            absolute,
        });
        true
    }

    fn define(&mut self, name: String, kind: Kind, node: Node<'_>) {
        let line = node.start_position().row as u32 + 1;
        if self.found.definitions.len() < MAX_SYMBOLS {
            self.found.definitions.push(Definition { name, kind, line });
        }
    }

    fn text_of(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    fn name_of(&self, node: Node<'_>) -> Option<String> {
        let field = |name: &str| node.child_by_field_name(name);
        let named = match node.kind() {
            "impl_item" => {
                let of = self.text_of(field("type")?);
                let of = of.split(['<', ' ']).next().unwrap_or(of);
                return Some(match field("trait") {
                    Some(of_trait) => {
                        let of_trait = self.text_of(of_trait);
                        format!("{of} as {}", of_trait.split('<').next().unwrap_or(of_trait))
                    }
                    None => of.to_owned(),
                });
            }
            "method_declaration" if self.language == Language::Go => {
                let receiver = self.text_of(field("receiver")?);
                let of = receiver.rsplit([' ', '(', '*']).find(|word| !word.trim_matches(')').is_empty());
                let of = of.unwrap_or_default().trim_matches(')').split('[').next().unwrap_or_default();
                return Some(format!("{of}.{}", self.text_of(field("name")?)));
            }
            "assignment_expression" => {
                let left = self.text_of(field("left")?);
                let left = left
                    .trim_start_matches("module.")
                    .trim_start_matches("exports.")
                    .replace(".prototype", "");
                return (left.len() < 120 && !left.contains(['\n', '(', '{'])).then_some(left);
            }
            "pair" => self.text_of(field("key")?).trim_matches(['"', '\'', '`']),
            "field_definition" | "public_field_definition" => {
                self.text_of(field("name").or_else(|| field("property"))?)
            }
            "companion_object" => "Companion",
            "init_declaration" => "init",
            "operator_declaration" => "operator",
            _ => match field("name").or_else(|| declared(node)) {
                Some(name) => self.text_of(name),
                None if node.kind() == "namespace_definition" => "(anonymous)",
                None => return None,
            },
        };
        let name = named.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = prefix(&name, 120);
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// From the first word to where the body begins, on one line.
    fn signature(&self, node: Node<'_>) -> String {
        let body = node.child_by_field_name("body").or_else(|| {
            // In `const f = () => {…}` the body is the value's.
            node.child_by_field_name("value")?.child_by_field_name("body")
        });
        let end = body.map_or(node.end_byte(), |body| body.start_byte());
        let text = self
            .text
            .get(node.start_byte()..end.min(node.start_byte() + 600))
            .unwrap_or_else(|| prefix(self.text.get(node.start_byte()..).unwrap_or_default(), 200));
        let text = if body.is_none() { text.lines().next().unwrap_or_default() } else { text };
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let flat = flat.trim_end_matches(['{', ':', ' ', '=']).trim_end();
        prefix(flat, 200).to_owned()
    }

    /// The first line of the comment and the attributes right above a line.
    fn with_comment(&self, start: u32) -> u32 {
        let mut top = start;
        let mut in_block = false;
        while top > 1 {
            let line = self.lines[top as usize - 2].trim();
            let closes = line.ends_with("*/");
            let opens = line.starts_with("/*");
            let marks: &[&str] = match self.language {
                Language::Python | Language::Ruby | Language::Bash => &["#", "@"],
                Language::Rust => &["//", "#[", "#!["],
                Language::Php => &["//", "#", "*"],
                _ => &["//", "*", "@", "["],
            };
            let shebang = top == 2 && line.starts_with("#!");
            let marked = !shebang && marks.iter().any(|mark| line.starts_with(mark));
            if in_block || closes || opens || marked {
                in_block = (in_block || closes) && !opens;
                top -= 1;
            } else {
                break;
            }
            // A block that never opens is not a comment.
            if start - top > 200 {
                return start;
            }
        }
        if in_block { start } else { top }
    }
}

/// The name inside a C declarator: pointers, arrays and parameter lists are peeled off.
fn declared(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    for _ in 0..12 {
        match at.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_name"
            | "operator_cast" => return Some(at),
            _ => at = at.child_by_field_name("declarator").or_else(|| at.named_child(0))?,
        }
    }
    None
}

/// What a variable, field or property holds, if that is a function or a class.
fn value_kind(node: Node<'_>) -> Option<Kind> {
    let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("right"))?;
    match value.kind() {
        "arrow_function" | "function_expression" | "function" | "generator_function" => Some(Kind::Function),
        "class" => Some(Kind::Class),
        // A wrapped function: `const f = memo(() => …)`; a table of several lines: `const defaults = {…}`.
        "call_expression" | "object" | "new_expression" | "array"
            if value.end_position().row - value.start_position().row >= 4
                && node.kind() == "variable_declarator" =>
        {
            Some(Kind::Constant)
        }
        _ => None,
    }
}
