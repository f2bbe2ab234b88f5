//! Renewing a login that is about to end, once, however many ask for it.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use jiff::SignedDuration;

use super::{Credential, CredentialKind, Credentials, Inner, Source};
use crate::{Account, AuthError, Book, Grant, Notice, OnDamage, Secret, StoreLock, oauth};

/// How long to wait for another process that renews the same: longer than its request may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often to look whether that process is done.
const PAUSE: Duration = Duration::from_millis(20);

/// A renewed login that the store did not take. The provider no longer takes the old one, so it must not be lost.
#[derive(Clone, PartialEq)]
pub(super) struct Unsaved {
    provider: String,
    label: String,
    /// What the store still has.
    old: Secret,
    grant: Grant,
}

impl Unsaved {
    /// Puts it into a book where it belongs; false when the account is gone or was renewed by someone else.
    pub(super) fn apply(&self, book: &mut Book) -> bool {
        match book.account_mut(&self.provider, &self.label) {
            Some(account) if account.refresh.as_ref() == Some(&self.old) => {
                renew(account, &self.grant);
                true
            }
            _ => false,
        }
    }
}

impl Credentials {
    /// A new token for one that the provider refused before its time. If someone else has renewed it meanwhile, theirs.
    pub async fn renew(&self, provider: &str, used: &Credential) -> Result<Credential, AuthError> {
        let (provider, label) = (provider.to_owned(), used.account.clone());
        if used.kind != CredentialKind::OAuthToken || used.source != Source::Store {
            return Err(AuthError::LoginExpired { provider, account: label });
        }
        self.inner.renew_apart(provider, label, Some(used.secret.clone()), Force::Yes).await
    }
}

/// Whether a token that still holds must be replaced all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Force {
    Yes,
    No,
}

impl Inner {
    /// A valid token of an account whose token `stale` is about to end.
    pub(super) async fn renewed(
        self: &Arc<Self>,
        provider: &str,
        label: &str,
        stale: Option<Secret>,
    ) -> Result<Credential, AuthError> {
        self.renew_apart(provider.to_owned(), label.to_owned(), stale, Force::No).await
    }

    /// In a task of its own, which nobody can cancel: once the provider has answered, the old token is worth nothing,
    /// and the new one must be written down even if the caller is gone. It ends by itself, within the time-outs.
    async fn renew_apart(
        self: &Arc<Self>,
        provider: String,
        label: String,
        stale: Option<Secret>,
        force: Force,
    ) -> Result<Credential, AuthError> {
        let inner = self.clone();
        let task = tokio::spawn(async move { inner.renew_alone(provider, label, stale, force).await });
        task.await.unwrap_or(Err(AuthError::ShuttingDown))
    }

    async fn renew_alone(
        self: Arc<Self>,
        provider: String,
        label: String,
        stale: Option<Secret>,
        force: Force,
    ) -> Result<Credential, AuthError> {
        let gate = self.gate(&provider);
        let _turn = gate.lock().await;
        let _lock = self.renew_lock(&provider).await?;
        // Whoever held the locks before us may have done it.
        let book = self.book()?;
        let expired = || AuthError::LoginExpired { provider: provider.clone(), account: label.clone() };
        let account = book.account(&provider, &label).ok_or_else(expired)?;
        let holds = !account.ends_within(SignedDuration::ZERO, self.now());
        if account.access != stale
            && holds
            && let Some(credential) = Credential::of(account)
        {
            return Ok(credential);
        }
        let still_good = || Credential::of(account).filter(|_| holds && force == Force::No);
        let Some(refresh) = account.refresh.clone() else { return still_good().ok_or_else(expired) };
        let config = self.oauth().get(&provider).cloned();
        let Some(config) = config else {
            let what = format!("`{provider}` has a login, but nothing says how to renew it");
            return still_good().ok_or(AuthError::BadConfig { what });
        };
        match oauth::refresh(&config, &refresh, &self.timing, self.now()).await {
            Ok(Some(grant)) => self.keep_renewed(provider, label, refresh, grant).await,
            Ok(None) => {
                let (name, account) = (provider.clone(), label.clone());
                let forget = move |book: &mut Book| {
                    let account = book.account_mut(&name, &account);
                    // Someone may have logged in anew while we asked.
                    let account = account.filter(|account| account.refresh.as_ref() == Some(&refresh));
                    (account.is_some_and(|account| account.refresh.take().is_some()), ())
                };
                // If it can not be written down, the next call asks again and hears the same.
                let _ = self.change(OnDamage::Refuse, forget).await;
                still_good().ok_or_else(expired)
            }
            // It may work later, and the token is good for a moment more.
            Err(error) => still_good().ok_or(error),
        }
    }

    async fn keep_renewed(
        self: &Arc<Self>,
        provider: String,
        label: String,
        old: Secret,
        grant: Grant,
    ) -> Result<Credential, AuthError> {
        let credential = Credential {
            secret: grant.access.clone(),
            kind: CredentialKind::OAuthToken,
            account: label.clone(),
            source: Source::Store,
        };
        let unsaved = Unsaved { provider: provider.clone(), label: label.clone(), old, grant };
        let kept = unsaved.clone();
        let saved = self.change(OnDamage::Refuse, move |book| (kept.apply(book), ())).await;
        if let Err(error) = saved {
            self.notice([Notice::NotSaved { provider, account: label, what: error.to_string() }]);
            self.state().unsaved.push(unsaved);
        }
        Ok(credential)
    }

    fn gate(&self, provider: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(provider.to_owned()).or_default().clone()
    }

    /// The lock that keeps other processes from renewing the same. None where there can be no locks.
    async fn renew_lock(&self, provider: &str) -> Result<Option<StoreLock>, AuthError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.store.try_lock(provider) {
                Ok(Some(lock)) => return Ok(Some(lock)),
                Ok(None) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                // A holder that takes this long hangs. Going on risks one renewal too many, waiting helps nobody.
                Ok(None) => return Ok(None),
                // On a disk that is full or can not be written, a token can still be renewed for this process.
                Err(AuthError::StoreFailed { .. }) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

fn renew(account: &mut Account, grant: &Grant) {
    account.access = Some(grant.access.clone());
    // Providers that do not replace it leave it out.
    if let Some(refresh) = &grant.refresh {
        account.refresh = Some(refresh.clone());
    }
    account.expires_at = grant.expires_at;
}
