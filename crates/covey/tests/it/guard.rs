//! `covey guard`, as people and scripts use it.

use serde_json::{Value, json};

use crate::world::World;

#[tokio::test]
async fn explain_says_what_would_happen_and_why() {
    let world = World::bare("").await;
    let done = world.covey(&["guard", "explain", "--mode", "auto", "git push --force"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    insta::assert_snapshot!(done.out, @r"
    git push --force
    deny in mode auto, class blocked
      mode `auto` denies what is blocked
      it overwrites or deletes on another machine
    ");
    let done = world.covey(&["guard", "explain", "--json", "--mode", "auto", "cargo run"]).await;
    let line: Value = serde_json::from_str(&done.out).unwrap();
    let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["command", "level", "decision", "because"]);
    assert_eq!((&line["level"], &line["decision"]), (&json!("caution"), &json!("ask")));
    let done = world
        .covey(&["guard", "explain", "--mode", "auto", "--allow", "shell(cargo run)", "cargo run"])
        .await;
    assert!(done.out.contains("allow in mode auto"), "{done:?}");
    assert_eq!(world.covey(&["guard", "explain", "--allow", "shell(", "ls"]).await.code, Some(2));
}

#[tokio::test]
async fn batch_answers_a_line_each() {
    let world = World::bare("").await;
    let input = "\"ls\"\n\n\"rm -rf /\"\n\"echo a\\nb\"\n\"x \\u00fc\"\n";
    let done =
        world.covey_with_stdin(&["guard", "explain", "--batch", "--mode", "auto"], input.as_bytes()).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let answers: Vec<(Value, Value)> =
        done.lines().into_iter().map(|line| (line["command"].clone(), line["decision"].clone())).collect();
    assert_eq!(
        answers,
        [
            (json!("ls"), json!("allow")),
            (json!("rm -rf /"), json!("deny")),
            (json!("echo a\nb"), json!("ask")),
            (json!("x ü"), json!("ask")),
        ]
    );
    let wrong = world.covey_with_stdin(&["guard", "explain", "--batch"], b"ls\n").await;
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("line 1 is not a JSON string"), "{wrong:?}");
}

/// A repository may forbid more, never allow more, until it is trusted as it is.
#[tokio::test]
async fn a_repository_allows_nothing_before_it_is_trusted() {
    let world = World::bare("").await;
    std::fs::create_dir(world.project.join(".covey")).unwrap();
    let config = "mode = \"full\"\n[permissions]\nallow = [\"shell(frob *)\"]\ndeny = [\"shell(ls *)\"]\nauto = \"aggressive\"\n";
    world.write(".covey/config.toml", config);
    let decision = async |command: &str| {
        let done = world.covey(&["guard", "explain", "--json", command]).await;
        serde_json::from_str::<Value>(&done.out).unwrap_or_else(|_| panic!("{done:?}"))["decision"].clone()
    };
    assert_eq!(decision("frob x").await, "ask");
    assert_eq!(decision("ls").await, "deny", "a denial needs no trust");

    let list = world.covey(&["guard", "trust"]).await;
    assert!(list.out.contains("⚠ new") && list.out.contains(".covey/config.toml"), "{list:?}");
    let accept = world.covey(&["guard", "trust", "accept", ".covey/config.toml"]).await;
    assert!(accept.out.contains("+mode = \"full\"") && accept.out.contains("accepted 1 item"), "{accept:?}");
    assert_eq!(decision("frob x").await, "allow");

    world.write(".covey/config.toml", config.replace("frob", "*"));
    assert_eq!(decision("other x").await, "ask", "one byte more and it is held again");
    let list: Value = serde_json::from_str(&world.covey(&["guard", "trust", "--json"]).await.out).unwrap();
    assert_eq!(list["items"][0]["state"], "changed");
    assert!(list["items"][0]["diff"].as_str().unwrap().contains("-allow = [\"shell(frob *)\"]"));
    assert_eq!(world.covey(&["guard", "trust", "revoke", "--all"]).await.out, "took back 1\n");
    assert_eq!(world.covey(&["guard", "trust", "accept", "nothing"]).await.code, Some(2));
}

#[tokio::test]
async fn rules_of_the_person_hold_and_are_listed() {
    let world = World::bare("").await;
    world.configure("[permissions]\nallow = [\"shell(make deploy)\"]\nask = [\"shell(cat *)\"]\n");
    let done = world.covey(&["guard", "rules"]).await;
    insta::assert_snapshot!(done.out, @r"
    allow shell(make deploy)  settings
    ask   shell(cat *)  settings
    ");
    let done = world.covey(&["guard", "explain", "cat README.md"]).await;
    assert!(
        done.out.contains("ask in mode ask, class safe\n  the rule `shell(cat *)` asks about it"),
        "{done:?}"
    );
    assert_eq!(world.covey(&["guard", "forget", "shell(x)"]).await.code, Some(1));
    world.configure("[permissions]\nallow = [\"shell(\"]\n");
    let wrong = world.covey(&["guard", "rules"]).await;
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("`shell(` is not a rule"), "{wrong:?}");
}

#[tokio::test]
async fn the_corpus_passes_and_the_audit_of_nothing_is_sound() {
    let world = World::bare("").await;
    std::fs::write(world.project.join(".git/HEAD"), "ref: refs/heads/work\n").unwrap();
    let done = world.covey(&["guard", "corpus", "--json"]).await;
    let result: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    for temperament in result["results"].as_array().unwrap() {
        assert_eq!(temperament["missed"], json!([]), "{}", temperament["auto"]);
    }
    assert!(result["results"][1]["false_questions_percent"].as_f64().unwrap() <= 2.0);
    assert_eq!(world.covey(&["guard", "audit", "verify"]).await.code, Some(0));
    assert_eq!(world.covey(&["guard", "backtest", "--json"]).await.code, Some(0));
    world.write("rules.toml", "allow = [\"shell(ls *)\"]\nnonsense = 1\n");
    let wrong = world.covey(&["guard", "backtest", "--rules", "rules.toml"]).await;
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("unknown key `permissions.nonsense`"), "{wrong:?}");
}

#[tokio::test]
async fn rules_can_be_added_and_forgotten() {
    let world = World::bare("").await;
    let decision = async || {
        let done = world.covey(&["guard", "explain", "--json", "--mode", "auto", "frob x"]).await;
        serde_json::from_str::<Value>(&done.out).unwrap()["decision"].clone()
    };
    assert_eq!(decision().await, "ask");
    let added = world.covey(&["guard", "rules", "--allow", "shell(frob *)"]).await;
    assert!(added.out.contains("allow shell(frob *)"), "{added:?}");
    assert_eq!(decision().await, "allow");
    world.covey(&["guard", "rules", "--deny", "shell(frob *)", "--everywhere"]).await;
    assert_eq!(decision().await, "deny", "a denial wins");
    assert_eq!(world.covey(&["guard", "rules", "--allow", "shell("]).await.code, Some(2));
    assert_eq!(world.covey(&["guard", "forget", "--all"]).await.code, Some(0));
}

/// Rules of a folder below the root, and what they take in, can be accepted like those at the root.
#[tokio::test]
async fn rules_below_the_root_wait_for_the_person_too() {
    let world = World::new("model: A.\nmodel: B.\n").await;
    std::fs::create_dir_all(world.project.join("shop/docs")).unwrap();
    world.write("shop/AGENTS.md", "mind the cart\n@docs/style.md\n");
    world.write("shop/docs/style.md", "tabs, never spaces\n");
    let shop = world.project.join("shop").to_string_lossy().into_owned();
    let system = |at: usize| world.server.requests()[at].json["messages"][0].to_string();
    world.covey(&["run", "--cwd", &shop, "hello"]).await;
    assert!(!system(0).contains("mind the cart"));
    let accepted = world.covey(&["guard", "trust", "accept", "--all"]).await;
    assert!(
        accepted.out.contains("shop/AGENTS.md") && accepted.out.contains("shop/docs/style.md"),
        "{accepted:?}"
    );
    world.covey(&["run", "--cwd", &shop, "hello"]).await;
    assert!(system(1).contains("mind the cart") && system(1).contains("tabs, never spaces"), "{}", system(1));
}
