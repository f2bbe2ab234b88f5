//! A person, their home, and a provider to log in at.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use auth::{
    Account, Answer, AuthError, Book, Credential, Credentials, FileStore, Grant, Login, OAuthConfig,
    OnDamage, Person, ProviderAuth, Redirect, Secret, SecretStore, Step, Timestamp, Timing,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use testkit::{BrowserPage, OAuthServer, browse};
use tokio::sync::{Notify, mpsc};

pub(crate) const PROVIDER: &str = "test";

/// Patient with the machine, and in a hurry where a provider would let us wait.
pub(crate) fn timing() -> Timing {
    let minute = Duration::from_secs(60);
    Timing { login: minute, request: minute, callback: minute, second: Duration::from_millis(10) }
}

pub(crate) fn no_key() -> ProviderAuth {
    ProviderAuth::default()
}

pub(crate) fn seconds_from_now(seconds: i64) -> Timestamp {
    Timestamp::now() + jiff::SignedDuration::from_secs(seconds)
}

pub(crate) struct Home {
    pub(crate) folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("covey").join("auth.json")
    }

    pub(crate) fn store(&self) -> FileStore {
        FileStore::new(self.path())
    }

    pub(crate) fn book(&self) -> Book {
        self.store().read().unwrap().0
    }

    pub(crate) fn change(&self, change: impl Fn(&mut Book)) {
        let mut change = |book: &mut Book| {
            change(book);
            true
        };
        self.store().change(OnDamage::Refuse, &mut change).unwrap();
    }

    pub(crate) fn credentials(&self) -> Credentials {
        Credentials::new(self.store(), |_| None).with_timing(timing())
    }

    /// With the provider's settings, so that logins can be renewed.
    pub(crate) fn credentials_at(&self, server: &OAuthServer) -> Credentials {
        self.credentials().with_oauth(PROVIDER, config(server))
    }

    /// Puts an account there that ends in so many seconds.
    pub(crate) fn logged_in(&self, label: &str, grant: &Grant, seconds: i64) {
        let (access, refresh) = (grant.access.clone(), grant.refresh.clone());
        self.change(|book| {
            let end = Some(seconds_from_now(seconds));
            let account = Account::oauth(label, access.clone(), refresh.clone(), end, Timestamp::now());
            book.put(PROVIDER, account);
        });
    }
}

pub(crate) fn config(server: &OAuthServer) -> OAuthConfig {
    OAuthConfig {
        authorize_url: Some(server.authorize_url()),
        token_url: Some(server.token_url()),
        device_url: Some(server.device_url()),
        client_id: Some("test-client".to_owned()),
        scopes: vec!["models".to_owned(), "offline".to_owned()],
        ..OAuthConfig::default()
    }
}

pub(crate) fn openrouter_at(server: &OAuthServer) -> OAuthConfig {
    let real = auth::openrouter();
    assert_eq!(real.answer, Answer::OpenrouterKey);
    OAuthConfig {
        authorize_url: Some(server.openrouter_auth_url()),
        token_url: Some(server.openrouter_keys_url()),
        redirect: Redirect { port: 0, ..real.redirect.clone() },
        ..real
    }
}

/// A grant that was made without a browser.
pub(crate) async fn a_grant(server: &OAuthServer) -> Grant {
    Login::new(&config(server), &Robot::idle()).with_timing(timing()).device().await.unwrap()
}

/// Someone who does at once what they are asked for.
pub(crate) struct Robot {
    browses: bool,
    seen: Arc<Mutex<Seen>>,
    opened: Notify,
    cancel: Notify,
    pastes: tokio::sync::Mutex<mpsc::UnboundedReceiver<Secret>>,
    paste: mpsc::UnboundedSender<Secret>,
}

#[derive(Default)]
pub(crate) struct Seen {
    /// All that was shown, as text.
    pub(crate) steps: Vec<String>,
    pub(crate) url: Option<String>,
    pub(crate) page: Option<BrowserPage>,
}

impl Robot {
    /// Opens every address in a browser and does what the page says.
    pub(crate) fn eager() -> Self {
        Self::new(true)
    }

    /// Looks and does nothing.
    pub(crate) fn idle() -> Self {
        Self::new(false)
    }

    fn new(browses: bool) -> Self {
        let (paste, pastes) = mpsc::unbounded_channel();
        let seen = Arc::default();
        let pastes = tokio::sync::Mutex::new(pastes);
        Self { browses, seen, opened: Notify::new(), cancel: Notify::new(), pastes, paste }
    }

    pub(crate) fn cancel(&self) {
        self.cancel.notify_one();
    }

    pub(crate) fn paste(&self, text: &str) {
        self.paste.send(Secret::new(text)).unwrap();
    }

    /// The address to open, as soon as it is shown.
    pub(crate) async fn url(&self) -> String {
        loop {
            if let Some(url) = self.seen.lock().unwrap().url.clone() {
                return url;
            }
            self.opened.notified().await;
        }
    }

    pub(crate) fn steps(&self) -> Vec<String> {
        self.seen.lock().unwrap().steps.clone()
    }

    /// What the browser showed in the end, once it has loaded.
    pub(crate) async fn page(&self) -> BrowserPage {
        loop {
            if let Some(page) = self.seen.lock().unwrap().page.clone() {
                return page;
            }
            tokio::task::yield_now().await;
        }
    }
}

impl Person for Robot {
    fn show(&self, step: Step<'_>) {
        let mut seen = self.seen.lock().unwrap();
        seen.steps.push(format!("{step:?}"));
        if let Step::Open { url } = step {
            seen.url = Some(url.to_string());
            seen.steps.push(url.to_string());
            if self.browses {
                let (url, seen) = (url.to_string(), self.seen.clone());
                tokio::spawn(async move {
                    let page = browse(&url).await.unwrap();
                    seen.lock().unwrap().page = Some(page);
                });
            }
            self.opened.notify_one();
        }
    }

    fn pasted(&self) -> BoxFuture<'_, Option<Secret>> {
        async { self.pastes.lock().await.recv().await }.boxed()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        self.cancel.notified().boxed()
    }
}

/// The value of a parameter of an address.
pub(crate) fn parameter(url: &str, name: &str) -> Option<String> {
    let url: net::Url = url.parse().unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// An answer in one word, for tables in tests.
pub(crate) fn account(resolved: Result<Option<Credential>, AuthError>) -> String {
    match resolved {
        Ok(Some(credential)) => credential.account,
        Ok(None) => "none".to_owned(),
        Err(error) => format!("{error}"),
    }
}
