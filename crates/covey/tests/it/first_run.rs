//! Nothing configured: what is found, and what is said when there is nothing.

use crate::world::World;

#[tokio::test]
async fn with_nothing_there_one_screen_helps_and_the_exit_is_5() {
    let world = World::bare("").await;
    // The usual ports may be in use on this machine; these are not.
    world.configure(
        "[providers.ollama]\nport = 1\n[providers.lmstudio]\nport = 1\n[providers.llamacpp]\nport = 1\n",
    );
    let done = world.covey(&["run", "hello"]).await;
    assert_eq!((done.code, done.out.as_str()), (Some(5), ""), "{done:?}");
    assert!(done.err.lines().count() <= 24, "{}", done.err);
    for part in ["no model is connected", "OPENROUTER_API_KEY", "ollama", "base_url", "hint:"] {
        assert!(done.err.contains(part), "{part} is missing:\n{}", done.err);
    }
    assert!(world.sessions().is_empty());
    let doctor = world.covey(&["doctor", "--json"]).await;
    assert_eq!(doctor.code, Some(1));
    assert!(doctor.out.contains("no model is connected"));
}

#[tokio::test]
async fn a_key_in_the_environment_is_enough() {
    let world = World::bare("model: hi\n").await;
    world.configure(&format!("[providers.openai]\nbase_url = \"{}\"\n", world.server.base_url()));
    let mut command = world.command(&["run", "hello"]);
    let done = crate::world::finish(command.env("OPENAI_API_KEY", "sk-secret").spawn().unwrap()).await;
    assert_eq!((done.code, done.out.as_str()), (Some(0), "hi\n"), "{done:?}");
    let sent = world.server.request(0).await;
    assert_eq!(sent.header("authorization"), Some("Bearer sk-secret"));
    // The key is in no file.
    let session = world.sessions().remove(0);
    for entry in std::fs::read_dir(session).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            assert!(
                !String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains("sk-secret"),
                "{}",
                path.display()
            );
        }
    }
}

#[tokio::test]
async fn a_configured_provider_is_used_without_naming_a_model() {
    let world = World::bare("model: hi\n").await;
    world.configure(&format!("[providers.mine]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.mine.models.small]\ncontext = 8000\n", world.server.base_url()));
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!((done.code, &result["model"]), (Some(0), &"mine/small".into()), "{done:?}");
}

#[tokio::test]
async fn a_server_on_a_usual_port_is_found() {
    let world = World::bare("models: llama-tiny\nmodel: hi\n").await;
    let port = world.server.address().port();
    world.configure(&format!("[providers.ollama]\nport = {port}\nbase_url = \"{}\"\n[providers.lmstudio]\nport = 1\n[providers.llamacpp]\nport = 1\n", world.server.base_url()));
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!((done.code, &result["model"]), (Some(0), &"ollama/llama-tiny".into()), "{done:?}");
}

#[tokio::test]
async fn completions_and_help_need_nothing() {
    let world = World::bare("").await;
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = world.covey(&["completions", shell]).await;
        assert_eq!(done.code, Some(0), "{shell}");
        assert!(done.out.contains("covey"), "{shell}");
    }
    let help = world.covey(&["--help"]).await;
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    assert!(help.out.contains("Exit codes"));
    assert!(world.covey(&["--version"]).await.out.starts_with("covey "));
}
