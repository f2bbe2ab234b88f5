//! Git, in real repositories.

use guard::Action;
use serde_json::{Value, json};

use crate::folder::Folder;

impl Folder {
    /// A repository with one commit.
    fn repository() -> Self {
        let folder = Self::new();
        folder.git(&["init", "-q", "-b", "main"]);
        folder.git(&["config", "user.name", "Ann"]);
        folder.git(&["config", "user.email", "ann@example.org"]);
        folder.write("a.txt", "one\ntwo\n");
        folder.git(&["add", "a.txt"]);
        folder.git(&["commit", "-q", "-m", "first commit"]);
        folder
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = std::process::Command::new("git");
        git.current_dir(self.path()).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        let output = git.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    async fn ask(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.map_or_else(|error| format!("error: {error}"), |output| output.text)
    }
}

#[tokio::test]
async fn status_tells_everything_by_its_real_name() {
    let folder = Folder::repository();
    let clean = folder.call("git_status", json!({})).await.unwrap();
    assert!(
        clean.text.starts_with("on main at ") && clean.text.ends_with("nothing changed\n"),
        "{}",
        clean.text
    );
    assert_eq!(clean.summary, "clean");
    folder.write("a.txt", "changed\n").write("new\nline", "").write("-dash", "").write("é", "");
    folder.git(&["add", "--", "-dash"]);
    let text = folder.ask("git_status", json!({})).await;
    assert!(
        text.ends_with("staged:\n  A -dash\nnot staged:\n  M a.txt\nuntracked:\n  \"new\\nline\"\n  é\n"),
        "{text}"
    );
}

#[tokio::test]
async fn a_new_a_detached_and_no_repository() {
    let folder = Folder::new();
    for tool in ["git_status", "git_diff", "git_log", "git_show", "git_branch"] {
        let text = folder.ask(tool, json!({})).await;
        assert!(text.starts_with("error") && text.contains("git"), "{tool}: {text}");
    }
    folder.git(&["init", "-q", "-b", "main"]);
    assert_eq!(folder.ask("git_status", json!({})).await, "on main, no commits yet\nnothing changed\n");
    assert!(folder.ask("git_log", json!({})).await.contains("does not have any commits"));
    let folder = Folder::repository();
    folder.git(&["checkout", "-q", "--detach"]);
    assert!(folder.ask("git_status", json!({})).await.starts_with("detached HEAD at "));
    assert!(folder.ask("git_branch", json!({})).await.contains("* (HEAD detached at"));
}

#[tokio::test]
async fn diff_log_show_and_blame() {
    let folder = Folder::repository();
    assert_eq!(folder.ask("git_diff", json!({})).await, "(no changes)\n");
    folder.write("a.txt", "one\n2\n").write("b[1].txt", "");
    let diff = folder.call("git_diff", json!({})).await.unwrap();
    assert!(diff.text.contains("-two\n+2\n") && diff.summary == "1 file", "{}", diff.text);
    assert_eq!(folder.ask("git_diff", json!({"paths": ["b[1].txt"]})).await, "(no changes)\n");
    assert_eq!(folder.ask("git_diff", json!({"staged": true})).await, "(no changes)\n");
    folder.git(&["commit", "-q", "-am", "second"]);
    let log = folder.call("git_log", json!({})).await.unwrap();
    assert!(log.text.contains("Ann: second (HEAD -> main)\n") && log.summary == "2 commits", "{}", log.text);
    assert_eq!(
        folder.call("git_log", json!({"search": "two", "limit": 1})).await.unwrap().summary,
        "1 commit"
    );
    assert_eq!(folder.ask("git_log", json!({"grep": "nothing"})).await, "(no commits)\n");
    let show = folder.ask("git_show", json!({})).await;
    assert!(show.contains("second") && show.contains("+2\n"), "{show}");
    assert_eq!(folder.ask("git_show", json!({"rev": "HEAD~1", "path": "a.txt"})).await, "one\ntwo\n");
    let blame = folder.ask("git_blame", json!({"path": "a.txt", "start": 2})).await;
    assert!(blame.contains("(Ann ") && blame.ends_with("2) 2\n"), "{blame}");
    assert!(folder.ask("git_blame", json!({"path": "none"})).await.starts_with("error: git: exit code 128"));
    assert!(folder.ask("git_diff", json!({"range": "main..nowhere"})).await.contains("nowhere"));
}

#[tokio::test]
async fn an_option_is_no_revision() {
    let folder = Folder::repository();
    for (tool, input) in [
        ("git_diff", json!({"range": "--output=pwned"})),
        ("git_log", json!({"range": "--output=pwned"})),
        ("git_show", json!({"rev": "--output=pwned"})),
        ("git_blame", json!({"path": "a.txt", "rev": "--contents=/etc/passwd"})),
        ("git_branch", json!({"create": "-D"})),
        ("git_checkout", json!({"rev": "-f"})),
        ("git_show", json!({"rev": "a\0b"})),
        ("git_show", json!({"rev": ""})),
    ] {
        let text = folder.ask(tool, input).await;
        assert!(text.contains("is not a revision"), "{tool}: {text}");
    }
    let nul = folder.ask("git_diff", json!({"paths": ["a\0b"]})).await;
    assert!(nul.contains("NUL"), "{nul}");
    assert!(!folder.path().join("pwned").exists());
}

#[tokio::test]
async fn looking_runs_nothing_of_the_repositorys() {
    let folder = Folder::repository();
    let touch = format!("touch {}/pwned; cat", folder.path().display());
    for setting in ["core.fsmonitor", "diff.external", "core.pager", "diff.evil.textconv", "gpg.program"] {
        folder.git(&["config", setting, &touch]);
    }
    folder.git(&["config", "log.showSignature", "true"]);
    folder.write(".gitattributes", "*.txt diff=evil\n").write("a.txt", "changed\n");
    folder.write(".git/hooks/post-index-change", "#!/bin/sh\ntouch pwned\n");
    for (tool, input) in [
        ("git_status", json!({})),
        ("git_diff", json!({})),
        ("git_log", json!({})),
        ("git_show", json!({})),
        ("git_blame", json!({"path": "a.txt"})),
        ("git_branch", json!({})),
    ] {
        let text = folder.ask(tool, input.clone()).await;
        assert!(!text.starts_with("error"), "{tool}: {text}");
        assert!(!folder.path().join("pwned").exists(), "{tool}");
        let actions = folder.actions(tool, input);
        assert!(matches!(actions.as_slice(), [Action::Read { .. }]), "{tool}: {actions:?}");
    }
}

#[tokio::test]
async fn a_commit_takes_what_it_is_told_and_leaves_the_rest() {
    let folder = Folder::repository();
    folder.write("a.txt", "unstaged\n").write("staged.txt", "s\n").write("new.txt", "n\n");
    folder.git(&["add", "staged.txt"]);
    let made = folder
        .call("git_commit", json!({"message": "only new\n\nbody", "paths": ["new.txt"]}))
        .await
        .unwrap();
    assert!(made.text.contains("only new") && made.text.contains("new.txt | 1 +"), "{}", made.text);
    assert_eq!(folder.git(&["status", "--porcelain"]), " M a.txt\nA  staged.txt\n");
    folder.call("git_commit", json!({"message": "staged"})).await.unwrap();
    assert_eq!(folder.git(&["status", "--porcelain"]), " M a.txt\n");
    let nothing = folder.ask("git_commit", json!({"message": "nothing"})).await;
    assert!(nothing.contains("no changes added"), "{nothing}");
    folder.call("git_commit", json!({"message": "all of it", "all": true})).await.unwrap();
    assert_eq!(folder.git(&["status", "--porcelain"]), "");
    for bad in [json!({"message": " "}), json!({"message": "x", "all": true, "paths": ["a.txt"]})] {
        assert!(folder.ask("git_commit", bad).await.starts_with("error"));
    }
}

#[tokio::test]
async fn hooks_run_only_when_that_is_asked_for() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::repository();
    folder.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch hooked\nexit 1\n");
    let hook = folder.path().join(".git/hooks/pre-commit");
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("a.txt", "x\n");
    folder.call("git_commit", json!({"message": "quiet", "all": true})).await.unwrap();
    assert!(!folder.path().join("hooked").exists());
    folder.write("a.txt", "y\n");
    let input = json!({"message": "loud", "all": true, "hooks": true});
    let asked = folder.actions("git_commit", input.clone());
    assert!(matches!(&asked[..], [Action::Program { argv, .. }] if !argv.join(" ").contains("hooksPath")));
    assert!(folder.ask("git_commit", input).await.starts_with("error"));
    assert!(folder.path().join("hooked").exists());
}

#[tokio::test]
async fn branches_are_made_switched_to_and_deleted() {
    let folder = Folder::repository();
    folder.call("git_branch", json!({"create": "topic"})).await.unwrap();
    let switched = folder.call("git_checkout", json!({"rev": "topic"})).await.unwrap();
    assert_eq!(switched.summary, "topic");
    folder.call("git_branch", json!({"rename": "other"})).await.unwrap();
    folder.call("git_checkout", json!({"rev": "third", "create": true})).await.unwrap();
    let list = folder.call("git_branch", json!({})).await.unwrap();
    assert!(list.text.contains("* third") && list.summary == "3 branches", "{}", list.text);
    folder.call("git_branch", json!({"delete": "other"})).await.unwrap();
    folder.write("a.txt", "precious\n");
    folder.call("git_checkout", json!({"paths": ["a.txt"]})).await.unwrap();
    assert_eq!(folder.text("a.txt"), "one\ntwo\n");
    for bad in [json!({}), json!({"rev": "x", "create": true, "paths": ["a"]}), json!({"rev": "nowhere"})] {
        assert!(folder.ask("git_checkout", bad).await.starts_with("error"));
    }
    // A file and a branch of one name: the branch is meant.
    folder.git(&["branch", "a.txt"]);
    folder.call("git_checkout", json!({"rev": "a.txt"})).await.unwrap();
    let asked = folder.actions("git_checkout", json!({"paths": ["a.txt"]}));
    assert!(
        matches!(&asked[..], [Action::Program { argv, .. }] if argv.ends_with(&["--".into(), "a.txt".into()]))
    );
}

#[tokio::test]
async fn a_long_diff_has_two_ends() {
    let folder = Folder::repository();
    folder.write("a.txt", "x".repeat(60).repeat(20_000));
    let diff = folder.ask("git_diff", json!({})).await;
    assert!(diff.len() < 26_000 && diff.contains("bytes left out"), "{}", diff.len());
}
