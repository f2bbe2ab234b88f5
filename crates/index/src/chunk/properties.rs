//! The same promises that the fuzzer checks, for every run of the tests.

use proptest::prelude::*;

use super::outline;

const NAMES: [&str; 14] = [
    "a.rs", "a.py", "a.ts", "a.go", "a.java", "a.c", "a.cpp", "a.rb", "a.sh", "a.css", "a.json", "a.toml",
    "a.yaml", "a.md",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn every_line_has_one_owner(which in 0..NAMES.len(), text in "([a-z_ ]{0,8}(fn |def |class |\\{|\\}|\\(|\\)|\n|\n    |# |\"|'|:|;|é|\r\n)){0,60}") {
        let outline = outline(NAMES[which], &text);
        let lines = text.lines().count();
        prop_assert_eq!(outline.owners.len(), lines);
        prop_assert!(outline.owners.iter().all(|owner| (*owner as usize) < outline.chunks.len()));
        for chunk in &outline.chunks {
            prop_assert!(chunk.start_line >= 1 && chunk.start_line <= chunk.end_line);
            prop_assert!(chunk.end_line as usize <= lines.max(1));
        }
    }
}
