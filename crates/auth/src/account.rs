//! The accounts that a store keeps, and the form in which it keeps them.
//!
//! ```json
//! {"v": 1, "providers": {"openrouter": {"accounts": [
//!   {"label": "default", "kind": "key", "key": "…", "active": true, "added": "2026-01-25T14:30:52Z"},
//!   {"label": "work", "kind": "oauth", "access": "…", "refresh": "…", "expires_at": "…", "active": false}
//! ]}}, "servers": {"docs https://example.org/mcp": {…}}}
//! ```
//! A login at an MCP server is what the library that made it wants back, and nothing to look into.
//! Fields that this version does not know are kept where they were.

use std::collections::BTreeMap;
use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Secret;

#[cfg(test)]
mod tests;

/// The version of the form that is written.
const VERSION: u64 = 1;

/// No provider parks an account for longer than this. A later time is a broken clock or a broken answer, and must
/// not lock an account away for ever.
pub(crate) const LONGEST_LIMIT: SignedDuration = SignedDuration::from_hours(24);

/// All accounts of all providers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Book {
    providers: BTreeMap<String, Accounts>,
    /// Logins at MCP servers, by name and address.
    servers: Unknown,
    other: Unknown,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct Accounts {
    #[serde(default)]
    accounts: Vec<Account>,
    #[serde(flatten)]
    other: Unknown,
}

/// One account at one provider.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Account {
    pub label: String,
    pub kind: AccountKind,
    #[serde(default)]
    pub key: Option<Secret>,
    #[serde(default)]
    pub access: Option<Secret>,
    /// Gone when the provider no longer takes it: then only a new login helps.
    #[serde(default)]
    pub refresh: Option<Secret>,
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub limited_until: Option<Timestamp>,
    /// The one that is used first. At most one of a provider's accounts is.
    #[serde(default)]
    pub active: bool,
    #[serde(default)]
    pub added: Option<Timestamp>,
    #[serde(flatten)]
    other: Unknown,
}

/// What an account holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum AccountKind {
    Key,
    OAuth,
    /// Of a later version: kept, not used.
    Other(String),
}

/// Why a text is no book. It never quotes the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadError {
    Damaged { what: String },
    Newer { version: u64 },
}

/// What this version does not know. It may be secret, so it is never shown.
#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
struct Unknown(Map<String, Value>);

impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} unknown", self.0.len())
    }
}

impl From<String> for AccountKind {
    fn from(name: String) -> Self {
        match name.as_str() {
            "key" => Self::Key,
            "oauth" => Self::OAuth,
            _ => Self::Other(name),
        }
    }
}

impl AccountKind {
    pub fn name(&self) -> &str {
        match self {
            Self::Key => "key",
            Self::OAuth => "oauth",
            Self::Other(name) => name,
        }
    }
}

impl Book {
    /// Reads what [`Book::to_store`] wrote.
    pub fn from_store(text: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Whole {
            v: u64,
            #[serde(default)]
            providers: BTreeMap<String, Accounts>,
            #[serde(default)]
            servers: Unknown,
            #[serde(flatten)]
            other: Unknown,
        }
        // A newer version may mean something else by every other field.
        #[derive(Deserialize)]
        struct Version {
            v: u64,
        }
        if let Ok(Version { v }) = serde_json::from_str(text)
            && v > VERSION
        {
            return Err(ReadError::Newer { version: v });
        }
        let whole: Whole = serde_json::from_str(text).map_err(|error| ReadError::Damaged {
            // The message of the error would quote the value that it stumbled over, and that may be a key.
            what: format!("{} at line {}, column {}", cause(&error), error.line(), error.column()),
        })?;
        if whole.v == 0 {
            return Err(ReadError::Damaged { what: "there is no format 0".to_owned() });
        }
        Ok(Self { providers: whole.providers, servers: whole.servers, other: whole.other })
    }

    /// The text that a store keeps, with every secret in the clear.
    pub fn to_store(&self) -> String {
        let mut providers = Map::new();
        for (name, kept) in &self.providers {
            let accounts: Vec<Value> = kept.accounts.iter().map(Account::to_value).collect();
            let mut provider = Map::new();
            provider.insert("accounts".to_owned(), Value::Array(accounts));
            provider.extend(kept.other.0.clone());
            providers.insert(name.clone(), Value::Object(provider));
        }
        let mut whole = Map::new();
        whole.insert("v".to_owned(), json!(VERSION));
        whole.insert("providers".to_owned(), Value::Object(providers));
        if !self.servers.0.is_empty() {
            whole.insert("servers".to_owned(), Value::Object(self.servers.0.clone()));
        }
        whole.extend(self.other.0.clone());
        // `{:#}` of a value is indented JSON.
        format!("{:#}\n", Value::Object(whole))
    }

    /// Every provider that has an account, by name.
    pub fn providers(&self) -> impl Iterator<Item = &str> {
        self.providers.iter().filter(|(_, kept)| !kept.accounts.is_empty()).map(|(name, _)| name.as_str())
    }

    /// A provider's accounts, in the order in which they take turns.
    pub fn accounts(&self, provider: &str) -> &[Account] {
        self.providers.get(provider).map_or(&[], |kept| &kept.accounts)
    }

    pub fn account(&self, provider: &str, label: &str) -> Option<&Account> {
        self.accounts(provider).iter().find(|account| account.label == label)
    }

    pub fn account_mut(&mut self, provider: &str, label: &str) -> Option<&mut Account> {
        self.providers.get_mut(provider)?.accounts.iter_mut().find(|account| account.label == label)
    }

    /// Adds an account, or replaces the one with its label in its place, and makes it the active one.
    pub fn put(&mut self, provider: &str, account: Account) {
        let label = account.label.clone();
        let accounts = &mut self.providers.entry(provider.to_owned()).or_default().accounts;
        match accounts.iter_mut().find(|other| other.label == label) {
            Some(old) => *old = Account { other: std::mem::take(&mut old.other), ..account },
            None => accounts.push(account),
        }
        self.activate(provider, &label);
    }

    /// Makes an account the one that is used first. False if there is none.
    pub fn activate(&mut self, provider: &str, label: &str) -> bool {
        if self.account(provider, label).is_none() {
            return false;
        }
        if let Some(kept) = self.providers.get_mut(provider) {
            kept.accounts.iter_mut().for_each(|account| account.active = account.label == label);
        }
        true
    }

    /// Forgets an account, or all of a provider's. Returns the labels of those that are gone.
    pub fn remove(&mut self, provider: &str, label: Option<&str>) -> Vec<String> {
        let Some(kept) = self.providers.get_mut(provider) else { return Vec::new() };
        let goes = |account: &Account| label.is_none_or(|label| account.label == label);
        let gone = kept.accounts.iter().filter(|account| goes(account)).map(|account| account.label.clone());
        let gone: Vec<String> = gone.collect();
        kept.accounts.retain(|account| !goes(account));
        if !kept.accounts.iter().any(|account| account.active)
            && let Some(first) = kept.accounts.first_mut()
        {
            first.active = true;
        }
        if kept.accounts.is_empty() && kept.other.0.is_empty() {
            self.providers.remove(provider);
        }
        gone
    }

    /// What a login at an MCP server gave.
    pub fn login(&self, server: &str, url: &str) -> Option<&Value> {
        self.servers.0.get(&login_key(server, url))
    }

    /// Keeps a login at an MCP server, or forgets it. False when nothing changed.
    pub fn set_login(&mut self, server: &str, url: &str, login: Option<Value>) -> bool {
        let key = login_key(server, url);
        match login {
            Some(login) => self.servers.0.insert(key, login.clone()) != Some(login),
            None => self.servers.0.remove(&key).is_some(),
        }
    }

    /// Forgets every login at a server of this name; false when there was none.
    pub fn forget_logins(&mut self, server: &str) -> bool {
        let before = self.servers.0.len();
        self.servers.0.retain(|key, _| !key.starts_with(&login_key(server, "")));
        self.servers.0.len() < before
    }

    /// Every secret that logins at MCP servers hold, for whoever masks them.
    pub fn login_secrets(&self) -> Vec<String> {
        let mut found = Vec::new();
        for login in self.servers.0.values() {
            secrets_in(login, &mut found);
        }
        found
    }

    /// A label that no account has yet.
    pub(crate) fn free_label(&self, provider: &str) -> String {
        if self.account(provider, "default").is_none() {
            return "default".to_owned();
        }
        let taken = self.accounts(provider).len() as u64;
        let names = (2..=taken + 2).map(|number| format!("account-{number}"));
        let mut free = names.filter(|name| self.account(provider, name).is_none());
        // There are more names than accounts, so one is free.
        free.next().unwrap_or_default()
    }
}

/// A name has no blank in it.
fn login_key(server: &str, url: &str) -> String {
    format!("{server} {url}")
}

/// What is called a token or a secret, however deep it lies.
fn secrets_in(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name.ends_with("_token") || name.ends_with("_secret") => {
                        found.push(text.clone());
                    }
                    other => secrets_in(other, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| secrets_in(item, found)),
        _ => {}
    }
}

impl Account {
    /// An account with a key.
    pub fn key(label: impl Into<String>, key: Secret, added: Timestamp) -> Self {
        Self { key: Some(key), ..Self::empty(label.into(), AccountKind::Key, added) }
    }

    /// An account with a login. Without `refresh` it ends at `expires_at`.
    pub fn oauth(
        label: impl Into<String>,
        access: Secret,
        refresh: Option<Secret>,
        expires_at: Option<Timestamp>,
        added: Timestamp,
    ) -> Self {
        Self {
            access: Some(access),
            refresh,
            expires_at,
            ..Self::empty(label.into(), AccountKind::OAuth, added)
        }
    }

    fn empty(label: String, kind: AccountKind, added: Timestamp) -> Self {
        let added = Some(added);
        let (key, access, refresh, expires_at, limited_until) = (None, None, None, None, None);
        let other = Unknown::default();
        Self { label, kind, key, access, refresh, expires_at, limited_until, active: false, added, other }
    }

    /// What is sent to the provider, whether or not it still holds.
    pub fn secret(&self) -> Option<&Secret> {
        match self.kind {
            AccountKind::Key => self.key.as_ref(),
            AccountKind::OAuth => self.access.as_ref(),
            AccountKind::Other(_) => None,
        }
    }

    /// Until when the provider wants to hear nothing of it, if that is still to come.
    pub fn limited(&self, now: Timestamp) -> Option<Timestamp> {
        self.limited_until.filter(|until| believable(*until, now))
    }

    /// Whether it ends within `margin`.
    pub(crate) fn ends_within(&self, margin: SignedDuration, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end.duration_since(now) <= margin)
    }

    fn to_value(&self) -> Value {
        let secret = |secret: &Option<Secret>| secret.as_ref().map(|secret| json!(secret.reveal()));
        let time = |time: Option<Timestamp>| time.map(|time| json!(time.to_string()));
        let fields = [
            ("label", Some(json!(self.label))),
            ("kind", Some(json!(self.kind.name()))),
            ("key", secret(&self.key)),
            ("access", secret(&self.access)),
            ("refresh", secret(&self.refresh)),
            ("expires_at", time(self.expires_at)),
            ("limited_until", time(self.limited_until)),
            ("active", Some(json!(self.active))),
            ("added", time(self.added)),
        ];
        let known = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(known.chain(self.other.0.clone()).collect())
    }
}

/// Whether a limit is still to come, and not so far away that something is wrong with it.
pub(crate) fn believable(until: Timestamp, now: Timestamp) -> bool {
    until > now && until.duration_since(now) <= LONGEST_LIMIT
}

fn cause(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Eof => "it ends too early",
        serde_json::error::Category::Data => "a field is missing or of the wrong kind",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => "it is not JSON",
    }
}
