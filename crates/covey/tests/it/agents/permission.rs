//! One way for every permission: the guard decides, the person is asked, the agent hears it in its own words.

use insta::assert_snapshot;

use super::{run, told, world};

#[tokio::test]
async fn what_needs_a_person_is_refused_and_named() {
    let world = world(&[]).await;
    let done = run(&world, &["run touch made.txt\nwrite a.txt text\nsay on I go"]).await;
    assert_eq!(done.code, Some(3), "{done:?}");
    assert_snapshot!(told(&done), @"
    commands: compact
    calls shell: touch made.txt
      asks: touch made.txt
      denied: nobody is there to allow it (it makes an empty file in the project); it would run with --allow 'edit(made.txt)'
      failed refused
    calls edit: write a.txt
      asks: edit [project]/a.txt
      denied: nobody is there to allow it (it changes a file of the project); it would run with --allow 'edit(a.txt)'
      failed refused
    says: on I go
    ends: denied
    ");
    assert!(!world.project.join("made.txt").exists() && !world.project.join("a.txt").exists());
}

#[tokio::test]
async fn what_is_allowed_happens_once_asked() {
    let world = world(&[]).await;
    let done =
        run(&world, &["--mode", "edit", "--allow", "edit(made.txt)", "run touch made.txt\nwrite a.txt text"])
            .await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_snapshot!(told(&done), @"
    commands: compact
    calls shell: touch made.txt
      completed
    calls edit: write a.txt
      wrote a.txt
      completed written
    ends: done
    ");
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "text");
    assert!(world.project.join("made.txt").exists());
}

#[tokio::test]
async fn plan_and_explore_hold_against_an_agent_that_does_not_ask() {
    for mode in ["plan", "explore"] {
        let world = world(&["--modes"]).await;
        let prompt = "mode\nrun touch a.txt\nrun! touch b.txt\nwrite c.txt text\nwrite! d.txt text";
        let done = run(&world, &["--mode", mode, prompt]).await;
        let files: Vec<_> =
            std::fs::read_dir(&world.project).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, [".git"], "{mode}: {done:?}");
    }
}

#[tokio::test]
async fn plan_holds_without_a_sandbox_too() {
    let world = world(&[]).await;
    let done =
        run(&world, &["--mode", "plan", "--sandbox", "off", "run! touch b.txt\nwrite! d.txt text"]).await;
    let files: Vec<_> =
        std::fs::read_dir(&world.project).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, [".git"], "{done:?}");
}

#[tokio::test]
async fn who_does_not_ask_may_only_look_until_nobody_wants_to_be_asked() {
    let world = world(&[]).await;
    let config = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    world.configure(&format!("{config}asks = false\n"));
    run(&world, &["--mode", "edit", "run! touch b.txt"]).await;
    assert!(!world.project.join("b.txt").exists());
    run(&world, &["--mode", "full", "run! touch b.txt"]).await;
    assert!(world.project.join("b.txt").exists());
}

#[tokio::test]
async fn files_outside_the_project_and_secrets_are_not_read() {
    let world = world(&[]).await;
    let outside = world.project.parent().unwrap().join("outside.txt");
    std::fs::write(&outside, "tide").unwrap();
    world.write(".env", "TOKEN=tide");
    world.write("a.txt", "one\ntwo\n");
    let prompt = format!(
        "read {}\nread {}\nread {}\nread a.txt",
        outside.display(),
        world.project.join(".env").display(),
        world.project.join("a.txt").display()
    );
    let done = run(&world, &[&prompt]).await;
    let said = told(&done);
    assert!(
        !said.contains("tide") && said.contains("one\ntwo") && said.contains("is not an absolute path"),
        "{said}"
    );
}

#[tokio::test]
async fn terminals_are_real() {
    let world = world(&[]).await;
    let done = run(
        &world,
        &[
            "--mode",
            "full",
            "terminal printf 'ä%.0s' 1 2 3 4 5 6 7 8 9 10 11; exit 3\nkill echo hi; sleep 100",
        ],
    )
    .await;
    let said = told(&done);
    assert!(said.contains("exit 3 output \"ääääääääää\" truncated true then -32002"), "{said}");
    assert!(said.contains("signal \"15\""), "{said}");
}

#[tokio::test]
async fn hooks_have_their_word_with_every_agent() {
    let world = world(&[]).await;
    std::fs::create_dir_all(world.home.join("hooks")).unwrap();
    let hooks = r#"
        [[hook]]
        on = "pre_tool"
        tool = "shell"
        command = "echo 'not on a Friday' >&2; exit 2"
        [[hook]]
        on = ["post_tool", "tool_failed", "edit"]
        command = "cat >> heard.jsonl; echo >> heard.jsonl"
    "#;
    std::fs::write(world.home.join("hooks/mine.toml"), hooks).unwrap();
    let done = run(&world, &["--mode", "full", "run touch made.txt\nwrite a.txt text"]).await;
    assert!(!world.project.join("made.txt").exists() && world.project.join("a.txt").exists(), "{done:?}");
    assert!(told(&done).contains("denied: a hook denied it: not on a Friday"), "{}", told(&done));
    let heard = std::fs::read_to_string(world.project.join("heard.jsonl")).unwrap();
    let mut heard: Vec<_> = heard
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|told| format!("{} {} {}", told["event"], told["tool"], told["paths"]))
        .collect();
    heard.sort_unstable();
    assert_snapshot!(heard.join("\n"), @r#"
    "edit" "edit" ["a.txt"]
    "post_tool" "edit" ["a.txt"]
    "tool_failed" "shell" ["made.txt"]
    "#);
}
