//! Asking with the accounts that a person keeps: a token that is fresh, and the next account when one has had enough.

use std::sync::Arc;
use std::time::Duration;

use auth::{AuthError, Credential, CredentialKind, Credentials, ProviderAuth, Timestamp};

use crate::call::{Reading, Target, ask};
use crate::{CallError, Request};

/// However many accounts there are, one request tries no more of them than this.
const MOST_ACCOUNTS: usize = 16;
/// How long an account is left alone when the provider does not say.
const REST: Duration = Duration::from_secs(60);

/// The accounts of one provider.
#[derive(Clone)]
pub(crate) struct Accounts {
    pub(crate) credentials: Credentials,
    pub(crate) provider: String,
    pub(crate) settings: ProviderAuth,
}

/// Asks; when an account is rate limited the next one asks at once, before anybody waits.
pub(crate) async fn ask_in_turn(target: Arc<Target>, request: Request) -> Result<Reading, CallError> {
    let Some(accounts) = target.accounts.clone() else { return ask(target, request).await };
    let Some(mut credential) = accounts.current().await? else { return ask(target, request).await };
    let mut renewed = false;
    for _ in 0..MOST_ACCOUNTS {
        let keyed = Arc::new(target.with_credential(&credential));
        let error = match ask(keyed, request.clone()).await {
            Err(error) => error,
            answered => return answered,
        };
        let next = match &error {
            CallError::RateLimited { retry_after, .. } => accounts.rotate(&credential, *retry_after).await,
            // A token may end before its time.
            CallError::BadCredential { .. } if credential.kind == CredentialKind::OAuthToken && !renewed => {
                renewed = true;
                accounts.credentials.renew(&accounts.provider, &credential).await.ok()
            }
            _ => None,
        };
        match next {
            Some(next) => credential = next,
            None => return Err(error),
        }
    }
    Err(accounts.failed(&AuthError::NotLoggedIn { provider: accounts.provider.clone() }))
}

impl Accounts {
    async fn current(&self) -> Result<Option<Credential>, CallError> {
        let found = self.credentials.resolve(&self.provider, &self.settings).await;
        found.map_err(|error| self.failed(&error))
    }

    async fn rotate(&self, used: &Credential, wait: Option<Duration>) -> Option<Credential> {
        let wait = wait.unwrap_or(REST);
        let until = Timestamp::now().checked_add(wait).unwrap_or(Timestamp::MAX);
        // A store that can not be written only costs the rotation.
        self.credentials.rotate(&self.provider, &self.settings, used, until).await.ok().flatten()
    }

    fn failed(&self, error: &AuthError) -> CallError {
        let (provider, message) = (self.provider.clone(), error.to_string());
        match error {
            AuthError::AllLimited { until, .. } => {
                let wait = until.duration_since(Timestamp::now());
                let retry_after = Duration::try_from(wait).ok();
                CallError::RateLimited { provider, retry_after, message }
            }
            AuthError::Unreachable { who, what } => {
                CallError::Unreachable { provider, address: who.clone(), what: what.clone() }
            }
            _ => CallError::BadCredential { provider, message: format!("{message}; {}", error.hint()) },
        }
    }
}

impl Target {
    fn with_credential(&self, credential: &Credential) -> Self {
        let mut keyed = self.clone();
        keyed.key = Some(credential.secret.clone());
        keyed.quirks.bearer |= credential.kind == CredentialKind::OAuthToken;
        keyed
    }
}
