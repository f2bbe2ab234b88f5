//! Versions of an agent's program that do not know the better way to talk to it.

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use super::{result, told};
use crate::world::{Done, World};

/// A program that knows only its older dialect: it prints a capture, writes down how it was called, and tries to write.
async fn old_program(agent: &str, unknown: &str, capture: &str) -> World {
    let world = World::bare("").await;
    let folder = world.project.parent().unwrap().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let fixture = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/fixtures").join(capture);
    std::fs::copy(fixture, folder.join("capture.jsonl")).unwrap();
    let state = world.project.parent().unwrap().join("state");
    std::fs::create_dir_all(&state).unwrap();
    let program = folder.join(agent);
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = {unknown} ]; then echo \"error: unknown option '{unknown}'\" >&2; exit 2; fi\n\
         printf '%s|' \"$@\" >> {state}/called; echo >> {state}/called\n\
         [ \"$2\" = --json ] && cat >> {state}/input\n\
         touch written.txt 2>/dev/null\ncat {folder}/capture.jsonl\n",
        state = state.display(),
        folder = folder.display(),
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    world
        .configure(&format!("[agents.{agent}]\ncommand = {program:?}\nstate = [{state:?}]\nmodel = \"m\"\n"));
    world
}

fn state(world: &World, file: &str) -> String {
    let path = world.project.parent().unwrap().join("state").join(file);
    std::fs::read_to_string(path).unwrap_or_default()
}

async fn run(world: &World, agent: &str, arguments: &[&str]) -> Done {
    world.covey(&[&["run", "--json", "--agent", agent], arguments].concat()).await
}

#[tokio::test]
async fn codex_without_an_app_server_is_run_for_each_turn() {
    let world = old_program("codex", "app-server", "codex-exec-tool.jsonl").await;
    let done = run(&world, "codex", &["--mode", "auto", "--effort", "high", "List the files"]).await;
    assert_snapshot!(told(&done), @r"
    notice: this version of `codex` is talked to by `exec`: it can not ask before it acts
    notice: Model metadata for `fake-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.
    calls shell: ls -1
      completed README.md
    hello.py
    made.txt
    says: The tool answered: Chunk ID: b66237
    Wall time: 0.0000 seconds
    Process exited with code 0
    Original token count: 7
    Output:
    README.md
    hello.py
    made.txt
    ends: done
    ");
    assert!(world.project.join("written.txt").exists());
    assert_eq!(result(&done)["usage"]["input"], 240, "{done:?}");
    // The next turn takes up the thread, and is told nothing twice.
    let done = run(&world, "codex", &["--mode", "auto", "--continue", "And now"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_snapshot!(state(&world, "called"), @r"
    exec|--json|--skip-git-repo-check|-s|danger-full-access|-m|m|-c|model_reasoning_effort=high|-|
    exec|--json|--skip-git-repo-check|-s|danger-full-access|-m|m|-c|model_reasoning_effort=high|resume|01a1dcf7-9ea0-7f73-a2fe-a0041691481f|-|
    ");
    assert_eq!(state(&world, "input"), "List the filesAnd now");
}

#[tokio::test]
async fn cline_without_acp_prints_json() {
    let world = old_program("cline", "--acp", "cline-tool.jsonl").await;
    let done = run(&world, "cline", &["--mode", "auto", "List the files"]).await;
    assert_snapshot!(told(&done), @r#"
    notice: this version of `cline` is talked to by `json`: it can not ask before it acts
    calls run_commands: ls -1
      completed README.md
    hello.py
    made.txt
    says: The tool answered: [{"query":"ls -1","result":"README.md\nhello.py\nmade.txt\n","success":true}]
    ends: done
    "#);
    assert_snapshot!(state(&world, "called"), @"--json|--auto-approve|true|-m|m|List the files|");
    // It takes up no session in this way of talking: the next turn is told what happened, once, and so is the person.
    let done = run(&world, "cline", &["--mode", "auto", "--continue", "And now"]).await;
    assert!(done.out.contains("can not take up its session again"), "{done:?}");
    let called = state(&world, "called");
    let last = called.split("--json").last().unwrap();
    assert_eq!((last.matches("List the files").count(), last.matches("And now").count()), (1, 1), "{called}");
}

#[tokio::test]
async fn copilot_without_acp_prints_json() {
    let world = old_program("copilot", "--acp", "copilot-tool.jsonl").await;
    let done = run(&world, "copilot", &["--mode", "auto", "List the files"]).await;
    assert_snapshot!(told(&done), @r"
    notice: this version of `copilot` is talked to by `json`: it can not ask before it acts
    calls bash: ls -1
      completed README.md
    hello.py
    made.txt
    <shellId: 0 completed with exit code 0>
    says: The tool answered: README.md
    hello.py
    made.txt
    <shellId: 0 completed with exit code 0>
    ends: done
    ");
    let done = run(&world, "copilot", &["--mode", "auto", "--continue", "And now"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_snapshot!(state(&world, "called"), @r"
    --output-format|json|--stream|on|--allow-all-tools|--no-auto-update|--no-color|--model|m|-p|List the files|
    --output-format|json|--stream|on|--allow-all-tools|--no-auto-update|--no-color|--model|m|--resume|c7f09b56-9719-4674-9413-4211680b000e|-p|And now|
    ");
}

/// They can not ask, so they act only where nobody wants to be asked.
#[tokio::test]
async fn who_can_not_ask_only_looks() {
    for (agent, unknown, capture) in [
        ("codex", "app-server", "codex-exec-tool.jsonl"),
        ("cline", "--acp", "cline-tool.jsonl"),
        ("copilot", "--acp", "copilot-tool.jsonl"),
    ] {
        let world = old_program(agent, unknown, capture).await;
        for mode in ["explore", "plan", "ask", "edit"] {
            let done = run(&world, agent, &["--mode", mode, "List the files"]).await;
            assert_eq!(done.code, Some(0), "{done:?}");
            assert!(!world.project.join("written.txt").exists(), "{agent} {mode}: {done:?}");
        }
        run(&world, agent, &["--mode", "full", "List the files"]).await;
        assert!(world.project.join("written.txt").exists(), "{agent}");
    }
}
