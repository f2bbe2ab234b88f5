//! Files that belong together: by imports, by tests, by being changed together.

use std::collections::HashMap;

use crate::evaluate::Commit;
use crate::rules::Part;
use crate::search::Searcher;
use crate::store::View;
use crate::tested::is_named_for;

/// Why a file is related.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The file imports it.
    Imports,
    /// It imports the file.
    ImportedBy,
    /// It tests the file, or the file tests it.
    Test,
    /// They were changed together.
    CoChange,
}

/// A file and how it is related.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Related {
    pub file: String,
    pub relation: Relation,
    pub score: f32,
}

impl Searcher {
    /// Files related to `path`, the closest first. `history` may be empty; [`commits`](crate::commits) reads it.
    pub fn related_files(&self, path: &str, limit: usize, history: &[Commit]) -> Vec<Related> {
        let state = self.state();
        let view = &state.view;
        let live = (0..view.file_end()).filter(|file| view.is_live(*file));
        let files: Vec<(&str, u32)> = live.map(|file| (view.file(file).path, file)).collect();
        let mut scores: HashMap<(&str, u8), f32> = HashMap::new();
        let own = files.iter().find(|(other, _)| *other == path).map(|(_, file)| *file);
        for (other, file) in files.iter().filter(|(other, _)| *other != path) {
            if own.is_some_and(|own| view.file(own).imports().any(|import| resolves(import, path, other))) {
                *scores.entry((other, 0)).or_default() += 1.0;
            }
            if view.file(*file).imports().any(|import| resolves(import, other, path)) {
                *scores.entry((other, 1)).or_default() += 0.9;
            }
            let tests = match (Part::of(other), Part::of(path)) {
                (Part::Test, Part::Test) => false,
                (Part::Test, _) => is_named_for(other, path),
                (_, Part::Test) => is_named_for(path, other),
                _ => false,
            };
            if tests {
                *scores.entry((other, 2)).or_default() += 1.1;
            }
        }
        let with = history
            .iter()
            .filter(|commit| commit.files.len() <= 20 && commit.files.iter().any(|file| file == path));
        let mut together: HashMap<&str, f32> = HashMap::new();
        for commit in with {
            for other in commit.files.iter().filter(|other| *other != path) {
                // A commit of many files says little about any two of them.
                *together.entry(other).or_default() += 1.0 / commit.files.len() as f32;
            }
        }
        let most = together.values().fold(0f32, |most, count| most.max(*count));
        for (other, _) in &files {
            if let Some(count) = together.get(other) {
                scores.insert((other, 3), count / most);
            }
        }
        let mut related: Vec<Related> = scores
            .into_iter()
            .map(|((file, relation), score)| Related {
                file: file.to_owned(),
                relation: [Relation::Imports, Relation::ImportedBy, Relation::Test, Relation::CoChange]
                    [usize::from(relation)],
                score,
            })
            .collect();
        related.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.file.cmp(&b.file)));
        let mut seen = std::collections::HashSet::new();
        related.retain(|item| seen.insert(item.file.clone()));
        related.truncate(limit);
        related
    }
}

/// Whether an import, written in `from`, could mean `target`: relative paths are followed, names compared from their end.
fn resolves(import: &str, from: &str, target: &str) -> bool {
    let without = target.rsplit_once('.').map_or(target, |(stem, _)| stem);
    let without = without.strip_suffix("/index").or_else(|| without.strip_suffix("/mod")).unwrap_or(without);
    let without = without.strip_suffix("/__init__").unwrap_or(without);
    if import.starts_with("./") || import.starts_with("../") {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in import.split('/') {
            match part {
                "." | "" => {}
                ".." => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        let wanted = parts.join("/");
        return wanted == target
            || wanted == without
            || wanted.rsplit_once('.').is_some_and(|(stem, _)| stem == without);
    }
    // `crate::a::b::Thing`, `a.b.c`, `net/http`, `util.h`, `App\Models\User`.
    let import = import.split(['{', ' ', ';']).next().unwrap_or(import);
    if import.contains('.') && (target == import || target.ends_with(&format!("/{import}"))) {
        return true;
    }
    let parts = import
        .split([':', '.', '/', '\\'])
        .filter(|part| !matches!(*part, "" | "crate" | "self" | "super" | "*"));
    let parts: Vec<&str> = parts.collect();
    // The last parts may be names inside of the file.
    let ends = |count: usize| {
        let wanted = parts[..count].join("/");
        wanted.len() > 2 && (without == wanted || without.ends_with(&format!("/{wanted}")))
    };
    let least = parts.len().saturating_sub(2).max(1);
    (least..=parts.len()).rev().any(|count| (count > 1 || parts.len() <= 2) && ends(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_find_their_files() {
        for (import, from, target, want) in [
            ("./helpers/bind.js", "lib/utils.js", "lib/helpers/bind.js", true),
            ("../core/Axios", "lib/a/b.js", "lib/core/Axios.js", true),
            ("crate::segment::Builder", "src/update.rs", "src/segment.rs", true),
            ("flask.sessions", "src/flask/app.py", "src/flask/sessions.py", true),
            (".sessions", "src/flask/app.py", "src/flask/sessions.py", true),
            ("util.h", "src/jq.c", "src/util.h", true),
            ("com.acme.shop.Cart", "a/B.java", "src/com/acme/shop/Cart.java", true),
            ("os", "a.py", "src/close.py", false),
            ("./x", "a/b.js", "c/x.js", false),
        ] {
            assert_eq!(resolves(import, from, target), want, "{import} in {from} for {target}");
        }
    }
}
