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
