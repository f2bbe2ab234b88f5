//! Variables that are set, and what they do to whoever reads them.

use super::Judge;
use crate::finding::Kind;
use crate::shell::{Assignment, Value};

/// Variables whose value is a program that others start.
const PROGRAMS: [&str; 27] = [
    "PAGER",
    "GIT_PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "BROWSER",
    "SHELL",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "CC",
    "CXX",
    "LD",
    "AR",
    "MAKE",
    "npm_config_script_shell",
    "LESSOPEN",
    "LESSCLOSE",
    "GIT_PROXY_COMMAND",
    "RSYNC_RSH",
    "CARGO",
];

/// Variables that make programs load or run something else.
const HIJACKS: [&str; 21] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYOPT",
    "RUBYLIB",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_COUNT",
    "GIT_DIR",
    "GIT_TEMPLATE_DIR",
];

/// Variables that change where things are found or who is talked to.
const STEERS: [&str; 17] = [
    "PATH",
    "PYTHONPATH",
    "NODE_PATH",
    "NODE_OPTIONS",
    "CLASSPATH",
    "GOFLAGS",
    "MAKEFLAGS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
    "ALL_PROXY",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "HOME",
    "KUBECONFIG",
    "DOCKER_HOST",
];

impl Judge<'_> {
    pub(super) fn assignments(&mut self, assignments: &[Assignment], alone: bool) {
        for assignment in assignments {
            let mut value = match assignment.values.as_slice() {
                [only] => self.variables.text(only),
                several => {
                    let all: Vec<Value> = several.iter().map(|word| self.variables.text(word)).collect();
                    let text = all.iter().map(|value| value.text.as_str()).collect::<Vec<_>>().join(" ");
                    Value { text, listed: all.iter().any(|value| value.listed) }
                }
            };
            if assignment.partial && assignment.values.len() == 1 {
                // Appended to whatever was there before.
                value.text = format!("{}{}", crate::UNKNOWN, value.text);
            }
            self.assign(&assignment.name, value, alone && self.uncertain == 0);
        }
    }

    /// One variable, set by whatever means.
    pub(super) fn assign(&mut self, name: &str, value: Value, certain: bool) {
        let text = value.text.trim();
        if HIJACKS.contains(&name) {
            let harmless = text.is_empty() && name != "PS4";
            let kind = if harmless { Kind::Ask } else { Kind::Block };
            self.extra(kind, format!("`{name}` makes other programs run something else"));
        } else if PROGRAMS.contains(&name) || name.ends_with("_RUNNER") || name.ends_with("_LINKER") {
            if !matches!(
                text,
                "" | "cat"
                    | "less"
                    | "more"
                    | "true"
                    | ":"
                    | "clang"
                    | "gcc"
                    | "g++"
                    | "clang++"
                    | "cc"
                    | "bash"
                    | "sh"
                    | "/bin/bash"
                    | "/bin/sh"
                    | "sccache"
                    | "vim"
                    | "vi"
                    | "nano"
                    | "ccache"
            ) {
                self.script_text(text, &super::Flow::Nothing);
                self.extra(Kind::Ask, format!("`{name}` names a program that others start"));
            }
        } else if STEERS.contains(&name) && !tame(name, text) {
            self.extra(Kind::Ask, format!("`{name}` changes what other programs find"));
        } else if name == "IFS" && certain && self.depth == 0 {
            self.extra(Kind::Ask, "it changes how words are split");
        } else if name == "RUSTFLAGS" && (text.contains("linker") || text.contains("@")) {
            self.extra(Kind::Ask, "`RUSTFLAGS` names a program");
        }
        self.variables.set(name, value, certain);
    }

    /// A variable that is looked at. Some are secrets by their name.
    pub(super) fn variable_is_read(&mut self, name: &str) {
        let upper = name.to_ascii_uppercase();
        const WORDS: [&str; 10] = [
            "SECRET",
            "TOKEN",
            "PASSWORD",
            "PASSWD",
            "API_KEY",
            "APIKEY",
            "PRIVATE_KEY",
            "ACCESS_KEY",
            "CREDENTIAL",
            "_AUTH",
        ];
        if WORDS.iter().any(|word| upper.contains(word)) && !self.variables.is_set(name) {
            self.findings.secret = true;
            self.extra(Kind::Ask, format!("`${name}` holds a secret, by its name"));
        }
    }
}

fn tame(name: &str, text: &str) -> bool {
    match name {
        "NODE_OPTIONS" => text.split_whitespace().all(|word| {
            word.starts_with("--max-old-space-size")
                || word == "--no-warnings"
                || word == "--experimental-vm-modules"
                || word == "--enable-source-maps"
                || word == "--openssl-legacy-provider"
        }),
        "MAKEFLAGS" => text.trim_start_matches("-j").bytes().all(|byte| byte.is_ascii_digit()),
        "GOFLAGS" => matches!(text, "-mod=mod" | "-mod=vendor" | "-mod=readonly" | "-count=1" | "-v" | ""),
        "PYTHONPATH" | "NODE_PATH" | "CLASSPATH" => {
            !text.is_empty()
                && text
                    .split(':')
                    .all(|part| !part.starts_with(['/', '~', crate::UNKNOWN]) && !part.contains(".."))
        }
        "PATH" => false,
        _ => text.is_empty(),
    }
}
