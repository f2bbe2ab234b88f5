//! Credentials: keys, OAuth logins, several accounts per provider, and where all of them are kept.
//!
//! [`Credentials`] answers the one question that callers have: what do I send to this provider? It looks into the
//! configuration, the environment and the store, in this order, renews a login that is about to end, and goes over to
//! the next account when a provider says that one has had enough. Start reading there.
//!
//! [`Login`] gets a new grant from a person, in a browser or with a code typed on another device; what to ask of
//! which vendor is data ([`OAuthConfig`]). [`FileStore`] keeps everything in `auth.json`, for the owner alone.
//!
//! What is left to others: which header a secret is sent in, when a provider is asked again, and every word on the
//! screen. A [`Secret`] shows itself nowhere but in [`Secret::reveal`], and no error holds one.

mod account;
mod credentials;
mod error;
mod notice;
mod oauth;
mod secret;
mod store;

pub use account::{Account, AccountKind, Book, ReadError};
pub use credentials::{AccountStatus, Credential, CredentialKind, Credentials, ProviderAuth, Source};
pub use error::AuthError;
pub use jiff::Timestamp;
pub use notice::Notice;
pub use oauth::{Answer, Grant, Login, OAuthConfig, Person, Redirect, Step, Timing, github, openrouter};
pub use secret::Secret;
#[cfg(feature = "keyring")]
pub use store::KeyringStore;
pub use store::{FileStore, OnDamage, SecretStore, StoreLock};
