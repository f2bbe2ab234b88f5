use proptest::prelude::*;

use super::*;

fn edit(file: &str, old: &str, new: &str) -> Result<(String, Found), Miss> {
    let text = Text::new(file.to_owned());
    apply(&text, Edit { old, new, replace_all: false })
        .map(|(text, found)| (text.original().to_owned(), found))
}

#[test]
fn white_space_that_a_model_gets_wrong_does_not_matter() {
    let file = "fn a() {\n\tif x {  \n\t\tgo();\n\t}\n}\n";
    let (changed, found) =
        edit(file, "if x {\n    go();\n}\n", "if x {\n    go();\n    stop();\n}\n").unwrap();
    assert_eq!(changed, "fn a() {\n\tif x {  \n\t\tgo();\n\t\tstop();\n\t}\n}\n");
    assert_eq!(found, Found::Loosely);
    let (changed, _) = edit("say(\"hi\");\n", "say(“hi”);", "say(\"ho\");").unwrap();
    assert_eq!(changed, "say(\"ho\");\n");
}

#[test]
fn a_passage_told_a_little_wrong_changes_only_where_it_should() {
    let file = "one\ntwo\nthree is long\nfour\nfive\nsix\n";
    let old = "one\ntwo\nthree was long\nfour\nfive\nsix\n";
    let new = "one\ntwo\nthree was long\nfour\nFIVE\nsix\n";
    let (changed, found) = edit(file, old, new).unwrap();
    assert_eq!(changed, "one\ntwo\nthree is long\nfour\nFIVE\nsix\n");
    assert_eq!(found, Found::ByContext);
    // Not when the wrong line is the one to change.
    let miss = edit(file, old, &old.replace("three was long", "3")).unwrap_err();
    assert!(miss.to_string().contains("3\tthree is long"), "{miss}");
}

#[test]
fn a_choice_is_the_models_to_make() {
    let miss = edit("a\nb\na\n", "a", "c").unwrap_err();
    assert_eq!(miss, Miss::Many { times: 2, lines: vec![1, 3] });
    assert!(matches!(edit("aaa\n", "aa", "b"), Err(Miss::Many { .. })));
    assert!(matches!(edit("  a\n  b\n\n\ta\n\tb\n", "a\nb", "c"), Err(Miss::Many { .. })));
    assert_eq!(edit("a\n", "", "b").unwrap_err(), Miss::Empty);
    assert_eq!(edit("a\n", "a", "a").unwrap_err(), Miss::Same);
}

#[test]
fn a_last_line_without_end_stays_without() {
    assert_eq!(edit("a\n  b", "b\n", "c\n").unwrap().0, "a\n  c");
    assert_eq!(edit("  a\n  b", "a\nb\n", "a\nc\nd\n").unwrap().0, "  a\n  c\n  d");
    assert_eq!(edit("a\nb", "b", "c\n").unwrap().0, "a\nc\n");
}

proptest! {
    /// Whatever way it was found: lines that the edit does not take away are all still there, in order.
    #[test]
    fn an_edit_changes_only_what_it_names(
        file in proptest::collection::vec("[ \t]{0,2}[a-d]{0,2}", 0..20),
        at in 0usize..20, length in 1usize..6, sloppy in any::<bool>(), new in "[ \t]{0,2}[x-z]{1,3}(\n[x-z]{1,2}){0,2}",
    ) {
        let text = file.join("\n");
        let at = at.min(file.len().saturating_sub(1));
        let end = (at + length).min(file.len());
        let mut old = file[at.min(end)..end].join("\n");
        if sloppy {
            old = old.split('\n').map(|line| format!(" {} ", line.trim())).collect::<Vec<_>>().join("\n");
        }
        if let Ok((changed, found)) = edit(&text, &old, &new) {
            let left: Vec<&str> = changed.split('\n').filter(|line| !line.contains(['x', 'y', 'z'])).collect();
            let is_part = |line: &str| file.iter().any(|known| known.contains(line));
            prop_assert!(left.iter().all(|line| is_part(line)));
            let mut rest = file.iter();
            prop_assert!(left.iter().all(|line| rest.any(|known| known.contains(line))), "{found:?} {left:?}");
            let taken = old.split('\n').count();
            prop_assert!(file.len() - left.len() <= taken + 1, "{found:?}: {changed:?}");
        }
    }
}
