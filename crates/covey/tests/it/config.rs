//! `covey config`, and settings that are wrong.

use serde_json::Value;

use crate::world::{World, mode};

#[tokio::test]
async fn set_keeps_comments_and_show_tells_where_a_value_comes_from() {
    let world = World::bare("").await;
    world.configure("# mine\nmodel = \"a/b\" # for now\n");
    assert_eq!(world.covey(&["config", "set", "model", "local/small"]).await.code, Some(0));
    assert_eq!(world.covey(&["config", "set", "mode", "edit", "--project"]).await.code, Some(0));
    let text = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    assert_eq!(text, "# mine\nmodel = \"local/small\" # for now\n");
    assert_eq!(world.covey(&["config", "get", "model"]).await.out, "local/small\n");
    let shown: Value = serde_json::from_str(&world.covey(&["config", "show", "--json"]).await.out).unwrap();
    let model = shown["settings"].as_array().unwrap().iter().find(|entry| entry["key"] == "model").unwrap();
    assert_eq!(
        (&model["value"], &model["origin"]["layer"], &model["origin"]["line"]),
        (&"local/small".into(), &"user".into(), &2.into())
    );
    // A project can not loosen the mode by itself.
    assert_eq!(world.covey(&["config", "get", "mode"]).await.out, "ask\n");
    assert_eq!(shown["held"][0]["key"], "mode");
    assert_eq!(world.covey(&["config", "set", "model", "--unset"]).await.code, Some(0));
    assert_eq!(world.covey(&["config", "get", "model"]).await.code, Some(1));
}

#[tokio::test]
async fn a_project_may_tighten_but_not_choose_where_prompts_go() {
    let world = World::new("model: hi\n").await;
    std::fs::create_dir_all(world.project.join(".covey")).unwrap();
    world.write(
        ".covey/config.toml",
        "mode = \"explore\"\nmodel = \"evil/x\"\n[providers.testkit]\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key_env = \"HOME\"\n",
    );
    assert_eq!(world.covey(&["config", "get", "mode"]).await.out, "explore\n");
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!((done.code, &result["model"]), (Some(0), &"testkit/scripted".into()), "{done:?}");
    let sent = world.server.request(0).await;
    assert_eq!(sent.header("authorization"), None);
    let shown = world.covey(&["config", "show"]).await.out;
    assert!(shown.contains("not applied"), "{shown}");
}

#[tokio::test]
async fn wrong_settings_name_file_line_and_the_nearest_key() {
    let world = World::bare("").await;
    world.configure(
        "model = \"a/b\"\n\nmodle = 3\n[providers.x]\nwire = \"smoke-signals\"\nbase_urll = \"x\"\n",
    );
    let done = world.covey(&["run", "hello"]).await;
    assert_eq!(done.code, Some(2));
    for part in ["modle", "line 3", "`model`", "smoke-signals", "line 5", "base_urll", "line 6", "base_url"] {
        assert!(done.err.contains(part), "{part} is missing:\n{}", done.err);
    }
}

#[tokio::test]
async fn a_config_file_can_be_anything_and_covey_says_what() {
    let world = World::bare("").await;
    let path = world.home.join("config.toml");
    let huge = "# filler\n".repeat(1_200_000);
    for (what, content) in
        [("binary", vec![0u8, 159, 146, 150]), ("10 MB", huge.into_bytes()), ("broken", b"model = ".to_vec())]
    {
        std::fs::write(&path, content).unwrap();
        let done = world.covey(&["run", "hello"]).await;
        assert_eq!(done.code, Some(2), "{what}: {done:?}");
        assert!(done.err.contains("config.toml"), "{what}: {}", done.err);
        assert!(done.err.len() < 4000, "{what}: the message is as long as the file");
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let done = world.covey(&["run", "hello"]).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("config.toml"), "{}", done.err);
}

#[tokio::test]
async fn a_secret_is_never_shown_and_its_file_is_private() {
    let world = World::bare("").await;
    assert_eq!(world.covey(&["config", "set", "providers.x.api_key", "sk-very-secret"]).await.code, Some(0));
    assert_eq!(mode(&world.home.join("config.toml")), 0o600);
    for arguments in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["config", "get", "providers.x.api_key"],
        &["config", "get", "providers.x"],
    ] {
        let done = world.covey(arguments).await;
        assert!(!done.out.contains("sk-very-secret"), "{arguments:?}: {}", done.out);
    }
}

#[tokio::test]
async fn edit_opens_the_editor_and_checks_what_it_left() {
    let world = World::bare("").await;
    let editor = world.home.join("editor");
    std::fs::write(&editor, "#!/bin/sh\necho 'modle = 1' > \"$2\"\n").unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = world.command(&["config", "edit"]);
    command.env("EDITOR", format!("{} --wait", editor.display()));
    let done = crate::world::finish(command.spawn().unwrap()).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("modle"), "{}", done.err);
}

#[tokio::test]
async fn settings_are_not_written_through_a_link_out_of_the_project() {
    let world = World::bare("").await;
    let elsewhere = world.home.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.project.join(".covey")).unwrap();
    let done = world.covey(&["config", "set", "--project", "mode", "ask"]).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("leads out of the project"), "{}", done.err);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[tokio::test]
async fn stages_of_the_window_are_shares_or_tokens() {
    let world = World::new("model: hi").await;
    let config = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    for (stages, problem) in [
        ("soft = 6000\nfull = 9000", None),
        ("soft = \"50%\"\nfull = \"90_000\"", None),
        ("soft = \"90%\"\nfull = \"50%\"", Some("beyond `context.full`")),
        ("soft = 1.5", Some("neither a share")),
        ("full = true", Some("neither a share")),
    ] {
        world.configure(&format!("{config}\n[context]\n{stages}\n"));
        let done = world.covey(&["run", "hello"]).await;
        match problem {
            None => assert_eq!(done.code, Some(0), "{stages}: {done:?}"),
            Some(problem) => {
                assert_eq!(done.code, Some(2), "{stages}: {done:?}");
                assert!(done.err.contains(problem) && done.err.contains("hint:"), "{stages}: {done:?}");
            }
        }
    }
}
