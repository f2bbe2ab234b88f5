//! Several accounts that take turns.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Credential, Credentials, Inner, MARGIN, ProviderAuth, Source};
use crate::account::LONGEST_LIMIT;
use crate::{Account, AuthError, Notice, OnDamage};

/// One that may have its turn.
pub(super) struct Place {
    /// None for an account that holds nothing we can send.
    pub(super) credential: Option<Credential>,
    limited: Option<Timestamp>,
    /// The account, unless the key is in no store.
    account: Option<Account>,
}

impl Place {
    /// Whether it is worth a try without asking anyone.
    pub(super) fn may_work(&self, now: Timestamp) -> bool {
        let alive =
            |account: &Account| account.refresh.is_some() || account.expires_at.is_none_or(|end| end > now);
        self.credential.is_some() && self.account.as_ref().is_none_or(alive)
    }

    fn is(&self, used: &Credential) -> bool {
        match (&self.account, &used.source) {
            (Some(account), Source::Store) => account.label == used.account,
            (None, Source::Config | Source::Environment { .. }) => true,
            _ => false,
        }
    }
}

impl Credentials {
    /// The next account after one that its provider limits until a given time, so that a call can be made again at
    /// once. The limited one is passed over until then, by every process; `None` when that holds for all.
    pub async fn rotate(
        &self,
        provider: &str,
        config: &ProviderAuth,
        used: &Credential,
        limited_until: Timestamp,
    ) -> Result<Option<Credential>, AuthError> {
        let inner = &self.inner;
        let now = inner.now();
        // A provider's number, however large, parks an account for a day at most.
        let until = limited_until.min(now.saturating_add(LONGEST_LIMIT).unwrap_or(limited_until));
        if used.source == Source::Store {
            let (name, used) = (provider.to_owned(), used.clone());
            let marked = inner.change(OnDamage::Refuse, move |book| {
                let Some(account) = book.account_mut(&name, &used.account) else { return (false, ()) };
                // Another key under the same label is another account, which nobody has limited.
                if account.key.as_ref().is_some_and(|key| *key != used.secret) {
                    return (false, ());
                }
                account.limited_until = Some(until);
                (true, ())
            });
            marked.await?;
        } else {
            let limit = (used.secret.clone(), until);
            inner.state().limited.insert(provider.to_owned(), limit);
        }
        // A ring, so the order in which they follow one another does not depend on which is active by now.
        let mut ring = inner.ring(provider, inner.outer(config))?;
        if let Some(position) = ring.iter().position(|place| place.is(used)) {
            ring.rotate_left(position);
            ring.remove(0);
        }
        if ring.is_empty() {
            return Ok(None);
        }
        match inner.first_usable(provider, ring).await {
            Ok(next) => {
                inner.activate_quietly(provider, &next).await?;
                Ok(Some(next))
            }
            // Nobody else can take over. The caller's own failure says more than ours.
            Err(
                AuthError::AllLimited { .. } | AuthError::LoginExpired { .. } | AuthError::Unreachable { .. },
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Inner {
    /// All that can be used for a provider, best first: the key in no store, then the active account and those
    /// after it.
    pub(super) fn ring(&self, provider: &str, outer: Option<Credential>) -> Result<Vec<Place>, AuthError> {
        let now = self.now();
        let book = self.book()?;
        let accounts = book.accounts(provider);
        let active = accounts.iter().position(|account| account.active).unwrap_or(0);
        let (before, from_active) = accounts.split_at(active);
        let stored = from_active.iter().chain(before).map(|account| Place {
            credential: Credential::of(account),
            limited: account.limited(now),
            account: Some(account.clone()),
        });
        let outer = outer.map(|key| Place {
            limited: self.limit_of(provider, &key.secret),
            credential: Some(key),
            account: None,
        });
        Ok(outer.into_iter().chain(stored).collect())
    }

    /// The first of a ring that is not limited and whose login holds or can be renewed.
    pub(super) async fn first_usable(
        self: &Arc<Self>,
        provider: &str,
        ring: Vec<Place>,
    ) -> Result<Credential, AuthError> {
        let now = self.now();
        let mut failure = None;
        let mut ended = Vec::new();
        for place in ring.iter().filter(|place| place.limited.is_none()) {
            let Some(credential) = &place.credential else { continue };
            let renewed = match &place.account {
                Some(account) if account.ends_within(MARGIN, now) => {
                    self.renewed(provider, &account.label, account.access.clone()).await
                }
                _ => Ok(credential.clone()),
            };
            match renewed {
                Ok(credential) => {
                    self.notice(ended);
                    return Ok(credential);
                }
                Err(error) => {
                    if let AuthError::LoginExpired { provider, account } = &error {
                        let (provider, account) = (provider.clone(), account.clone());
                        ended.push(Notice::LoginEnded { provider, account });
                    }
                    // The first is the one that the person means.
                    failure.get_or_insert(error);
                }
            }
        }
        if let Some(error) = failure {
            return Err(error);
        }
        let provider = provider.to_owned();
        match ring.iter().filter_map(|place| place.limited).min() {
            Some(until) => Err(AuthError::AllLimited { provider, until }),
            // There are accounts, but of kinds that only a later version can use.
            None => Err(AuthError::NotLoggedIn { provider }),
        }
    }

    /// Remembers who has the turn now, so that other processes begin there.
    async fn activate_quietly(self: &Arc<Self>, provider: &str, next: &Credential) -> Result<(), AuthError> {
        if next.source != Source::Store {
            return Ok(());
        }
        let (provider, label) = (provider.to_owned(), next.account.clone());
        let change = move |book: &mut crate::Book| {
            let active = book.account(&provider, &label).is_none_or(|account| account.active);
            (!active && book.activate(&provider, &label), ())
        };
        self.change(OnDamage::Refuse, change).await
    }
}
