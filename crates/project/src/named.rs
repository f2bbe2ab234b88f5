//! The files of a project that a command names.

use std::path::{Path, PathBuf};

/// More words than this are no command.
const MAX_WORDS: usize = 1_000;

/// Files below `root` that a text names, each once: words, as a shell would split them, that are paths of files that are
/// there. Used to tell what else a command runs, so a word too many does no harm.
pub fn named_files(root: &Path, text: &str) -> Vec<PathBuf> {
    let ends_word = |c: char| c.is_whitespace() || "\"'`=;|&()<>,[]{}$".contains(c);
    let mut found = Vec::new();
    for word in text.split(ends_word).filter(|word| !word.is_empty()).take(MAX_WORDS) {
        let path = root.join(word.strip_prefix("./").unwrap_or(word));
        let Ok(real) = path.canonicalize() else { continue };
        if real.starts_with(root) && real.is_file() && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_files_of_the_project_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("scripts")).unwrap();
        std::fs::write(root.join("scripts/a.sh"), "").unwrap();
        std::fs::write(root.join("b.py"), "").unwrap();
        let found = named_files(
            &root,
            "X=1 sh ./scripts/a.sh \"b.py\"; scripts/a.sh ../etc /etc/passwd scripts missing",
        );
        assert_eq!(found, [root.join("scripts/a.sh"), root.join("b.py")]);
        assert!(named_files(&root, "").is_empty());
    }
}
