//! A session that goes from one agent to another and back.

use super::{configure, result, told, world};

#[tokio::test]
async fn another_agent_is_told_what_happened_and_the_first_what_it_missed() {
    let world = world(&["--load"]).await;
    configure(&world, "other", &["--load"], "");
    let begin = world
        .covey(&[
            "run",
            "--json",
            "--agent",
            "fake",
            "--mode",
            "full",
            "say I am the first\nrun echo tool output",
        ])
        .await;
    let id = result(&begin)["session"].as_str().unwrap().to_owned();

    let second = world
        .covey(&["run", "--json", "--session", &id, "--agent", "other", "say I am the second\nrecall"])
        .await;
    let said = told(&second);
    world.covey(&["run", "--session", &id, "say something else"]).await;
    assert!(said.contains("User: say I am the first") && said.contains("fake: I am the first"), "{said}");
    assert!(said.contains("[did: echo tool output] tool output"), "{said}");

    let back = world.covey(&["run", "--json", "--session", &id, "--agent", "fake", "recall"]).await;
    let said = told(&back);
    // Its own session again, with its own prompts once, and what it missed in between.
    assert!(said.contains("says: say I am the first\nrun echo tool output | <conversation>"), "{said}");
    assert!(
        said.contains("User: say something else\nother: something else\n</conversation>\nrecall"),
        "{said}"
    );
}

#[tokio::test]
async fn an_agent_that_forgot_its_session_is_told_all_of_it() {
    let world = world(&[]).await;
    world.covey(&["run", "--agent", "fake", "say the magic word is plover"]).await;
    let done = world.covey(&["run", "--json", "--continue", "recall"]).await;
    let said = told(&done);
    assert!(said.contains("can not take up its session again") && said.contains("plover"), "{said}");
}

#[tokio::test]
async fn the_built_in_agent_takes_over_too() {
    let world = world(&[]).await;
    let agents = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    world.configure(&format!("{}\n{agents}", world.server.config()));
    let begin = world.covey(&["run", "--json", "--agent", "fake", "say the word is plover"]).await;
    let id = result(&begin)["session"].as_str().unwrap().to_owned();
    let done = world.covey(&["run", "--json", "--session", &id, "--agent", "native", "which word?"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let request = world.server.request(0).await;
    assert!(request.text().contains("the word is plover"), "{}", request.text());
}
