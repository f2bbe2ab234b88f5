//! `covey mcp serve`: what we offer to other agents. They may look, and nothing more.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use guard::{Guard, GuardOptions, Redactor, Request, Ruling};
use mcp::{Offered, Offers, ToolInfo};
use project::{LocalHost, Roots};
use protocol::{CallId, Mode, Plan, SuggestedAction};
use serde_json::{Value, json};
use sessions::{ListOptions, Store};
use tokio_util::sync::CancellationToken;
use tools::{Desk, Errand, PersonQuestion, Tool, ToolContext, ToolError, ToolState, Toolbox};

use super::root;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// What is read of the project.
const TOOLS: &[&str] = &[
    "read",
    "list_dir",
    "tree",
    "glob",
    "grep",
    "find_file",
    "code_search",
    "symbol",
    "repo_map",
    "related_files",
    "ast_search",
];
/// No answer is longer than this.
const MAX_ANSWER: usize = 128 * 1024;

pub(super) async fn serve() -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let root = root(&settings)?;
    let roots = Roots::new([root.clone()]).map_err(|error| Failure::usage(error.to_string()))?;
    let guard = Guard::new(GuardOptions {
        settings: settings.permissions(&[], &[])?,
        roots: roots.clone(),
        home: Some(settings.home.clone()),
        user_home: std::env::home_dir().unwrap_or_default(),
        session: None,
    });
    let state = Arc::new(ToolState::default());
    tools::set_index(&state, &index::Index::new(&root, crate::index::options(&settings)?));
    let folder = tempfile::tempdir()?;
    let context = ToolContext {
        host: Arc::new(LocalHost::new(roots)),
        cwd: settings.cwd.clone(),
        call: CallId::new("mcp"),
        state,
        desk: Arc::new(NoDesk(folder.path().to_owned())),
    };
    let ours = Ours {
        toolbox: Toolbox::builtin().filtered(|tool| TOOLS.contains(&tool.name())),
        context,
        guard,
        redactor: settings.redactor(),
        store: Store::new(settings.home.sessions_dir()),
        cwd: settings.cwd.to_string_lossy().into_owned(),
    };
    let shutdown = CancellationToken::new();
    let served = mcp::serve(tokio::io::stdin(), tokio::io::stdout(), Arc::new(ours), shutdown.clone());
    tokio::select! {
        served = served => served.map_err(Failure::new)?,
        _ = tokio::signal::ctrl_c() => shutdown.cancel(),
    }
    Ok(Exit::Done)
}

struct Ours {
    toolbox: Toolbox,
    context: ToolContext,
    guard: Guard,
    redactor: Redactor,
    store: Store,
    cwd: String,
}

#[async_trait]
impl Offers for Ours {
    fn tools(&self) -> Vec<ToolInfo> {
        let info = |tool: &Arc<dyn Tool>| ToolInfo {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
            read_only: true,
        };
        self.toolbox.iter().map(info).chain(session_tools()).collect()
    }

    fn instructions(&self) -> String {
        "Look at the project that Covey was started in: `code_search` finds code by meaning, `symbol` where a name is \
         defined and used, `repo_map` gives an overview. `session_list` and `session_show` tell what agents did here before."
            .to_owned()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Offered {
        let answer = match tool {
            "session_list" | "session_show" => self.session(tool, &arguments),
            name => match self.toolbox.get(name) {
                Some(tool) => self.look(tool.as_ref(), arguments).await,
                None => Err(format!("there is no tool `{name}`")),
            },
        };
        let tidy = |text: String| {
            let mut text = self.redactor.redact(&text).into_owned();
            if text.len() > MAX_ANSWER {
                text.truncate(text.floor_char_boundary(MAX_ANSWER));
                text.push_str("\n[the rest is left out; ask for less]");
            }
            text
        };
        answer.map(tidy).map_err(tidy)
    }
}

impl Ours {
    /// Only what the guard lets run by itself where nothing may be changed.
    async fn look(&self, tool: &dyn Tool, arguments: Value) -> Offered {
        tools::check(&tool.schema(), &arguments).map_err(|error| error.to_string())?;
        let actions = tool.actions(&arguments, &self.context);
        let request = Request { tool: tool.name(), actions: &actions, mode: Mode::Explore, attended: false };
        let verdict = self.guard.judge(&request);
        if verdict.decision != Ruling::Allow {
            return Err(format!("not allowed: {}", verdict.because.join("; ")));
        }
        let call =
            tokio::time::timeout(tool.time_limit(&arguments), tool.call(arguments.clone(), &self.context));
        match call.await {
            Ok(Ok(output)) => Ok(output.text),
            Ok(Err(ToolError(text))) => Err(text),
            Err(_) => Err("it took too long".to_owned()),
        }
    }

    fn session(&self, tool: &str, arguments: &Value) -> Offered {
        let failed = |error: sessions::StoreError| error.to_string();
        if tool == "session_list" {
            let options = ListOptions { cwd: Some(self.cwd.clone()), limit: Some(50) };
            let listing = self.store.list(&options).map_err(failed)?;
            let line = |session: &protocol::SessionSummary| {
                format!(
                    "{}  {}  {} turns  {}\n",
                    session.session, session.updated, session.turns, session.title
                )
            };
            return Ok(listing.sessions.iter().map(line).collect());
        }
        let id = arguments.get("session").and_then(Value::as_str).unwrap_or_default();
        let session = id.parse().map_err(|_| format!("`{id}` is not a session"))?;
        let view = self.store.open_view(&session).map_err(failed)?;
        // What was done elsewhere is none of this project's business.
        if view.cwd != self.cwd {
            return Err(format!("`{id}` is not a session of this folder"));
        }
        let mut text = String::new();
        for item in &view.items {
            match &item.body {
                protocol::ItemBody::Prompt { content } => {
                    text.push_str(&format!("person: {}\n", protocol::prompt_text(content)));
                }
                protocol::ItemBody::Message { text: said, .. } => text.push_str(&format!("agent: {said}\n")),
                protocol::ItemBody::Tool { call, .. } => text.push_str(&format!("  did: {}\n", call.title)),
                protocol::ItemBody::Error(error) => text.push_str(&format!("  error: {}\n", error.message)),
                _ => {}
            }
        }
        Ok(text)
    }
}

fn session_tools() -> [ToolInfo; 2] {
    let tool = |name: &str, description: &str, schema: Value| ToolInfo {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
        read_only: true,
    };
    [
        tool(
            "session_list",
            "The newest sessions of agents in this project.",
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ),
        tool(
            "session_show",
            "What was said and done in a session.",
            json!({"type": "object", "properties": {"session": {"type": "string"}}, "required": ["session"],
                "additionalProperties": false}),
        ),
    ]
}

/// Nobody is at the desk: these tools need nobody.
struct NoDesk(PathBuf);

#[async_trait]
impl Desk for NoDesk {
    fn progress(&self, _call: &CallId, _text: &str) {}

    async fn plan(&self, _plan: Plan) {}

    async fn suggest(&self, _actions: Vec<SuggestedAction>) {}

    async fn ask(&self, _question: PersonQuestion) -> Option<String> {
        None
    }

    async fn delegate(&self, _errand: Errand) -> Result<String, ToolError> {
        Err(ToolError("there are no sub-agents here".to_owned()))
    }

    fn outputs(&self) -> PathBuf {
        self.0.clone()
    }

    async fn skill(&self, _name: &str) -> Result<String, ToolError> {
        Err(ToolError("there are no skills here".to_owned()))
    }
}
