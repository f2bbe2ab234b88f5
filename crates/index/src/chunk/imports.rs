//! What a file imports, by the look of its lines: exact enough to find neighbours.

use crate::language::Language;

const MAX: usize = 200;

pub(super) fn imports(language: Language, lines: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_go_block = false;
    for line in lines.iter().take(5_000) {
        if found.len() >= MAX {
            break;
        }
        let line = line.trim();
        // Nearly all lines end here.
        let Some(first) = line.bytes().next() else { continue };
        match language {
            Language::Go => {
                if line.starts_with("import (") {
                    in_go_block = true;
                } else if in_go_block && first == b')' {
                    in_go_block = false;
                } else if (in_go_block || line.starts_with("import "))
                    && let Some(path) = quoted(line)
                {
                    found.push(path.to_owned());
                }
            }
            Language::Python => {
                if let Some(rest) = line.strip_prefix("from ")
                    && let Some((module, _)) = rest.split_once(" import")
                {
                    found.push(module.trim().to_owned());
                } else if let Some(rest) = line.strip_prefix("import ") {
                    let names = rest.split(',').filter_map(|name| name.split_whitespace().next());
                    found.extend(names.map(str::to_owned));
                }
            }
            Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Html => {
                let imports =
                    line.starts_with("import ") || line.starts_with("export ") || line.starts_with('}');
                let path = if imports && line.contains("from ") {
                    line.rsplit_once("from ").and_then(|(_, rest)| quoted(rest))
                } else if line.starts_with("import ") {
                    quoted(line)
                } else {
                    line.split_once("require(").and_then(|(_, rest)| quoted(rest))
                };
                found.extend(path.map(str::to_owned));
            }
            Language::Rust => {
                let line =
                    line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
                if let Some(rest) = line.strip_prefix("use ") {
                    found.push(rest.trim_end_matches([';', '{', ' ']).trim_end_matches("::").to_owned());
                } else if let Some(name) = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
                    found.push(format!("self::{name}"));
                }
            }
            Language::C | Language::Cpp => {
                if let Some(rest) = line.strip_prefix("#include") {
                    let path = rest.trim().trim_matches(['"', '<', '>']);
                    found.push(path.split(['"', '>']).next().unwrap_or(path).to_owned());
                }
            }
            Language::Java | Language::Kotlin | Language::Scala | Language::Swift => {
                if let Some(rest) = line.strip_prefix("import ") {
                    found.push(rest.trim_start_matches("static ").trim_end_matches(';').trim().to_owned());
                }
            }
            Language::CSharp | Language::Php => {
                if let Some(rest) = line.strip_prefix("using ").or_else(|| line.strip_prefix("use "))
                    && line.ends_with(';')
                {
                    found.push(rest.trim_end_matches(';').trim().to_owned());
                }
            }
            Language::Ruby => {
                if line.starts_with("require")
                    && let Some(path) = quoted(line)
                {
                    found.push(path.to_owned());
                }
            }
            Language::Bash => {
                if let Some(rest) = line.strip_prefix("source ").or_else(|| line.strip_prefix(". ")) {
                    found.push(rest.trim_matches(['"', '\'']).to_owned());
                }
            }
            Language::Css => {
                if line.starts_with("@import")
                    && let Some(path) = quoted(line)
                {
                    found.push(path.to_owned());
                }
            }
            _ => break,
        }
    }
    found.retain(|import| !import.is_empty() && import.len() < 200);
    found
}

/// What stands between the first pair of quotes.
fn quoted(text: &str) -> Option<&str> {
    let start = text.find(['"', '\'', '`'])?;
    let quote = text[start..].chars().next()?;
    let rest = &text[start + 1..];
    Some(&rest[..rest.find(quote)?])
}
