//! Files that hold what nobody else should know.

use std::path::Path;

use crate::glob;

/// Below the home folder, whole folders and single files.
const AT_HOME: [&str; 46] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".netrc",
    ".npmrc",
    ".docker",
    ".kube",
    ".config/gh",
    ".config/gcloud",
    ".azure",
    ".config/op",
    ".config/hub",
    ".config/glab-cli",
    ".config/rclone",
    ".config/doctl",
    ".config/heroku",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".mozilla",
    ".thunderbird",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/covey",
    ".config/covey/auth.json",
    ".pgpass",
    ".my.cnf",
    ".pypirc",
    ".git-credentials",
    ".vault-token",
    ".terraform.d",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".bash_history",
    ".zsh_history",
    ".sh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".local/share/fish/fish_history",
    "Library/Keychains",
];

const OF_THE_SYSTEM: [&str; 12] = [
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/run/secrets",
    "/var/run/secrets",
    "/root",
    "/etc/krb5.keytab",
    "/etc/security",
    "/var/lib/docker",
    "/etc/kubernetes",
];

/// Names that say it, wherever the file is.
const NAMES: [&str; 44] = [
    ".env",
    ".env.*",
    ".envrc",
    "*.env",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "*.asc.key",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "secret.json",
    "secret.yaml",
    "*.tfstate",
    "*.tfvars",
    "kubeconfig",
    "service-account*.json",
    "serviceaccount*.json",
    "master.key",
];

/// What looks like a secret by its name and is meant for everybody.
const NO_SECRETS: [&str; 11] = [
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    ".env.defaults",
    ".env.test.example",
    "*.example.env",
    "example.env",
    "sample.env",
    "*.pub.pem",
    "*.pub.key",
];

pub(super) fn secret(target: &Path, user_home: &Path, inside: bool) -> Option<&'static str> {
    // A project may lie in a home folder's `.config`; what it holds is judged by name.
    if !inside {
        if let Ok(below) = target.strip_prefix(user_home)
            && AT_HOME.iter().any(|place| reaches(Path::new(place), below))
        {
            return Some("holds keys or private records");
        }
        if let Some(below) = other_home(target)
            && AT_HOME.iter().any(|place| reaches(Path::new(place), below))
        {
            return Some("holds another account's keys or private records");
        }
        if OF_THE_SYSTEM.iter().any(|place| reaches(Path::new(place), target)) {
            return Some("holds secrets of the system");
        }
        if is_ssh_host_key(target) || is_process_memory(target) {
            return Some("holds secrets of the system");
        }
    }
    let name = target.file_name()?.to_string_lossy();
    names_a_secret(&name).then_some("holds secrets, by its name")
}

/// Whether a file name, with or without stars, can be that of a secret.
pub(crate) fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if NO_SECRETS.iter().any(|pattern| glob::word(pattern, &name)) {
        return false;
    }
    if !name.contains(['*', '?', '[']) {
        return NAMES.iter().any(|pattern| glob::word(pattern, &name));
    }
    // The shell lets a star match a leading dot only where the dot is spelled out. A pattern that names no part of a
    // secret's name (`*`, `*.rs`) is not after one.
    let letters = name.chars().filter(|c| c.is_alphanumeric()).count();
    let name = glob::widened(&name);
    NAMES.iter().filter(|known| !known.contains('*')).any(|known| {
        known.starts_with('.') == name.starts_with('.')
            && (letters > 0 || name.starts_with(".?"))
            && glob::word(&name, known)
    }) || NAMES.iter().any(|known| known.starts_with("*.") && name.ends_with(&known[1..]))
}

/// Whether a path, stars in it included, can be `place` or below it.
fn reaches(place: &Path, path: &Path) -> bool {
    let mut parts = path.components();
    place.components().all(|wanted| {
        parts.next().is_some_and(|part| {
            let (part, wanted) = (part.as_os_str().to_string_lossy(), wanted.as_os_str().to_string_lossy());
            part == wanted
                || (part.contains(['*', '?', '['])
                    && part.starts_with('.') == wanted.starts_with('.')
                    && glob::word(&glob::widened(&part), &wanted))
        })
    })
}

fn other_home(target: &Path) -> Option<&Path> {
    let below = target.strip_prefix("/home").or_else(|_| target.strip_prefix("/Users")).ok()?;
    let mut parts = below.components();
    parts.next()?;
    Some(parts.as_path())
}

fn is_ssh_host_key(target: &Path) -> bool {
    target.starts_with("/etc/ssh") && target.to_string_lossy().contains("key")
}

fn is_process_memory(target: &Path) -> bool {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.starts_with("/proc")
        && matches!(name.as_str(), "environ" | "mem" | "maps" | "kcore" | "kmem" | "auxv")
}
