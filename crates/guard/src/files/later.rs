//! Files whose content runs sooner or later, so that writing them is running them.

use std::path::Path;

use crate::glob;

/// In a project, by path from its root.
const IN_PROJECT: [(&str, &str); 34] = [
    (".github/workflows/**", "the build server runs it"),
    (".github/actions/**", "the build server runs it"),
    (".gitlab-ci.yml", "the build server runs it"),
    (".circleci/**", "the build server runs it"),
    (".buildkite/**", "the build server runs it"),
    (".travis.yml", "the build server runs it"),
    ("azure-pipelines.yml", "the build server runs it"),
    ("bitbucket-pipelines.yml", "the build server runs it"),
    ("Jenkinsfile", "the build server runs it"),
    (".drone.yml", "the build server runs it"),
    (".husky/**", "git runs it as a hook"),
    (".githooks/**", "git runs it as a hook"),
    (".pre-commit-config.yaml", "git runs it as a hook"),
    ("lefthook.yml", "git runs it as a hook"),
    (".gitattributes", "it can name filters that git runs"),
    (".gitmodules", "it names repositories that git fetches"),
    ("**/package.json", "its scripts run"),
    (".envrc", "the shell runs it on entering the folder"),
    (".vscode/tasks.json", "the editor runs it"),
    (".vscode/settings.json", "the editor acts on it"),
    (".vscode/launch.json", "the editor runs it"),
    (".idea/**", "the editor acts on it"),
    (".devcontainer/**", "the editor runs it"),
    (".cargo/**", "cargo runs what it names"),
    (".npmrc", "npm acts on it"),
    (".yarnrc", "yarn runs what it names"),
    (".yarnrc.yml", "yarn runs what it names"),
    (".pnpmfile.cjs", "pnpm runs it"),
    (".mcp.json", "it names programs that agents start"),
    (".covey/**", "covey acts on it"),
    (".claude/**", "agents act on it"),
    (".cursor/**", "agents act on it"),
    (".codex/**", "agents act on it"),
    (".gemini/**", "agents act on it"),
];

/// Below the home folder.
const AT_HOME: [&str; 36] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".gitconfig",
    ".config/git/**",
    ".config/fish/**",
    ".config/autostart/**",
    ".config/systemd/**",
    ".local/bin/**",
    "bin/**",
    ".vimrc",
    ".vim/**",
    ".config/nvim/**",
    ".emacs",
    ".emacs.d/**",
    ".tmux.conf",
    ".xinitrc",
    ".xprofile",
    ".ssh/**",
    ".config/covey/**",
    ".cargo/**",
    ".npmrc",
    ".pythonrc",
    "Library/LaunchAgents/**",
];

const OF_THE_SYSTEM: [&str; 13] = [
    "/etc",
    "/boot",
    "/lib",
    "/lib64",
    "/usr",
    "/bin",
    "/sbin",
    "/var/spool/cron",
    "/opt",
    "/root",
    "/Library",
    "/System",
    "/sys",
];

pub(super) fn later(target: &Path, root: &Path, user_home: &Path, inside: bool) -> Option<&'static str> {
    let is_git = |part: std::path::Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    let below_root = target.strip_prefix(root).ok();
    if below_root.unwrap_or(target).components().any(is_git) {
        return Some("it is git's own data, where hooks and programs are named");
    }
    if let Some(below) = below_root.filter(|_| inside) {
        let below = below.to_string_lossy();
        return IN_PROJECT.iter().find(|(pattern, _)| glob::path(pattern, &below)).map(|(_, why)| *why);
    }
    if let Ok(below) = target.strip_prefix(user_home) {
        let below = below.to_string_lossy();
        if AT_HOME.iter().any(|pattern| glob::path(pattern, &below)) {
            return Some("programs read it when they start");
        }
    }
    OF_THE_SYSTEM.iter().any(|folder| target.starts_with(folder)).then_some("it belongs to the system")
}
