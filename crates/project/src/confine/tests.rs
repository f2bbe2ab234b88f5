use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{ConfineError, Roots};

/// A project `in` beside a folder `out` with a secret.
struct Yard {
    _folder: tempfile::TempDir,
    top: PathBuf,
    roots: Roots,
}

fn yard() -> Yard {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    fs::create_dir_all(top.join("in/src")).unwrap();
    fs::create_dir_all(top.join("out/deep")).unwrap();
    fs::write(top.join("in/src/a.rs"), "").unwrap();
    fs::write(top.join("out/secret"), "").unwrap();
    let roots = Roots::new([top.join("in")]).unwrap();
    Yard { _folder: folder, top, roots }
}

impl Yard {
    fn resolve(&self, path: impl AsRef<Path>) -> Result<PathBuf, ConfineError> {
        self.roots.resolve(path, self.roots.main()).map(|path| path.relative().to_owned())
    }

    fn is_outside(&self, path: &str) -> bool {
        matches!(self.resolve(path), Err(ConfineError::Outside { .. }))
    }
}

#[test]
fn paths_inside_resolve_to_where_they_lead() {
    let yard = yard();
    symlink("src", yard.top.join("in/link")).unwrap();
    assert_eq!(yard.resolve("src/a.rs").unwrap(), Path::new("src/a.rs"));
    assert_eq!(yard.resolve("./src/../src//a.rs").unwrap(), Path::new("src/a.rs"));
    assert_eq!(yard.resolve("link/a.rs").unwrap(), Path::new("src/a.rs"));
    assert_eq!(yard.resolve(yard.top.join("in/link/new.rs")).unwrap(), Path::new("src/new.rs"));
    assert_eq!(yard.resolve(".").unwrap(), Path::new(""));
    let from_src = yard.roots.resolve("a.rs", "src").unwrap();
    assert_eq!(from_src.absolute(), yard.top.join("in/src/a.rs"));
    assert_eq!(from_src.root(), yard.top.join("in"));
}

#[test]
fn paths_that_lead_out_are_refused() {
    let yard = yard();
    symlink("../out", yard.top.join("in/relative")).unwrap();
    symlink(yard.top.join("out/deep"), yard.top.join("in/absolute")).unwrap();
    symlink("/proc/self/root", yard.top.join("in/magic")).unwrap();
    // Nothing is there yet, but a write through it would land outside.
    symlink("../out/new", yard.top.join("in/dangling")).unwrap();
    for path in [
        "../out/secret",
        "/etc/passwd",
        "relative/secret",
        "absolute/../secret",
        "magic/etc/passwd",
        "dangling",
    ] {
        assert!(yard.is_outside(path), "{path}");
    }
    // Lexically inside, but `..` after a link goes up from where the link leads.
    assert!(yard.is_outside("absolute/../deep"));
    // A sibling whose name begins with the root's.
    fs::create_dir(yard.top.join("inside")).unwrap();
    assert!(yard.is_outside("../inside"));
}

#[test]
fn a_missing_part_does_not_hide_a_link_behind_it() {
    let yard = yard();
    symlink("../out", yard.top.join("in/link")).unwrap();
    assert!(yard.is_outside("missing/../link/secret"));
    assert!(yard.is_outside("missing/../../out/secret"));
    assert_eq!(yard.resolve("missing/deeper/../new.rs").unwrap(), Path::new("missing/new.rs"));
}

#[test]
fn the_error_says_where_it_leads() {
    let yard = yard();
    symlink("../out", yard.top.join("in/link")).unwrap();
    let error = yard.resolve("link/secret").unwrap_err().to_string();
    assert_eq!(
        error,
        format!("`link/secret` leads outside the project, to `{}/out/secret`", yard.top.display())
    );
}

#[test]
fn loops_and_impossible_names_are_refused() {
    let yard = yard();
    symlink("b", yard.top.join("in/a")).unwrap();
    symlink("a", yard.top.join("in/b")).unwrap();
    symlink("self/x", yard.top.join("in/self")).unwrap();
    assert!(matches!(yard.resolve("a/x"), Err(ConfineError::Loop { .. })));
    assert!(matches!(yard.resolve("self"), Err(ConfineError::Loop { .. })));
    assert!(matches!(yard.resolve("src\0/a.rs"), Err(ConfineError::NotAPath { .. })));
    assert!(matches!(yard.resolve(""), Err(ConfineError::NotAPath { .. })));
    let long = "x".repeat(5000);
    assert!(matches!(yard.resolve(long), Err(ConfineError::Io { .. })));
}

#[test]
fn names_that_are_not_utf_8_are_paths_like_others() {
    let yard = yard();
    let name = OsStr::from_bytes(b"caf\xe9.rs");
    fs::write(yard.top.join("in").join(name), "").unwrap();
    assert_eq!(yard.resolve(name).unwrap(), Path::new(name));
}

#[test]
fn of_nested_roots_the_innermost_counts() {
    let yard = yard();
    let roots = Roots::new([yard.top.clone(), yard.top.join("in/src"), yard.top.clone()]).unwrap();
    assert_eq!(roots.iter().count(), 2);
    assert_eq!(roots.resolve("in/src/a.rs", "").unwrap().relative(), Path::new("a.rs"));
    assert_eq!(roots.resolve("out/secret", "").unwrap().relative(), Path::new("out/secret"));
}

#[test]
fn roots_must_be_folders() {
    let yard = yard();
    assert!(matches!(Roots::new([yard.top.join("out/secret")]), Err(ConfineError::NotADirectory { .. })));
    assert!(matches!(Roots::new([yard.top.join("none")]), Err(ConfineError::Io { .. })));
    assert!(Roots::new(Vec::<PathBuf>::new()).is_err());
}

#[test]
fn git_data_is_told_by_whole_components() {
    let yard = yard();
    let touches = |path: &str| yard.roots.resolve(path, "").unwrap().touches_git();
    assert!(touches(".git"));
    assert!(touches("sub/.GIT/hooks/pre-commit"));
    symlink(".git/config", yard.top.join("in/innocent")).unwrap();
    assert!(touches("innocent"));
    for path in [".gitignore", "foo.git/config", ".github/x", "git", "a.git"] {
        assert!(!touches(path), "{path}");
    }
}

/// One entry of a random tree: where, and a link's target (nothing: a folder).
fn entry() -> impl Strategy<Value = (String, Option<String>)> {
    let part = prop_oneof![Just("a"), Just("b"), Just("c"), Just("..")];
    let path = prop::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"));
    let target = prop_oneof![
        Just(None),
        path.clone().prop_map(Some),
        path.clone().prop_map(|path| Some(format!("/{path}")))
    ];
    (path, target)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_resolved_inside_is_really_outside(entries in prop::collection::vec(entry(), 1..16), asked in prop::collection::vec(entry(), 1..12)) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let root = top.join("a/b");
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(top.join("c")).unwrap();
        for (path, target) in entries {
            // Entries may go anywhere in the sandbox, through links made before; where that is impossible, none is made.
            let place = root.join(path);
            if !place.parent().unwrap().canonicalize().is_ok_and(|parent| parent.starts_with(&top)) {
                continue;
            }
            match target {
                None => fs::create_dir(place).ok(),
                Some(target) => symlink(target.strip_prefix('/').map_or(PathBuf::from(&target), |below| top.join(below)), place).ok(),
            };
        }
        let roots = Roots::new([&root]).unwrap();
        let base = roots.main().to_owned();
        for (path, _) in asked {
            let system = base.join(&path).canonicalize();
            match (roots.resolve(&path, &base), system) {
                (Ok(resolved), Ok(real)) => {
                    prop_assert!(real.starts_with(&base), "{path} is {real:?}");
                    prop_assert_eq!(resolved.absolute(), &real);
                }
                // Not there yet: what it would be created in, as far as that exists, is inside.
                (Ok(resolved), Err(_)) => {
                    prop_assert!(resolved.absolute().starts_with(&base));
                    let existing = resolved.absolute().ancestors().find_map(|path| path.canonicalize().ok()).unwrap();
                    prop_assert!(resolved.absolute().starts_with(&existing));
                }
                (Err(_), Ok(real)) => prop_assert!(!real.starts_with(&base), "{path} is {real:?}"),
                (Err(_), Err(_)) => {}
            }
        }
    }
}
