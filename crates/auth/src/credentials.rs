//! What to send to a provider: the right secret of the right account, still valid.

mod accounts;
mod renew;
mod rotation;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

pub use self::accounts::AccountStatus;
use self::renew::Unsaved;
use crate::{
    Account, AccountKind, AuthError, Book, Notice, OAuthConfig, OnDamage, Secret, SecretStore, Timing,
};

/// A login that ends within this is renewed before it is used: the call that it is for takes a while too.
const MARGIN: SignedDuration = SignedDuration::from_secs(60);

/// The credentials of all providers. Clones share everything.
#[derive(Clone)]
pub struct Credentials {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn SecretStore>,
    environment: Box<Lookup>,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    oauth: Mutex<BTreeMap<String, OAuthConfig>>,
    timing: Timing,
    state: Mutex<State>,
    /// One a provider, held while a login of it is renewed.
    gates: Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

#[derive(Default)]
struct State {
    /// Keys that are not in the store, and until when their provider wants no more of them.
    limited: BTreeMap<String, (Secret, Timestamp)>,
    unsaved: Vec<Unsaved>,
    notices: Vec<Notice>,
}

/// What the configuration says about a provider's key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ProviderAuth {
    pub api_key: Option<Secret>,
    pub api_key_env: Option<String>,
}

/// Something to send, and whose it is. Showing it does not show the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    pub secret: Secret,
    pub kind: CredentialKind,
    /// The label of the account; of a key that is in no store, where it is from.
    pub account: String,
    pub source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    ApiKey,
    OAuthToken,
}

/// Where a credential was found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    Config,
    Environment { variable: String },
    Store,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("oauth", &self.inner.oauth().keys()).finish_non_exhaustive()
    }
}

impl Credentials {
    /// `environment` looks up a variable; it is a function so that tests need no global state.
    pub fn new(
        store: impl SecretStore + 'static,
        environment: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let inner = Inner {
            store: Arc::new(store),
            environment: Box::new(environment),
            clock: Box::new(Timestamp::now),
            oauth: Mutex::default(),
            timing: Timing::default(),
            state: Mutex::default(),
            gates: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// How logins of a provider are renewed.
    pub fn with_oauth(self, provider: impl Into<String>, config: OAuthConfig) -> Self {
        self.set_oauth(provider, config);
        self
    }

    /// As [`Credentials::with_oauth`], for providers that are found later, such as MCP servers.
    pub fn set_oauth(&self, provider: impl Into<String>, config: OAuthConfig) {
        self.inner.oauth().insert(provider.into(), config);
    }

    /// Another clock, for tests.
    ///
    /// # Panics
    /// When clones share it already.
    pub fn with_clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.alone().clock = Box::new(clock);
        self
    }

    /// How long to wait for answers.
    ///
    /// # Panics
    /// When clones share it already.
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.alone().timing = timing;
        self
    }

    fn alone(&mut self) -> &mut Inner {
        Arc::get_mut(&mut self.inner).expect("it is set up before it is shared")
    }

    /// What to send to a provider: the key of the configuration, else the one in the environment, else the active
    /// account of the store. An account that is limited is passed over, and a login that is about to end is renewed.
    ///
    /// `None` when there is nothing anywhere, which a provider on this machine may not mind.
    pub async fn resolve(
        &self,
        provider: &str,
        config: &ProviderAuth,
    ) -> Result<Option<Credential>, AuthError> {
        let ring = match self.inner.outer(config) {
            // The usual case needs no look at the disk.
            Some(key) if self.inner.limit_of(provider, &key.secret).is_none() => return Ok(Some(key)),
            outer => self.inner.ring(provider, outer)?,
        };
        if ring.is_empty() {
            return Ok(None);
        }
        self.inner.first_usable(provider, ring).await.map(Some)
    }

    /// As [`Credentials::resolve`], without the network and without regard to limits: for lists of what is there.
    pub fn peek(&self, provider: &str, config: &ProviderAuth) -> Result<Option<Credential>, AuthError> {
        if let Some(key) = self.inner.outer(config) {
            return Ok(Some(key));
        }
        let ring = self.inner.ring(provider, None)?;
        let now = self.inner.now();
        let usable = ring.iter().filter(|place| place.may_work(now));
        Ok(usable.chain(&ring).find_map(|place| place.credential.clone()))
    }

    /// What happened without an error since the last call, each once.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.inner.state().notices)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // What it holds is whole between any two statements, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn oauth(&self) -> MutexGuard<'_, BTreeMap<String, OAuthConfig>> {
        self.oauth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    fn notice(&self, notices: impl IntoIterator<Item = Notice>) {
        let mut state = self.state();
        for notice in notices {
            if !state.notices.contains(&notice) {
                state.notices.push(notice);
            }
        }
    }

    /// The key that is in no store: the one of the configuration, else the one in the environment.
    fn outer(&self, config: &ProviderAuth) -> Option<Credential> {
        let key = |secret: &str, account: &str, source| Credential {
            // Files and shells leave a line end behind, and no key has blanks around it.
            secret: Secret::new(secret.trim()),
            kind: CredentialKind::ApiKey,
            account: account.to_owned(),
            source,
        };
        if let Some(secret) = config.api_key.as_ref().filter(|secret| !secret.is_blank()) {
            return Some(key(secret.reveal(), "config", Source::Config));
        }
        let variable = config.api_key_env.as_ref()?;
        let value = (self.environment)(variable).filter(|value| !value.trim().is_empty())?;
        Some(key(&value, variable, Source::Environment { variable: variable.clone() }))
    }

    fn limit_of(&self, provider: &str, key: &Secret) -> Option<Timestamp> {
        let state = self.state();
        let (limited, until) = state.limited.get(provider)?;
        // Another key than the one that was limited: the person changed it.
        (limited == key && crate::account::believable(*until, self.now())).then_some(*until)
    }

    fn book(&self) -> Result<Book, AuthError> {
        let (mut book, notices) = self.store.read()?;
        self.notice(notices);
        self.state().unsaved.retain(|unsaved| unsaved.apply(&mut book));
        Ok(book)
    }

    /// Changes the store on a thread that may wait, together with what could not be saved before.
    async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        on_damage: OnDamage,
        mut change: impl FnMut(&mut Book) -> (bool, T) + Send + 'static,
    ) -> Result<T, AuthError> {
        let inner = self.clone();
        let work = move || {
            let pending = inner.state().unsaved.clone();
            let mut made = None;
            let notices = inner.store.change(on_damage, &mut |book| {
                let late = pending.iter().filter(|unsaved| unsaved.apply(book)).count() > 0;
                let (changed, result) = change(book);
                made = Some(result);
                changed || late
            })?;
            inner.state().unsaved.retain(|unsaved| !pending.contains(unsaved));
            inner.notice(notices);
            // The store either called us or failed.
            made.ok_or(AuthError::ShuttingDown)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(AuthError::ShuttingDown))
    }
}

impl Credential {
    fn of(account: &Account) -> Option<Self> {
        let kind = match account.kind {
            AccountKind::Key => CredentialKind::ApiKey,
            AccountKind::OAuth => CredentialKind::OAuthToken,
            AccountKind::Other(_) => return None,
        };
        let secret = account.secret().filter(|secret| !secret.is_blank())?.clone();
        Some(Self { secret, kind, account: account.label.clone(), source: Source::Store })
    }
}
