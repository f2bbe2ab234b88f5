//! Which variables a child inherits.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::LazyLock;

/// Ends of names that hold secrets, after an underscore or as the whole name.
const ENDS: &[&str] = &[
    "KEY",
    "KEYS",
    "APIKEY",
    "TOKEN",
    "TOKENS",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "PASS",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "COOKIE",
    "COOKIES",
    "PAT",
    "DSN",
    "AUTH",
    "JWT",
    "CERT",
    "WEBHOOK",
];

/// Parts of names that hold secrets, wherever they are.
const PARTS: &[&str] = &[
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "APIKEY",
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "AUTH_TOKEN",
    "ACCESS_TOKEN",
    "CREDENTIAL",
    "CONNECTION_STRING",
    "SERVICE_ACCOUNT",
];

/// Starts of names of which all are dropped: accounts, and ways to talk to something that has keys.
const STARTS: &[&str] = &[
    "AWS_",
    "AZURE_",
    "GOOGLE_APPLICATION",
    "GCLOUD_",
    "CLOUDSDK_",
    "GH_",
    "GITHUB_",
    "GITLAB_",
    "CI_JOB_",
    "OPENAI_",
    "ANTHROPIC_",
    "GEMINI_",
    "COVEY_",
    "VAULT_",
    "DOCKER_",
    "KUBE",
    "SSH_",
    "GPG_",
    "DBUS_",
    "OP_SESSION",
    "NPM_CONFIG__AUTH",
    "NPM_CONFIG_//",
    "TF_VAR_",
    "PGPASS",
    "MYSQL_PWD",
    "ACTIONS_",
];

/// Leads to a display, a session or a desktop service.
const WHOLE: &[&str] = &[
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "GNOME_KEYRING_CONTROL",
    "NETRC",
    "PGPASSFILE",
    "KRB5CCNAME",
    "SUDO_ASKPASS",
    "GIT_ASKPASS",
    "KUBECONFIG",
    "SESSION_MANAGER",
];

/// Look like secrets and are none.
const HARMLESS: &[&str] = &[
    "PWD",
    "OLDPWD",
    "GIT_SSH_COMMAND",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PAGER",
    "GITHUB_ACTIONS",
    "GITHUB_WORKSPACE",
    "GITHUB_REPOSITORY",
    "GITHUB_REF",
    "GITHUB_SHA",
    "DOCKER_BUILDKIT",
    "SSH_TTY",
    "GPG_TTY",
];

/// What keys of well known services begin with.
const SHAPES: &[&str] = &[
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "hf_",
    "gsk_",
    "eyJhbGciOi",
    "-----BEGIN",
    "dop_v1_",
    "SG.",
    "shpat_",
    "tfp_",
    "lin_api_",
    "figd_",
];

/// Whether a child must not inherit this variable.
pub fn looks_secret(name: &OsStr, value: &OsStr) -> bool {
    let name = name.to_string_lossy().to_uppercase();
    if HARMLESS.contains(&name.as_str()) {
        return false;
    }
    let ends =
        |end: &&str| name.strip_suffix(*end).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'));
    WHOLE.contains(&name.as_str())
        || ENDS.iter().any(ends)
        || PARTS.iter().any(|part| name.contains(part))
        || STARTS.iter().any(|start| name.starts_with(start))
        || holds_secret(value.as_bytes())
}

/// A key by its shape, or an address with a password in it.
fn holds_secret(value: &[u8]) -> bool {
    let value = String::from_utf8_lossy(value);
    let value = value.trim_start();
    // A word of a sentence or a path is no key: keys have some length and no spaces.
    let key = value.len() >= 16 && SHAPES.iter().any(|shape| value.starts_with(shape));
    key || value.split("://").skip(1).any(has_password)
}

/// Whether what comes after `://` is `name:password@…`.
fn has_password(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.split_once(':').is_some_and(|(_, password)| !password.is_empty()))
}

/// Our own variables that look secret. They are looked at once: nothing changes them while we run.
static OURS: LazyLock<Vec<OsString>> = LazyLock::new(|| secrets_in(std::env::vars_os()));

/// The names that a child must not inherit from us, but for those `allowed`.
pub(super) fn withheld<'a>(
    allowed: impl Iterator<Item = &'a String> + Clone,
) -> impl Iterator<Item = &'static OsString> {
    OURS.iter().filter(move |name| !allowed.clone().any(|allowed| *name == allowed.as_str()))
}

fn secrets_in(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<OsString> {
    variables.filter(|(name, value)| looks_secret(name, value)).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(name: &str, value: &str) -> bool {
        looks_secret(OsStr::new(name), OsStr::new(value))
    }

    #[test]
    fn secrets_are_known_by_name() {
        for name in [
            "OPENAI_API_KEY",
            "MY_TOKEN",
            "token",
            "AWS_SESSION_TOKEN",
            "AWS_PROFILE",
            "DB_PASSWORD",
            "PGPASSWORD",
            "SLACK_SECRET",
            "SECRET_KEY_BASE",
            "STRIPE_KEY",
            "HF_TOKEN",
            "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
            "GITHUB_TOKEN",
            "GH_PAT",
            "SENTRY_DSN",
            "SESSION_COOKIE",
            "npm_config__auth",
            "COVEY_HOME",
            "KUBECONFIG",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "AZURE_CONNECTION_STRING",
            "MYSQL_PWD",
            "DOCKER_HOST",
            "XDG_RUNTIME_DIR",
        ] {
            assert!(secret(name, "x"), "{name}");
        }
    }

    #[test]
    fn secrets_are_known_by_value() {
        for value in [
            "postgres://app:hunter2@db.example.org/x",
            "ghp_0123456789abcdef0123",
            "sk-0123456789abcdefghij",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "redis://:pw@localhost:6379",
            "jdbc:mysql://root:pw@localhost/a",
        ] {
            assert!(secret("SOMETHING", value), "{value}");
        }
    }

    #[test]
    fn what_tools_need_stays() {
        for (name, value) in [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", "/home/me"),
            ("LANG", "C.UTF-8"),
            ("TERM", "xterm"),
            ("PWD", "/x"),
            ("OLDPWD", "/y"),
            ("CARGO_HOME", "/x"),
            ("RUSTUP_TOOLCHAIN", "stable"),
            ("NODE_ENV", "test"),
            ("VIRTUAL_ENV", "/v"),
            ("JAVA_HOME", "/j"),
            ("GOPATH", "/g"),
            ("NVM_DIR", "/n"),
            ("CC", "clang"),
            ("CI", "true"),
            ("MONKEY", "x"),
            ("KEYBOARD", "us"),
            ("COMPASS", "north"),
            ("TOKENIZERS_PARALLELISM", "false"),
            ("SSL_CERT_FILE", "/etc/ssl/cert.pem"),
            ("HTTP_PROXY", "http://proxy.example:8080"),
            ("AUTHOR", "me"),
            ("HOMEPAGE", "https://example.org/@me:you"),
            ("GREETING", "sk-y"),
        ] {
            assert!(!secret(name, value), "{name}");
        }
    }

    #[test]
    fn only_names_of_secrets_are_found() {
        let variables = [("A_TOKEN", "1"), ("B_TOKEN", "2"), ("PATH", "/bin")];
        let variables = variables.map(|(name, value)| (name.into(), value.into())).into_iter();
        assert_eq!(secrets_in(variables), ["A_TOKEN", "B_TOKEN"]);
    }
}
