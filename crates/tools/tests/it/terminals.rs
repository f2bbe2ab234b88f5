//! Commands that have a terminal.

use serde_json::json;

use crate::folder::Folder;

impl Folder {
    async fn on_terminal(&self, command: &str) -> String {
        self.call("shell", json!({"command": command, "pty": true})).await.unwrap().text
    }

    async fn job(&self, command: &str) {
        let job = json!({"command": command, "pty": true, "background": true});
        assert!(self.call("shell", job).await.unwrap().text.contains("job_input"));
    }

    /// Types, and looks until what is printed has `wanted` in it.
    async fn types(&self, text: &str, wanted: &str) -> String {
        let mut seen = self.call("job_input", json!({"job": 1, "text": text})).await.unwrap().text;
        while !seen.contains(wanted) {
            assert!(seen.len() < 100_000, "{wanted}: {}", &seen[..2000]);
            tokio::task::yield_now().await;
            seen.push_str(&self.call("job_output", json!({"job": 1})).await.unwrap().text);
        }
        seen
    }
}

#[tokio::test]
async fn a_program_that_looks_for_a_terminal_finds_one() {
    let folder = Folder::new();
    let look =
        "for n in 0 1 2; do test -t $n && echo tty $n; done; stty size; : > /dev/tty && echo own; exit 3";
    assert_eq!(folder.on_terminal(look).await, "tty 0\ntty 1\ntty 2\n40 120\nown\n[exit code 3]\n");
    let piped = folder.call("shell", json!({"command": "test -t 1 || echo no"})).await.unwrap().text;
    assert_eq!(piped, "no\n[exit code 0]\n");
}

#[tokio::test]
async fn what_is_drawn_comes_back_as_text() {
    let folder = Folder::new();
    let drawn = folder.on_terminal(r"printf '\033[1mbold\033[0m\n10%%\r100%%\n'").await;
    assert_eq!(drawn, "bold\n100%\n[exit code 0]\n");
}

#[tokio::test]
async fn nobody_is_waited_for_at_a_terminal() {
    let folder = Folder::new();
    assert_eq!(folder.on_terminal("read -r x; echo \"[$x]\"; cat").await, "[]\n[exit code 0]\n");
    let given = json!({"command": "read -r x; echo \"[$x]\"", "pty": true, "stdin": "yes\n"});
    let told = folder.call("shell", given).await.unwrap().text;
    assert!(told.contains("[yes]\n[exit code 0]"), "{told}");
    let most = json!({"command": "cat", "pty": true, "stdin": "x".repeat(5000)});
    assert!(folder.call("shell", most).await.unwrap_err().0.contains("4000 at most"));
}

#[tokio::test]
async fn a_flood_on_a_terminal_is_bounded_and_its_end_is_there() {
    let folder = Folder::new();
    let text = folder.on_terminal("seq 1 200000; echo last").await;
    assert!(text.starts_with("1\n2\n") && text.ends_with("200000\nlast\n[exit code 0]\n"));
    assert!(text.contains("`read` them at `output:t1_c1`") && text.len() < 26_000, "{}", text.len());
}

#[tokio::test]
async fn jobs_of_a_shell_on_a_terminal_end_with_it() {
    let folder = Folder::new();
    // With job control each of them has a group of its own.
    let command = "set -m; sleep 1000 & echo $! > pid; trap '' TERM HUP; sleep 1000";
    let call = json!({"command": command, "pty": true, "timeout": 1});
    let output = folder.call("shell", call).await.unwrap();
    assert!(output.text.contains("timed out"), "{}", output.text);
    let pid = folder.text("pid");
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    while state().rsplit(')').next().is_some_and(|rest| rest.starts_with(" S") || rest.starts_with(" R")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_job_with_a_terminal_is_typed_into() {
    let folder = Folder::new();
    folder.job("while read -r line; do echo \"got <$line>\"; done; echo over").await;
    folder.types("one\n", "got <one>").await;
    folder.types("two\n", "got <two>").await;
    folder.types("\u{4}", "over").await;
    let ended = folder.types_refused("more\n").await;
    assert!(ended.contains("job 1 ended: exit code 0"), "{ended}");
}

#[tokio::test]
async fn ctrl_c_reaches_what_runs() {
    let folder = Folder::new();
    folder.job("trap 'echo caught; exit 7' INT; echo up; while :; do sleep 0.01; done").await;
    while !folder.call("job_output", json!({"job": 1})).await.unwrap().text.contains("up") {
        tokio::task::yield_now().await;
    }
    folder.types("\u{3}", "caught").await;
    folder.types_ended("exit code 7").await;
}

#[tokio::test]
async fn a_job_without_a_terminal_is_not_typed_into() {
    let folder = Folder::new();
    folder.call("shell", json!({"command": "exec sleep 1000", "background": true})).await.unwrap();
    assert!(folder.types_refused("x\n").await.contains("start it with `pty`"));
}

#[tokio::test]
async fn what_is_typed_is_judged_with_all_that_was_typed_before() {
    let folder = Folder::new();
    folder.job("bash --norc").await;
    folder.types("cd /\n", "cd /").await;
    let asked = folder.actions("job_input", json!({"job": 1, "text": "rm -rf tmp\n"}));
    let [guard::Action::Shell { command, cwd }] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(command, "{ bash --norc\n} <<'TYPED'\ncd /\nrm -rf tmp\nTYPED");
    assert_eq!(cwd, &folder.context.cwd);
    let asked = folder.actions("shell", json!({"command": "bash", "stdin": "rm -rf /"}));
    let [guard::Action::Shell { command, .. }] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(command, "{ bash\n} <<'TYPED'\nrm -rf /\nTYPED");
}

impl Folder {
    async fn types_refused(&self, text: &str) -> String {
        self.call("job_input", json!({"job": 1, "text": text})).await.unwrap_err().0
    }

    async fn types_ended(&self, wanted: &str) {
        while !self.call("job_output", json!({"job": 1})).await.unwrap().text.contains(wanted) {
            tokio::task::yield_now().await;
        }
    }
}
