//! Errors, named by what can be done about them. None of them holds a secret.

use std::io;
use std::path::PathBuf;

use jiff::Timestamp;

/// Why there is no credential, or why a login did not work.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("there is no account of `{provider}`")]
    NotLoggedIn { provider: String },
    #[error("`{provider}` has no account `{account}`")]
    NoSuchAccount { provider: String, account: String, known: Vec<String> },
    #[error("the login of account `{account}` at `{provider}` has ended")]
    LoginExpired { provider: String, account: String },
    #[error("every account of `{provider}` is rate limited until {until}")]
    AllLimited { provider: String, until: Timestamp },
    #[error("the login was denied")]
    Denied,
    #[error("nobody finished the login in time")]
    TimedOut,
    #[error("the login was cancelled")]
    Cancelled,
    /// A refusal in the words of OAuth: `invalid_client`, `invalid_scope`, `device_flow_disabled`.
    #[error("`{who}` refused: {code}")]
    Refused { who: String, code: String },
    #[error("`{who}` did not answer as it should: {what}")]
    WrongAnswer { who: String, what: String },
    #[error("could not reach `{who}`: {what}")]
    Unreachable { who: String, what: String },
    #[error("the settings of the login are wrong: {what}")]
    BadConfig { what: String },
    #[error("that can not be kept as {what}")]
    BadInput { what: &'static str },
    #[error("port {port} of this machine is in use, and the login needs it")]
    PortBusy { port: u16 },
    #[error("could not listen for the browser: {what}")]
    NoListener { what: String },
    #[error("`{}` is damaged: {what}", path.display())]
    StoreDamaged { path: PathBuf, what: String },
    #[error("`{}` was written by a newer version (format {version})", path.display())]
    StoreNewer { path: PathBuf, version: u64 },
    #[error("others can read `{}`, and that could not be changed", path.display())]
    StoreExposed { path: PathBuf },
    #[error("another process holds `{}`", path.display())]
    StoreBusy { path: PathBuf },
    #[error("could not use `{}`: {source}", path.display())]
    StoreFailed { path: PathBuf, source: io::Error },
    #[error("could not use the system's keyring: {what}")]
    KeyringFailed { what: String },
    #[error("this machine gives no random numbers")]
    NoRandom,
    #[error("the program is shutting down")]
    ShuttingDown,
}

impl AuthError {
    /// What a person can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotLoggedIn { provider } | Self::LoginExpired { provider, .. } => {
                format!("log in: `covey auth login {provider}`")
            }
            Self::NoSuchAccount { provider, known, .. } if known.is_empty() => {
                format!("there is none yet: `covey auth login {provider}`")
            }
            Self::NoSuchAccount { known, .. } => format!("there is `{}`", known.join("`, `")),
            Self::AllLimited { provider, .. } => {
                format!("wait, or add an account: `covey auth login {provider} --label NAME`")
            }
            Self::Denied => "log in again and approve it, if that was a mistake".to_owned(),
            Self::TimedOut | Self::Cancelled => "log in again when you are ready".to_owned(),
            Self::Refused { code, .. } => match code.as_str() {
                "invalid_client" | "incorrect_client_credentials" | "unauthorized_client" => {
                    "check the client_id in the provider's oauth settings".to_owned()
                }
                "device_flow_disabled" => {
                    "enable the device flow in the settings of that OAuth app".to_owned()
                }
                "invalid_scope" => "check the scopes in the provider's oauth settings".to_owned(),
                _ => "log in again; if it is refused again, check the provider's oauth settings".to_owned(),
            },
            Self::WrongAnswer { .. } => {
                "check the addresses in the provider's oauth settings, and that no proxy answers in its place"
                    .to_owned()
            }
            Self::Unreachable { .. } => "check the connection and try again".to_owned(),
            Self::BadConfig { .. } => "correct the provider's oauth settings in config.toml".to_owned(),
            Self::BadInput { .. } => "check that it was pasted whole, on one line".to_owned(),
            Self::PortBusy { port } => format!("stop what listens on port {port} and try again"),
            Self::NoListener { .. } => "log in with an API key, or with a device code".to_owned(),
            Self::StoreDamaged { path, .. } => {
                format!("repair `{}` or move it away; logging in anew moves it aside", path.display())
            }
            Self::StoreNewer { .. } => "update this program".to_owned(),
            Self::StoreExposed { path } => format!("make it yours alone: `chmod 600 {}`", path.display()),
            Self::StoreBusy { .. } => "wait for the other process, or end it".to_owned(),
            Self::StoreFailed { .. } => "check that the folder is yours and has room".to_owned(),
            Self::KeyringFailed { .. } => {
                "unlock it, or keep keys in a file: covey config set auth.store file".to_owned()
            }
            Self::NoRandom => "check that /dev/urandom is there".to_owned(),
            Self::ShuttingDown => "start it again".to_owned(),
        }
    }

    /// Whether the same may work a little later without anyone doing anything.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::StoreBusy { .. } | Self::AllLimited { .. })
    }
}
