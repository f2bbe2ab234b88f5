//! Who may come in: whoever has this run's token, or a cookie that was given for it.
//!
//! The token is in the fragment of the printed address, which browsers never send. The page trades it for a cookie that
//! scripts can not read. Both are of this run only: nothing is kept on disk, and logging out ends the sockets that the
//! cookie opened.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

#[cfg(test)]
mod tests;

/// Browsers that are logged in at once; the one that came first goes when there is one more.
const MAX_LOGINS: usize = 256;
/// Wrong guesses that an address may make …
const MAX_FAILURES: u32 = 10;
/// … within this time, before it has to wait for the rest of it.
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses whose failures are remembered.
const MAX_ADDRESSES: usize = 1024;

/// A secret of this run: 32 bytes of the system's randomness, in hex.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 32];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Takes as long for a wrong guess as for a right one.
    fn is(&self, guess: &str) -> bool {
        let differences = self.0.bytes().zip(guess.bytes()).fold(0, |found, (a, b)| found | (a ^ b));
        self.0.len() == guess.len() && std::hint::black_box(differences) == 0
    }
}

/// Never shows itself by accident.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// What a request brought to show who it is from.
#[derive(Debug, Default)]
pub(crate) struct Credentials<'a> {
    pub(crate) bearer: Option<&'a str>,
    pub(crate) cookie: Option<&'a str>,
}

/// Somebody who was let in. Cancelled when that ends.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) leaves: CancellationToken,
    /// The cookie they came with; without one it was the token itself.
    pub(crate) login: Option<String>,
}

/// Why somebody was not let in.
#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
    Unknown,
    /// Too many wrong guesses: not before this much later.
    TooMany(Duration),
}

pub(crate) struct Access {
    token: Token,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    logins: HashMap<String, Login>,
    failures: HashMap<IpAddr, Failures>,
}

struct Login {
    since: Instant,
    leaves: CancellationToken,
}

struct Failures {
    since: Instant,
    count: u32,
}

impl Access {
    pub(crate) fn new(token: Token) -> Self {
        Self { token, state: Mutex::default() }
    }

    /// Lets in whoever has a good cookie or the token. A guess from an address that guessed wrong too often is not even
    /// looked at; those who are in already stay in.
    pub(crate) fn admit(
        &self,
        from: IpAddr,
        credentials: &Credentials<'_>,
        now: Instant,
    ) -> Result<Visitor, Refused> {
        let mut state = self.lock();
        if let Some(cookie) = credentials.cookie
            && let Some(login) = state.logins.get(cookie)
        {
            return Ok(Visitor { leaves: login.leaves.clone(), login: Some(cookie.to_owned()) });
        }
        let Some(guess) = credentials.bearer else {
            // A stale cookie is what every restart leaves behind, and nobody guesses 256 bits; it is no attack.
            return Err(Refused::Unknown);
        };
        state.check(from, now)?;
        if self.token.is(guess) {
            return Ok(Visitor { leaves: CancellationToken::new(), login: None });
        }
        state.failed(from, now);
        Err(Refused::Unknown)
    }

    /// Trades the token for a cookie's value.
    pub(crate) fn log_in(
        &self,
        from: IpAddr,
        guess: &str,
        now: Instant,
    ) -> Result<io::Result<String>, Refused> {
        let mut state = self.lock();
        state.check(from, now)?;
        if !self.token.is(guess) {
            state.failed(from, now);
            return Err(Refused::Unknown);
        }
        let cookie = match Token::random() {
            Ok(secret) => secret.0,
            Err(error) => return Ok(Err(error)),
        };
        if state.logins.len() >= MAX_LOGINS {
            let oldest =
                state.logins.iter().min_by_key(|(_, login)| login.since).map(|(cookie, _)| cookie.clone());
            oldest.and_then(|cookie| state.logins.remove(&cookie)).inspect(|login| login.leaves.cancel());
        }
        state.logins.insert(cookie.clone(), Login { since: now, leaves: CancellationToken::new() });
        Ok(Ok(cookie))
    }

    /// Ends a login and everything that was opened with it.
    pub(crate) fn log_out(&self, cookie: &str) {
        if let Some(login) = self.lock().logins.remove(cookie) {
            login.leaves.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check(&mut self, from: IpAddr, now: Instant) -> Result<(), Refused> {
        let Some(failures) = self.failures.get(&network(from)) else { return Ok(()) };
        let over = failures.since + WINDOW;
        if failures.count < MAX_FAILURES || over <= now { Ok(()) } else { Err(Refused::TooMany(over - now)) }
    }

    fn failed(&mut self, from: IpAddr, now: Instant) {
        let from = network(from);
        self.failures.retain(|_, failures| failures.since + WINDOW > now);
        if self.failures.len() >= MAX_ADDRESSES && !self.failures.contains_key(&from) {
            let oldest =
                self.failures.iter().min_by_key(|(_, failures)| failures.since).map(|(address, _)| *address);
            oldest.and_then(|address| self.failures.remove(&address));
        }
        self.failures.entry(from).or_insert(Failures { since: now, count: 0 }).count += 1;
    }
}

/// One customer has a whole /64 of IPv6 to come from.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}
