//! A login: what is asked of the person, and for how long.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use net::Url;

use super::{Grant, OAuthConfig, browser, device};
use crate::{AuthError, Secret};

/// The person who logs in, or the front end in front of them.
pub trait Person: Send + Sync {
    /// Shows what to do next, and may open a browser.
    fn show(&self, step: Step<'_>);

    /// What the person pasted in place of a callback: the code, or the whole address that the browser could not open.
    /// Asked again when that was of no use. `None` when there will never be anything.
    fn pasted(&self) -> BoxFuture<'_, Option<Secret>> {
        futures::future::ready(None).boxed()
    }

    /// Returns when the person no longer wants to.
    fn cancelled(&self) -> BoxFuture<'_, ()> {
        futures::future::pending().boxed()
    }
}

/// What the person has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// Approve it at this address, in a browser on this machine; or anywhere, and paste what comes of it.
    Open { url: &'a Url },
    /// Type the code at this address, on any device. `with_code` has it typed in already.
    EnterCode { url: &'a Url, with_code: Option<&'a Url>, code: &'a str, valid_for: Duration },
    /// What was pasted can not be used.
    BadPaste { why: &'a str },
}

/// How long things may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// Until the person has come back from the browser.
    pub login: Duration,
    /// One request to the vendor, from the first byte out to the last byte in.
    pub request: Duration,
    /// One request of the browser to us.
    pub callback: Duration,
    /// What a vendor's second is worth, when it says how many to wait. Only tests are in a hurry.
    pub second: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            login: Duration::from_secs(5 * 60),
            request: Duration::from_secs(30),
            callback: Duration::from_secs(5),
            second: Duration::from_secs(1),
        }
    }
}

/// A login that is about to begin.
pub struct Login<'a> {
    config: &'a OAuthConfig,
    person: &'a dyn Person,
    timing: Timing,
}

impl<'a> Login<'a> {
    pub fn new(config: &'a OAuthConfig, person: &'a dyn Person) -> Self {
        Self { config, person, timing: Timing::default() }
    }

    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// In a browser, with PKCE. The browser comes back to a port of this machine that is open until then.
    pub async fn browser(self) -> Result<Grant, AuthError> {
        self.unless_cancelled(browser::login(self.config, self.person, &self.timing)).await
    }

    /// With a code that is typed on another device (RFC 8628).
    pub async fn device(self) -> Result<Grant, AuthError> {
        self.unless_cancelled(device::login(self.config, self.person, &self.timing)).await
    }

    async fn unless_cancelled(
        &self,
        work: impl Future<Output = Result<Grant, AuthError>>,
    ) -> Result<Grant, AuthError> {
        tokio::select! {
            // One who cancels at the last moment means it.
            biased;
            () = self.person.cancelled() => Err(AuthError::Cancelled),
            done = work => done,
        }
    }
}
