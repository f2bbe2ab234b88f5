//! Package managers and task runners: what a name stands for.

use super::wrappers::{command_at, value_of};
use super::{Call, Flow, Judge};
use crate::finding::Kind;
use crate::knowledge;
use crate::shell::Arg;

impl Judge<'_> {
    pub(super) fn packages(&mut self, call: &Call<'_>) -> Option<Flow> {
        match call.name {
            "npm" | "pnpm" | "yarn" | "bun" => self.node_packages(call),
            "npx" | "bunx" | "pnpx" | "uvx" => {
                let at = command_at(call.args, &["-p", "--package", "--from", "--with", "--python"], 0);
                if let Some(text) = value_of(&call.args[..at], &["-c", "--call"]) {
                    self.script_text(&text.text, call.input);
                }
                Some(self.downloaded_tool(call, &call.args[at..]))
            }
            "pipx" if call.args.first().is_some_and(|arg| arg.text == "run") => {
                Some(self.downloaded_tool(call, &call.args[1..]))
            }
            "poetry" | "pipenv" | "hatch" | "pdm" | "rye" | "uv" | "conda" | "mamba" | "pixi" | "dotenvx" => {
                if call.args.first().is_none_or(|arg| arg.text != "run") {
                    return None;
                }
                const VALUES: [&str; 14] = [
                    "-n",
                    "--name",
                    "--python",
                    "-p",
                    "--with",
                    "--group",
                    "--extra",
                    "--project",
                    "--directory",
                    "--package",
                    "--env-file",
                    "-f",
                    "-e",
                    "--no-group",
                ];
                let rest = &call.args[1..];
                let at = command_at(rest, &VALUES, 0);
                let inner = &rest[at..];
                if inner.first().is_some_and(|arg| arg.text.ends_with(".py")) {
                    self.add(Kind::Ask, "it runs a script", call);
                    return Some(Flow::Data);
                }
                self.add(Kind::Build, "it runs in the project's environment", call);
                Some(self.inner_run(inner, call.input))
            }
            "mise" | "asdf" | "direnv" | "nix" | "nix-shell" | "devbox" | "volta" | "fnm" | "rustup"
            | "rbenv" | "pyenv" => {
                let at = call.args.iter().position(|arg| {
                    matches!(arg.text.as_str(), "--" | "-c" | "--command" | "--run" | "exec" | "x" | "run")
                })?;
                let rest = &call.args[at + 1..];
                let rest = if rest.first().is_some_and(|arg| arg.text == "--") { &rest[1..] } else { rest };
                match call.args[at].text.as_str() {
                    "--run" => self.script_text(
                        &rest.first().map(|arg| arg.text.clone()).unwrap_or_default(),
                        call.input,
                    ),
                    // The folder, version or toolchain comes first.
                    "exec" | "run" if matches!(call.name, "direnv" | "rustup") => {
                        self.inner_run(rest.get(1..).unwrap_or_default(), call.input);
                    }
                    _ => {
                        self.inner_run(rest, call.input);
                    }
                }
                self.add(Kind::Build, "it runs in the project's environment", call);
                Some(Flow::Data)
            }
            "make" | "gmake" | "just" | "task" | "rake" | "ninja" | "mage" | "invoke" | "gulp" | "grunt"
            | "nx" | "turbo" | "lerna" | "scons" | "bazel" | "bazelisk" | "buck2" | "gradle" | "gradlew"
            | "mvn" | "mvnw" | "sbt" | "lein" | "ant" | "tox" | "nox" | "mix" | "meson" => self.tasks(call),
            _ => None,
        }
    }

    fn node_packages(&mut self, call: &Call<'_>) -> Option<Flow> {
        const VALUES: [&str; 12] = [
            "--prefix",
            "-C",
            "--dir",
            "--cwd",
            "-w",
            "--workspace",
            "--filter",
            "-F",
            "--loglevel",
            "--registry",
            "--cache",
            "--userconfig",
        ];
        let at = command_at(call.args, &VALUES, 0);
        let rest = &call.args[at..];
        if let Some(folder) = value_of(call.args, &["--prefix", "-C", "--dir", "--cwd"]) {
            self.reads(folder);
        }
        let word = |at: usize| rest.get(at).map(|arg| arg.text.as_str()).unwrap_or_default();
        let script = match (call.name, word(0)) {
            (_, "run" | "run-script" | "rum") => {
                word(1 + command_at(rest.get(1..).unwrap_or_default(), &VALUES, 0))
            }
            (_, "test" | "t" | "tst") => "test",
            ("yarn" | "pnpm", "workspace") => word(if word(2) == "run" { 3 } else { 2 }),
            ("yarn" | "pnpm" | "bun", name) if looks_like_task(name) => name,
            (_, "exec" | "x" | "dlx") => {
                let inner = &rest[1..];
                let start = command_at(inner, &["-p", "--package"], 0);
                if let Some(text) = value_of(inner, &["-c", "--call"]) {
                    self.script_text(&text.text, call.input);
                }
                return Some(self.downloaded_tool(call, &inner[start..]));
            }
            _ => {
                // `yarn eslint .` runs the project's copy of a tool.
                if matches!(call.name, "yarn" | "pnpm")
                    && knowledge::find(word(0)).is_some_and(knowledge::Known::is_tool)
                {
                    return Some(self.downloaded_tool(call, rest));
                }
                return None;
            }
        };
        if script.is_empty() {
            self.add(Kind::Look, "it lists the project's tasks", call);
            return Some(Flow::Data);
        }
        let kind = rest.iter().fold(task(script), |kind, arg| match arg.text.as_str() {
            "--fix" | "--write" => kind.max(Kind::Format),
            "-u" | "--updateSnapshot" | "--update" => kind.max(Kind::Format),
            "--watch" | "--watchAll" => kind.max(Kind::Ask),
            _ => kind,
        });
        self.add(kind, task_words(kind, script), call);
        Some(Flow::Data)
    }

    /// A tool that is run by its package's name, and downloaded if it is not there.
    fn downloaded_tool(&mut self, call: &Call<'_>, rest: &[Arg]) -> Flow {
        let Some(first) = rest.first() else {
            self.add(Kind::Ask, "it names no tool", call);
            return Flow::Data;
        };
        let name = first
            .text
            .split_once('@')
            .filter(|(name, _)| !name.is_empty())
            .map_or(first.text.as_str(), |(name, _)| name);
        if knowledge::find(name).is_some_and(knowledge::Known::is_tool) {
            let mut inner = rest.to_vec();
            inner[0] = Arg::plain(name);
            self.add(Kind::Build, "it runs the project's copy of a tool", call);
            return self.inner_run(&inner, call.input);
        }
        self.add(
            Kind::Ask,
            format!("it downloads and runs `{}`", first.text.replace(crate::UNKNOWN, "…")),
            call,
        );
        rest.iter().for_each(|arg| self.maybe_script(&arg.text));
        if knowledge::is_grave(name) {
            self.inner_run(rest, call.input);
        }
        Flow::Data
    }

    /// `make test`, `just lint`, `./gradlew build`.
    fn tasks(&mut self, call: &Call<'_>) -> Option<Flow> {
        const VALUES: [&str; 30] = [
            "-C",
            "-f",
            "-j",
            "-l",
            "-o",
            "-W",
            "-I",
            "--file",
            "--makefile",
            "--directory",
            "--jobs",
            "-p",
            "-d",
            "-t",
            "-D",
            "--justfile",
            "--working-directory",
            "--project-dir",
            "-b",
            "-c",
            "-x",
            "--exclude-task",
            "--tests",
            "-pl",
            "--projects",
            "-P",
            "-e",
            "--target",
            "--projects",
            "--filter",
        ];
        let mut targets = Vec::new();
        let mut skip = false;
        for arg in call.args {
            let text = arg.text.as_str();
            if skip {
                skip = false;
                if text.starts_with(['/', '~', '.']) {
                    self.reads(arg);
                }
                continue;
            }
            if text.starts_with("--eval")
                || text == "-E"
                || text.starts_with("--init-script")
                || text == "-I" && call.name.starts_with("gradle")
            {
                self.add(Kind::Block, "it is told to run something that is not in the project", call);
                self.maybe_script(text.split_once('=').map_or("", |(_, value)| value));
            }
            if text == "--" {
                continue;
            }
            if text.starts_with('-') {
                skip = VALUES.contains(&text) && !(text == "-d" && call.name.starts_with("mvn"));
                continue;
            }
            match text.split_once('=') {
                Some((name, value)) => {
                    if matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKE" | "CC" | "CXX" | "LD") {
                        self.maybe_script(value);
                        self.maybe_script(&format!("{value} -c x"));
                        self.add(Kind::Block, format!("`{name}` makes it run another program"), call);
                    }
                    self.maybe_script(value);
                    if arg.unknown() {
                        self.add(Kind::Ask, "a value it gets can not be known before", call);
                    }
                }
                None => targets.push(text),
            }
        }
        let subcommands =
            matches!(call.name, "nx" | "turbo" | "lerna" | "bazel" | "bazelisk" | "buck2" | "meson" | "mix");
        if subcommands {
            let first = targets.first().copied().unwrap_or_default();
            targets = match (call.name, first) {
                ("nx" | "turbo" | "lerna", "run" | "run-many" | "affected") => targets[1..].to_vec(),
                _ => vec![first],
            };
        }
        if targets.is_empty() {
            let shows = call.has(&[
                "--list",
                "-l",
                "--summary",
                "-T",
                "--tasks",
                "-n",
                "--dry-run",
                "--version",
                "-v",
            ]);
            let kind = if shows { Kind::Look } else { Kind::Build };
            self.add(kind, if shows { "it lists tasks" } else { "it builds the project" }, call);
        }
        for target in targets {
            let last = target.rsplit(':').next().unwrap_or(target);
            let kind = if target.contains(crate::UNKNOWN) { Kind::Ask } else { task(target).min(task(last)) };
            self.add(kind, task_words(kind, target), call);
        }
        Some(Flow::Data)
    }
}

/// What a task with this name does, as far as names go.
fn task(name: &str) -> Kind {
    // `testDebugUnitTest` is several words too.
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            spaced.push('-');
        }
        spaced.push(c.to_ascii_lowercase());
    }
    let name = spaced;
    let parts: Vec<&str> = name.split([':', '-', '_', '.', '/']).collect();
    let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
    if has(&[
        "deploy",
        "publish",
        "release",
        "push",
        "migrate",
        "seed",
        "reset",
        "drop",
        "destroy",
        "clean",
        "clobber",
        "prune",
        "uninstall",
        "install",
        "start",
        "serve",
        "dev",
        "watch",
        "exec",
        "run",
        "up",
        "down",
        "upload",
        "delete",
        "nuke",
        "distclean",
        "purge",
        "preinstall",
        "postinstall",
    ]) {
        return Kind::Ask;
    }
    if has(&["fix", "format", "fmt", "write", "prettier", "spotless"]) {
        return if has(&["check"]) { Kind::Build } else { Kind::Format };
    }
    const KNOWN: [&str; 53] = [
        "test",
        "tests",
        "unit",
        "integration",
        "e2e",
        "spec",
        "build",
        "compile",
        "lint",
        "eslint",
        "check",
        "checks",
        "typecheck",
        "types",
        "tsc",
        "type",
        "coverage",
        "cov",
        "ci",
        "all",
        "verify",
        "validate",
        "vet",
        "clippy",
        "bench",
        "docs",
        "doc",
        "html",
        "tasks",
        "tree",
        "dependencies",
        "projects",
        "package",
        "assemble",
        "classes",
        "testclasses",
        "jar",
        "bundle",
        "debug",
        "analyze",
        "stylelint",
        "mypy",
        "pytest",
        "ruff",
        "jest",
        "vitest",
        "style",
        "audit",
        "quick",
        "help",
        "list",
        "spotlesscheck",
        "checkstyle",
    ];
    if has(&KNOWN) { Kind::Build } else { Kind::Ask }
}

fn looks_like_task(name: &str) -> bool {
    !matches!(name, "audit" | "list" | "help" | "run" | "bundle" | "check" | "install")
        && !name.starts_with('-')
        && matches!(task(name), Kind::Build | Kind::Format)
        && knowledge::find(name).is_none_or(|known| !known.is_tool())
}

fn task_words(kind: Kind, name: &str) -> String {
    let name = name.replace(crate::UNKNOWN, "…");
    match kind {
        Kind::Build => format!("the task `{name}` builds, tests or checks, by its name"),
        Kind::Format => format!("the task `{name}` rewrites files, by its name"),
        _ => format!("what the task `{name}` does is not known"),
    }
}
