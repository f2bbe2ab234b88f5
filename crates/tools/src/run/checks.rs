//! Which builds, tests and linters a project has, by the files in its folder.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::Path;

use serde_json::Value;

/// A manifest larger than this is none.
const MAX_MANIFEST: u64 = 1024 * 1024;

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
        if settings.contains("[tool.mypy]") || settings.contains("[mypy]") || self.has("mypy.ini") {
            self.add(CheckKind::Build, &["python3", "-m", "mypy", "."]);
        }
        self.test(&["python3", "-m", "pytest", "-q", "--color=no", "-rfE"], |filter| {
            vec!["-k".to_owned(), filter.to_owned()]
        });
        if settings.contains("[tool.ruff") || self.has("ruff.toml") || self.has(".ruff.toml") {
            self.add(CheckKind::Lint, &["ruff", "check", "--output-format=concise", "."]);
        } else if settings.contains("[flake8]") || self.has(".flake8") {
            self.add(CheckKind::Lint, &["python3", "-m", "flake8"]);
        }
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
