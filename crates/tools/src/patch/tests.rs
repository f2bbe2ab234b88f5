use proptest::prelude::*;
use similar::TextDiff;

use super::*;
use crate::text::Text;

fn patched(file: &str, patch: &str) -> Result<String, PatchError> {
    let patches = parse(patch)?;
    match &patches.as_slice() {
        [FilePatch { change: FileEdit::Update { hunks, .. }, .. }] => {
            apply(&Text::new(file.to_owned()), hunks).map(|text| text.original().to_owned())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn line_numbers_may_be_wrong_but_context_may_not() {
    let file = "a\nb\nc\nd\ne\n";
    let patch = "--- a/f\n+++ b/f\n@@ -40,3 +40,3 @@\n b\n-c\n+C\n d\n";
    assert_eq!(patched(file, patch).unwrap(), "a\nb\nC\nd\ne\n");
    let error = patched("a\nb\nx\nd\ne\n", patch).unwrap_err();
    assert_eq!(error.to_string(), "hunk 1 does not fit: line 3 is `x`, the patch has `c`");
    let twice = patched("b\nc\nd\nb\nc\nd\n", patch).unwrap_err();
    assert!(twice.to_string().contains("2 places, lines 1, 4"), "{twice}");
    // The number decides between places that are alike.
    let number = patch.replace("-40,3 +40,3", "-4,3 +4,3");
    assert_eq!(patched("b\nc\nd\nb\nc\nd\n", &number).unwrap(), "b\nc\nd\nb\nC\nd\n");
}

#[test]
fn counts_that_a_model_got_wrong_do_not_matter() {
    let patch = "--- f\n+++ f\n@@ -1,9 +1,2 @@\n a\n-b\n+B\n+BB\n\n@@ ... @@\n-d\n";
    assert_eq!(patched("a\nb\nc\nd\n", patch).unwrap(), "a\nB\nBB\nc\n");
}

#[test]
fn codex_patches_are_led_by_headings() {
    let file = "class A:\n    def go(self):\n        pass\n\nclass B:\n    def go(self):\n        pass\n";
    let patch = "*** Begin Patch\n*** Update File: f.py\n@@ class B:\n     def go(self):\n-        pass\n+        return 1\n*** End Patch\n";
    let changed = patched(file, patch).unwrap();
    assert_eq!(changed, file[..50].to_owned() + &file[50..].replace("pass", "return 1"));
    let vague = patch.replace("@@ class B:", "@@");
    assert!(patched(file, &vague).unwrap_err().to_string().contains("2 places"));
    let lost = patch.replace("class B:", "class C:");
    assert!(patched(file, &lost).unwrap_err().to_string().contains("no line `class C:`"));
}

#[test]
fn ends_of_lines_and_files_stay() {
    let patch = "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n";
    assert_eq!(patched("a\r\nb\r\nc\r\n", patch).unwrap(), "a\r\nB\r\nC\r\nc\r\n");
    assert_eq!(patched("a\r\nb", patch).unwrap(), "a\r\nB\r\nC");
    assert_eq!(patched("a\nb", patch).unwrap(), "a\nB\nC");
    // A patch whose own lines end in `\r\n` is not about them.
    assert_eq!(patched("a\nb\n", &patch.replace('\n', "\r\n")).unwrap(), "a\nB\nC\n");
}

#[test]
fn all_that_git_writes_is_read() {
    let patch = "diff --git a/old name.rs b/new name.rs\nsimilarity index 90%\nrename from old name.rs\nrename to new name.rs\n\
        --- \"a/old name.rs\"\n+++ \"b/new name.rs\"\n@@ -1 +1 @@ fn x()\n-a\n+b\n\
        diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n\
        diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n--- a line\n\
        diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n-- \n2.43\n";
    let patches = parse(patch).unwrap();
    let names: Vec<&str> = patches.iter().map(|patch| patch.path.as_str()).collect();
    assert_eq!(names, ["old name.rs", "empty", "gone", "new"]);
    assert!(
        matches!(&patches[0].change, FileEdit::Update { moved_to: Some(to), hunks } if to == "new name.rs" && hunks.len() == 1)
    );
    assert_eq!(patches[1].change, FileEdit::Create { text: String::new() });
    assert!(
        matches!(&patches[2].change, FileEdit::Delete { hunks } if hunks[0].lines[0].text == "-- a line")
    );
    assert_eq!(patches[3].change, FileEdit::Create { text: "x\ny".to_owned() });
}

#[test]
fn what_is_no_patch_is_told_so() {
    for (text, told) in [
        ("", "changes no file"),
        ("hello", "changes no file"),
        ("@@ -1 +1 @@\n-a\n+b\n", "without a file"),
        ("*** Begin Patch\nhello\n*** End Patch", "a file is missing"),
        ("*** Begin Patch\n*** Add File: a\nhello\n*** End Patch", "starts with `+`"),
        ("*** Begin Patch\n*** Update File: a\n@@\n hello\n*** End Patch", "changes nothing"),
        ("--- a/x\n+++ b/x\nBinary files differ\n", "binary"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(told), "{text:?}: {error}");
    }
}

#[test]
fn names_are_read_whatever_stands_in_front_of_them() {
    let names =
        |patch: &str| -> Vec<String> { parse(patch).unwrap().into_iter().map(|patch| patch.path).collect() };
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let git = |old: &str, new: &str| {
        format!("diff --git {old} {new}\nindex 1..2 100644\n--- {old}\n+++ {new}\n{hunk}")
    };
    assert_eq!(names(&git("a/a/x", "b/a/x")), ["a/x"]);
    // `diff.noprefix`, also below a folder that looks like a prefix.
    assert_eq!(names(&git("a/x", "a/x")), ["a/x"]);
    assert_eq!(names(&git("x y", "x y")), ["x y"]);
    // `diff.mnemonicPrefix`
    assert_eq!(names(&git("c/a/x", "w/a/x")), ["a/x"]);
    let mode = |names: &str| format!("diff --git {names}\nold mode 100644\nnew mode 100755\n");
    assert_eq!(names(&mode("\"a/\\303\\244 \\\"1\\\"\" \"b/\\303\\244 \\\"1\\\"\"")), ["ä \"1\""]);
    assert_eq!(names(&mode("a/x b/y b/x b/y")), ["x b/y"]);
    assert_eq!(names(&mode("x x")), ["x"]);
    // Three digits are a letter, what follows is another.
    assert_eq!(names(&mode("\"a/\\3031\" \"b/\\3031\"")), ["\u{fffd}1"]);
}

#[test]
fn a_diff_of_two_files_names_both() {
    let stamped = |old: &str, new: &str, hunk: &str| {
        let patch =
            format!("--- {old}\t2026-01-02 03:04:05.6 +0000\n+++ {new}\t2026-01-02 03:04:05.6 +0000\n{hunk}");
        let patch = parse(&patch).unwrap().remove(0);
        (patch.path, patch.others, patch.change)
    };
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let (path, _, change) = stamped("src/x.orig", "src/x", hunk);
    assert_eq!(path, "src/x");
    assert!(matches!(change, FileEdit::Update { moved_to: None, .. }));
    assert_eq!(stamped("x", "x.new", hunk).0, "x");
    assert_eq!(stamped("/tmp/old", "deep/er/x", hunk).0, "deep/er/x");
    let (path, others, _) = stamped("tree.orig/a/x", "tree/a/x", hunk);
    assert_eq!((path.as_str(), others), ("tree/a/x", vec!["tree.orig/a/x".to_owned(), "a/x".to_owned()]));
    let gone = "--- t.orig/x\t2026-01-02 03:04:05.6 +0000\n+++ t/x\t1970-01-01 00:00:00.0 +0000\n@@ -1 +0,0 @@\n-a\n";
    assert!(matches!(parse(gone).unwrap()[0].change, FileEdit::Delete { .. }));
    let new = "--- t.orig/x\t1969-12-31 19:00:00.0 -0500\n+++ t/x\t2026-01-02 03:04:05.6 +0000\n@@ -0,0 +1 @@\n+a\n";
    assert_eq!(parse(new).unwrap()[0].change, FileEdit::Create { text: "a\n".to_owned() });
}

#[test]
fn a_byte_order_mark_is_a_letter_to_git() {
    let marked = Text::decode(b"\xef\xbb\xbfone\ntwo\n").unwrap();
    let made = |patch: &str| {
        let patches = parse(patch).unwrap();
        let FileEdit::Update { hunks, .. } = &patches[0].change else { panic!("{patches:?}") };
        apply(&marked, hunks).unwrap().encode().unwrap()
    };
    let of_git = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n \u{feff}one\n-two\n+2\n";
    assert_eq!(made(of_git), b"\xef\xbb\xbfone\n2\n");
    let of_model = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n";
    assert_eq!(made(of_model), b"\xef\xbb\xbf1\ntwo\n");
    let away = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-\u{feff}one\n+one\n two\n";
    assert_eq!(made(away), b"one\ntwo\n");
}

#[test]
fn codex_patches_are_read_as_models_write_them() {
    let file = "a\nb\nc\nd\n";
    let codex = |hunks: &str| format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
    // With the head of a unified diff's hunk; not in order.
    assert_eq!(patched(file, &codex("@@ -2,2 +2,2 @@\n-b\n+B\n c\n")).unwrap(), "a\nB\nc\nd\n");
    assert_eq!(patched(file, &codex("@@\n-d\n+D\n@@\n-b\n+B\n")).unwrap(), "a\nB\nc\nD\n");
    // What was changed already is not changed again.
    assert!(patched(file, &codex("@@\n-b\n+B\n@@\n-b\n+C\n")).is_err());
    let two = "*** Begin Patch\n  *** Add File: x\n+1\n\n*** Delete File: y\n*** End Patch\n";
    let patches = parse(two).unwrap();
    assert_eq!(patches[0].change, FileEdit::Create { text: "1\n".to_owned() });
    assert_eq!(patches[1].path, "y");
}

#[test]
fn what_is_not_made_of_lines_is_refused() {
    for (text, told) in [
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+a\n",
            "symbolic link",
        ),
        ("diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+b\n", "symbolic link"),
        ("diff --git a/s b/s\nindex 1..2 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-a\n+b\n", "submodule"),
        ("diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n", "merge"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(told), "{text:?}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn a_patch_from_a_to_b_makes_b_of_a(
        a in "([ab+@ -]{0,3}(\r\n|\n)){0,12}[ab]{0,2}",
        changes in proptest::collection::vec((0usize..14, "([bc +-]{0,3}(\r\n|\n)){0,3}"), 0..4),
        open in any::<bool>(),
        radius in 1usize..4,
    ) {
        let mut lines: Vec<String> = a.split_inclusive('\n').map(str::to_owned).collect();
        for (at, new) in changes {
            match lines.get_mut(at) {
                Some(line) => *line = new,
                None => lines.push(new),
            }
        }
        let mut b = lines.concat();
        if open {
            b.truncate(b.trim_end_matches(['\r', '\n']).len());
        }
        prop_assume!(a != b && !a.is_empty());
        let diff = TextDiff::from_lines(a.as_str(), b.as_str());
        let patch = diff.unified_diff().context_radius(radius).header("a/f", "b/f").to_string();
        prop_assert_eq!(patched(&a, &patch).unwrap(), b, "{}", patch);
    }

    #[test]
    fn any_text_is_a_patch_or_an_error(text in "(\\*\\*\\* |@@|---|\\+\\+\\+|diff --git|[ +-]|a|\n|\r){0,40}") {
        if let Ok(patches) = parse(&text) {
            for patch in patches {
                if let FileEdit::Update { hunks, .. } = patch.change {
                    drop(apply(&Text::new("a\na\n".to_owned()), &hunks));
                }
            }
        }
    }
}
