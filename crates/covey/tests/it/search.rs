//! `covey index` and `covey search`: the real binary on a real folder.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::world::{World, finish, signal};

async fn shop() -> World {
    let world = World::bare("").await;
    std::fs::create_dir_all(world.project.join("src")).unwrap();
    world.write(
        "src/cart.rs",
        "/// Applies a coupon once.\npub fn apply_coupon(code: &str) -> bool {\n    !code.is_empty()\n}\n",
    );
    world.write("src/user.py", "def check_password(password):\n    return hash(password) == 1\n");
    world
}

#[tokio::test]
async fn an_unindexed_folder_is_indexed_first_and_it_says_so() {
    let world = shop().await;
    let done = world.covey(&["search", "--json", "-k", "3", "apply coupon"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.err.contains("is not indexed yet"), "{}", done.err);
    let first = &done.lines()[0];
    assert_eq!(
        (&first["rank"], &first["file"], &first["symbol"]),
        (&1.into(), &"src/cart.rs".into(), &"apply_coupon".into())
    );
    assert_eq!((&first["start_line"], &first["end_line"]), (&1.into(), &4.into()));
    assert!(first["score"].as_f64().is_some_and(|score| score > 0.0));
    let again = world.covey(&["search", "check password"]).await;
    assert!(again.err.is_empty() && again.out.contains("src/user.py:1-2  check_password"), "{again:?}");
    // A file that changed since is found as it is now.
    world.write("src/user.py", "def forget_everything():\n    pass\n");
    let changed = world.covey(&["search", "--json", "forget_everything"]).await;
    assert_eq!(changed.lines()[0]["file"], "src/user.py");
}

#[tokio::test]
async fn index_status_clear_and_batches() {
    let world = shop().await;
    let made = world.covey(&["index", "--json"]).await;
    assert_eq!((made.code, &made.lines()[0]["files"]), (Some(0), &2.into()), "{made:?}");
    let status = world.covey(&["index", "status", "--json"]).await.lines().remove(0);
    assert_eq!((&status["indexed"], &status["files"]), (&true.into(), &2.into()));
    assert_eq!(status["vectors"], status["chunks"]);
    world.write(
        "queries.jsonl",
        "{\"id\": \"a\", \"query\": \"apply coupon\"}\n\n{\"id\": 7, \"query\": \"\"}\n",
    );
    let done = world
        .covey(&["search", "--json", "-k", "2", "--mode", "lexical", "--queries", "queries.jsonl"])
        .await;
    let lines = done.lines();
    assert_eq!((lines.len(), &lines[0]["id"], &lines[1]["id"]), (2, &"a".into(), &7.into()), "{done:?}");
    assert_eq!(lines[0]["results"][0]["file"], "src/cart.rs");
    assert_eq!(lines[1]["results"], Value::Array(vec![]));
    assert!(world.covey(&["index", "clear"]).await.out.contains("is gone"));
    assert!(world.covey(&["index", "status"]).await.out.contains("is not indexed"));
}

#[tokio::test]
async fn wrong_usage_is_told() {
    let world = shop().await;
    for (arguments, word) in [
        (&["search"][..], "QUERY"),
        (&["search", "x", "--lang", "klingon"], "klingon"),
        (&["search", "x", "-k", "0"], "--limit"),
        (&["search", "--json", "--queries", "missing.jsonl"], "missing.jsonl"),
        (&["index", "no/such/folder"], "no/such/folder"),
    ] {
        let done = world.covey(arguments).await;
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.err.contains(word), "{done:?}");
    }
    world.configure("[index]\nembedder = \"magic\"\n");
    let done = world.covey(&["search", "x"]).await;
    assert!(done.code == Some(2) && done.err.contains("magic") && done.err.contains("hint:"), "{done:?}");
    // Nothing leaves the machine because a repository says so.
    world.configure("");
    std::fs::create_dir_all(world.project.join(".covey")).unwrap();
    world.write(".covey/config.toml", "[index]\nembedder = \"openai\"\nbase_url = \"http://127.0.0.1:1\"\n");
    let done = world.covey(&["search", "--json", "apply coupon"]).await;
    assert_eq!((done.code, &done.lines()[0]["file"]), (Some(0), &"src/cart.rs".into()), "{done:?}");
}

#[tokio::test]
async fn killed_at_any_moment_the_index_is_usable() {
    let world = shop().await;
    for file in 0..300 {
        world.write(&format!("src/f{file}.rs"), format!("fn function_{file}() {{}}\n").repeat(20));
    }
    for round in 0..12u64 {
        let child = world.command(&["index", "--lexical"]).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(round * 9)).await;
        signal(&child, Signal::KILL);
        finish(child).await;
        world.write(&format!("src/f{round}.rs"), format!("fn changed_{round}() {{}}\n"));
    }
    let done = world.covey(&["search", "--json", "--mode", "lexical", "changed_7"]).await;
    assert_eq!((done.code, &done.lines()[0]["file"]), (Some(0), &"src/f7.rs".into()), "{done:?}");
    let status = world.covey(&["index", "status", "--json"]).await.lines().remove(0);
    assert_eq!((&status["files"], &status["damaged"]), (&302.into(), &false.into()));
}

#[tokio::test]
async fn no_room_on_the_disk_is_said_and_done_with() {
    let world = shop().await;
    world.write(
        "src/big.rs",
        (0..4_000).map(|line| format!("fn name_{line}_of_many() {{}}\n")).collect::<String>(),
    );
    let covey = env!("CARGO_BIN_EXE_covey");
    let mut command = world.command(&[]);
    let mut shell = tokio::process::Command::new("/bin/sh");
    shell.args(["-c", &format!("ulimit -f 16; exec '{covey}' index --lexical")]).current_dir(&world.project);
    shell.env_clear().env("COVEY_HOME", &world.home).env("HOME", &world.home).env("PATH", "/usr/bin:/bin");
    shell
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let full = finish(shell.spawn().unwrap()).await;
    assert!(full.code == Some(1) && full.err.contains("could not write"), "{full:?}");
    command.args(["index", "--lexical"]);
    assert_eq!(finish(command.spawn().unwrap()).await.code, Some(0));
}
