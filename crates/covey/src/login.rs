//! `covey auth`: accounts at providers.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::process::{Command, Stdio};

use ::auth::{AccountStatus, AuthError, Credentials, Login, OAuthConfig, Person, Secret, Source, Step};
use ::models::ProviderConfig;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use crate::block_on;
use crate::cli::AuthCommand;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::{Stream, Style, one_line, print, tell, tell_warning};

/// Longer than any key.
const MAX_KEY: u64 = 64 << 10;

/// For an editor that starts us in a terminal to have the person log in: asks where.
pub(crate) fn login_somewhere() -> Result<Exit, Failure> {
    let providers = Settings::load(None, &[])?.catalogue()?.providers();
    tell(&format!("There are: {}\nWhich provider? ", providers.join(", ")));
    let mut provider = String::new();
    std::io::stdin().read_line(&mut provider)?;
    let provider = provider.trim().to_owned();
    auth(AuthCommand::Login { provider, label: None, device: false, key_stdin: false })
}

pub(crate) fn auth(command: AuthCommand) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let providers: BTreeMap<String, ProviderConfig> = settings.config.get("providers")?.unwrap_or_default();
    let credentials = settings.credentials(&providers)?;
    let result = match command {
        AuthCommand::Login { provider, label, device, key_stdin } => {
            let catalogue = settings.catalogue()?;
            if !catalogue.providers().contains(&provider) {
                let hint = format!("there are: {}", catalogue.providers().join(", "));
                return Err(
                    Failure::usage(format!("there is no provider `{}`", one_line(&provider, 60))).hint(hint)
                );
            }
            let oauth = providers.get(&provider).and_then(|config| config.oauth.clone());
            let oauth = oauth.or_else(|| (provider == "openrouter").then(::auth::openrouter));
            let oauth = oauth.filter(|_| !key_stdin);
            block_on(login(&credentials, &provider, label.as_deref(), oauth, device, key_stdin))
        }
        AuthCommand::Logout { provider, label } => {
            block_on(logout(&credentials, &provider, label.as_deref()))
        }
        AuthCommand::Status { json } => status(&settings, &providers, &credentials, json),
        AuthCommand::Use { provider, label } => block_on(async {
            credentials.activate(&provider, &label).await.map_err(failure)?;
            print(&format!("`{label}` of {provider} is used first\n"))?;
            Ok(Exit::Done)
        }),
    };
    for notice in credentials.take_notices() {
        tell_warning(&notice.to_string());
    }
    result
}

async fn login(
    credentials: &Credentials,
    provider: &str,
    label: Option<&str>,
    oauth: Option<OAuthConfig>,
    device: bool,
    key_stdin: bool,
) -> Result<Exit, Failure> {
    let label = match oauth {
        Some(config) => {
            let person = Watcher;
            let login = Login::new(&config, &person);
            let by_device = device || config.authorize_url.is_none();
            let grant = if by_device { login.device().await } else { login.browser().await };
            credentials.add_grant(provider, label, grant.map_err(failure)?).await
        }
        None if device => {
            return Err(Failure::usage(format!("`{provider}` has no login by device"))
                .hint("leave --device away to enter a key"));
        }
        None => credentials.add_key(provider, label, &read_key(provider, key_stdin)?).await,
    };
    let label = label.map_err(failure)?;
    print(&format!("`{label}` of {provider} is kept and used first\n"))?;
    Ok(Exit::Done)
}

async fn logout(credentials: &Credentials, provider: &str, label: Option<&str>) -> Result<Exit, Failure> {
    let gone = credentials.logout(provider, label).await.map_err(failure)?;
    print(&gone.iter().map(|label| format!("forgot `{label}` of {provider}\n")).collect::<String>())?;
    Ok(Exit::Done)
}

fn status(
    settings: &Settings,
    providers: &BTreeMap<String, ProviderConfig>,
    credentials: &Credentials,
    json: bool,
) -> Result<Exit, Failure> {
    let catalogue = settings.catalogue()?;
    let mut names = catalogue.providers();
    names.extend(credentials.providers().map_err(failure)?);
    names.sort();
    names.dedup();
    let mut rows = Vec::new();
    for name in names {
        let config = match providers.get(&name) {
            Some(config) if config.api_key.is_some() || config.api_key_env.is_some() => config.auth(),
            _ => catalogue.provider_auth(&name).unwrap_or_default(),
        };
        let accounts = credentials.status(&name, &config).map_err(failure)?;
        rows.extend(accounts.into_iter().map(|account| (name.clone(), account)));
    }
    if json {
        let accounts: Vec<Value> =
            rows.iter().map(|(provider, account)| as_json(provider, account)).collect();
        print(&format!("{}\n", json!({"accounts": accounts})))?;
    } else if rows.is_empty() {
        print("no account yet; covey auth login PROVIDER adds one\n")?;
    } else {
        print(&rows.iter().map(|(provider, account)| as_text(provider, account)).collect::<String>())?;
    }
    Ok(Exit::Done)
}

fn as_text(provider: &str, account: &AccountStatus) -> String {
    let style = Style::of(Stream::Out);
    let sign = if account.active { style.good("●") } else { " ".to_owned() };
    let mut about = vec![account.kind.clone(), source(&account.source)];
    about.extend(account.expires_at.map(|at| format!("until {at}")));
    let mut line = format!("{sign} {provider:12} {:12} {}", account.label, style.faint(&about.join(" · ")));
    if account.needs_login {
        line.push_str(&style.danger(&format!("  ended; covey auth login {provider}")));
    } else if let Some(until) = account.limited_until {
        line.push_str(&style.warning(&format!("  rate limited until {until}")));
    }
    line + "\n"
}

fn as_json(provider: &str, account: &AccountStatus) -> Value {
    json!({
        "provider": provider,
        "label": account.label,
        "kind": account.kind,
        "source": source(&account.source),
        "active": account.active,
        "needs_login": account.needs_login,
        "expires_at": account.expires_at.map(|at| at.to_string()),
        "limited_until": account.limited_until.map(|at| at.to_string()),
        "added": account.added.map(|at| at.to_string()),
    })
}

fn source(source: &Source) -> String {
    match source {
        Source::Config => "config.toml".to_owned(),
        Source::Environment { variable } => format!("${variable}"),
        Source::Store => "auth.json".to_owned(),
    }
}

/// A key from stdin, or typed without being shown. Never from the command line, where others could see it.
fn read_key(provider: &str, from_stdin: bool) -> Result<Secret, Failure> {
    let mut key = String::new();
    let mut stdin = std::io::stdin().lock();
    if from_stdin {
        let read = (&mut stdin).take(MAX_KEY).read_to_string(&mut key);
        read.map_err(|_| Failure::usage("the key on stdin is not text"))?;
    } else {
        use std::io::IsTerminal;
        if !std::io::stdin().is_terminal() {
            return Err(
                Failure::usage("there is no terminal to type the key on").hint("pipe it: --key-stdin")
            );
        }
        tell(&format!("key for {provider} (it is not shown): "));
        let hidden = Hidden::new();
        let read = (&mut stdin).take(MAX_KEY).read_line(&mut key);
        drop(hidden);
        tell("\n");
        read.map_err(|error| Failure::new(format!("could not read the key: {error}")))?;
    }
    let key = key.trim();
    if key.is_empty() {
        return Err(Failure::usage("the key is empty"));
    }
    Ok(Secret::new(key))
}

/// Typing is not shown while this lives.
struct Hidden(Option<rustix::termios::Termios>);

impl Hidden {
    fn new() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let stdin = rustix::stdio::stdin();
        let before = tcgetattr(stdin).ok();
        if let Some(mut quiet) = before.clone() {
            quiet.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(stdin, OptionalActions::Now, &quiet);
        }
        Self(before)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = rustix::termios::tcsetattr(
                rustix::stdio::stdin(),
                rustix::termios::OptionalActions::Now,
                before,
            );
        }
    }
}

/// The person at this terminal.
struct Watcher;

impl Person for Watcher {
    fn show(&self, step: Step<'_>) {
        let style = Style::of(Stream::Err);
        match step {
            Step::Open { url } => {
                tell(&format!(
                    "open this in your browser, if it does not open by itself:\n  {}\n",
                    style.accent(url.as_str())
                ));
                open_browser(url.as_str());
            }
            Step::EnterCode { url, code, with_code, .. } => {
                tell(&format!("enter {} at {}\n", style.strong(code), style.accent(url.as_str())));
                open_browser(with_code.unwrap_or(url).as_str());
            }
            Step::BadPaste { why } => tell_warning(why),
            _ => {}
        }
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        async {
            // Without a handler Ctrl-C ends the program, which is as good.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        .boxed()
    }
}

/// Tries; the address was shown in any case.
pub(crate) fn open_browser(url: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.spawn();
}

fn failure(error: AuthError) -> Failure {
    let exit = match &error {
        AuthError::Cancelled => Exit::Cancelled,
        AuthError::TimedOut => Exit::Limit,
        AuthError::Unreachable { .. } => Exit::Unreachable,
        AuthError::BadConfig { .. } | AuthError::BadInput { .. } | AuthError::NoSuchAccount { .. } => {
            Exit::Usage
        }
        _ => Exit::Failed,
    };
    Failure { exit, hint: Some(error.hint()), ..Failure::from_error(&error) }
}
