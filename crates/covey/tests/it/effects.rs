//! Runs that change something, and taking it back.

use serde_json::json;

use crate::world::World;

const EDIT: &str = "
    reply
      call: read {\"path\": \"a.txt\"}
    reply
      call: edit {\"path\": \"a.txt\", \"old\": \"teh\", \"new\": \"the\"}
      call: shell {\"command\": \"printf made > made.txt\"}
    model: Fixed.
    ";

#[tokio::test]
async fn what_a_run_changed_is_shown_undone_and_done_again() {
    let world = World::new(EDIT).await;
    world.write("a.txt", "teh cat\n");
    let (done, result) = world.result(&["fix it", "--mode", "full"]).await;
    assert_eq!((done.code, &result["stop"]), (Some(0), &"done".into()), "{done:?}");
    assert_eq!(result["files_changed"], json!(["a.txt", "made.txt"]));
    let text = |name: &str| std::fs::read_to_string(world.project.join(name)).ok();
    assert_eq!(text("a.txt").as_deref(), Some("the cat\n"));
    let id = result["session"].as_str().unwrap();

    let diff = world.covey(&["session", "diff", id]).await;
    assert!(diff.out.contains("--- a/a.txt\n+++ b/a.txt\n"), "{diff:?}");
    assert!(diff.out.contains("-teh cat\n+the cat\n") && diff.out.contains("+made"), "{diff:?}");

    let look = world.covey(&["session", "undo", id, "--dry-run"]).await;
    assert_eq!((look.code, look.out.as_str()), (Some(0), "  restore a.txt\n  delete  made.txt\n"));
    assert_eq!(text("a.txt").as_deref(), Some("the cat\n"));
    // Without a person and without their word nothing happens.
    let unsure = world.covey(&["session", "undo", id]).await;
    assert_eq!(unsure.code, Some(2), "{unsure:?}");
    assert!(unsure.err.contains("hint: look with --dry-run"), "{unsure:?}");

    let undone = world.covey(&["session", "undo", id, "--yes", "--json"]).await;
    assert_eq!(undone.lines()[0]["done"], json!(["a.txt", "made.txt"]), "{undone:?}");
    assert_eq!((text("a.txt").as_deref(), text("made.txt")), (Some("teh cat\n"), None));
    let again = world.covey(&["session", "undo", "--yes"]).await;
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.err.contains("there is nothing to undo"));

    let redone = world.covey(&["session", "redo", "--yes"]).await;
    assert_eq!(redone.code, Some(0), "{redone:?}");
    assert_eq!((text("a.txt").as_deref(), text("made.txt").as_deref()), (Some("the cat\n"), Some("made")));
    // The model hears of it with the next prompt.
    world.covey(&["session", "undo", "--yes"]).await;
    world.covey(&["run", "--continue", "and now?"]).await;
    let told = world.server.request(3).await;
    assert!(told.text().contains("the person undid your changes to a.txt"), "{}", told.text());
}

#[tokio::test]
async fn without_a_person_a_change_is_denied_and_the_rule_that_would_allow_it_is_named() {
    let world = World::new(EDIT).await;
    world.write("a.txt", "teh cat\n");
    let (done, result) = world.result(&["fix it"]).await;
    assert_eq!((done.code, &result["stop"]), (Some(3), &"denied".into()), "{done:?}");
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "teh cat\n");
    assert!(!world.project.join("made.txt").exists());
    let told = world.server.request(2).await;
    assert!(told.text().contains("--allow 'edit(a.txt)'"), "{}", told.text());
}

#[tokio::test]
async fn a_command_sees_no_secrets_and_writes_only_in_the_project() {
    let world = World::new(
        "
        reply
          call: shell {\"command\": \"cat $HOME/.ssh/id_rsa $COVEY_HOME/config.toml; touch $HOME/outside; env; touch inside\"}
        model: Tried.
        ",
    )
    .await;
    std::fs::create_dir_all(world.home.join(".ssh")).unwrap();
    std::fs::write(world.home.join(".ssh/id_rsa"), "CANARY-PRIVATE-KEY").unwrap();
    let mut command = world.command(&["run", "--mode", "full", "go"]);
    command.env("EXAMPLE_API_KEY", "CANARY-FROM-ENV-0123456789");
    let done = crate::world::finish(command.spawn().unwrap()).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = world.server.request(1).await;
    assert!(!told.text().contains("CANARY"), "{}", told.text());
    assert!(!world.home.join("outside").exists());
    assert!(world.project.join("inside").exists(), "{}", told.text());
}

#[tokio::test]
async fn a_home_where_homes_are_is_as_good_as_one_in_the_temporary_folder() {
    let mut world = World::new("reply\n  call: shell {\"command\": \"echo it ran\"}\nmodel: Done.\n").await;
    // The sandbox gives commands a temporary folder of their own, so a home in there is not what people have.
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let others = ["/srv", "/opt"].map(std::path::Path::new);
    let mut places = [target].into_iter().chain(others).filter(|place| !place.starts_with("/tmp"));
    let home = places.find_map(|place| tempfile::TempDir::new_in(place).ok()).unwrap();
    std::fs::copy(world.home.join("config.toml"), home.path().join("config.toml")).unwrap();
    world.home = home.path().to_owned();
    let ran = world.covey(&["run", "--json", "go"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("it ran\\n[exit code 0]"), "{ran:?}");
}

#[tokio::test]
async fn what_fills_the_window_is_told_and_compactions_can_be_taken_back() {
    let world = World::new("model: Hello.\n").await;
    let (_, result) = world.result(&["hi"]).await;
    let id = result["session"].as_str().unwrap();
    let shown = world.covey(&["session", "context", id, "--json"]).await;
    let parts = &shown.lines()[0]["context"]["parts"];
    assert!(parts.as_array().unwrap().iter().any(|part| part["name"] == "tools"), "{parts}");
    let drawn = world.covey(&["session", "context", id]).await;
    assert!(drawn.out.contains("kept free for the answer"), "{drawn:?}");
    let back = world.covey(&["session", "uncompact", id]).await;
    assert_eq!(back.code, Some(0), "{back:?}");
}

#[tokio::test]
async fn rules_of_a_repository_wait_for_the_persons_word() {
    let world = World::new("model: Hello.\nmodel: Hello.\n").await;
    world.write("AGENTS.md", "ALWAYS-SAY-MOO");
    std::fs::write(world.home.join("AGENTS.md"), "MY-OWN-RULE").unwrap();
    let done = world.covey(&["run", "hi"]).await;
    assert!(done.err.contains("AGENTS.md"), "{done:?}");
    let sent = world.server.request(0).await;
    assert!(sent.text().contains("MY-OWN-RULE") && !sent.text().contains("MOO"), "{}", sent.text());
}

#[tokio::test]
async fn tools_are_listed() {
    let world = World::bare("").await;
    let listed = world.covey(&["tools", "--json"]).await;
    let tools = listed.lines()[0]["tools"].as_array().unwrap().clone();
    let shell = tools.iter().find(|tool| tool["name"] == "shell").unwrap();
    assert_eq!((&shell["deferred"], &shell["group"]), (&json!(false), &json!("run")));
    let core: u64 = tools
        .iter()
        .filter(|tool| tool["deferred"] == false)
        .map(|tool| tool["bytes"].as_u64().unwrap())
        .sum();
    assert!(core < 9_000, "{core} bytes of core tools");
}
