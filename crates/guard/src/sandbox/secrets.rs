//! Where secrets are kept: what no child sees.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::policy::{SandboxNeeds, SandboxPolicy};

/// Below the home folder.
const IN_HOME: &[&str] = &[
    // keys and logins
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".oci",
    ".kube",
    ".docker",
    ".config/containers/auth.json",
    ".netrc",
    "_netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".gem/credentials",
    ".bundle/config",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".nuget/NuGet/NuGet.Config",
    ".config/NuGet/NuGet.Config",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".git-credentials",
    ".config/git/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".vault-token",
    ".config/doctl",
    ".config/hcloud",
    ".config/heroku",
    ".config/netlify",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".config/age",
    ".age",
    ".fly",
    ".vercel",
    ".config/vercel",
    ".local/share/com.vercel.cli",
    ".supabase",
    ".railway",
    ".databrickscfg",
    ".snowflake",
    ".snowsql",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".s3cfg",
    ".boto",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".kaggle",
    ".wandb",
    ".password-store",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/1Password",
    ".1password",
    ".bitcoin",
    ".ethereum",
    ".config/solana",
    ".electrum",
    // keyrings
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".kde/share/apps/kwallet",
    "Library/Keychains",
    // browsers, mail and chat: logins in cookies
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    "snap/firefox",
    "snap/chromium",
    ".thunderbird",
    ".config/Slack",
    ".config/discord",
    ".config/Signal",
    ".local/share/TelegramDesktop",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    "Library/Cookies",
    // what was typed
    ".bash_history",
    ".zsh_history",
    ".zhistory",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    // other agents' logins
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".config/github-copilot",
    ".config/goose/secrets.yaml",
    ".cline/data/secrets.json",
    ".cursor/auth.json",
    ".config/cursor/auth.json",
    ".kimi/credentials",
    ".augment/session.json",
    ".openclaw/credentials",
];

/// Of the system. An ordinary user cannot read these; root can.
const IN_SYSTEM: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/ssh",
    "/etc/NetworkManager/system-connections",
    "/etc/wireguard",
    "/etc/kubernetes",
    "/root",
    "/home",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/spool",
    "/var/mail",
    "/var/backups",
    "/boot",
    "/lost+found",
];

/// Folders that are never searched for `.env` files: large, and made by tools.
const PASSED_BY: &[&str] = &[
    ".git",
    "node_modules",
    "target",
    "dist",
    "build",
    "vendor",
    ".venv",
    "venv",
    "__pycache__",
    ".next",
    ".cache",
    ".tox",
];
/// Ends of `.env` files that are for everybody.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema", "md"];
/// How deep and how far the search goes.
const DEPTH: usize = 4;
const MOST_FOLDERS: usize = 500;

/// Everything to hide, without links, sorted, nothing twice and nothing below something else that is hidden.
pub(super) fn hidden(policy: &SandboxPolicy, needs: &SandboxNeeds) -> Vec<PathBuf> {
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    let mut add = |path: &Path| {
        // What is not there needs no hiding. Where a link leads is what counts.
        if let Ok(real) = path.canonicalize() {
            found.insert(real);
        }
    };
    for path in policy.own.iter().chain(&policy.hidden) {
        add(path);
    }
    for path in IN_SYSTEM {
        add(Path::new(path));
    }
    if let Some(home) = &policy.home {
        for path in IN_HOME {
            add(&home.join(path));
        }
    }
    // A person's home may be inside `/home` or be `/root`: then its parts were listed above instead.
    let inside: Vec<PathBuf> = granted(policy, needs).filter_map(|path| path.canonicalize().ok()).collect();
    let home = policy.home.as_ref().and_then(|home| home.canonicalize().ok());
    found.retain(|path| {
        !home.as_ref().is_some_and(|home| home.starts_with(path))
            && !inside.iter().any(|kept| kept.starts_with(path))
    });
    // A place that was granted is granted with what is in it. The project is not granted that way: a secret that
    // happens to be inside, when somebody works in their home folder, stays one.
    let exempt: Vec<PathBuf> = exempt(policy, needs).filter_map(|path| path.canonicalize().ok()).collect();
    found.retain(|path| !exempt.iter().any(|kept| path.starts_with(kept)));
    outermost(found)
}

/// Every place that something may be done in.
fn granted<'a>(policy: &'a SandboxPolicy, needs: &'a SandboxNeeds) -> impl Iterator<Item = &'a PathBuf> {
    policy.roots.iter().chain(exempt(policy, needs))
}

/// Places granted by name, over what is known to be secret.
fn exempt<'a>(policy: &'a SandboxPolicy, needs: &'a SandboxNeeds) -> impl Iterator<Item = &'a PathBuf> {
    policy.readable.iter().chain(&policy.writable).chain(&needs.readable).chain(&needs.writable)
}

fn outermost(sorted: BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in sorted {
        if !kept.iter().any(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

/// The `.env` files of a project, and the sockets that somebody listens on, as far as a short walk finds them; and
/// what tells that the walk would find others.
#[derive(Debug, Default)]
pub(super) struct EnvFiles {
    pub(super) found: Vec<PathBuf>,
    folders: Vec<(PathBuf, Stamp)>,
}

/// Changes with every entry that comes, goes or is renamed. Nobody can set a change time.
type Stamp = (u64, u64, i64, i64);

fn stamp(folder: &Path) -> Option<Stamp> {
    let metadata = folder.symlink_metadata().ok()?;
    Some((metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
}

impl EnvFiles {
    /// Whether the walk would find the same. A command may have moved a folder since, to get at what is in it.
    pub(super) fn are_current(&self) -> bool {
        !self.folders.is_empty()
            && self.folders.iter().all(|(folder, then)| stamp(folder).is_some_and(|now| now == *then))
    }

    pub(super) fn search(roots: &[PathBuf]) -> Self {
        let mut files = Self::default();
        // The folders near the top come first, so that they are the ones seen of a project that is too large.
        let mut ahead: VecDeque<(PathBuf, usize)> = roots.iter().map(|root| (root.clone(), 0)).collect();
        while let Some((folder, depth)) = ahead.pop_front() {
            // Before its entries are read: what changes meanwhile is seen as a change.
            let Some(stamp) = stamp(&folder) else { continue };
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            files.folders.push((folder, stamp));
            for entry in entries.flatten() {
                let name = entry.file_name();
                let Some(name) = name.to_str() else { continue };
                let Ok(kind) = entry.file_type() else { continue };
                let is_folder = kind.is_dir();
                if kind.is_socket() || !is_folder && is_env_file(name) {
                    files.found.extend(entry.path().canonicalize());
                } else if is_folder && depth < DEPTH && !PASSED_BY.contains(&name) {
                    ahead.push_back((entry.path(), depth + 1));
                }
            }
            if files.folders.len() >= MOST_FOLDERS {
                break;
            }
        }
        files.found.sort();
        files.found.dedup();
        files
    }
}

/// `.env`, `.env.production`, `.envrc`; not `.env.example`.
pub(super) fn is_env_file(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(".env") else { return false };
    match rest.strip_prefix('.') {
        Some(kind) => {
            !EXAMPLES.iter().any(|example| kind == *example || kind.ends_with(&format!(".{example}")))
        }
        None => rest.is_empty() || rest == "rc",
    }
}
