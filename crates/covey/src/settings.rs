//! The settings there are, and what they make.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::agents::{AgentConfig, Fleet, FleetOptions};
use ::auth::{Credentials, FileStore, SecretStore};
use ::models::{Catalogue, Chain, Health, ProviderConfig};
use engine::{ContextLimits, Engine, EngineOptions, NativeAgent, Share};
use guard::{Redactor, Sandbox, SandboxConfig, SandboxLauncher, looks_secret};
use project::{Config, Home, Key, LoadOptions, Project, Schema, process_env};
use protocol::{AgentId, Mode, ModelRef};
use sessions::{Store, UsageLog};

use crate::exit::{Exit, Failure};
use crate::named_command::NamedCommand;
use crate::terminal::tell_warning;

const WIRES: &[&str] = &["openai-chat", "openai-responses", "anthropic", "gemini"];
const TOKENS: i64 = 1_000_000_000;
/// How long an agent of another maker is kept without work.
const IDLE: Duration = Duration::from_secs(60 * 60);
/// Tokens of code beside a prompt.
const AUTO_CONTEXT: usize = 2_000;

const STEP: &[Key] = &[
    Key::integer("tokens", 1, TOKENS).doc("for prompts longer than this"),
    Key::number("input"),
    Key::number("output"),
    Key::number("cache_read"),
    Key::number("cache_write"),
];

const MODEL: Schema = Schema::Table(&[
    Key::text("id").doc("the provider's own name for it, if it differs"),
    Key::integer("context", 1, TOKENS).doc("tokens that prompt and answer may have together"),
    Key::integer("max_output", 1, TOKENS).doc("tokens that an answer may have"),
    Key::bool("tools").doc("whether it can call tools"),
    Key::bool("images").doc("whether it can see pictures"),
    Key::bool("thinking").doc("whether it thinks before it answers"),
    Key::bool("structured").doc("whether it can be held to a schema"),
    Key::bool("cache").doc("whether its provider remembers the beginning of a prompt"),
    Key::choice("reasoning", &["effort", "budget", "level", "switch", "none"]).doc("how its thinking is set"),
    Key::list("efforts", &Schema::Text).doc("its words for how much to think, from least to most"),
    Key::list("thinking_budget", &Schema::Integer { min: 0, max: TOKENS })
        .doc("the fewest and most tokens it thinks"),
    Key::table(
        "prices",
        &[
            Key::number("input").doc("US dollars for a million tokens"),
            Key::number("output"),
            Key::number("cache_read"),
            Key::number("cache_write"),
            Key::table("above", STEP).doc("what long prompts cost, where that differs"),
        ],
    ),
    Key::choice("tier", &["low", "medium", "high"]).doc("how strong it is among its kind"),
    Key::text("released").doc("when it came out"),
]);

const PROVIDER: Schema = Schema::Table(&[
    Key::choice("wire", WIRES).doc("the format it speaks"),
    Key::text("base_url").doc("where its API begins"),
    Key::text("api_key_env").doc("the environment variable that holds its key"),
    Key::secret("api_key").doc("the key itself; a variable is safer"),
    Key::map("headers", &Schema::Secret).doc("sent with every request"),
    Key::text("default_model").doc("the model that the provider's name alone stands for"),
    Key::integer("port", 1, 65_535).doc("where it listens on this machine"),
    Key::map("models", &MODEL),
    Key::table(
        "timeouts",
        &[
            Key::number("connect").doc("seconds until there is a connection"),
            Key::number("first_byte").doc("seconds until the answer begins"),
            Key::number("idle").doc("seconds between two pieces of it"),
        ],
    ),
    Key::integer("retries", 0, 20).doc("how often to try again"),
    Key::new("oauth", Schema::Any).doc("how to log in there"),
    Key::table(
        "quirks",
        &[
            Key::bool("include_usage"),
            Key::text("max_tokens_field"),
            Key::bool("replay_reasoning"),
            Key::bool("short_call_ids"),
            Key::bool("bearer"),
            Key::text("key_header"),
            Key::bool("deployment_path"),
            Key::text("api_version"),
        ],
    ),
]);

const AGENT: Schema = Schema::Table(&[
    Key::text("command").doc("the program, if it is not the one in the search path"),
    Key::list("args", &Schema::Text).doc("more arguments for it"),
    Key::map("env", &Schema::Secret).doc("variables that it is started with"),
    Key::text("model").doc("which model it is to use"),
    Key::text("mode").doc("its own word for how it works, where that is left to it"),
    Key::list("acp", &Schema::Text).doc("a command that speaks the Agent Client Protocol"),
    Key::text("url").doc("where its gateway or its API is"),
    Key::list("state", &Schema::Text).doc("folders of its own that it may write"),
    Key::list("variables", &Schema::Text).doc("variables that it gets although they look like secrets"),
    Key::bool("asks").doc("whether it asks before it acts; one that does not may only look"),
]);

/// Everything that a config file may say.
///
/// A repository may not choose where prompts go or which key is sent along: that needs the person's trust.
pub(crate) const SECTIONS: &[&Key] = &[
    &Key::text("model").trusted().doc("which model answers: PROVIDER/MODEL"),
    &Key::text("agent").trusted().default(NativeAgent::ID).doc("who answers"),
    &Key::tightening("mode", Mode::NAMES).default("ask").doc("how much an agent may do without asking"),
    &Key::choice("reasoning", &["none", "low", "medium", "high", "max"]).doc("how much a model thinks"),
    &Key::table(
        "router",
        &[
            Key::map("chains", &Schema::List(&Schema::Any))
                .doc("models in order of preference; those in a list of their own are equals"),
            Key::text("simple_prompts").doc("the model or chain for short prompts; off without it"),
        ],
    )
    .trusted(),
    &Key::table(
        "auth",
        &[Key::choice("store", &["file", "keyring"]).default("file").doc("where keys and logins are kept")],
    )
    .trusted(),
    &guard::PERMISSIONS,
    &guard::SANDBOX,
    &crate::index::SECTION,
    &crate::servers::SECTION,
    &crate::web::SECTION,
    &Key::table(
        "context",
        &[
            Key::new("soft", Schema::Any)
                .default("60%")
                .doc("from here old results are cut: a share of the window, or tokens"),
            Key::new("full", Schema::Any).default("85%").doc("from here old turns are summarised"),
            Key::integer("auto", 0, TOKENS)
                .default("2000")
                .doc("tokens of code that fits a prompt and is put beside it, where there is an index"),
        ],
    ),
    &crate::talk::SECTION,
    &Key::map("providers", &PROVIDER).trusted().doc("where models are served"),
    &Key::map("agents", &AGENT).trusted().doc("agents of other makers"),
];

/// Where the program runs and what it was told.
pub(crate) struct Settings {
    pub(crate) home: Home,
    pub(crate) cwd: PathBuf,
    /// The folder that `cwd` belongs to.
    pub(crate) root: PathBuf,
    pub(crate) config: Config,
    /// `--allow` and `--deny`.
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
    /// An agent that has no name but its command.
    pub(crate) named: Option<NamedCommand>,
    /// Where other processes can attach to this one.
    pub(crate) socket: Option<PathBuf>,
}

impl Settings {
    /// Reads everything once. `flags` go before all files.
    pub(crate) fn load(cwd: Option<&Path>, flags: &[(String, String)]) -> Result<Self, Failure> {
        let home = home()?;
        let cwd = match cwd {
            Some(folder) => folder.canonicalize().map_err(|error| {
                Failure::usage(format!("can not work in `{}`: {error}", folder.display()))
            })?,
            None => std::env::current_dir().map_err(|error| {
                Failure::usage(format!("the current folder is gone: {error}")).hint("name one: --cwd DIR")
            })?,
        };
        if !cwd.is_dir() {
            return Err(Failure::usage(format!("`{}` is not a folder", cwd.display()))
                .hint("name a folder: --cwd DIR"));
        }
        if cwd.to_str().is_none() {
            let message =
                format!("the name of `{}` is not UTF-8 text, and could not be recorded", cwd.display());
            return Err(Failure::usage(message).hint("work in a folder with another name"));
        }
        let project = Project::discover(&cwd).map_err(|error| Failure::usage(error.to_string()))?;
        let config = Config::load(&LoadOptions {
            home: &home,
            project: Some(&project),
            sections: SECTIONS,
            env: &process_env,
            flags,
            trust: &guard::TrustStore::open(home.data_dir(), project.root()),
        })
        .map_err(|errors| config_failure(&errors.errors))?;
        let root = project.root().to_owned();
        Ok(Self { home, cwd, root, config, allow: Vec::new(), deny: Vec::new(), named: None, socket: None })
    }

    pub(crate) fn store(&self, what: &str) -> Store {
        Store::new(self.home.sessions_dir()).owned_by(what)
    }

    /// Masks every secret that is known here: of the environment, and of logins.
    pub(crate) fn redactor(&self) -> Redactor {
        let env = std::env::vars_os()
            .filter(|(name, value)| looks_secret(name, value))
            .filter_map(|(_, value)| value.into_string().ok())
            // Where something is, is no secret, and stands in half of all output.
            .filter(|value| !value.contains('/') || value.contains("://"));
        // A store that can not be read has no secrets that could be shown.
        let read = self.secrets().ok().and_then(|store| store.read().ok());
        let book = read.map(|(book, _)| book).unwrap_or_default();
        let accounts = book.providers().flat_map(|provider| book.accounts(provider)).collect::<Vec<_>>();
        let kept = accounts.iter().flat_map(|account| [&account.key, &account.access, &account.refresh]);
        let kept = kept.flatten().map(|secret| secret.reveal().to_owned());
        Redactor::new(env.chain(kept).chain(book.login_secrets()))
    }

    fn context(&self) -> Result<ContextLimits, Failure> {
        let share = |key: &str| -> Result<Option<Share>, Failure> {
            // `"60%"`, `"90_000"` or `90000`
            let value: Option<serde_json::Value> = self.config.get(key)?;
            let parsed = value.map(|value| match value.as_str() {
                Some(text) => text.parse::<Share>(),
                None => value.to_string().parse(),
            });
            parsed.transpose().map_err(|error| {
                let hint = "write \"60%\", or a number of tokens such as 90000";
                Failure::usage(format!("`{key}`: {error}")).hint(hint)
            })
        };
        let default = ContextLimits::default();
        let soft = share("context.soft")?.unwrap_or(default.soft);
        let full = share("context.full")?.unwrap_or(default.full);
        if soft.is_beyond(full) {
            let problem = "`context.soft` is beyond `context.full`: results would never be cut before turns are summarised";
            return Err(Failure::usage(problem).hint("make `soft` the smaller one, or set both"));
        }
        Ok(ContextLimits { soft, full })
    }

    pub(crate) fn usage_log(&self) -> UsageLog {
        UsageLog::at(self.home.data_dir().join("usage.jsonl"))
    }

    pub(crate) fn catalogue(&self) -> Result<Catalogue, Failure> {
        let providers: Option<BTreeMap<String, ProviderConfig>> = self.config.get("providers")?;
        let chains: Option<BTreeMap<String, Chain>> = self.config.get("router.chains")?;
        let health = self.health();
        let providers = providers.unwrap_or_default();
        let credentials = self.credentials(&providers)?;
        Ok(Catalogue::new(providers, process_env)
            .with_credentials(credentials)
            .with_chains(chains.unwrap_or_default())
            .with_health(Arc::new(health)))
    }

    /// Where secrets are kept.
    pub(crate) fn secrets(&self) -> Result<Arc<dyn SecretStore>, Failure> {
        let file = self.home.data_dir().join("auth.json");
        match self.config.get::<String>("auth.store")?.as_deref() {
            Some("keyring") => in_keyring(file),
            _ => Ok(Arc::new(FileStore::new(file))),
        }
    }

    /// What logins at MCP servers gave.
    fn logins(&self) -> Result<engine::LoginsOf, Failure> {
        let store = self.secrets()?;
        Ok(Arc::new(move |server: &str, url: &str| {
            Arc::new(crate::servers::KeptLogin::new(store.clone(), server, url)) as Arc<dyn mcp::Tokens>
        }))
    }

    /// Keys and logins: from the settings, the environment and the store.
    pub(crate) fn credentials(
        &self,
        providers: &BTreeMap<String, ProviderConfig>,
    ) -> Result<Credentials, Failure> {
        let known = Credentials::new(self.secrets()?, process_env);
        let known = known.with_oauth("openrouter", ::auth::openrouter());
        let configured = providers.iter().filter_map(|(name, config)| Some((name, config.oauth.clone()?)));
        Ok(configured.fold(known, |known, (name, oauth)| known.with_oauth(name, oauth)))
    }

    /// What is known of the routes to models.
    pub(crate) fn health(&self) -> Health {
        Health::at(self.home.cache_dir().join("routes.json"))
    }

    /// The providers that the person wrote down.
    pub(crate) fn configured_providers(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .config
            .entries()
            .iter()
            .filter_map(|entry| match entry.key.parts() {
                [section, name, ..] if section == "providers" => Some(name.clone()),
                _ => None,
            })
            .collect();
        names.dedup();
        names
    }

    /// The model that a flag, a variable or a file names.
    pub(crate) fn model(&self) -> Result<Option<ModelRef>, Failure> {
        Ok(self.config.get("model")?)
    }

    /// Who answers.
    pub(crate) fn agent(&self) -> Result<AgentId, Failure> {
        Ok(self.config.get("agent")?.unwrap_or_else(|| AgentId::new(NativeAgent::ID)))
    }

    /// What may happen without asking, and what never: the settings and these rules.
    pub(crate) fn permissions(
        &self,
        allow: &[String],
        deny: &[String],
    ) -> Result<guard::GuardSettings, Failure> {
        let section: Option<guard::PermissionsConfig> = self.config.get("permissions")?;
        guard::GuardSettings::new(&section.unwrap_or_default(), allow, deny)
            .map_err(|error| Failure::usage(error.to_string()).hint(error.hint()))
    }

    /// The walls around every command; looks at nothing before the first.
    pub(crate) fn sandbox(&self) -> Result<Sandbox, Failure> {
        let config: Option<SandboxConfig> = self.config.get("sandbox")?;
        Ok(Sandbox::new(config.unwrap_or_default().policy(&self.home)))
    }

    /// The agents of other makers, as the settings have them.
    pub(crate) fn fleet(&self, launcher: Arc<SandboxLauncher>) -> Result<Arc<Fleet>, Failure> {
        let config: Option<BTreeMap<String, AgentConfig>> = self.config.get("agents")?;
        let mut config = config.unwrap_or_default();
        if let Some(named) = &self.named {
            let acp = named.words.clone();
            config.insert(named.name.clone(), AgentConfig { acp, ..AgentConfig::default() });
        }
        let catalogue = ::agents::Catalogue::new(config)
            .map_err(|error| Failure { hint: error.hint(), ..Failure::usage(error.to_string()) })?;
        Ok(Fleet::new(FleetOptions {
            catalogue,
            launcher,
            user_home: std::env::home_dir().unwrap_or_default(),
            path: std::env::var("PATH").unwrap_or_default(),
            env: process_env,
            servers: crate::servers::handed_on(self)?,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            roll: ::agents::Roll::in_folder(&self.home.data_dir().join("run")),
            idle: IDLE,
        }))
    }

    /// The MCP servers, read again when they changed: what was added meanwhile counts for the next session.
    fn mcp_servers(&self) -> Result<engine::ServersOf, Failure> {
        let known = crate::servers::configured(self)?;
        let (cwd, file) = (self.cwd.clone(), self.home.config_file());
        let changed = move || file.metadata().and_then(|metadata| metadata.modified()).ok();
        let read = changed();
        Ok(Arc::new(move || {
            if changed() == read {
                return known.clone();
            }
            // A file that has a mistake by now leaves things as they were.
            let now =
                Settings::load(Some(&cwd), &[]).and_then(|settings| crate::servers::configured(&settings));
            now.unwrap_or_else(|_| known.clone())
        }))
    }

    pub(crate) fn engine(
        &self,
        store: Store,
        catalogue: Catalogue,
        model: Option<ModelRef>,
    ) -> Result<Engine, Failure> {
        self.engine_with(store, catalogue, model, |_| {})
    }

    /// The same, with something else than the settings say.
    pub(crate) fn engine_with(
        &self,
        store: Store,
        catalogue: Catalogue,
        model: Option<ModelRef>,
        change: impl FnOnce(&mut EngineOptions),
    ) -> Result<Engine, Failure> {
        let launcher =
            Arc::new(SandboxLauncher::new(self.sandbox()?, |reverted| tell_warning(&reverted.to_string())));
        let mut options = EngineOptions {
            fleet: Some(self.fleet(launcher.clone())?),
            store,
            catalogue: Arc::new(catalogue),
            agent: self.agent()?,
            model,
            mode: self.config.get::<Mode>("mode")?.unwrap_or_default(),
            reasoning: self.config.get("reasoning")?,
            simple_prompts: self.config.get("router.simple_prompts")?,
            usage_log: Some(self.usage_log()),
            context: self.context()?,
            index: Some(crate::index::options(self)?),
            auto_context: self.config.get("context.auto")?.unwrap_or(AUTO_CONTEXT),
            mcp: self.mcp_servers()?,
            logins: Some(self.logins()?),
            web: crate::web::settings(self)?,
            redactor: Arc::new(self.redactor()),
            permissions: self.permissions(&self.allow, &self.deny)?,
            home: Some(self.home.clone()),
            user_home: std::env::home_dir().unwrap_or_default(),
            launcher,
            host: None,
            socket: self.socket.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        change(&mut options);
        Ok(Engine::new(options))
    }
}

#[cfg(feature = "keyring")]
fn in_keyring(file: PathBuf) -> Result<Arc<dyn SecretStore>, Failure> {
    let store = ::auth::KeyringStore::open(file)
        .map_err(|error| Failure::usage(error.to_string()).hint(error.hint()))?;
    Ok(Arc::new(store))
}

#[cfg(not(feature = "keyring"))]
fn in_keyring(_file: PathBuf) -> Result<Arc<dyn SecretStore>, Failure> {
    Err(Failure::usage("this covey was built without the system's keyring, and auth.store is \"keyring\"")
        .hint("covey config set auth.store file, or build it with: --features keyring"))
}

/// The folder that the current one belongs to.
pub(crate) fn project_root() -> Result<PathBuf, Failure> {
    let project =
        Project::discover(std::env::current_dir()?).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(project.root().to_owned())
}

pub(crate) fn home() -> Result<Home, Failure> {
    Home::from_env().map_err(|error| Failure { hint: error.hint(), ..Failure::usage(error.to_string()) })
}

/// All that is wrong with the settings, in one go.
fn config_failure(errors: &[project::ConfigError]) -> Failure {
    let mut lines = Vec::new();
    for (at, error) in errors.iter().enumerate() {
        let failure = Failure::from_error(error);
        lines.push(failure.message);
        // The last hint gets a line of its own from whoever reports the failure.
        if let Some(hint) = error.hint().filter(|_| at + 1 < errors.len()) {
            lines.push(format!("hint: {hint}"));
        }
    }
    let hint = errors.last().and_then(project::ConfigError::hint);
    Failure { exit: Exit::Usage, message: lines.join("\n"), hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every key that a provider file knows can be set, and what can be set is understood.
    #[test]
    fn the_schema_of_providers_and_what_reads_it_agree() {
        let example = r#"
            wire = "openai-chat"
            base_url = "http://127.0.0.1:1/v1"
            api_key_env = "KEY"
            api_key = "sk"
            default_model = "m"
            port = 8080
            retries = 2
            oauth = { client_id = "covey", token_url = "https://example.org/token" }
            headers = { x-team = "shop" }
            [timeouts]
            connect = 1
            first_byte = 2.5
            idle = 3
            [quirks]
            include_usage = false
            max_tokens_field = "max_tokens"
            replay_reasoning = true
            short_call_ids = true
            bearer = true
            key_header = "api-key"
            deployment_path = true
            api_version = "1"
            [models.m]
            id = "other"
            context = 1000
            max_output = 100
            tools = false
            images = false
            thinking = true
            structured = true
            cache = true
            reasoning = "budget"
            efforts = ["low", "high"]
            thinking_budget = [1, 2]
            prices = { input = 1.0, output = 2, cache_read = 0.1, above = { tokens = 9, input = 2, output = 3 } }
            tier = "high"
            released = "2025-09"
        "#;
        let table: toml::Table = example.parse().unwrap();
        let named: ProviderConfig = table.clone().try_into().unwrap();
        assert_eq!(named.models["m"].context, Some(1000));
        fn keys(schema: &Schema) -> Vec<&'static str> {
            match schema {
                Schema::Table(keys) => keys.iter().map(|key| key.name).collect(),
                _ => panic!("not a table"),
            }
        }
        let sorted = |mut names: Vec<&str>| {
            names.sort_unstable();
            names.join(" ")
        };
        let of = |table: &toml::Table| sorted(table.keys().map(String::as_str).collect());
        assert_eq!(sorted(keys(&PROVIDER)), of(&table), "the example holds every key once");
        assert_eq!(sorted(keys(&MODEL)), of(table["models"]["m"].as_table().unwrap()));
        let home = tempfile::tempdir().unwrap();
        let indented = example
            .replace("[timeouts]", "[providers.x.timeouts]")
            .replace("[quirks]", "[providers.x.quirks]");
        let indented = indented.replace("[models.m]", "[providers.x.models.m]");
        std::fs::write(home.path().join("config.toml"), format!("[providers.x]\n{indented}")).unwrap();
        let config = Config::load(&LoadOptions {
            home: &Home::at(home.path()),
            project: None,
            sections: SECTIONS,
            env: &|_| None,
            flags: &[],
            trust: &project::NobodyTrusted,
        });
        let providers: BTreeMap<String, ProviderConfig> = config.unwrap().get("providers").unwrap().unwrap();
        assert_eq!(providers["x"].models["m"].context, Some(1000));
    }
}
