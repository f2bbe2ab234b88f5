//! How each agent is pointed at the scripted model.

use std::path::Path;

use serde_json::{Value, json};
use testkit::ModelServer;

/// How one agent is pointed at the model, and what its tools are called.
pub(super) struct Player {
    pub(super) agent: &'static str,
    /// The lines of its section in the settings, without the command.
    pub(super) settings: fn(&ModelServer) -> String,
    /// Files in its home, which a person would have.
    pub(super) home: fn(&ModelServer) -> Vec<(&'static str, String)>,
    pub(super) shell: fn(&str) -> Value,
    pub(super) shell_tool: &'static str,
    pub(super) write: fn(&Path) -> Value,
    pub(super) write_tool: &'static str,
    /// Where its requests to the model say how much to think, and what they say for `low`.
    pub(super) thinks: Option<(&'static str, &'static str)>,
}

pub(super) const CLAUDE: Player = Player {
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
    thinks: Some(("/thinking/budget_tokens", "4000")),
};

pub(super) const CODEX: Player = Player {
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
    thinks: Some(("/reasoning/effort", "\"low\"")),
};

pub(super) const GEMINI: Player = Player {
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
    thinks: None,
};

pub(super) const COPILOT: Player = Player {
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
    thinks: None,
};

pub(super) const CLINE: Player = Player {
    agent: "cline",
    settings: |_| {
        "env = { CLINE_API_KEY = \"fake-key-000000\", CLINE_PROVIDER = \"openai-compatible\", CLINE_MODEL = \"fake-model\" }"
            .to_owned()
    },
    home: |server| {
        let provider = json!({
            "provider": "openai-compatible", "apiKey": "fake-key-000000", "model": "fake-model",
            "baseUrl": server.base_url(),
        });
        let settings = json!({
            "version": 1, "lastUsedProvider": "openai-compatible",
            "providers": {"openai-compatible": {"settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}},
        });
        vec![(".cline/data/settings/providers.json", settings.to_string())]
    },
    shell: |command| json!({"commands": [command]}),
    shell_tool: "run_commands",
    write: |path| json!({"commands": [format!("echo text > {}", path.display())]}),
    write_tool: "run_commands",
    thinks: None,
};

pub(super) const OPENCODE: Player = Player {
    agent: "opencode",
    settings: |_| {
        "env = { OPENCODE_DISABLE_MODELS_FETCH = \"1\", OPENCODE_DISABLE_LSP_DOWNLOAD = \"1\" }".to_owned()
    },
    home: |server| {
        let settings = json!({
            "autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
            "provider": {"fake": {
                "npm": "@ai-sdk/openai-compatible", "name": "Fake",
                "options": {"baseURL": server.base_url(), "apiKey": "fake-key-000000"},
                "models": {"fake-model": {"name": "Fake"}},
            }},
        });
        vec![(".config/opencode/opencode.json", settings.to_string())]
    },
    shell: |command| json!({"command": command, "description": "run it"}),
    shell_tool: "bash",
    write: |path| json!({"filePath": path, "content": "text"}),
    write_tool: "write",
    thinks: None,
};

pub(super) const QWEN: Player = Player {
    agent: "qwen",
    settings: |server| {
        format!(
            "args = [\"--auth-type\", \"openai\"]\nenv = {{ OPENAI_API_KEY = \"fake-key-000000\", OPENAI_BASE_URL = {:?}, OPENAI_MODEL = \"fake-model\" }}",
            server.base_url()
        )
    },
    home: |_| {
        let settings = json!({
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": false}},
            "general": {"enableAutoUpdate": false}, "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
        });
        vec![(".qwen/settings.json", settings.to_string())]
    },
    shell: |command| json!({"command": command, "description": "run it", "is_background": false}),
    shell_tool: "run_shell_command",
    write: |path| json!({"file_path": path, "content": "text"}),
    write_tool: "write_file",
    thinks: None,
};

pub(super) const KIMI: Player = Player {
    agent: "kimi",
    settings: |server| {
        format!(
            "env = {{ KIMI_DISABLE_TELEMETRY = \"1\", KIMI_MODEL_NAME = \"fake-model\", KIMI_MODEL_PROVIDER_TYPE = \"openai\", KIMI_MODEL_API_KEY = \"fake-key-000000\", KIMI_MODEL_BASE_URL = {:?}, KIMI_MODEL_MAX_CONTEXT_SIZE = \"64000\" }}",
            server.base_url()
        )
    },
    home: |_| vec![],
    shell: |command| json!({"command": command}),
    shell_tool: "Bash",
    write: |path| json!({"path": path, "content": "text"}),
    write_tool: "Write",
    thinks: None,
};

pub(super) const GOOSE: Player = Player {
    agent: "goose",
    settings: |server| {
        format!(
            "env = {{ GOOSE_PROVIDER = \"openai\", GOOSE_MODEL = \"fake-model\", OPENAI_API_KEY = \"fake-key-000000\", OPENAI_HOST = {:?}, GOOSE_DISABLE_KEYRING = \"1\", GOOSE_TELEMETRY_ENABLED = \"false\" }}",
            server.url()
        )
    },
    home: |_| vec![],
    shell: |command| json!({"command": command}),
    shell_tool: "shell",
    write: |path| json!({"path": path, "content": "text"}),
    write_tool: "write",
    thinks: None,
};

/// By its gateway, which the test starts; in modes that ask, by its program.
pub(super) const OPENCLAW: Player = Player {
    agent: "openclaw",
    settings: |_| "env = { OPENCLAW_GATEWAY_TOKEN = \"token-of-the-gateway\" }".to_owned(),
    home: |server| {
        let model = json!({"id": "fake-model", "name": "fake", "contextWindow": 64000, "maxTokens": 4000});
        let provider = json!({
            "baseUrl": server.base_url(), "apiKey": "fake-key-000000", "api": "openai-completions", "models": [model],
        });
        let settings = json!({
            "models": {"providers": {"fake": provider}},
            "agents": {"defaults": {"model": {"primary": "fake/fake-model"}, "skipBootstrap": true}},
            "gateway": {"mode": "local", "auth": {"token": "token-of-the-gateway"}},
        });
        vec![(".openclaw/openclaw.json", settings.to_string())]
    },
    shell: |command| json!({"command": command}),
    shell_tool: "exec",
    write: |path| json!({"path": path, "content": "text"}),
    write_tool: "write",
    thinks: None,
};

/// Its maker's own service answers it, so it can only be greeted.
pub(super) const AUGGIE: Player = Player {
    agent: "auggie",
    settings: |_| String::new(),
    home: |_| vec![],
    shell: |_| Value::Null,
    shell_tool: "",
    write: |_| Value::Null,
    write_tool: "",
    thinks: None,
};
