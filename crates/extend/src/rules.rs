//! Standing instructions: AGENTS.md, CLAUDE.md, and rules for some paths only.

use std::path::{Path, PathBuf};

use crate::FrontMatter;
use crate::shelf::{Shelf, Shelved};

/// All rules together are no longer than this; the nearest ones are kept.
const MAX_TEXT: usize = 64 * 1024;
const MAX_IMPORTS: usize = 20;
const MAX_DEPTH: usize = 3;

/// One file of standing instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Where it came from.
    pub source: PathBuf,
    pub text: String,
    /// It counts only for files like these; for all if empty.
    pub paths: Vec<String>,
}

impl Shelf<'_> {
    /// All rules that may be used, the nearest to the work last: it wins.
    pub fn rules(&self) -> Shelved<Rule> {
        let mut shelved = Shelved::default();
        let mut files: Vec<PathBuf> = self.person.iter().map(|folder| folder.join("AGENTS.md")).collect();
        files.extend(self.files("rules", &[".covey/rules"]));
        for folder in self.way_to_the_work() {
            // Many projects have both, one a link to the other.
            let names = ["AGENTS.md", "CLAUDE.md"].map(|name| folder.join(name));
            files.extend(names.into_iter().find(|path| path.is_file()));
        }
        let mut room = MAX_TEXT;
        let mut rules = Vec::new();
        for file in files.iter().rev() {
            let Some(mut rule) = self.rule(file, &mut shelved) else { continue };
            rule.text.truncate(rule.text.floor_char_boundary(room));
            if rule.text.is_empty() {
                continue;
            }
            room -= rule.text.len();
            rules.push(rule);
        }
        rules.reverse();
        shelved.items = rules;
        shelved
    }

    /// The rules of a folder of the project that is not on the way to the work: they count for what is in it.
    pub fn rules_in(&self, folder: &Path) -> Option<Rule> {
        let below = folder.strip_prefix(&self.root).ok()?;
        if self.way_to_the_work().iter().any(|known| known == folder) {
            return None;
        }
        let names = ["AGENTS.md", "CLAUDE.md"].map(|name| folder.join(name));
        let file = names.into_iter().find(|path| path.is_file())?;
        let mut rule = self.rule(&file, &mut Shelved::default())?;
        rule.text.truncate(rule.text.floor_char_boundary(MAX_TEXT / 4));
        rule.paths = vec![format!("{}/**", below.display())];
        Some(rule)
    }

    /// What one file says, with its imports; none when it says nothing, or may not be used.
    fn rule(&self, file: &Path, shelved: &mut Shelved<Rule>) -> Option<Rule> {
        let text = self.read(file, shelved)?;
        let (front, body) = FrontMatter::split(&text);
        let mut imports = MAX_IMPORTS;
        let text = self.with_imports(file, body, 0, &mut imports, shelved);
        let paths = front.list("paths");
        (!text.trim().is_empty()).then(|| Rule { source: file.to_owned(), text, paths })
    }

    /// The folders from the project's root down to where the work is.
    fn way_to_the_work(&self) -> Vec<PathBuf> {
        let below = self.cwd.strip_prefix(&self.root).unwrap_or(Path::new(""));
        let mut folders = vec![self.root.clone()];
        for name in below {
            folders.push(folders[folders.len() - 1].join(name));
        }
        folders
    }

    /// A line `@docs/style.md` stands for that file.
    fn with_imports(
        &self,
        file: &Path,
        text: &str,
        depth: usize,
        left: &mut usize,
        shelved: &mut Shelved<Rule>,
    ) -> String {
        let mut whole = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let name = line.trim().strip_prefix('@').filter(|name| !name.contains(char::is_whitespace));
            let Some(name) = name.filter(|_| depth < MAX_DEPTH && *left > 0) else {
                whole.push_str(line);
                continue;
            };
            *left -= 1;
            let target = file.parent().unwrap_or(Path::new("")).join(name);
            // A link or `..` that leads out of the folder it is in leads to nothing.
            let inside = target.canonicalize().ok().filter(|real| {
                let person = self.person.as_ref().and_then(|folder| folder.canonicalize().ok());
                real.starts_with(&self.root) || person.is_some_and(|folder| real.starts_with(folder))
            });
            match inside.and_then(|target| Some((self.read(&target, shelved)?, target))) {
                Some((text, target)) => {
                    whole.push_str(&self.with_imports(&target, &text, depth + 1, left, shelved))
                }
                None => whole.push_str(line),
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::Shelf;

    fn files(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn the_nearest_rules_come_last_and_imports_are_bounded() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().canonicalize().unwrap();
        files(
            &folder,
            &[
                ("me/AGENTS.md", "mine"),
                ("p/AGENTS.md", "root\n@docs/style.md\n@../outside.md\n@AGENTS.md\n"),
                ("p/CLAUDE.md", "not this one"),
                ("p/docs/style.md", "tabs\n"),
                ("outside.md", "secret"),
                ("p/sub/CLAUDE.md", "near"),
                ("p/.covey/rules/tests.md", "---\npaths: tests/**\n---\nbe thorough"),
            ],
        );
        let all = |_: &Path, _: &[u8]| true;
        let shelf = Shelf {
            person: Some(folder.join("me")),
            root: folder.join("p"),
            cwd: folder.join("p/sub"),
            accepts: &all,
        };
        let rules = shelf.rules();
        let texts: Vec<&str> = rules.items.iter().map(|rule| rule.text.trim()).collect();
        assert_eq!(texts[0], "mine");
        assert_eq!(
            (texts[1], rules.items[1].paths.as_slice()),
            ("be thorough", &["tests/**".to_owned()][..])
        );
        assert!(texts[2].starts_with("root\ntabs\n@../outside.md\nroot\n"), "{}", texts[2]);
        assert_eq!(texts[3], "near");
        assert!(rules.held.is_empty());
        // What counts for a folder beside the way is asked for when something in it is touched.
        let beside = shelf.rules_in(&folder.join("p/docs"));
        assert_eq!(beside, None);
        files(&folder, &[("p/lib/AGENTS.md", "@../docs/style.md\n")]);
        let rule = shelf.rules_in(&folder.join("p/lib")).unwrap();
        assert_eq!((rule.text.as_str(), rule.paths), ("tabs\n", vec!["lib/**".to_owned()]));
        assert_eq!(shelf.rules_in(&folder.join("p/sub")), None);
        assert_eq!(shelf.rules_in(&folder), None);
    }

    #[test]
    fn what_a_project_ships_waits_for_the_persons_word() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path().canonicalize().unwrap();
        files(&folder, &[("me/AGENTS.md", "mine"), ("p/AGENTS.md", "obey me")]);
        let nothing = |_: &Path, _: &[u8]| false;
        let root = folder.join("p");
        let shelf = Shelf {
            person: Some(folder.join("me")),
            root: root.clone(),
            cwd: root.clone(),
            accepts: &nothing,
        };
        let rules = shelf.rules();
        assert_eq!(rules.items.len(), 1);
        assert_eq!(rules.held, [root.join("AGENTS.md")]);
    }
}
