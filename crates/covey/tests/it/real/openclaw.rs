//! OpenClaw's real gateway, and its program beside it.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::Stage;
use super::players::OPENCLAW;

/// A gateway that listens. It goes with the test.
async fn gateway(stage: &Stage) -> Child {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port().to_string()
    };
    let file = stage.world.home.join("config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    let line = config.lines().find(|line| line.starts_with("command = ")).unwrap();
    let program = line.trim_start_matches("command = ").trim_matches('"').to_owned();
    // Last in the file is the section of the agent.
    std::fs::write(&file, format!("{config}\nurl = \"ws://127.0.0.1:{port}\"\n")).unwrap();
    let mut command = Command::new(program);
    command
        .args(["gateway", "run", "--port", &port, "--bind", "loopback"])
        .current_dir(&stage.user)
        .env_clear();
    command.env("HOME", &stage.user).env("PATH", &stage.path).env("NO_COLOR", "1").env("CI", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = lines.next_line().await.unwrap().expect("the gateway ended");
        if line.ends_with("[gateway] ready") {
            // Whoever stops reading stops it.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return child;
        }
    }
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real openclaw"]
async fn plays() {
    let stage = Stage::new(&OPENCLAW).await;
    let file = |name: &str| stage.world.project.join(name);
    let mut gateway = gateway(&stage).await;

    // Hello, and a tool in the same session, in the project and not in the gateway's own folder.
    let (done, result) = stage.run(&["--mode", "auto", "Say hello"]).await;
    assert!(result["text"].as_str().unwrap().contains("Hello from the scripted model"), "{done:?}");
    let (done, _) = stage.run(&["--mode", "auto", "--continue", &stage.shell("touch allowed.txt")]).await;
    assert_eq!((done.code, file("allowed.txt").exists()), (Some(0), true), "{done:?}");
    assert!(done.out.contains("\"title\":\"touch allowed.txt\""), "{done:?}");
    let last = stage.server.requests().pop().unwrap();
    assert_eq!(last.text().matches("Say hello").count(), 1, "history was sent twice, or not at all");
    stage.cancel(&["--mode", "auto"]).await;

    // It does not ask, so where somebody wants to be asked its program only looks.
    for mode in ["ask", "plan"] {
        let (done, _) = stage.run(&["--mode", mode, &stage.shell("touch looked.txt")]).await;
        assert!(done.out.contains("The tool answered"), "{mode}: {done:?}");
        assert!(!file("looked.txt").exists(), "{mode}: {done:?}");
    }
    gateway.kill().await.unwrap();
}
