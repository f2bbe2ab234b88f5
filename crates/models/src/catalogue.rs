//! From a name to a model.

mod listing;
mod probe;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use auth::Credentials;
use net::Url;
use net::header::{HeaderMap, HeaderName, HeaderValue};
use protocol::ModelRef;

pub use listing::{FRESH_MS, ListError, ListedModel, Listing, Listings};
pub use probe::{LocalServer, PROBE_TIMEOUT, probe_local};

use crate::account::Accounts;
use crate::call::{AnswerLimits, HttpModel, Target};
use crate::provider::{KNOWN, known};
use crate::tokens::TokenRatio;
use crate::{
    Chain, Health, Model, ModelConfig, ModelInfo, ProviderConfig, Purpose, RetryPolicy, Route, Router,
    Secret, Wire,
};

/// The providers that a person configured, those that we know, and the keys in the environment.
pub struct Catalogue {
    user: BTreeMap<String, ProviderConfig>,
    environment: Box<Lookup>,
    chains: BTreeMap<String, Chain>,
    health: Arc<Health>,
    credentials: Option<Credentials>,
    retry: RetryPolicy,
    limits: AnswerLimits,
    /// What each model taught about its tokens, so that it stays known when the model is resolved again.
    ratios: Mutex<BTreeMap<String, Arc<TokenRatio>>>,
}

/// The model for a purpose.
pub struct Chosen {
    /// The chain or model that it is.
    pub name: String,
    pub model: Arc<dyn Model>,
    /// The chain that is meant for it and why it can not be used, for a person to know.
    pub passed: Option<(String, ResolveError)>,
}

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Why a name is no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error("there is no provider `{provider}`")]
    UnknownProvider { provider: String, nearest: Option<String> },
    #[error("`{name}` does not say which model; it should be `PROVIDER/MODEL`")]
    NoModel { name: String },
    #[error("`{provider}` needs a key, and the variable {variable} is not set")]
    MissingKey { provider: String, variable: String },
    #[error("the chain `{chain}` names no model")]
    EmptyChain { chain: String },
    #[error("`{provider}` needs an address, and there is no usual one")]
    MissingAddress { provider: String },
    #[error("the settings of provider `{provider}` are wrong: {what}")]
    BadConfig { provider: String, what: String },
    #[error("`{provider}` speaks `{}`, which is not supported yet", wire.name())]
    UnsupportedWire { provider: String, wire: Wire },
}

impl ResolveError {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownProvider { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::UnknownProvider { provider, .. } => format!("add [providers.{provider}] to config.toml"),
            Self::NoModel { name } => format!("name one, such as `{name}/MODEL`"),
            Self::MissingKey { provider, variable } => {
                format!("export {variable}=…, or: covey auth login {provider}")
            }
            Self::EmptyChain { chain } => format!("name models in [router.chains] {chain}"),
            Self::MissingAddress { provider } => {
                format!("set base_url in [providers.{provider}] of config.toml")
            }
            Self::BadConfig { provider, .. } => format!("correct [providers.{provider}] in config.toml"),
            Self::UnsupportedWire { provider, .. } => {
                format!("set wire = \"openai-chat\" in [providers.{provider}], if the provider offers it")
            }
        }
    }
}

impl Catalogue {
    /// `environment` looks up a variable; it is a function so that tests need no global state.
    pub fn new(
        user: BTreeMap<String, ProviderConfig>,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            user,
            environment: Box::new(environment),
            chains: BTreeMap::new(),
            health: Arc::new(Health::in_memory()),
            credentials: None,
            retry: RetryPolicy::default(),
            limits: AnswerLimits::default(),
            ratios: Mutex::default(),
        }
    }

    /// How all its models try again. A provider's `retries` changes the number.
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// How much an answer of any of its models may be.
    pub fn with_limits(mut self, limits: AnswerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Names for several models in order of preference.
    pub fn with_chains<C: Into<Chain>>(mut self, chains: BTreeMap<String, C>) -> Self {
        self.chains = chains.into_iter().map(|(name, chain)| (name, chain.into())).collect();
        self
    }

    /// The accounts that the person keeps. Without, only settings and environment have keys.
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// What is known of the routes, shared with others.
    pub fn with_health(mut self, health: Arc<Health>) -> Self {
        self.health = health;
        self
    }

    /// The model of a name: a chain, `PROVIDER/MODEL`, or a provider alone for its default model. No network is
    /// involved. It tries again by itself, and a chain goes on to its next model; both are told.
    pub fn resolve(&self, name: &str) -> Result<Arc<dyn Model>, ResolveError> {
        let (routes, retries) = match self.chains.get(name) {
            None => {
                let (route, retries) = self.route(name)?;
                (vec![route], retries)
            }
            Some(chain) => {
                // A model of the chain that can not be had is left out, unless there is no other.
                let route = |(rank, name)| {
                    let (route, retries) = self.route(name)?;
                    Ok((Route { rank, ..route }, retries))
                };
                let (found, failed): (Vec<_>, Vec<_>) = chain.ranked().map(route).partition(Result::is_ok);
                let routes: Vec<_> = found.into_iter().flatten().map(|(route, _)| route).collect();
                if let (true, Some(Err(error))) = (routes.is_empty(), failed.into_iter().next()) {
                    return Err(error);
                }
                (routes, self.retry.retries)
            }
        };
        let policy = RetryPolicy { retries, ..self.retry.clone() };
        let router = Router::new(routes, self.health.clone(), policy);
        let router = router.ok_or_else(|| ResolveError::EmptyChain { chain: name.to_owned() })?;
        Ok(Arc::new(router))
    }

    /// The model for a purpose. A chain of that name serves it if there is one that can be used, a title also the
    /// chain `small`; else it is `main`: a chain or a model, such as the one that the session is held with.
    pub fn resolve_for(&self, purpose: Purpose, main: &str) -> Result<Chosen, ResolveError> {
        let mut passed = None;
        // The work itself is done by what the person chose for it.
        let own = purpose.chains().iter().filter(|_| purpose != Purpose::Main);
        for name in own.filter(|name| self.chains.contains_key(**name)) {
            match self.resolve(name) {
                Ok(model) => return Ok(Chosen { name: (*name).to_owned(), model, passed }),
                Err(error) => {
                    passed.get_or_insert(((*name).to_owned(), error));
                }
            }
        }
        Ok(Chosen { name: main.to_owned(), model: self.resolve(main)?, passed })
    }

    /// The model or chain that a name without further say stands for: the chain `main`, if there is one.
    pub fn main(&self) -> Option<&str> {
        self.chains.get_key_value(Purpose::Main.name()).map(|(name, _)| name.as_str())
    }

    /// The models behind a name whose price nobody knows.
    pub fn unpriced(&self, name: &str) -> Vec<ModelRef> {
        let names = match self.chains.get(name) {
            Some(chain) => chain.ranked().map(|(_, name)| name).collect(),
            None => vec![name],
        };
        let models = names.into_iter().filter_map(|name| self.route(name).ok()).map(|(route, _)| route.model);
        models.filter(|model| model.info().prices.is_none()).map(|model| model.id().clone()).collect()
    }

    /// The chains by name.
    pub fn chains(&self) -> impl Iterator<Item = (&str, &Chain)> {
        self.chains.iter().map(|(name, chain)| (name.as_str(), chain))
    }

    /// One model that makes one attempt, and how often its provider says to try again.
    fn route(&self, name: &str) -> Result<(Route, u32), ResolveError> {
        let id = ModelRef::new(name);
        let (provider, model) = match id.split() {
            Some((provider, model)) => (provider, Some(model)),
            None => (name.trim_end_matches('/'), None),
        };
        let config = self.provider(provider)?;
        let Some(model) = model.or(config.default_model.as_deref()) else {
            return Err(ResolveError::NoModel { name: provider.to_owned() });
        };
        let described = config.models.get(model).cloned().unwrap_or_default();
        let retries = config.retries.unwrap_or(self.retry.retries);
        let target = self.target(provider, model, &config, &described)?;
        let id = ModelRef::new(format!("{provider}/{model}"));
        let fingerprint = fingerprint(&config, target.key.as_ref());
        let http = HttpModel { id, target: Arc::new(target) };
        Ok((Route { model: Arc::new(http), rank: 0, fingerprint }, retries))
    }

    /// The providers whose key is in the environment or in the configuration, each with its default model, best first.
    pub fn from_environment(&self) -> Vec<ModelRef> {
        let own = self.user.keys().map(String::as_str).filter(|name| known(name).is_none());
        let names = own.chain(KNOWN.iter().map(|(name, _)| *name));
        let found = names.filter_map(|name| {
            let config = self.provider(name).ok()?;
            self.key(name, &config)?;
            Some(ModelRef::new(format!("{name}/{}", config.default_model.as_deref()?)))
        });
        found.collect()
    }

    /// All providers by name: configured ones first, then known ones.
    pub fn providers(&self) -> Vec<String> {
        let known = KNOWN.iter().map(|(name, _)| (*name).to_owned());
        let known = known.filter(|name| !self.user.contains_key(name));
        self.user.keys().cloned().chain(known).collect()
    }

    /// The models that a provider is known to have.
    pub fn models(&self, provider: &str) -> Result<Vec<ModelRef>, ResolveError> {
        let config = self.provider(provider)?;
        Ok(config.models.keys().map(|model| ModelRef::new(format!("{provider}/{model}"))).collect())
    }

    /// What is known about a model by its name, whether or not it can be used.
    pub fn describe(&self, model: &ModelRef) -> ModelInfo {
        let described = model.split().and_then(|(provider, name)| {
            let config = self.provider(provider).ok()?;
            config.models.get(name).map(ModelConfig::info)
        });
        described.unwrap_or_default()
    }

    /// The programs on this machine that may serve models, as name and port.
    pub fn local_ports(&self) -> Vec<(String, u16)> {
        let ports = KNOWN.iter().filter_map(|(name, text)| {
            // Only the local ones have a port; the others need not be parsed to see that.
            if !text.contains("\nport = ") {
                return None;
            }
            Some(((*name).to_owned(), self.provider(name).ok()?.port?))
        });
        ports.collect()
    }

    pub(crate) fn provider(&self, name: &str) -> Result<ProviderConfig, ResolveError> {
        match (self.user.get(name), known(name)) {
            (Some(user), Some(known)) => Ok(user.clone().over(known)),
            (Some(user), None) => Ok(user.clone()),
            (None, Some(known)) => Ok(known),
            (None, None) => {
                let names = self.providers();
                let near = names.iter().map(|other| (distance(name, other), other));
                let nearest = near.min().filter(|(far, _)| *far <= 1 + name.chars().count() / 5);
                let nearest = nearest.map(|(_, other)| other.clone());
                Err(ResolveError::UnknownProvider { provider: name.to_owned(), nearest })
            }
        }
    }

    /// The key to send: from the settings, the environment or the store, in this order. No network is involved.
    fn key(&self, provider: &str, config: &ProviderConfig) -> Option<Secret> {
        let from_environment = || {
            let value = (self.environment)(config.api_key_env.as_deref()?)?;
            // A variable that is set to nothing is not set.
            (!value.trim().is_empty()).then(|| Secret::new(value.trim()))
        };
        let from_store = || {
            let found = self.credentials.as_ref()?.peek(provider, &config.auth());
            // A store that can not be read is told when it is asked for real.
            found.ok().flatten().map(|credential| credential.secret)
        };
        config.api_key.clone().or_else(from_environment).or_else(from_store)
    }

    /// The accounts that a person keeps for a provider, if there are any beside the one key.
    fn accounts(&self, provider: &str, config: &ProviderConfig) -> Option<Accounts> {
        let credentials = self.credentials.clone()?;
        // A store that can not be read stays in play, so that whoever asks hears of it.
        let kept = match credentials.providers() {
            Ok(providers) => providers.iter().any(|name| name == provider),
            Err(_) => true,
        };
        kept.then(|| Accounts { credentials, provider: provider.to_owned(), settings: config.auth() })
    }

    /// Where a provider's key may be set, for looking up its accounts.
    pub fn provider_auth(&self, provider: &str) -> Result<auth::ProviderAuth, ResolveError> {
        Ok(self.provider(provider)?.auth())
    }

    fn target(
        &self,
        provider: &str,
        model: &str,
        config: &ProviderConfig,
        described: &ModelConfig,
    ) -> Result<Target, ResolveError> {
        let bad = |what: String| ResolveError::BadConfig { provider: provider.to_owned(), what };
        let wire = config.wire.unwrap_or(Wire::OpenaiChat);
        let Some(format) = wire.format() else {
            return Err(ResolveError::UnsupportedWire { provider: provider.to_owned(), wire });
        };
        let missing = || ResolveError::MissingAddress { provider: provider.to_owned() };
        let base = config.base_url.as_deref().ok_or_else(missing)?;
        let base: Url = base.parse().map_err(|error| bad(format!("base_url is no address: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(bad("base_url is not http or https".to_owned()));
        }
        let key = self.key(provider, config);
        if let (None, Some(variable), false) = (&key, &config.api_key_env, net::is_loopback(&base)) {
            // A server on this machine may do without.
            let variable = variable.clone();
            return Err(ResolveError::MissingKey { provider: provider.to_owned(), variable });
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &config.headers {
            let name =
                HeaderName::try_from(name).map_err(|_| bad(format!("`{name}` is no name of a header")))?;
            let mut value = HeaderValue::from_str(value.reveal())
                .map_err(|_| bad(format!("the header `{name}` has a value that can not be sent")))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let ratio = {
            let mut ratios = self.ratios.lock().unwrap_or_else(PoisonError::into_inner);
            ratios.entry(format!("{provider}/{model}")).or_default().clone()
        };
        Ok(Target {
            provider: provider.to_owned(),
            format,
            origin: wire.origin(provider),
            model: described.id.clone().unwrap_or_else(|| model.to_owned()),
            base,
            key,
            accounts: self.accounts(provider, config),
            headers,
            quirks: config.quirks.quirks(),
            timeouts: config.timeouts.timeouts(),
            limits: self.limits.clone(),
            info: described.info(),
            ratio,
        })
    }
}

/// How many letters differ (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Tells settings apart whose change may heal a refusal. A hash, so that no key is written anywhere.
fn fingerprint(config: &ProviderConfig, key: Option<&Secret>) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (config.base_url.as_deref(), key.map(Secret::reveal)).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests;
