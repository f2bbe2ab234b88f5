//! What a person or an agent asks for: words, names, paths, places in a stack trace.

mod change;
mod issue;

use std::collections::HashMap;

use self::change::Change;
use crate::language::prefix;
use crate::tokens::{Token, hash, tokens};

/// More of a query says nothing new.
const MAX_TEXT: usize = 20_000;
const MAX_TERMS: usize = 160;
/// How much the place and the verb of a change count, against its other words.
const SCOPE: f32 = 1.5;
const VERB: f32 = 0.3;
/// And neighbouring words as one name.
const COMPOUND: f32 = 0.5;

/// What kind of question it is; the weights depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryKind {
    /// A name or a few.
    Names,
    /// Words without a name of the code's, as one types them into a search box.
    Question,
    /// One or two sentences.
    Sentence,
    /// What is to be done, or was, as a commit or a task says it: "fix the parser", "printer: add colours".
    Change,
    /// Several lines: an issue, a log, a stack trace.
    Long,
}

/// A token to look for.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    pub(crate) hash: u64,
    pub(crate) text: String,
    pub(crate) weight: f32,
}

/// A query, understood.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) kind: QueryKind,
    pub(crate) terms: Vec<Term>,
    /// Names as the code has them: lower case, without `_`.
    pub(crate) names: Vec<String>,
    /// Lower case.
    pub(crate) paths: Vec<String>,
    /// Places in files.
    pub(crate) frames: Vec<(String, u32)>,
    /// It speaks of tests, of documentation, of examples.
    pub(crate) tests: bool,
    pub(crate) docs: bool,
    pub(crate) examples: bool,
    /// Of settings, data and what builds the project.
    pub(crate) settings: bool,
    /// What the encoder gets.
    pub(crate) text: String,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let text = issue::without_comments(prefix(text, MAX_TEXT));
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let words = text.split_whitespace().count();
        let long = lines.len() > 2 || words > 60;
        let (names, paths, frames) = mentions(&text);
        let lines = if long { issue::telling(&lines) } else { lines };
        let change = if long { Change::default() } else { Change::of(lines.first().copied().unwrap_or("")) };
        let kind = if long {
            QueryKind::Long
        } else if words <= 3 && !names.is_empty() || words == 1 {
            QueryKind::Names
        } else if names.is_empty() && paths.is_empty() && (is_question(&text) || names_a_language(&text)) {
            QueryKind::Question
        // Documentation ends with a full stop, a commit or a task hardly ever.
        } else if words > 1 && (change.is_one || !text.trim_end().ends_with('.')) {
            QueryKind::Change
        } else {
            QueryKind::Sentence
        };
        // A word by itself is a name, whatever it looks like.
        let names = match kind {
            QueryKind::Names if names.is_empty() => words_as_names(&text),
            _ => names,
        };
        let terms = terms(&lines, kind, &change);
        // An issue always speaks of tests somewhere.
        let speaks = |words: &[&str]| !long && terms.iter().any(|term| words.contains(&term.text.as_str()));
        // The title says it; an issue's first lines may fit too.
        let dense =
            if long { lines.iter().take(3).copied().collect::<Vec<_>>().join("\n") } else { lines.join(" ") };
        Self {
            kind,
            tests: speaks(OF_TESTS),
            docs: speaks(OF_DOCS),
            examples: speaks(OF_EXAMPLES),
            settings: speaks(OF_SETTINGS),
            terms,
            names,
            paths,
            frames,
            text: dense,
        }
    }
}

fn words_as_names(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| word.len() > 1);
    words.map(plain_name).collect()
}

/// As names are compared: lower case, without `_`.
pub(crate) fn plain_name(name: &str) -> String {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).collect()
}

/// Words that ask for a part of the project, stemmed as tokens are.
const OF_TESTS: &[&str] = &["test", "tests", "spec", "fixtur", "mock"];
const OF_DOCS: &[&str] =
    &["doc", "docs", "document", "documentation", "readm", "changelog", "guid", "tutorial"];
const OF_EXAMPLES: &[&str] = &["exampl", "demo", "bench", "benchmark", "sampl"];
const OF_SETTINGS: &[&str] = &[
    "build",
    "cargo",
    "ci",
    "cmak",
    "config",
    "configur",
    "configuration",
    "dependency",
    "docker",
    "json",
    "lint",
    "makefil",
    "manifest",
    "npm",
    "packag",
    "releas",
    "script",
    "toml",
    "version",
    "workflow",
    "yaml",
];

/// Words as in a search box: several, without the capitals and the full stop of a sentence, or a plain question.
fn is_question(text: &str) -> bool {
    let text = text.trim();
    if text.ends_with('?') {
        return true;
    }
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    ["how", "what", "where", "why", "which", "when", "who", "does", "can", "is"].contains(&first.as_str())
}

/// As people ask a search engine: small letters, no full stop, and the name of the language.
fn names_a_language(text: &str) -> bool {
    const LANGUAGES: &[&str] = &[
        "python",
        "javascript",
        "typescript",
        "java",
        "golang",
        "rust",
        "ruby",
        "php",
        "c++",
        "c#",
        "kotlin",
        "swift",
    ];
    let text = text.trim();
    let plain = !text.ends_with('.') && !text.contains(": ") && !text.chars().any(char::is_uppercase);
    plain && text.contains(' ') && text.split_whitespace().any(|word| LANGUAGES.contains(&word))
}

fn terms(lines: &[&str], kind: QueryKind, change: &Change) -> Vec<Term> {
    let long = kind == QueryKind::Long;
    let mut found: HashMap<Vec<u8>, (f32, usize, Token)> = HashMap::new();
    let mut order = 0;
    for (at, line) in lines.iter().enumerate() {
        let weight = if long && at == 0 { 3.0 } else { 1.0 };
        tokens(line, |kind, token| {
            order += 1;
            let entry = found.entry(token.to_vec()).or_insert((0.0, order, kind));
            entry.0 += weight;
        });
    }
    let all_stop = found.keys().all(|token| is_stop_word(token));
    let mut terms: Vec<(usize, Term)> = found
        .into_iter()
        .filter(|(token, _)| all_stop || !is_stop_word(token))
        .map(|(token, (count, order, _))| {
            let weight = if long { 1.0 + count.ln() } else { 1.0 + 0.5 * count.ln() };
            let weight = if change.scope.contains(&token) {
                weight * SCOPE
            } else if change.verb.contains(&token) {
                weight * VERB
            } else {
                weight
            };
            (order, Term { hash: hash(&token), text: String::from_utf8_lossy(&token).into_owned(), weight })
        })
        .collect();
    if kind == QueryKind::Sentence {
        add_compounds(lines, &mut terms);
    }
    terms.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight).then(a.0.cmp(&b.0)));
    terms.truncate(MAX_TERMS);
    terms.sort_by_key(|(order, _)| *order);
    terms.into_iter().map(|(_, term)| term).collect()
}

/// Documentation has in two or three words what the code has in one name: "error bars" and `errorbar`. Runs of words that
/// are no name are found nowhere and cost nothing.
fn add_compounds(lines: &[&str], terms: &mut Vec<(usize, Term)>) {
    let mut add = |text: &str| {
        if !terms.iter().any(|(_, term)| term.text == text) {
            let term = Term { hash: hash(text.as_bytes()), text: text.to_owned(), weight: COMPOUND };
            terms.push((usize::MAX, term));
        }
    };
    for line in lines {
        let words: Vec<String> = line
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .map(|word| word.replace('_', "").to_ascii_lowercase())
            .filter(|word| !word.is_empty())
            .collect();
        for run in words.windows(2).chain(words.windows(3)) {
            let name = run.concat();
            if (5..=40).contains(&name.len()) && !run.iter().all(|word| is_stop_word(word.as_bytes())) {
                add(&name);
                name.strip_suffix('s').into_iter().for_each(&mut add);
            }
        }
    }
}

/// Words of English that say nothing about code, stemmed as tokens are.
fn is_stop_word(token: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "a", "an", "the", "of", "to", "in", "on", "for", "and", "or", "is", "are", "be", "this", "that",
        "thes", "those", "it", "it", "with", "as", "by", "from", "at", "if", "when", "then", "than", "will",
        "would", "should", "can", "could", "do", "doe", "did", "has", "have", "had", "was", "were", "been",
        "not", "no", "so", "but", "we", "i", "you", "my", "our", "your", "there", "here", "what", "which",
        "how", "why", "where", "who", "any", "all", "some", "into", "out", "up", "about", "also", "just",
        "only", "its", "s", "t", "use", "us", "get", "after", "before", "pleas", "want", "need", "like",
        "mak", "make", "via", "instead", "other", "each", "given", "whether", "such",
    ];
    std::str::from_utf8(token).is_ok_and(|token| WORDS.contains(&token))
}

type Mentions = (Vec<String>, Vec<String>, Vec<(String, u32)>);

/// Names, paths and places that the text mentions.
fn mentions(text: &str) -> Mentions {
    let (mut names, mut paths, mut frames) = (Vec::new(), Vec::new(), Vec::new());
    let mut file_before: Option<String> = None;
    for word in text.split(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '<' | '>' | '=' | '{' | '}' | '|')
    }) {
        let word = word.trim_matches(['(', ')', '[', ']', '.', ':', '!', '?', '*']);
        if word.is_empty() || word.len() > 200 {
            continue;
        }
        if let Some(path) = path_in(word) {
            let lower = path.to_ascii_lowercase();
            let line = word[word.find(path).unwrap_or(0) + path.len()..].trim_start_matches(':');
            let line: String = line.chars().take_while(char::is_ascii_digit).collect();
            if let Ok(line) = line.parse() {
                frames.push((lower.clone(), line));
            }
            file_before = Some(lower.clone());
            paths.push(lower);
        } else if let (Some(path), Ok(line)) = (&file_before, word.parse::<u32>()) {
            // `File "a.py", line 12`
            frames.push((path.clone(), line));
            file_before = None;
        }
        // Of `Cart::apply` the last part is what is meant.
        let last = word.rsplit("::").next().filter(|last| last.len() < word.len() && last.len() > 2);
        for part in word.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            if is_name(part) || last == Some(part) || (is_called(word, part) && part.len() > 2) {
                names.push(plain_name(part));
            }
        }
    }
    // What stands in back quotes is code, also when it looks like a word.
    for (at, quoted) in text.split('`').enumerate() {
        let plain = quoted.chars().all(|c| c.is_alphanumeric() || c == '_');
        if at % 2 == 1 && plain && (2..60).contains(&quoted.len()) {
            names.push(plain_name(quoted));
        }
    }
    for list in [&mut names, &mut paths] {
        list.sort();
        list.dedup();
        list.truncate(200);
    }
    frames.truncate(100);
    (names, paths, frames)
}

/// `snake_case`, `camelCase`, `CamelCase`.
fn is_name(word: &str) -> bool {
    let bytes = word.as_bytes();
    let inner = word.trim_matches('_');
    let snake = inner.contains('_') && inner.bytes().any(|byte| byte.is_ascii_alphabetic());
    let camel = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    word.len() > 2 && (snake || camel)
}

fn is_called(word: &str, part: &str) -> bool {
    word.find(part).is_some_and(|at| word[at + part.len()..].starts_with("()"))
}

/// The part of a word that is a path: a known extension at its end, or before a line number.
fn path_in(word: &str) -> Option<&str> {
    if word.contains("://") {
        return None;
    }
    let head = word.split([':', '(', '#']).next()?;
    let (stem, extension) = head.rsplit_once('.')?;
    let known = crate::language::Language::by_name(extension).is_some() || extension == "h";
    let plain = !stem.is_empty()
        && extension.len() <= 5
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    // `foo.c` is a path, `client.Go` a method; `a.b.py` is a path again.
    (known && plain && extension.bytes().all(|byte| !byte.is_ascii_uppercase())).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_questions() {
        for (text, kind) in [
            ("get_pager_executable", QueryKind::Names),
            ("Router.match", QueryKind::Names),
            ("pager", QueryKind::Names),
            ("how to read a file line by line", QueryKind::Question),
            ("Return the set of current file type definitions.", QueryKind::Sentence),
            ("a\nb\nc\nd", QueryKind::Long),
            ("Fix unreachable code in the parser", QueryKind::Change),
            ("printer: keep the line terminator", QueryKind::Change),
            ("fix(etag): wrong hash of chunked responses", QueryKind::Change),
            ("Fixes a node to its parent.", QueryKind::Sentence),
            ("Add a node to its parent.", QueryKind::Sentence),
            ("Strip overstriking to better support man pages", QueryKind::Change),
            ("remove duplicates from a list python", QueryKind::Question),
            ("", QueryKind::Sentence),
        ] {
            assert_eq!(Query::parse(text).kind, kind, "{text}");
        }
    }

    #[test]
    fn of_a_change_the_place_counts_more_and_the_verb_less() {
        let weights = |text| -> Vec<(String, f32)> {
            Query::parse(text).terms.into_iter().map(|term| (term.text, term.weight)).collect()
        };
        let want = [("printer", SCOPE), ("add", VERB), ("colour", 1.0)];
        assert_eq!(weights("printer: add colours"), want.map(|(text, weight)| (text.to_owned(), weight)));
        let want = [("fix", VERB), ("etag", SCOPE), ("wrong", 1.0), ("hash", 1.0)];
        assert_eq!(weights("fix(etag): wrong hash"), want.map(|(text, weight)| (text.to_owned(), weight)));
    }

    #[test]
    fn neighbours_in_a_sentence_may_be_one_name() {
        let has = |text, name| Query::parse(text).terms.iter().any(|term| term.text == name);
        assert!(has("Draws the error bars.", "errorbar"));
        assert!(has("Draws the error bars.", "errorbars"));
        assert!(!has("Draws the error bars.", "drawserrorbars"));
        // A change speaks of files, which have such words anyway.
        assert!(!has("fix the error bars", "errorbar"));
    }

    #[test]
    fn names_paths_and_places() {
        let query = Query::parse(
            "`maxBodyLength` in lib/adapters/http.js:12:3 and parse_args() of\n  File \"src/app.py\", line 40, in run\nCheck::out",
        );
        assert_eq!(query.names, ["maxbodylength", "out", "parseargs"]);
        assert_eq!(query.paths, ["lib/adapters/http.js", "src/app.py"]);
        assert_eq!(query.frames, [("lib/adapters/http.js".to_owned(), 12), ("src/app.py".to_owned(), 40)]);
    }

    #[test]
    fn strange_queries_are_understood_somehow() {
        let megabyte = "word ".repeat(200_000);
        for text in [
            "",
            "   ",
            "the of and",
            ".*[(",
            "解析文件",
            "\0",
            megabyte.as_str(),
            "<!--",
            "````",
            "a.b.c.d.e.",
        ] {
            let query = Query::parse(text);
            assert!(query.terms.len() <= MAX_TERMS);
        }
        // Only stop words: better those than nothing.
        assert!(!Query::parse("the of and").terms.is_empty());
        assert!(Query::parse(".*[(").terms.is_empty());
    }
}
