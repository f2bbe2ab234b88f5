//! Which builds, tests and linters a project has, by the files in its folder.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::Path;

use serde_json::Value;

/// A manifest larger than this is none.
const MAX_MANIFEST: u64 = 1024 * 1024;

/// So many files of a folder are looked at to see how its tests are made.
const MAX_TESTS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckKind {
    Build,
    Test,
    Lint,
}

impl CheckKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Test => "test",
            Self::Lint => "lint",
        }
    }
}

/// One thing that can be run to see whether the project is well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) kind: CheckKind,
    pub(crate) argv: Vec<String>,
}

/// Builds first, then tests, then linters. `filter` narrows the tests where their runner can.
pub(crate) fn detect(root: &Path, filter: Option<&str>) -> Vec<Check> {
    let mut found = Found { root, filter, checks: Vec::new() };
    found.rust();
    found.node();
    found.python();
    found.go();
    found.java();
    found.make();
    found.checks.sort_by_key(|check| check.kind);
    found.checks
}

struct Found<'a> {
    root: &'a Path,
    filter: Option<&'a str>,
    checks: Vec<Check>,
}

impl Found<'_> {
    fn has(&self, name: &str) -> bool {
        self.root.join(name).is_file()
    }

    /// The text of a small file; a pipe or a device is not opened.
    fn text(&self, name: &str) -> Option<String> {
        let path = self.root.join(name);
        let mut text = String::new();
        if path.is_file() {
            std::fs::File::open(path).ok()?.take(MAX_MANIFEST).read_to_string(&mut text).ok()?;
        }
        (!text.is_empty()).then_some(text)
    }

    fn add(&mut self, kind: CheckKind, words: &[&str]) {
        self.checks.push(Check { kind, argv: words.iter().map(|word| (*word).to_owned()).collect() });
    }

    fn test(&mut self, words: &[&str], narrow: impl FnOnce(&str) -> Vec<String>) {
        self.add(CheckKind::Test, words);
        if let (Some(filter), Some(check)) = (self.filter, self.checks.last_mut()) {
            check.argv.extend(narrow(filter));
        }
    }

    fn rust(&mut self) {
        if !self.has("Cargo.toml") {
            return;
        }
        self.add(CheckKind::Build, &["cargo", "check", "--all-targets", "--color=never"]);
        self.test(&["cargo", "test", "--no-fail-fast", "--color=never"], |filter| vec![filter.to_owned()]);
        self.add(CheckKind::Lint, &["cargo", "clippy", "--all-targets", "--color=never"]);
    }

    fn node(&mut self) {
        let Some(manifest) = self.text("package.json") else { return };
        let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
        let script = |name: &str| manifest["scripts"][name].as_str().map(str::to_owned);
        let manager =
            [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun")]
                .into_iter()
                .find(|(lock, _)| self.has(lock))
                .map_or("npm", |(_, manager)| manager);
        if script("build").is_some() {
            self.add(CheckKind::Build, &[manager, "run", "build"]);
        } else if let Some(name) = ["typecheck", "type-check"].into_iter().find(|name| script(name).is_some())
        {
            self.add(CheckKind::Build, &[manager, "run", name]);
        } else if self.has("tsconfig.json") {
            self.add(CheckKind::Build, &["npx", "--no-install", "tsc", "--noEmit", "--pretty", "false"]);
        }
        // What `npm init` puts there is no test.
        if script("test").is_some_and(|test| !test.contains("no test specified")) {
            self.test(&[manager, "run", "test"], |filter| match manager {
                "npm" => vec!["--".to_owned(), filter.to_owned()],
                _ => vec![filter.to_owned()],
            });
        }
        if script("lint").is_some() {
            self.add(CheckKind::Lint, &[manager, "run", "lint"]);
        }
    }

    fn python(&mut self) {
        let project = self.text("pyproject.toml");
        let others = ["setup.py", "setup.cfg", "requirements.txt", "pytest.ini", "tox.ini"];
        if project.is_none() && !others.iter().any(|name| self.has(name)) {
            return;
        }
        let settings = [project, self.text("setup.cfg")].into_iter().flatten().collect::<String>();
        // What a project needs is in its own environment, where it has one.
        let own = [".venv/bin/python", "venv/bin/python"].into_iter().find(|python| self.has(python));
        let python = own.map_or("python3".to_owned(), |python| format!("./{python}"));
        let python = python.as_str();
        if settings.contains("[tool.mypy]") || settings.contains("[mypy]") || self.has("mypy.ini") {
            self.add(CheckKind::Build, &[python, "-m", "mypy", "."]);
        }
        let runner: &[&str] = match self.uses_only_unittest(&settings) {
            true => &[python, "-m", "unittest", "-v"],
            false => &[python, "-m", "pytest", "-q", "--color=no", "-rfE"],
        };
        self.test(runner, |filter| vec!["-k".to_owned(), filter.to_owned()]);
        if settings.contains("[tool.ruff") || self.has("ruff.toml") || self.has(".ruff.toml") {
            self.add(CheckKind::Lint, &["ruff", "check", "--output-format=concise", "."]);
        } else if settings.contains("[flake8]") || self.has(".flake8") {
            self.add(CheckKind::Lint, &[python, "-m", "flake8"]);
        }
    }

    /// Whether its tests are made with what Python has itself, and nothing speaks of pytest, which may not be installed.
    fn uses_only_unittest(&self, settings: &str) -> bool {
        let needs = ["requirements.txt", "requirements-dev.txt", "tox.ini"];
        let speaks = settings.contains("pytest")
            || ["pytest.ini", "conftest.py", "tests/conftest.py"].iter().any(|name| self.has(name))
            || needs.iter().any(|name| self.text(name).is_some_and(|text| text.contains("pytest")));
        if speaks {
            return false;
        }
        let mut unittest = false;
        for folder in ["", "tests", "test"] {
            let entries = std::fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
            for entry in entries.take(MAX_TESTS) {
                let name = entry.file_name().to_string_lossy().into_owned();
                let is_test = name.starts_with("test") && name.ends_with(".py");
                let text =
                    is_test.then(|| self.text(&Path::new(folder).join(&name).to_string_lossy())).flatten();
                let Some(text) = text else { continue };
                if text.contains("import pytest") || text.contains("from pytest") {
                    return false;
                }
                unittest |= text.contains("unittest");
            }
        }
        unittest
    }

    fn go(&mut self) {
        if !self.has("go.mod") {
            return;
        }
        self.add(CheckKind::Build, &["go", "build", "./..."]);
        // Only with `-v` does it say which tests there were.
        self.test(&["go", "test", "-v", "./..."], |filter| vec!["-run".to_owned(), filter.to_owned()]);
        self.add(CheckKind::Lint, &["go", "vet", "./..."]);
    }

    fn java(&mut self) {
        if self.has("pom.xml") {
            let maven = if self.has("mvnw") { "./mvnw" } else { "mvn" };
            self.add(CheckKind::Build, &[maven, "-B", "-q", "test-compile"]);
            self.test(&[maven, "-B", "test"], |filter| vec![format!("-Dtest={filter}")]);
        } else if self.has("build.gradle") || self.has("build.gradle.kts") {
            let gradle = if self.has("gradlew") { "./gradlew" } else { "gradle" };
            self.add(CheckKind::Build, &[gradle, "--console=plain", "testClasses"]);
            self.test(&[gradle, "--console=plain", "test"], |filter| {
                vec!["--tests".to_owned(), filter.to_owned()]
            });
        }
    }

    /// A makefile often only calls what was found already, so it fills the gaps.
    fn make(&mut self) {
        let names = ["GNUmakefile", "Makefile", "makefile"];
        let Some(text) = names.iter().find_map(|name| self.text(name)) else { return };
        let has = |target: &str| {
            text.lines().any(|line| {
                let rest = line.strip_prefix(target).map(str::trim_start);
                rest.is_some_and(|rest| {
                    rest.starts_with(':') && !rest.starts_with(":=") && !rest.starts_with("::=")
                })
            })
        };
        for (kind, targets) in [
            (CheckKind::Build, ["build", "all"].as_slice()),
            (CheckKind::Test, &["test", "check"]),
            (CheckKind::Lint, &["lint"]),
        ] {
            if !self.checks.iter().any(|check| check.kind == kind)
                && let Some(target) = targets.iter().find(|target| has(target))
            {
                self.add(kind, &["make", target]);
            }
        }
    }
}
