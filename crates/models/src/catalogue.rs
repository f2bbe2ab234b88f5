//! From a name to a model.

mod probe;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use net::Url;
use net::header::{HeaderMap, HeaderName, HeaderValue};
use protocol::ModelRef;

pub use probe::{LocalServer, PROBE_TIMEOUT, probe_local};

use crate::call::{AnswerLimits, HttpModel, Target};
use crate::provider::{KNOWN, known};
use crate::tokens::TokenRatio;
use crate::{Model, ModelConfig, ProviderConfig, RetryPolicy, Retrying, Secret, Wire};

/// The providers that a person configured, those that we know, and the keys in the environment.
pub struct Catalogue {
    user: BTreeMap<String, ProviderConfig>,
    environment: Box<Lookup>,
    retry: RetryPolicy,
    limits: AnswerLimits,
    /// What each model taught about its tokens, so that it stays known when the model is resolved again.
    ratios: Mutex<BTreeMap<String, Arc<TokenRatio>>>,
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
            Self::MissingKey { variable, .. } => format!("export {variable}=…"),
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

    /// The model of a name: `PROVIDER/MODEL`, or a provider alone for its default model. No network is involved.
    pub fn resolve(&self, name: &str) -> Result<Arc<dyn Model>, ResolveError> {
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
        let http = HttpModel { id, target: Arc::new(target) };
        Ok(Arc::new(Retrying::new(Arc::new(http), RetryPolicy { retries, ..self.retry.clone() })))
    }

    /// The providers whose key is in the environment or in the configuration, each with its default model, best first.
    pub fn from_environment(&self) -> Vec<ModelRef> {
        let own = self.user.keys().map(String::as_str).filter(|name| known(name).is_none());
        let names = own.chain(KNOWN.iter().map(|(name, _)| *name));
        let found = names.filter_map(|name| {
            let config = self.provider(name).ok()?;
            self.key(&config)?;
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

    fn provider(&self, name: &str) -> Result<ProviderConfig, ResolveError> {
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

    fn key(&self, config: &ProviderConfig) -> Option<Secret> {
        let from_environment = || {
            let value = (self.environment)(config.api_key_env.as_deref()?)?;
            // A variable that is set to nothing is not set.
            (!value.trim().is_empty()).then(|| Secret::new(value.trim()))
        };
        config.api_key.clone().or_else(from_environment)
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
        let base = config.base_url.as_deref().ok_or_else(|| bad("base_url is missing".to_owned()))?;
        let base: Url = base.parse().map_err(|error| bad(format!("base_url is no address: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(bad("base_url is not http or https".to_owned()));
        }
        let key = self.key(config);
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
            headers,
            quirks: config.quirks.clone().unwrap_or_default(),
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

#[cfg(test)]
mod tests;
