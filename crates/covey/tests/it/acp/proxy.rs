//! What two sides say to each other, recorded, checked and played again.

use std::path::{Path, PathBuf};

use crate::agents::{run, state, testkit, told};
use crate::world::{Done, World};

/// A fake agent behind a witness that writes to the file.
async fn witnessed() -> (World, PathBuf) {
    let world = World::bare("").await;
    let folder = state(&world, "fake");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("wire.jsonl");
    let (covey, testkit) = (env!("CARGO_BIN_EXE_covey"), testkit());
    let words = [
        covey,
        "acp-proxy",
        "--record",
        file.to_str().unwrap(),
        "--",
        testkit.to_str().unwrap(),
        "acp-agent",
    ];
    configure(&world, &words, &folder);
    (world, file)
}

fn configure(world: &World, words: &[&str], folder: &Path) {
    world.configure(&format!("[agents.fake]\nacp = {words:?}\nstate = [{folder:?}]\n"));
}

const PROMPT: &str = "think well\nsay Hello\nplan\nwrite a.txt text\nrun echo done";

async fn checked(world: &World, file: &Path) -> Done {
    world.covey(&["acp-proxy", "check", file.to_str().unwrap()]).await
}

#[tokio::test]
async fn a_recording_keeps_the_rules_and_plays_either_side() {
    let (world, file) = witnessed().await;
    let live = run(&world, &["--mode", "full", PROMPT]).await;
    assert_eq!(live.code, Some(0), "{live:?}");
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "text");
    let done = checked(&world, &file).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.ends_with(" 0 broken rules\n"), "{done:?}");

    // The agent's part, played to us: it tells the same, and what it has us do happens again.
    std::fs::remove_file(world.project.join("a.txt")).unwrap();
    let covey = env!("CARGO_BIN_EXE_covey");
    let folder = file.parent().unwrap();
    configure(&world, &[covey, "acp-proxy", "replay", file.to_str().unwrap()], folder);
    let again = run(&world, &["--mode", "full", PROMPT]).await;
    assert_eq!(told(&again), told(&live));
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "text");

    // The client's part, played to the agent.
    let testkit = testkit();
    let words = [
        "acp-proxy",
        "replay",
        file.to_str().unwrap(),
        "--as",
        "client",
        "--",
        testkit.to_str().unwrap(),
        "acp-agent",
    ];
    let done = world.covey(&words).await;
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[tokio::test]
async fn broken_rules_are_named_with_their_line() {
    let (world, file) = witnessed().await;
    run(&world, &["garbage\nstranger\nduplicate"]).await;
    let done = checked(&world, &file).await;
    assert_eq!(done.code, Some(1), "{done:?}");
    for rule in ["no message: plain noise", "`somebody-else`, which is not open", "begins twice"] {
        assert!(done.out.contains(rule), "{rule}: {}", done.out);
    }
    let words = ["acp-proxy", "check", "nowhere.jsonl"];
    assert_eq!(world.covey(&words).await.code, Some(2));
}

/// What we say ourselves, in both roles, keeps the rules.
#[tokio::test]
async fn our_own_agent_and_our_own_client_keep_the_rules() {
    let world = super::world().await;
    let inner = world.project.parent().unwrap().join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::copy(world.home.join("config.toml"), inner.join("config.toml")).unwrap();
    let file = inner.join("wire.jsonl");
    let covey = env!("CARGO_BIN_EXE_covey");
    let words = [covey, "acp-proxy", "--record", file.to_str().unwrap(), "--", covey, "acp"];
    let settings = format!(
        "\n[agents.inner]\nacp = {words:?}\nstate = [{inner:?}]\nenv = {{ COVEY_HOME = {inner:?} }}\n"
    );
    world.configure(&(world.server.config() + &settings));
    let write = r#"Do it. [[tool:write {"path":"a.txt","content":"text"}]] [[tool:shell {"command":"ls"}]]"#;
    let done = world.covey(&["run", "--json", "--agent", "inner", "--mode", "full", write]).await;
    assert_eq!((done.code, world.project.join("a.txt").exists()), (Some(0), true), "{done:?}");
    let done = checked(&world, &file).await;
    assert_eq!(done.code, Some(0), "{done:?}");
}
