//! A project to judge commands in.

use std::path::PathBuf;

use project::Roots;

use crate::files::Surroundings;
use crate::finding::Findings;
use crate::judge::Judge;

pub(crate) struct World {
    _folder: tempfile::TempDir,
    pub(crate) around: Surroundings,
    pub(crate) root: PathBuf,
}

/// A small project in a home folder, on a branch that is not protected.
pub(crate) fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (root, home) = (real.join("home/me/shop"), real.join("home/me"));
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::create_dir_all(root.join(".git")).unwrap();
    std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/feature\n").unwrap();
    std::fs::write(root.join("src/main.rs"), "fn main() {}\n").unwrap();
    let protected = crate::GuardSettings::default().protected_branches;
    World { _folder: folder, around: Surroundings::new(Roots::new([&root]).unwrap(), home, protected), root }
}

impl World {
    pub(crate) fn guard(&self, settings: crate::GuardSettings) -> crate::Guard {
        crate::Guard::new(crate::GuardOptions {
            settings,
            roots: Roots::new([&self.root]).unwrap(),
            home: None,
            user_home: self.around.user_home().to_owned(),
            session: None,
        })
    }

    pub(crate) fn classed(&self, command: &str) -> Findings {
        let mut findings = Findings::default();
        Judge::new(&self.around, &self.root, &mut findings).shell(command);
        findings
    }
}
