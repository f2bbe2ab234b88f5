//! Which code a test is named for.
//!
//! A test says in words what the code does, so what fits `test_cart.py` speaks for `cart.py`.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::rules::Part;
use crate::store::View;

/// Of more files with one name than this, a test is only for the one beside it: to compare each `index.test.ts` of a large
/// project with each `index.ts` would take longer than the search.
const FEW: usize = 32;

/// Tests and the code that each of them is named for. Those of a whole, like `tests/it/main.rs`, have none.
pub(crate) fn pairs(view: &dyn View) -> Vec<(u32, u32)> {
    let live = || (0..view.file_end()).filter(|file| view.is_live(*file));
    let tests: Vec<u32> = live().filter(|file| view.file(*file).part == Part::Test).collect();
    if tests.is_empty() {
        return Vec::new();
    }
    let mut code: HashMap<String, Vec<u32>> = HashMap::new();
    for file in live().filter(|file| view.file(*file).part == Part::Code) {
        code.entry(stem(view.file(file).path)).or_default().push(file);
    }
    let many = code.iter().filter(|(_, named)| named.len() > FEW);
    let beside: HashMap<(&str, &str), u32> = many
        .flat_map(|(stem, named)| {
            named.iter().map(|file| ((folder(view.file(*file).path), stem.as_str()), *file))
        })
        .collect();
    let pair = |test: u32| {
        let path = view.file(test).path;
        let stem = tested_stem(path);
        let named = code.get(&stem)?;
        if named.len() > FEW {
            return beside.get(&(tested_folder(path), stem.as_str())).map(|file| (test, *file));
        }
        let nearness = |file: &&u32| nearness(path, view.file(**file).path);
        let nearest = named.iter().max_by_key(nearness)?;
        // Every second file is called `index`: of several, one has to be in a folder of the same name.
        (named.len() == 1 || nearness(&nearest).0 > 0).then_some((test, *nearest))
    };
    tests.into_iter().filter_map(pair).collect()
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folder that a test is in, or that its folder of tests is in.
fn tested_folder(path: &str) -> &str {
    let folder = folder(path);
    let own = ["__tests__", "tests", "test"].iter().find_map(|name| folder.strip_suffix(name));
    own.and_then(|above| above.strip_suffix('/')).unwrap_or(folder)
}

/// Whether a test's name says that it is about this code.
pub(crate) fn is_named_for(test: &str, code: &str) -> bool {
    tested_stem(test) == stem(code)
}

/// Folders of the same name, then how few there are.
fn nearness(test: &str, code: &str) -> (usize, Reverse<usize>) {
    let folders = |path| folder(path).split('/').filter(|folder: &&str| !folder.is_empty());
    let shared = folders(code).filter(|one| folders(test).any(|other| other == *one)).count();
    (shared, Reverse(folders(code).count()))
}

fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name).trim_matches('_').to_ascii_lowercase()
}

/// The stem without what makes it a test's.
fn tested_stem(path: &str) -> String {
    let stem = stem(path);
    let ends = ["_test", "_tests", "_spec", "tests", "test", "spec"];
    let without = ["test_", "tests_"]
        .iter()
        .find_map(|start| stem.strip_prefix(start))
        .or_else(|| ends.iter().find_map(|end| stem.strip_suffix(end)))
        .unwrap_or(&stem);
    without.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_named_for_code() {
        for (path, want) in [
            ("tests/test_cart.py", "cart"),
            ("pkg/cart_test.go", "cart"),
            ("src/cart.test.ts", "cart"),
            ("spec/cart_spec.rb", "cart"),
            ("src/test/java/CartTest.java", "cart"),
            ("tests/_core/test__cart.py", "cart"),
            ("tests/it/main.rs", "main"),
        ] {
            assert_eq!(tested_stem(path), want, "{path}");
        }
        for (path, want) in [
            ("a/b/x.test.ts", "a/b"),
            ("a/__tests__/x.ts", "a"),
            ("contest/x_test.go", "contest"),
            ("x_test.go", ""),
        ] {
            assert_eq!(tested_folder(path), want, "{path}");
        }
        let near = |code| nearness("test/plugin/test_http.rb", code);
        assert!(near("lib/plugin/http.rb") > near("lib/http.rb"));
        assert!(near("http.rb") > near("a/b/http.rb"));
    }
}
