//! Changing files.

use std::os::unix::fs::{PermissionsExt, symlink};

use guard::{Action, Change};
use protocol::ToolContent;
use serde_json::{Value, json};

use crate::folder::Folder;

impl Folder {
    async fn error(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.unwrap_err().0
    }

    async fn ok(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.unwrap().text
    }
}

#[tokio::test]
async fn write_makes_files_and_replaces_only_what_was_seen() {
    let folder = Folder::new();
    let made = folder.call("write", json!({"path": "a/b/new.txt", "content": "one\ntwo\n"})).await.unwrap();
    assert_eq!(made.text, "created a/b/new.txt: 2 lines\n");
    assert_eq!(made.summary, "+2 -0");
    let diff = ToolContent::Diff { path: "a/b/new.txt".into(), old: None, new: "one\ntwo\n".into() };
    assert_eq!(made.shown, [diff]);
    assert_eq!((made.wrote[0].path.as_str(), made.wrote[0].bytes), ("a/b/new.txt", 8));
    // What it wrote itself it knows.
    folder.ok("write", json!({"path": "a/b/new.txt", "content": "three\n"})).await;
    assert_eq!(folder.text("a/b/new.txt"), "three\n");

    folder.write("old.txt", "precious\n").write("empty.txt", "");
    let unread = folder.error("write", json!({"path": "old.txt", "content": "x"})).await;
    assert!(unread.contains("read it first"), "{unread}");
    folder.read(json!({"path": "old.txt"})).await.unwrap();
    folder.write("old.txt", "precious, and more\n");
    let stale = folder.error("write", json!({"path": "old.txt", "content": "x"})).await;
    assert!(stale.contains("changed since you read it"), "{stale}");
    assert_eq!(folder.text("old.txt"), "precious, and more\n");
    folder.read(json!({"path": "./old.txt"})).await.unwrap();
    folder.ok("write", json!({"path": "old.txt", "content": "x"})).await;
    assert_eq!(folder.text("old.txt"), "x");
    folder.ok("write", json!({"path": "empty.txt", "content": "x"})).await;
    folder.write("binary", [0u8, 1, 2]);
    assert!(folder.error("write", json!({"path": "binary", "content": "x"})).await.contains("binary"));
}

#[tokio::test]
async fn write_keeps_line_ends_mark_mode_and_links() {
    let folder = Folder::new();
    folder.write("run.sh", b"\xef\xbb\xbfa\r\nb\r\n");
    std::fs::set_permissions(folder.path().join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("run.sh", folder.path().join("link")).unwrap();
    folder.read(json!({"path": "link"})).await.unwrap();
    let text = folder.ok("write", json!({"path": "link", "content": "a\nc\n"})).await;
    assert!(text.contains("line ends were kept"), "{text}");
    assert_eq!(folder.bytes("run.sh"), b"\xef\xbb\xbfa\r\nc\r\n");
    let mode = folder.path().join("run.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert!(folder.path().join("link").is_symlink());
}

#[tokio::test]
async fn edit_answers_with_the_changed_place() {
    let folder = Folder::new();
    folder.write("a.rs", (1..=9).map(|n| format!("line {n}\n")).collect::<String>());
    let input = json!({"path": "a.rs", "old": "line 5\n", "new": "five\nfive and a half\n"});
    let Action::Write { change: Change::Edit, paths } = &folder.actions("edit", input.clone())[0] else {
        panic!()
    };
    assert_eq!(paths, &[folder.context.cwd.join("a.rs")]);
    let output = folder.call("edit", input).await.unwrap();
    assert_eq!(
        output.text,
        "changed a.rs +2 -1\n3\tline 3\n4\tline 4\n5\tfive\n6\tfive and a half\n7\tline 6\n8\tline 7\n"
    );
    assert_eq!(output.summary, "+2 -1");
}

#[tokio::test]
async fn several_edits_are_all_made_or_none() {
    let folder = Folder::new();
    folder.write("a", "one two one\n").write("b", "three\n");
    let good = json!({"edits": [
        {"path": "a", "old": "one", "new": "1", "replace_all": true},
        {"path": "./a", "old": "1 two", "new": "1 2"},
        {"path": "b", "old": "three", "new": "3"},
    ]});
    let output = folder.call("edit", good).await.unwrap();
    assert_eq!((folder.text("a"), folder.text("b")), ("1 2 1\n".to_owned(), "3\n".to_owned()));
    assert_eq!(output.summary, "2 files +2 -2");
    // The second overlaps what the first took away.
    let bad = json!({"path": "a", "edits": [{"old": "1 2", "new": "x"}, {"old": "2 1", "new": "y"}]});
    let error = folder.error("edit", bad).await;
    assert!(error.starts_with("edit 2 of 2, `a`: the old text is not there"), "{error}");
    assert!(error.ends_with("Nothing was changed."));
    assert_eq!(folder.text("a"), "1 2 1\n");
    for (input, told) in [
        (json!({"path": "a", "old": "", "new": "x"}), "empty"),
        (json!({"path": "a", "old": "1", "new": "x"}), "2 times"),
        (json!({"path": "a", "old": "1", "new": "1"}), "the same"),
        (json!({"path": "a"}), "nothing to edit"),
        (json!({"old": "a", "new": "b"}), "`path` is missing"),
        (json!({"path": "../a", "old": "1", "new": "x"}), "outside"),
        (json!({"path": "missing", "old": "1", "new": "x"}), "does not exist"),
    ] {
        let error = folder.error("edit", input.clone()).await;
        assert!(error.contains(told), "{input}: {error}");
    }
}

#[tokio::test]
async fn edit_keeps_all_that_it_does_not_name() {
    let folder = Folder::new();
    let utf16 = |text: &str| -> Vec<u8> {
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    folder.write("crlf", "a\r\nb\r\nc").write("latin1", b"caf\xe9 b\n").write("utf16", utf16("größe b\r\n"));
    folder.write("mark", "\u{feff}b\n");
    for file in ["crlf", "latin1", "utf16", "mark"] {
        folder.ok("edit", json!({"path": file, "old": "b", "new": "B\nB"})).await;
    }
    assert_eq!(folder.bytes("crlf"), b"a\r\nB\r\nB\r\nc");
    assert_eq!(folder.bytes("latin1"), b"caf\xe9 B\nB\n");
    assert_eq!(folder.bytes("utf16"), utf16("größe B\r\nB\r\n"));
    assert_eq!(folder.bytes("mark"), "\u{feff}B\nB\n".as_bytes());
    // A file in Latin-1 is read as what it says, so that it can be quoted.
    assert_eq!(
        folder.read(json!({"path": "latin1", "limit": 1})).await.unwrap().lines().next().unwrap(),
        "1\tcafé B"
    );
    let error = folder.error("edit", json!({"path": "latin1", "old": "B\nB", "new": "€"})).await;
    assert!(error.contains("Latin-1"), "{error}");
}

#[tokio::test]
async fn a_change_of_many_files_that_fails_midway_is_taken_back() {
    let folder = Folder::new();
    folder.write("a", "a\n").write("b/b", "b\n");
    let closed = folder.path().join("b");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(closed.join("probe"), "").is_ok() {
        // Who is allowed everything can not be refused anything.
        return;
    }
    let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+A\n--- a/b/b\n+++ b/b/b\n@@ -1 +1 @@\n-b\n+B\n";
    let error = folder.error("apply_patch", json!({"patch": patch})).await;
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(error.contains("no permission"), "{error}");
    assert_eq!(folder.text("a"), "a\n");
}

#[tokio::test]
async fn a_patch_makes_changes_moves_and_deletes() {
    let folder = Folder::new();
    folder.write("change", "a\nb\nc\n").write("gone", "x\n").write("old", "1\n2\n3\n");
    let patch = "*** Begin Patch\n*** Add File: dir/new\n+hello\n+there\n*** Update File: change\n@@\n a\n-b\n+B\n*** Delete File: gone\n*** Update File: old\n*** Move to: dir/moved\n@@\n-2\n+two\n*** End Patch";
    let actions = folder.actions("apply_patch", json!({"patch": patch}));
    let path = |name: &str| folder.context.cwd.join(name);
    assert_eq!(
        actions,
        [
            Action::Write { change: Change::Create, paths: vec![path("dir/new")] },
            Action::Write { change: Change::Edit, paths: vec![path("change")] },
            Action::Write { change: Change::Delete, paths: vec![path("gone")] },
            Action::Write { change: Change::Move, paths: vec![path("old"), path("dir/moved")] },
        ]
    );
    let output = folder.call("apply_patch", json!({"patch": patch})).await.unwrap();
    assert_eq!(folder.text("dir/new"), "hello\nthere\n");
    assert_eq!(folder.text("change"), "a\nB\nc\n");
    assert_eq!(folder.text("dir/moved"), "1\ntwo\n3\n");
    assert!(!path("gone").exists() && !path("old").exists());
    assert_eq!(output.summary, "4 files +4 -3");
    assert_eq!(output.shown.len(), 4);
    assert!(output.text.contains("moved old to dir/moved +1 -1\n"), "{}", output.text);
}

#[tokio::test]
async fn a_patch_that_does_not_fit_changes_nothing() {
    let folder = Folder::new();
    folder.write("a", "a\n").write("b", "b\nc\n");
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), folder.path().join("out")).unwrap();
    let two = |path: &str, hunk: &str| {
        format!("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+A\n--- a/{path}\n+++ b/{path}\n{hunk}")
    };
    for (patch, told) in [
        (two("b", "@@ -1,2 +1,2 @@\n b\n-x\n+X\n"), "line 2 is `c`, the patch has `x`"),
        (two("missing", "@@ -1 +1 @@\n-a\n+b\n"), "does not exist"),
        (two("../b", "@@ -1 +1 @@\n-a\n+b\n"), "outside"),
        ("--- /dev/null\n+++ b/../new\n@@ -0,0 +1 @@\n+a\n".to_owned(), "outside"),
        ("--- /dev/null\n+++ b/out/new\n@@ -0,0 +1 @@\n+a\n".to_owned(), "outside"),
        ("*** Begin Patch\n*** Add File: b\n+x\n*** End Patch".to_owned(), "already there"),
        (
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-a\n+A\n*** End Patch".to_owned(),
            "already there",
        ),
        ("--- a/b\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n".to_owned(), "more than the patch knows"),
        ("nothing".to_owned(), "changes no file"),
    ] {
        let error = folder.error("apply_patch", json!({"patch": patch})).await;
        assert!(error.contains(told), "{patch}: {error}");
        assert_eq!((folder.text("a"), folder.text("b")), ("a\n".to_owned(), "b\nc\n".to_owned()));
    }
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn files_are_copied_moved_deleted_and_never_over_others() {
    let folder = Folder::new();
    folder
        .write("a", "a")
        .write("dir/b", "b")
        .write("dir/sub/c", "c")
        .write("-x", "dash")
        .write("new\nline", "nl");
    folder.ok("copy", json!({"from": "dir", "to": "twin"})).await;
    assert_eq!(folder.text("twin/sub/c"), "c");
    folder.ok("copy", json!({"from": "a", "to": "dir"})).await;
    assert_eq!(folder.text("dir/a"), "a");
    assert!(folder.error("copy", json!({"from": "a", "to": "dir/b"})).await.contains("already there"));
    assert!(folder.error("copy", json!({"from": "dir", "to": "dir/sub/more"})).await.contains("lies in"));
    folder.ok("move", json!({"from": "-x", "to": "deep/er/x"})).await;
    assert_eq!(folder.text("deep/er/x"), "dash");
    assert!(folder.error("move", json!({"from": "a", "to": "dir/b"})).await.contains("already there"));
    // Two names that differ in case alone are two files here.
    folder.write("Name", "1");
    folder.ok("move", json!({"from": "Name", "to": "name"})).await;
    assert_eq!(folder.text("name"), "1");
    folder.ok("mkdir", json!({"path": ["x/y", "z"]})).await;
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    let input = json!({"path": ["twin", "new\nline", "dangling"]});
    let deleted = folder.call("delete", input).await.unwrap();
    assert_eq!(deleted.text, "deleted twin\ndeleted \"new\\nline\"\ndeleted dangling\n");
    assert!(!folder.path().join("twin").exists() && folder.path().join("x/y").is_dir());
    for path in [".", "dir/..", "../x", "missing", ""] {
        let error = folder.error("delete", json!({"path": ["a", path]})).await;
        assert!(
            ["itself", "outside", "not exist", "not a path"].iter().any(|told| error.contains(told)),
            "{error}"
        );
        assert_eq!(folder.text("a"), "a");
    }
}

#[tokio::test]
async fn replace_shows_first_and_changes_when_told() {
    let folder = Folder::new();
    folder.write("src/a.rs", "let x = old(1);\r\nlet y = old(2);\r\n").write("src/b.txt", "old(3)\n");
    folder.write("target/c.rs", "old(4)\n").write(".gitignore", "target\n");
    let mut input = json!({"pattern": r"old\((\d)\)", "replacement": "new($1, ${1}0)", "path": "**/*.rs"});
    let looks = folder.actions("replace", input.clone());
    assert_eq!(looks, [Action::Read { paths: vec![folder.context.cwd.join(".")] }]);
    let preview = folder.call("replace", input.clone()).await.unwrap();
    assert_eq!(preview.summary, "2 matches in 1 file");
    assert!(
        preview.text.contains("-let x = old(1);\n") && preview.text.contains("+let x = new(1, 10);\n"),
        "{}",
        preview.text
    );
    assert_eq!(folder.text("src/a.rs"), "let x = old(1);\r\nlet y = old(2);\r\n");
    input["apply"] = true.into();
    input["lines"] = "2-".into();
    assert!(matches!(folder.actions("replace", input.clone())[0], Action::Write { .. }));
    let done = folder.call("replace", input).await.unwrap();
    assert!(done.text.starts_with("replaced 1 match in 1 file\n"), "{}", done.text);
    assert_eq!(folder.text("src/a.rs"), "let x = old(1);\r\nlet y = new(2, 20);\r\n");
    let literal =
        json!({"pattern": "old(3)", "replacement": "$1", "path": "src", "literal": true, "apply": true});
    folder.ok("replace", literal).await;
    assert_eq!(folder.text("src/b.txt"), "$1\n");
    let bomb = json!({"pattern": r"(\w{1000}){1000}", "replacement": "", "path": "."});
    assert!(folder.error("replace", bomb).await.contains("does not work"));
}

#[tokio::test]
async fn batch_runs_what_the_guard_was_told_of() {
    let folder = Folder::new();
    folder.write("a.txt", "1").write("it's; touch pwned.txt", "2").write("-n.txt", "3");
    let input = json!({"command": "cat {file}; echo", "files": ["*.txt", "it's; touch pwned.txt"]});
    let actions = folder.actions("batch", input.clone());
    let commands: Vec<&str> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Shell { command, .. } => Some(command.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        commands,
        ["cat './-n.txt'; echo", "cat 'a.txt'; echo", r"cat 'it'\''s; touch pwned.txt'; echo"]
    );
    // One that comes later was not told of.
    folder.write("late.txt", "4");
    let output = folder.call("batch", input.clone()).await.unwrap();
    assert_eq!(
        output.text,
        "3 files, all well\n==> -n.txt <==\n3\n==> a.txt <==\n1\n==> it's; touch pwned.txt <==\n2\n"
    );
    assert!(!folder.path().join("pwned.txt").exists());
    let failing = json!({"command": "test -e {file}x", "files": "a.txt"});
    assert_eq!(folder.call("batch", failing).await.unwrap().summary, "1 of 1 file failed");
    for n in 0..101 {
        folder.write(&format!("many/{n}"), "");
    }
    let many = folder.error("batch", json!({"command": "cat", "files": "many/*"})).await;
    assert!(many.contains("101 files"), "{many}");
}

#[tokio::test]
async fn what_vanishes_or_can_not_be_read_is_an_answer() {
    let folder = Folder::new();
    folder.write("a", "a\n").write("closed", "x\n");
    folder.read(json!({"path": "a"})).await.unwrap();
    std::fs::remove_file(folder.path().join("a")).unwrap();
    assert!(
        folder.error("edit", json!({"path": "a", "old": "a", "new": "b"})).await.contains("does not exist")
    );
    // Nothing is lost by making anew what somebody took away.
    folder.ok("write", json!({"path": "a", "content": "b\n"})).await;
    std::fs::set_permissions(folder.path().join("closed"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(folder.path().join("closed")).is_err() {
        let error = folder.error("edit", json!({"path": "closed", "old": "x", "new": "y"})).await;
        assert!(error.contains("no permission"), "{error}");
    }
    symlink("b", folder.path().join("c")).unwrap();
    symlink("c", folder.path().join("b")).unwrap();
    for (tool, input) in [
        ("write", json!({"path": "b", "content": "x"})),
        ("edit", json!({"path": "b", "old": "x", "new": "y"})),
        ("stat", json!({"path": "b/*"})),
        ("tree", json!({"path": "b"})),
        ("grep", json!({"pattern": "x", "path": "b"})),
        ("mkdir", json!({"path": "b/x"})),
    ] {
        assert!(folder.error(tool, input).await.contains("loop"), "{tool}");
    }
}

#[tokio::test]
async fn an_edit_of_a_line_of_megabytes_is_told_in_a_few_bytes() {
    let folder = Folder::new();
    folder.write("minified.js", format!("{}needle{}", "x".repeat(5 << 20), "y".repeat(5 << 20)));
    let output =
        folder.call("edit", json!({"path": "minified.js", "old": "needle", "new": "pin"})).await.unwrap();
    assert!(output.text.len() < 2000, "{}", output.text.len());
    let ToolContent::Diff { old: Some(old), new, .. } = &output.shown[0] else { panic!() };
    assert!(old.len() + new.len() < 1 << 20);
    assert_eq!(folder.bytes("minified.js").len(), (10 << 20) + 3);
    let missing = folder.error("edit", json!({"path": "minified.js", "old": "nowhere", "new": "x"})).await;
    assert!(missing.len() < 2000, "{}", missing.len());
}

fn mode(folder: &Folder, name: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777
}

fn runnable(folder: &Folder, name: &str) {
    use std::os::unix::fs::PermissionsExt;
    folder.write(name, "#!/bin/sh\necho hi\n");
    std::fs::set_permissions(folder.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_script_can_still_be_run_whatever_is_done_to_it() {
    let folder = Folder::new();
    runnable(&folder, "in/run.sh");
    folder.call("copy", json!({"from": "in", "to": "copied"})).await.unwrap();
    assert_eq!(mode(&folder, "copied/run.sh"), 0o755);
    folder.call("copy", json!({"from": "in/run.sh", "to": "again.sh"})).await.unwrap();
    assert_eq!(mode(&folder, "again.sh"), 0o755);
    folder.call("move", json!({"from": "again.sh", "to": "moved.sh"})).await.unwrap();
    assert_eq!(mode(&folder, "moved.sh"), 0o755);
    folder.call("edit", json!({"path": "moved.sh", "old": "hi", "new": "ho"})).await.unwrap();
    assert_eq!(mode(&folder, "moved.sh"), 0o755);
    folder.call("read", json!({"path": "moved.sh"})).await.unwrap();
    folder.call("write", json!({"path": "moved.sh", "content": "#!/bin/sh\n"})).await.unwrap();
    assert_eq!(mode(&folder, "moved.sh"), 0o755);
    let patch = "--- a/moved.sh\n+++ b/moved.sh\n@@ -1 +1,2 @@\n #!/bin/sh\n+true\n";
    folder.call("apply_patch", json!({"patch": patch})).await.unwrap();
    assert_eq!(mode(&folder, "moved.sh"), 0o755);
}

#[tokio::test]
async fn a_patch_says_what_can_be_run() {
    let folder = Folder::new();
    runnable(&folder, "old.sh");
    let patch = "diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+true\n\
                 diff --git a/old.sh b/old.sh\nold mode 100755\nnew mode 100644\n";
    let told = folder.call("apply_patch", json!({"patch": patch})).await.unwrap().text;
    assert!(told.contains("changed old.sh +0 -0 (can not be run any more)"), "{told}");
    assert_eq!((mode(&folder, "new.sh") & 0o111 != 0, mode(&folder, "old.sh")), (true, 0o644));
    let back = "diff --git a/old.sh b/old.sh\nold mode 100644\nnew mode 100755\n";
    folder.call("apply_patch", json!({"patch": back})).await.unwrap();
    assert_eq!(mode(&folder, "old.sh"), 0o755);
}

#[tokio::test]
async fn a_file_that_a_failed_patch_had_deleted_comes_back_as_it_was() {
    let folder = Folder::new();
    runnable(&folder, "gone.sh");
    runnable(&folder, "stuck/x.sh");
    // The move fails, because something is there, after the deletion was made.
    folder.write("there/x.sh", "");
    let patch = "*** Begin Patch\n*** Delete File: gone.sh\n*** Update File: stuck/x.sh\n*** Move to: there/x.sh\n@@\n-echo hi\n+echo ho\n*** End Patch\n";
    let error = folder.call("apply_patch", json!({"patch": patch})).await.unwrap_err().0;
    assert!(error.contains("there/x.sh"), "{error}");
    assert_eq!((mode(&folder, "gone.sh"), mode(&folder, "stuck/x.sh")), (0o755, 0o755));
    assert_eq!(folder.text("stuck/x.sh"), "#!/bin/sh\necho hi\n");
}

/// On a file system that tells them apart they are two; on one that does not they are one, and the other is found by it.
#[tokio::test]
async fn names_that_differ_in_case_are_what_the_file_system_says() {
    let folder = Folder::new();
    folder.write("Readme.md", "one\n");
    let folds = folder.path().join("README.MD").exists();
    folder.write("README.MD", "two\n");
    folder.ok("edit", json!({"path": "README.MD", "old": "two", "new": "three"})).await;
    assert_eq!(folder.text("Readme.md"), if folds { "three\n" } else { "one\n" });
    let names = folder.ok("glob", json!({"pattern": "*.[mM][dD]"})).await;
    assert_eq!(
        names.lines().filter(|line| line.to_lowercase().contains("readme")).count(),
        if folds { 1 } else { 2 }
    );
    // A change of case alone is a move like any other.
    folder.write("cart.rs", "x\n");
    folder.ok("move", json!({"from": "cart.rs", "to": "Cart.rs"})).await;
    let listed = folder.ok("list_dir", json!({"path": "."})).await;
    assert!(listed.contains("Cart.rs") && !listed.contains("cart.rs"), "{listed}");
}

#[tokio::test]
async fn files_take_each_others_places_in_one_patch() {
    let folder = Folder::new();
    folder.write("a", "1\n2\n").write("gone", "x\n");
    let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-2\n+two\n*** Add File: a\n+new\n\
                 *** Delete File: gone\n*** Add File: gone/inside\n+y\n*** End Patch";
    folder.call("apply_patch", json!({"patch": patch})).await.unwrap();
    assert_eq!((folder.text("a"), folder.text("b")), ("new\n".to_owned(), "1\ntwo\n".to_owned()));
    assert_eq!(folder.text("gone/inside"), "y\n");
}

#[tokio::test]
async fn a_patch_copies_what_was_there_before_it() {
    let folder = Folder::new();
    runnable(&folder, "run.sh");
    let patch = "diff --git a/run.sh b/run.sh\nindex 1..2 100755\n--- a/run.sh\n+++ b/run.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo hi\n+echo ho\n\
                 diff --git a/run.sh b/twin.sh\nsimilarity index 90%\ncopy from run.sh\ncopy to twin.sh\n\
                 --- a/run.sh\n+++ b/twin.sh\n@@ -1,2 +1,3 @@\n #!/bin/sh\n echo hi\n+true\n";
    folder.call("apply_patch", json!({"patch": patch})).await.unwrap();
    assert_eq!(folder.text("run.sh"), "#!/bin/sh\necho ho\n");
    assert_eq!(folder.text("twin.sh"), "#!/bin/sh\necho hi\ntrue\n");
    assert!(mode(&folder, "twin.sh") & 0o100 != 0);
}

#[tokio::test]
async fn a_diff_of_trees_finds_the_files_of_this_one() {
    let folder = Folder::new();
    folder.write("src/x", "a\n").write("src/gone", "g\n").write("kept", "k\n").write("kept.orig", "o\n");
    let stamp = "\t2026-01-02 03:04:05.6 +0000";
    let never = "\t1970-01-01 00:00:00.0 +0000";
    let patch = format!(
        "diff -ruN old/src/x new/src/x\n--- old/src/x{stamp}\n+++ new/src/x{stamp}\n@@ -1 +1 @@\n-a\n+b\n\
         --- old/src/y{never}\n+++ new/src/y{stamp}\n@@ -0,0 +1 @@\n+y\n\
         --- old/src/gone{stamp}\n+++ new/src/gone{never}\n@@ -1 +0,0 @@\n-g\n\
         --- kept.orig{stamp}\n+++ kept{stamp}\n@@ -1 +1 @@\n-k\n+K\n"
    );
    folder.call("apply_patch", json!({"patch": patch})).await.unwrap();
    assert_eq!((folder.text("src/x"), folder.text("src/y")), ("b\n".to_owned(), "y\n".to_owned()));
    assert_eq!((folder.text("kept"), folder.text("kept.orig")), ("K\n".to_owned(), "o\n".to_owned()));
    assert!(!folder.path().join("src/gone").exists());
}

#[tokio::test]
async fn a_group_that_is_not_there_takes_nothing_away() {
    let folder = Folder::new();
    folder.write("a", "one two\n");
    let replace = |replacement: &str| json!({"pattern": "(o)ne", "replacement": replacement, "path": "a", "apply": true});
    for bad in ["$2", "$1x", "${name}", "$1_"] {
        let error = folder.error("replace", replace(bad)).await;
        assert!(error.contains("has no group"), "{bad}: {error}");
    }
    folder.call("replace", replace("${1}x $$2 $0")).await.unwrap();
    assert_eq!(folder.text("a"), "ox $2 one two\n");
    let ends = json!({"pattern": "$", "replacement": ";", "path": "a", "apply": true});
    folder.call("replace", ends).await.unwrap();
    assert_eq!(folder.text("a"), "ox $2 one two;\n");
}
