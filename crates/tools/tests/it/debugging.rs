//! Lines that are put in and taken out, and pull requests through a `gh` that is not the real one.

use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use guard::Action;
use project::{Child, Command, Grants, HostError, Launcher, LocalHost, Roots};
use serde_json::{Value, json};

use crate::folder::Folder;

impl Folder {
    async fn told(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.map_or_else(|error| format!("error: {error}"), |output| output.text)
    }
}

#[tokio::test]
async fn what_was_put_in_goes_at_the_end_of_the_turn() {
    let folder = Folder::new();
    let source = "fn f() {\r\n    let x = 1;\r\n}";
    folder.write("a.rs", source).write("b.py", "x = 1\n");
    let put = json!({"path": "a.rs", "after": 2, "code": "dbg!(x);\ndbg!(1);"});
    assert_eq!(
        folder.told("instrument", put).await,
        "2 lines are in `a.rs` after line 2, until the end of the turn\n"
    );
    assert_eq!(
        folder.text("a.rs"),
        "fn f() {\r\n    let x = 1;\r\n    dbg!(x); // covey-debug\r\n    dbg!(1); // covey-debug\r\n}"
    );
    folder.told("instrument", json!({"path": "b.py", "after": 1, "code": "print(x)", "keep": true})).await;
    // Somebody works on in the meantime.
    let meanwhile = folder.text("a.rs").replace("let x = 1", "let x = 2");
    folder.write("a.rs", meanwhile);
    let changed = tools::remove_instrumentation(&folder.context.state, folder.context.host.as_ref()).await;
    assert_eq!(changed, [folder.context.cwd.join("a.rs")]);
    assert_eq!(folder.text("a.rs"), source.replace("x = 1", "x = 2"));
    assert_eq!(folder.text("b.py"), "x = 1\nprint(x) # covey-debug-keep\n");
    assert_eq!(folder.told("uninstrument", json!({})).await, "removed 1 lines from 1 files\n");
    assert_eq!(folder.text("b.py"), "x = 1\n");
    assert_eq!(folder.told("uninstrument", json!({})).await, "removed 0 lines from 0 files\n");
    assert_eq!(folder.actions("uninstrument", json!({})), [Action::Inward]);
}

#[tokio::test]
async fn what_can_not_be_marked_is_left_alone() {
    let folder = Folder::new();
    folder.write("a.json", "{}\n").write("a.rs", "x\n");
    for (input, told) in [
        (json!({"path": "a.json", "after": 1, "code": "x"}), "no comments"),
        (json!({"path": "a.rs", "after": 5, "code": "x"}), "beyond the end"),
        (json!({"path": "a.rs", "after": 1, "code": " \n"}), "empty"),
        (json!({"path": "a.rs", "after": 1, "code": "a \\\nb"}), "goes on"),
        (json!({"path": "none.rs", "after": 0, "code": "x"}), "does not exist"),
        (json!({"path": "/etc/x.py", "after": 0, "code": "x"}), "outside"),
    ] {
        let text = folder.told("instrument", input.clone()).await;
        assert!(text.contains(told), "{input}: {text}");
    }
    assert_eq!((folder.text("a.json").as_str(), folder.text("a.rs").as_str()), ("{}\n", "x\n"));
}

#[tokio::test]
async fn a_pull_request_is_asked_for_word_by_word() {
    let folder = Folder::new();
    let input = json!({"title": "--web", "body": "why\n`rm -rf`", "base": "main", "draft": true});
    let argv = ["gh", "pr", "create", "--title=--web", "--body=why\n`rm -rf`", "--base=main", "--draft"];
    let argv: Vec<String> = argv.map(str::to_owned).into();
    let cwd = folder.context.cwd.clone();
    assert_eq!(folder.actions("pr_create", input), [Action::Program { argv, cwd }]);
    for (input, argv) in [
        (json!({"action": "view", "number": 7}), "gh pr view 7 --comments"),
        (json!({"action": "diff"}), "gh pr diff"),
        (
            json!({"action": "request_changes", "number": 7, "body": "no"}),
            "gh pr review 7 --request-changes --body=no",
        ),
        (json!({"action": "approve"}), "gh pr review --approve"),
    ] {
        let actions = folder.actions("pr_review", input);
        assert!(
            matches!(&actions[..], [Action::Program { argv: found, .. }] if found.join(" ") == argv),
            "{actions:?}"
        );
    }
    for bad in
        [json!({"action": "comment"}), json!({"action": "diff", "body": "x"}), json!({"action": "merge"})]
    {
        assert!(folder.told("pr_review", bad).await.starts_with("error"));
    }
}

/// Starts programs with another search path.
struct WithPath(String);

impl Launcher for WithPath {
    fn launch(&self, mut command: Command, _roots: &Roots, _grants: &Grants) -> Result<Child, HostError> {
        command.env("PATH", &self.0);
        command.spawn().map_err(|error| HostError::NotStarted(error.to_string()))
    }
}

#[tokio::test]
async fn gh_speaks_or_is_missing() {
    let mut folder = Folder::new();
    let bin = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\nif [ \"$2\" = create ]; then echo https://github.com/o/r/pull/7; exit 0; fi\necho no pull requests >&2; exit 1\n";
    std::fs::write(bin.path().join("gh"), script).unwrap();
    std::fs::set_permissions(bin.path().join("gh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut search = |path: &std::path::Path| {
        let roots = Roots::new([&folder.context.cwd]).unwrap();
        let launcher = Arc::new(WithPath(path.display().to_string()));
        folder.context.host = Arc::new(LocalHost::new(roots).launched_by(launcher));
        folder.context.clone()
    };
    let toolbox = tools::Toolbox::builtin();
    let (create, review) = (toolbox.get("pr_create").unwrap(), toolbox.get("pr_review").unwrap());
    let context = search(bin.path());
    let output = create.call(json!({"title": "t", "body": "b"}), &context).await.unwrap();
    assert_eq!(output.summary, "https://github.com/o/r/pull/7");
    let error = review.call(json!({"action": "view"}), &context).await.unwrap_err();
    assert_eq!(error.0, "gh: exit code 1: no pull requests");
    std::fs::remove_file(bin.path().join("gh")).unwrap();
    let error = review.call(json!({"action": "view"}), &search(bin.path())).await.unwrap_err();
    assert!(error.0.contains("is not installed"), "{error}");
}
