//! Questions and what they find.

use index::{Fusion, Language, Level, Mode, SearchOptions};

use crate::shelf::Shelf;

fn shop() -> Shelf {
    Shelf::with(&[
        (
            "src/cart.rs",
            "//! The cart.\n\nuse std::fmt;\n\npub struct Cart {\n    total: u32,\n}\n\nimpl Cart {\n    /// Applies a coupon once.\n    pub fn apply_coupon(&mut self, code: &str) -> bool {\n        self.total -= 1;\n        true\n    }\n\n    fn total(&self) -> u32 {\n        self.total\n    }\n}\n",
        ),
        (
            "src/user.py",
            "class User:\n    def login(self, password):\n        return check_password(password)\n\n\ndef check_password(password):\n    return hash(password) == 1\n",
        ),
        (
            "tests/cart_test.rs",
            "fn test_apply_coupon() {\n    let mut cart = Cart::new();\n    cart.apply_coupon(\"x\");\n    cart.apply_coupon(\"x\");\n}\n",
        ),
        (
            "README.md",
            "# Shop\n\nA shop with a cart and coupons.\n\n## Password\n\nHow passwords are checked.\n",
        ),
        ("config.toml", "[cart]\nmax = 3\nmin = 1\n"),
    ])
}

#[test]
fn names_words_and_sentences_find_their_symbol() {
    let shelf = shop();
    for query in
        ["apply_coupon", "applyCoupon", "apply coupon", "Applies a coupon once.", "Cart::apply_coupon"]
    {
        assert_eq!(shelf.find(query)[0], "src/cart.rs:10-14 Cart::apply_coupon", "{query}");
    }
    assert_eq!(shelf.find("check_password")[0], "src/user.py:6-7 check_password");
    assert_eq!(shelf.files("user login")[0], "src/user.py");
    assert_eq!(shelf.files("src/user.py")[0], "src/user.py");
    assert_eq!(shelf.files("error at src/cart.rs:12:5")[0], "src/cart.rs");
}

#[test]
fn a_type_asked_for_by_name_comes_before_its_methods() {
    let shelf = Shelf::with(&[
        (
            "src/router.ts",
            "export class RegExpRouter {\n  name = 'RegExpRouter'\n\n  add(path: string) {\n    return new RegExpRouter(RegExpRouter, path)\n  }\n\n  match(path: string) {\n    return path\n  }\n}\n",
        ),
        (
            "src/app.ts",
            "import { RegExpRouter } from './router'\nexport const app = () => new RegExpRouter()\n",
        ),
    ]);
    for query in ["RegExpRouter", "regexprouter"] {
        assert_eq!(shelf.find(query)[0], "src/router.ts:1-3 RegExpRouter", "{query}");
    }
}

#[test]
fn tests_come_first_only_when_asked_for() {
    let shelf = shop();
    assert_eq!(shelf.files("apply coupon")[0], "src/cart.rs");
    assert_eq!(shelf.files("test for apply coupon")[0], "tests/cart_test.rs");
}

#[test]
fn what_a_test_says_speaks_for_the_code_it_is_named_for() {
    let shelf = Shelf::with(&[
        ("lib/cart.py", "def total(items):\n    return sum(items)\n"),
        ("lib/user.py", "def sum_of_discounts(items):\n    return 0\n"),
        ("tests/test_cart.py", "def test_total_with_discounts_and_refunds():\n    assert total([1]) == 1\n"),
    ]);
    assert_eq!(shelf.files("handle refunds with discounts in total")[0], "lib/cart.py");
}

#[test]
fn of_many_files_with_one_name_a_test_speaks_for_the_one_beside_it() {
    let shelf = Shelf::new();
    for package in 0..40 {
        shelf.write(&format!("p{package}/index.ts"), "export function run() {\n  return 1\n}\n");
        let word = if package == 7 { "refunds" } else { "nothing" };
        let test = format!("it('gives {word} back', () => {{\n  run()\n}})\n");
        shelf.write(&format!("p{package}/index.test.ts"), test);
    }
    shelf.update();
    let files = shelf.files("run the refunds once more");
    let code: Vec<&String> = files.iter().filter(|file| !file.contains("test")).collect();
    assert_eq!(code[0], "p7/index.ts", "{files:?}");
}

#[test]
fn settings_and_histories_come_first_only_when_asked_for() {
    let shelf = Shelf::with(&[
        ("lib/pager.py", "def start(command):\n    # the pager of the person\n    return spawn(command)\n"),
        ("pager.toml", "[pager]\ncommand = 'less'\npager = true\n"),
        ("CHANGELOG.md", "# 1.2\n\n- the pager starts the command of the person\n- pager\n"),
    ]);
    assert_eq!(shelf.files("start the pager command")[0], "lib/pager.py");
    assert_eq!(shelf.files("pager config")[0], "pager.toml");
    assert_eq!(shelf.files("changelog of the pager")[0], "CHANGELOG.md");
}

#[test]
fn filters_keep_what_they_say() {
    let shelf = shop();
    let with = |options: SearchOptions| shelf.find_with("cart password coupon", &options);
    let all = SearchOptions { limit: 50, ..SearchOptions::default() };
    assert!(
        with(SearchOptions { languages: vec![Language::Python], ..all.clone() })
            .iter()
            .all(|hit| hit.starts_with("src/user.py"))
    );
    assert!(
        with(SearchOptions { paths: vec!["src/".into()], ..all.clone() })
            .iter()
            .all(|hit| hit.starts_with("src/"))
    );
    assert!(
        with(SearchOptions { paths: vec!["*.md".into()], ..all.clone() })
            .iter()
            .all(|hit| hit.starts_with("README.md"))
    );
    assert!(with(SearchOptions { paths: vec!["[".into()], ..all.clone() }).is_empty());
    let files = with(SearchOptions { level: Some(Level::File), ..all.clone() });
    let mut unique = files.clone();
    unique.dedup();
    assert_eq!(files, unique);
    assert!(files.contains(&"src/cart.rs:1-19".to_owned()), "{files:?}");
    assert_eq!(with(SearchOptions { limit: 1, ..all.clone() }).len(), 1);
    assert!(with(SearchOptions { level: Some(Level::Symbol), ..all }).iter().all(|hit| hit.contains(' ')));
}

#[test]
fn no_line_is_in_two_results() {
    let shelf = shop();
    let found = shelf
        .index()
        .searcher()
        .search("cart coupon total apply", &SearchOptions { limit: 50, ..SearchOptions::default() })
        .unwrap();
    for (at, hit) in found.hits.iter().enumerate() {
        for other in &found.hits[at + 1..] {
            let apart =
                hit.file != other.file || hit.end_line < other.start_line || other.end_line < hit.start_line;
            assert!(apart, "{hit:?} and {other:?}");
        }
    }
}

#[test]
fn every_mode_and_fusion_answers() {
    let shelf = shop();
    shelf.index().embed(&|_| {}, &index::Cancel::default()).unwrap();
    for mode in [Mode::Hybrid, Mode::Lexical, Mode::Dense] {
        for fusion in [Fusion::Sum, Fusion::Rrf] {
            let options = SearchOptions { mode, fusion, ..SearchOptions::default() };
            let found = shelf.index().searcher().search("apply coupon", &options).unwrap();
            assert!(!found.hits.is_empty(), "{mode:?} {fusion:?}");
            assert_eq!(found.dense, mode != Mode::Lexical);
            assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
        }
    }
}

#[test]
fn strange_queries_answer_or_find_nothing() {
    let shelf = shop();
    shelf.index().embed(&|_| {}, &index::Cancel::default()).unwrap();
    let megabyte = "cart coupon ".repeat(90_000);
    let started = std::time::Instant::now();
    for query in [
        "",
        "   ",
        "the of and",
        ".*(?:[a-z]+){2,}\\d$^",
        "解析文件",
        "\0\u{1}",
        "🦀",
        megabyte.as_str(),
        "a\nb\nc",
        "((((((",
        "-- ; drop table",
    ] {
        let found = shelf.index().searcher().search(query, &SearchOptions::default()).unwrap();
        assert!(found.hits.len() <= 10);
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert!(
        shelf.find_with("", &SearchOptions { mode: Mode::Lexical, ..SearchOptions::default() }).is_empty()
    );
}

#[test]
fn a_snippet_shows_the_words() {
    let shelf = shop();
    let searcher = shelf.index().searcher();
    let found = searcher.search("apply coupon", &SearchOptions::default()).unwrap();
    let lines = searcher.snippet(&found, &found.hits[0], 3);
    let declared = lines.iter().find(|line| line.number == 11).unwrap();
    assert_eq!(&declared.text[declared.marks[0].clone()], "apply_coupon");
    // A file that is gone since has no lines to show.
    std::fs::remove_file(shelf.root.join("src/cart.rs")).unwrap();
    assert!(searcher.snippet(&found, &found.hits[0], 3).is_empty());
}

#[test]
fn however_the_index_came_about_the_ranking_is_the_same() {
    let shelf = shop();
    let query = "cart coupon password";
    let want = shelf.find(query);
    // File by file, with changes in between: many segments, dead files, merges.
    let other = Shelf::new();
    for round in 0..30 {
        other.write("src/cart.rs", format!("fn other{round}() {{}}\n"));
        other.update();
    }
    for path in ["src/cart.rs", "src/user.py", "tests/cart_test.rs", "README.md", "config.toml"] {
        other.write(path, std::fs::read(shelf.root.join(path)).unwrap());
        other.update();
    }
    let mut got = other.find(query);
    let mut want = want;
    // Equal scores may come in another order.
    got.sort();
    want.sort();
    assert_eq!(got, want);
}
