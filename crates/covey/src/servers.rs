//! `covey mcp`: the MCP servers that agents here may use, and being one.

mod arguments;
mod login;
mod offer;
mod tokens;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use arguments::McpArguments;
use arguments::{AddArguments, McpCommand};
use engine::HostStarter;
use guard::{ItemKind, SandboxLauncher, TrustStore};
use mcp::{Agreement, Difference, McpError, Server, ServerConfig};
use project::{Key, Roots, Schema, set_in_file, unset_in_file};
use serde_json::{Value, json};
pub(crate) use tokens::KeptLogin;

use crate::block_on;
use crate::confirm::confirmed;
use crate::exit::{Exit, Failure};
use crate::settings::{SECTIONS, Settings};
use crate::terminal::{Stream, Style, columns, one_line, print, tell};

const SERVER: Schema = Schema::Table(&[
    Key::text("command").doc("a program that speaks MCP on its standard input and output"),
    Key::list("args", &Schema::Text),
    Key::map("env", &Schema::Secret).doc("variables that it is given; ${NAME} stands for one of yours"),
    Key::text("url").doc("or the address of a server"),
    Key::map("headers", &Schema::Secret)
        .doc("sent with every request; ${NAME} stands for a variable of yours"),
    Key::integer("timeout", 1, 3600).doc("seconds that a call may take"),
    Key::bool("disabled"),
    Key::bool("network").doc("whether the program may use the network"),
    Key::list("reads", &Schema::Text).doc("folders that it may read beside the project"),
    Key::list("writes", &Schema::Text).doc("folders that it may change beside the project"),
    Key::list("tools", &Schema::Text).doc("only these of its tools"),
]);

/// `[mcp.NAME]` in the settings.
pub(crate) const SECTION: Key =
    Key::map("mcp", &SERVER).trusted().doc("MCP servers, whose tools agents may use");

/// The servers of the settings.
pub(crate) fn configured(settings: &Settings) -> Result<BTreeMap<String, ServerConfig>, Failure> {
    Ok(settings.config.get("mcp")?.unwrap_or_default())
}

/// The same servers for agents that start them themselves. One whose variables are not set is left out: the agent could
/// not start it either.
pub(crate) fn handed_on(settings: &Settings) -> Result<Vec<acp::McpServer>, Failure> {
    let enabled = configured(settings)?.into_iter().filter(|(_, config)| !config.disabled);
    let handed = enabled.filter_map(|(name, config)| {
        let config = config.filled(&|name| std::env::var(name).ok()).ok()?;
        Some(match (config.command, config.url) {
            (Some(command), _) => acp::McpServer::Stdio {
                name,
                command: command.into(),
                args: config.args,
                env: config.env.into_iter().collect(),
            },
            (None, url) => {
                acp::McpServer::Http { name, url: url?, headers: config.headers.into_iter().collect() }
            }
        })
    });
    Ok(handed.collect())
}

pub(crate) fn mcp(command: McpCommand) -> Result<Exit, Failure> {
    match command {
        McpCommand::List { json } => list(json),
        McpCommand::Add(arguments) => add(&arguments),
        McpCommand::Remove { name } => remove(&name),
        McpCommand::Test { name, json } => block_on(test(&name, json)),
        McpCommand::Accept { name, yes } => block_on(accept(&name, yes)),
        McpCommand::Login { name } => block_on(login::login(&name)),
        McpCommand::Logout { name } => login::logout(&name),
        McpCommand::Serve => block_on(offer::serve()),
    }
}

/// Where a server comes from.
struct Known {
    config: ServerConfig,
    from: &'static str,
    /// Of the project, and the person has not accepted it.
    is_held: bool,
}

fn known(settings: &Settings) -> Result<BTreeMap<String, Known>, Failure> {
    let mut all = BTreeMap::new();
    let root = root(settings)?;
    if root.join(".mcp.json").exists() {
        let trust = TrustStore::open(settings.home.data_dir(), &root);
        for item in trust.found().into_iter().filter(|item| item.kind == ItemKind::McpServer) {
            let Some((_, name)) = item.name.split_once('#') else { continue };
            let Ok(config) = serde_json::from_str(&item.text()) else { continue };
            let known = Known { config, from: ".mcp.json", is_held: !trust.is_accepted(&item) };
            all.insert(name.to_owned(), known);
        }
    }
    for (name, config) in configured(settings)? {
        all.insert(name, Known { config, from: "settings", is_held: false });
    }
    Ok(all)
}

fn root(settings: &Settings) -> Result<PathBuf, Failure> {
    let project =
        project::Project::discover(&settings.cwd).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(project.root().canonicalize().unwrap_or_else(|_| project.root().to_owned()))
}

fn list(json: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let known = known(&settings)?;
    let tools = |name: &str, config: &ServerConfig| {
        let agreed = Agreement::read(&Agreement::file(settings.home.data_dir(), name, config));
        agreed.map(|agreed| agreed.tools.len())
    };
    if json {
        let rows: Vec<Value> = known
            .iter()
            .map(|(name, known)| {
                json!({"name": name, "from": known.from, "held": known.is_held, "disabled": known.config.disabled,
                    "server": known.config.shown(), "network": known.config.network, "tools": tools(name, &known.config)})
            })
            .collect();
        print(&format!("{}\n", json!({"servers": rows})))?;
        return Ok(Exit::Done);
    }
    if known.is_empty() {
        print("no MCP server yet; covey mcp add NAME -- COMMAND adds one\n")?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let width = known.keys().map(String::len).max().unwrap_or_default();
    for (name, known) in &known {
        let state = match (known.is_held, known.config.disabled, tools(name, &known.config)) {
            (true, ..) => style.warning("waits for your word: covey guard trust"),
            (_, true, _) => style.faint("disabled"),
            (.., Some(1)) => style.faint("1 tool"),
            (.., Some(count)) => style.faint(&format!("{count} tools")),
            (.., None) => style.faint("not started yet"),
        };
        let room = columns().saturating_sub(width + 34).max(20);
        let shown = one_line(&known.config.shown(), room);
        print(&format!("{name:width$}  {shown}  {state}\n"))?;
    }
    Ok(Exit::Done)
}

fn add(arguments: &AddArguments) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let name = &arguments.name;
    let config = arguments.config()?;
    config.check(name).map_err(|error| Failure::usage(error.to_string()))?;
    let path = settings.home.config_file();
    if configured(&settings)?.contains_key(name) && !arguments.force {
        return Err(Failure::usage(format!("there is a server `{name}` already"))
            .hint("covey mcp remove it first, or use --force"));
    }
    if arguments.force {
        unset_in_file(&path, &format!("mcp.{name}"))?;
    }
    let Value::Object(fields) = serde_json::to_value(&config).unwrap_or_default() else {
        return Err(Failure::new("the server can not be written down"));
    };
    for (key, value) in fields {
        let text = match &value {
            Value::String(text) => text.clone(),
            Value::Object(map) => {
                for (inner, value) in map {
                    let value = value.as_str().unwrap_or_default();
                    set_in_file(&path, &format!("mcp.{name}.{key}.{}", quoted(inner)), value, SECTIONS)?;
                }
                continue;
            }
            other => other.to_string(),
        };
        set_in_file(&path, &format!("mcp.{name}.{key}"), &text, SECTIONS)?;
    }
    print(&format!("`{name}` is in {}; see what it offers: covey mcp test {name}\n", path.display()))?;
    Ok(Exit::Done)
}

/// As a part of a key that may have dots in it.
fn quoted(key: &str) -> String {
    match key.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') {
        true => key.to_owned(),
        false => format!("\"{key}\""),
    }
}

fn remove(name: &str) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let path = settings.home.config_file();
    if !unset_in_file(&path, &format!("mcp.{name}"))? {
        return Err(Failure::usage(format!("there is no server `{name}` in {}", path.display()))
            .hint("covey mcp list"));
    }
    print(&format!("removed `{name}` from {}\n", path.display()))?;
    Ok(Exit::Done)
}

/// A server by its name, ready to be started.
fn server(settings: &Settings, name: &str) -> Result<Server, Failure> {
    let mut known = known(settings)?;
    let Some(Known { config, is_held, .. }) = known.remove(name) else {
        let names: Vec<String> = known.into_keys().collect();
        let hint = match names.is_empty() {
            true => "covey mcp add NAME -- COMMAND adds one".to_owned(),
            false => format!("there are: {}", names.join(", ")),
        };
        return Err(Failure::usage(format!("there is no MCP server `{name}`")).hint(hint));
    };
    if is_held {
        return Err(Failure::new(format!(
            "`{name}` comes with this repository, and you have not accepted it"
        ))
        .hint("covey guard trust"));
    }
    config.check(name).map_err(|error| Failure::usage(error.to_string()))?;
    let config = config.filled(&|name| std::env::var(name).ok()).map_err(Failure::usage)?;
    let roots = Roots::new([root(settings)?]).map_err(|error| Failure::usage(error.to_string()))?;
    let launcher = Arc::new(SandboxLauncher::new(settings.sandbox()?, |_| {}));
    let agreed = Agreement::read(&Agreement::file(settings.home.data_dir(), name, &config));
    let store = settings.secrets()?;
    let url = config.url.as_deref();
    let tokens = url.map(|url| Arc::new(KeptLogin::new(store, name, url)) as Arc<dyn mcp::Tokens>);
    Ok(Server::new(name, config, Arc::new(HostStarter { launcher, roots }), agreed).with_login(tokens))
}

fn failure(error: McpError) -> Failure {
    let exit = match &error {
        McpError::NotStarted { .. } | McpError::NeedsLogin { .. } | McpError::Resting { .. } => {
            Exit::Unreachable
        }
        McpError::TimedOut { .. } => Exit::Limit,
        _ => Exit::Failed,
    };
    Failure { exit, hint: error.hint(), ..Failure::from_error(&error) }
}

/// Starts the server and shows what it has.
async fn test(name: &str, json: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let server = server(&settings, name)?;
    let proposal = server.proposal().await.map_err(failure)?;
    let resources = server.resources().await.map_err(failure)?;
    let is_new = !server.agreement_file(settings.home.data_dir()).exists();
    let differences = if is_new { vec![] } else { server.differences().await.map_err(failure)? };
    if is_new {
        keep(&settings, &server, &proposal)?;
    }
    if json {
        let resources: Vec<Value> =
            resources.iter().map(|resource| json!({"uri": resource.uri, "name": resource.name})).collect();
        let held: Vec<&str> = differences.iter().map(Difference::tool).collect();
        let line = json!({"server": name, "tools": proposal.tools, "prompts": proposal.prompts,
            "resources": resources, "held": held});
        print(&format!("{line}\n"))?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let width = proposal.tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
    for tool in &proposal.tools {
        let held = differences.iter().any(|difference| difference.tool() == tool.name);
        let sign = if held { style.warning("⚠") } else { style.good("✓") };
        let room = columns().saturating_sub(width + 6).max(20);
        print(&format!("{sign} {:width$}  {}\n", tool.name, one_line(&tool.description, room)))?;
    }
    for prompt in &proposal.prompts {
        print(&format!("/ {}  {}\n", mcp::tool_name(name, &prompt.name), one_line(&prompt.description, 60)))?;
    }
    for resource in &resources {
        print(&format!("@ {name}:{}  {}\n", resource.uri, one_line(&resource.name, 60)))?;
    }
    if !differences.is_empty() {
        tell(&format!(
            "⚠ marks what changed since you took it in; look and accept: covey mcp accept {name}\n"
        ));
    }
    Ok(Exit::Done)
}

/// Shows what changed, and takes it in.
async fn accept(name: &str, yes: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let server = server(&settings, name)?;
    let differences = server.differences().await.map_err(failure)?;
    if differences.is_empty() {
        print(&format!("`{name}` is as you accepted it\n"))?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    for difference in &differences {
        match difference {
            Difference::New(tool) => {
                print(&format!(
                    "{} {}\n  {}\n",
                    style.good("new"),
                    tool.name,
                    one_line(&tool.description, 400)
                ))?;
            }
            Difference::Gone(tool) => print(&format!("{} {tool}\n", style.faint("gone")))?,
            Difference::Changed { before, after } => {
                print(&format!("{} {}\n", style.warning("changed"), after.name))?;
                let text = |tool: &mcp::ToolInfo| {
                    let schema = serde_json::to_string_pretty(&tool.schema).unwrap_or_default();
                    format!("{}\n{schema}\nread_only: {}\n", tool.description, tool.read_only)
                };
                let (before, after) = (text(before), text(after));
                let diff = similar::TextDiff::from_lines(&before, &after);
                for line in diff.unified_diff().context_radius(1).to_string().lines() {
                    print(&format!("  {}\n", one_line(line, 400)))?;
                }
            }
        }
    }
    if !yes && !confirmed("accept this?", "accept it with --yes")? {
        tell("nothing was changed\n");
        return Ok(Exit::Cancelled);
    }
    let proposal = server.proposal().await.map_err(failure)?;
    keep(&settings, &server, &proposal)?;
    print(&format!("`{name}` is accepted as it is now\n"))?;
    Ok(Exit::Done)
}

fn keep(settings: &Settings, server: &Server, proposal: &Agreement) -> Result<(), Failure> {
    let file = server.agreement_file(settings.home.data_dir());
    project::create_private_dir(file.parent().unwrap_or(Path::new(".")))?;
    project::write_private_atomic(&file, &proposal.to_json()?)?;
    Ok(())
}
