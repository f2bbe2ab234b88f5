//! What a person does with accounts: add, remove, choose, look.

use jiff::Timestamp;

use super::{CredentialKind, Credentials, ProviderAuth, Source};
use crate::{Account, AccountKind, AuthError, Grant, OnDamage, Secret};

/// More than any key or token has.
const LONGEST_SECRET: usize = 16 << 10;

const LONGEST_LABEL: usize = 64;

/// An account as it may be shown: without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountStatus {
    pub label: String,
    /// `key` or `oauth`, or what a later version calls its own.
    pub kind: String,
    pub source: Source,
    /// The one that is used first.
    pub active: bool,
    /// Its login has ended, and it can not be renewed.
    pub needs_login: bool,
    pub expires_at: Option<Timestamp>,
    /// Until when it is passed over, if that is still to come.
    pub limited_until: Option<Timestamp>,
    pub added: Option<Timestamp>,
}

impl Credentials {
    /// Keeps a key and makes it the active account. Without a label, a key that is there already stays under its own,
    /// and another gets a free one. Returns the label.
    pub async fn add_key(
        &self,
        provider: &str,
        label: Option<&str>,
        key: &Secret,
    ) -> Result<String, AuthError> {
        let key = Secret::new(key.reveal().trim());
        check_secret(&key)?;
        let added = self.inner.now();
        self.put(provider, label, move |label| Account::key(label, key.clone(), added)).await
    }

    /// Keeps what a [`Login`](crate::Login) got and makes it the active account. Returns the label.
    pub async fn add_grant(
        &self,
        provider: &str,
        label: Option<&str>,
        grant: Grant,
    ) -> Result<String, AuthError> {
        check_secret(&grant.access)?;
        let added = self.inner.now();
        let account = move |label| {
            let Grant { kind, access, refresh, expires_at } = grant.clone();
            match kind {
                CredentialKind::ApiKey => Account::key(label, access, added),
                CredentialKind::OAuthToken => Account::oauth(label, access, refresh, expires_at, added),
            }
        };
        self.put(provider, label, account).await
    }

    async fn put(
        &self,
        provider: &str,
        label: Option<&str>,
        account: impl Fn(String) -> Account + Send + 'static,
    ) -> Result<String, AuthError> {
        if let Some(label) = label {
            check_label(label)?;
        }
        let (provider, label) = (provider.to_owned(), label.map(str::to_owned));
        // The person is here and wants to go on, so a damaged file is moved aside.
        let kept = self.inner.change(OnDamage::SetAside, move |book| {
            let label = label.clone().unwrap_or_else(|| {
                let new = account(String::new());
                let same = book.accounts(&provider).iter().find(|old| old.secret() == new.secret());
                same.map_or_else(|| book.free_label(&provider), |old| old.label.clone())
            });
            book.put(&provider, account(label.clone()));
            (true, label)
        });
        kept.await
    }

    /// Forgets one account, or all of a provider's. Returns the labels of those that are gone.
    pub async fn logout(&self, provider: &str, label: Option<&str>) -> Result<Vec<String>, AuthError> {
        let (name, wanted) = (provider.to_owned(), label.map(str::to_owned));
        let removed = self.inner.change(OnDamage::Refuse, move |book| {
            let gone = book.remove(&name, wanted.as_deref());
            (!gone.is_empty(), gone)
        });
        let gone = removed.await?;
        if gone.is_empty() { Err(self.missing(provider, label)) } else { Ok(gone) }
    }

    /// Makes an account the one that is used first, also if it was limited: the person knows better.
    pub async fn activate(&self, provider: &str, label: &str) -> Result<(), AuthError> {
        let (name, wanted) = (provider.to_owned(), label.to_owned());
        let chosen = self.inner.change(OnDamage::Refuse, move |book| {
            let found = book.activate(&name, &wanted);
            if let Some(account) = book.account_mut(&name, &wanted) {
                account.limited_until = None;
            }
            (found, found)
        });
        if chosen.await? { Ok(()) } else { Err(self.missing(provider, Some(label))) }
    }

    fn missing(&self, provider: &str, label: Option<&str>) -> AuthError {
        let provider = provider.to_owned();
        let Some(label) = label else { return AuthError::NotLoggedIn { provider } };
        let book = self.inner.book().unwrap_or_default();
        let known = book.accounts(&provider).iter().map(|account| account.label.clone()).collect();
        AuthError::NoSuchAccount { provider, account: label.to_owned(), known }
    }

    /// The providers that have an account in the store, by name.
    pub fn providers(&self) -> Result<Vec<String>, AuthError> {
        Ok(self.inner.book()?.providers().map(str::to_owned).collect())
    }

    /// All that a provider could be used with, the first to be used first. Without the network.
    pub fn status(&self, provider: &str, config: &ProviderAuth) -> Result<Vec<AccountStatus>, AuthError> {
        let now = self.inner.now();
        let outer = self.inner.outer(config);
        let active_is_outer = outer.is_some();
        let outer = outer.map(|key| AccountStatus {
            label: key.account,
            kind: AccountKind::Key.name().to_owned(),
            source: key.source,
            active: true,
            needs_login: false,
            expires_at: None,
            limited_until: self.inner.limit_of(provider, &key.secret),
            added: None,
        });
        let book = self.inner.book()?;
        let stored = book.accounts(provider).iter().map(|account| AccountStatus {
            label: account.label.clone(),
            kind: account.kind.name().to_owned(),
            source: Source::Store,
            active: account.active && !active_is_outer,
            needs_login: account.refresh.is_none() && account.expires_at.is_some_and(|end| end <= now),
            expires_at: account.expires_at,
            limited_until: account.limited(now),
            added: account.added,
        });
        Ok(outer.into_iter().chain(stored).collect())
    }
}

/// Refuses what can not be sent in a header.
fn check_secret(secret: &Secret) -> Result<(), AuthError> {
    let text = secret.reveal();
    let sound =
        !text.is_empty() && text.len() <= LONGEST_SECRET && text.bytes().all(|byte| byte.is_ascii_graphic());
    if sound { Ok(()) } else { Err(AuthError::BadInput { what: "a key" }) }
}

fn check_label(label: &str) -> Result<(), AuthError> {
    let sound = !label.trim().is_empty()
        && label.chars().count() <= LONGEST_LABEL
        && !label.chars().any(char::is_control);
    if sound { Ok(()) } else { Err(AuthError::BadInput { what: "a label" }) }
}
