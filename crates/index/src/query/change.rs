//! How people write about changes.

use crate::tokens::tokens;

/// A first line as people write them about changes: `scope: verb the rest`, either of the first two or both.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) is_one: bool,
    /// Tokens of what comes before the colon, which names a place.
    pub(super) scope: Vec<Vec<u8>>,
    /// Tokens of the verb, which says what is done and not where.
    pub(super) verb: Vec<Vec<u8>>,
}

impl Change {
    pub(super) fn of(line: &str) -> Self {
        // `feat(router)!: …` is a kind of change and a place.
        const KINDS: &[&str] =
            &["fix", "feat", "chore", "refactor", "perf", "docs", "test", "build", "ci", "style", "revert"];
        const VERBS: &[&str] = &[
            "add",
            "added",
            "adding",
            "allow",
            "avoid",
            "bump",
            "change",
            "correct",
            "deprecate",
            "disable",
            "document",
            "drop",
            "enable",
            "ensure",
            "fix",
            "fixed",
            "fixing",
            "handle",
            "implement",
            "improve",
            "improved",
            "introduce",
            "make",
            "migrate",
            "move",
            "optimize",
            "prevent",
            "reduce",
            "refactor",
            "refactored",
            "relax",
            "remove",
            "removed",
            "removing",
            "rename",
            "replace",
            "restore",
            "revert",
            "simplify",
            "stop",
            "support",
            "switch",
            "update",
            "updated",
            "use",
        ];
        let collect = |text: &str| {
            let mut list = Vec::new();
            tokens(text, |_, token| list.push(token.to_vec()));
            list
        };
        let before = line.split_once(": ").map(|(before, _)| before);
        let before = before.filter(|before| before.len() < 40 && before.split_whitespace().count() <= 3);
        let rest = before.map_or(line, |before| line[before.len() + 1..].trim_start());
        let mut change = Self { is_one: before.is_some(), ..Self::default() };
        if let Some(before) = before {
            let (kind, place) = before.split_once('(').unwrap_or((before, ""));
            if KINDS.contains(&kind.trim_end_matches('!').to_ascii_lowercase().as_str()) {
                change.verb = collect(kind);
                change.scope = collect(place);
            } else {
                change.scope = collect(before);
            }
        }
        let first = rest.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        // A sentence with a full stop says what something does, not what was done to it.
        if VERBS.contains(&first.as_str()) && !line.trim_end().ends_with('.') {
            change.is_one = true;
            change.verb.extend(collect(&first));
        }
        change
    }
}
