//! How many tests passed, and which did not, from what their runner prints.

#[cfg(test)]
mod tests;

/// How many failures are named.
const MAX_FAILURES: usize = 10;
/// How much of each is.
const MAX_LENGTH: usize = 300;

/// Listens to the output of a build, of tests or of a linter, of whatever kind.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    /// None until some runner gave its numbers.
    pub(crate) counts: Option<Counts>,
    /// The names of tests that failed.
    pub(crate) failed_tests: Vec<String>,
    /// Lines that look like errors, with where they are.
    pub(crate) errors: Vec<String>,
    /// The last error wants the place that the next line gives.
    wants_place: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl Counts {
    /// How many ran at all.
    pub fn ran(self) -> u32 {
        self.passed + self.failed
    }
}

impl Tally {
    /// Takes whole lines.
    pub(crate) fn push(&mut self, text: &[u8]) {
        for line in text.split(|byte| *byte == b'\n') {
            if !line.is_empty() && line.len() < 4096 {
                self.line(&String::from_utf8_lossy(line));
            }
        }
    }

    /// What went wrong first: tests by name if there are any, else errors.
    pub(crate) fn failures(&self) -> &[String] {
        if self.failed_tests.is_empty() { &self.errors } else { &self.failed_tests }
    }

    fn line(&mut self, raw: &str) {
        let line = raw.trim();
        if self.wants_place {
            self.wants_place = false;
            if let (Some(place), Some(error)) = (line.strip_prefix("--> "), self.errors.last_mut()) {
                error.push_str(&format!(" ({place})"));
                return;
            }
        }
        if let Some(counts) = counts(line, raw) {
            let sum = self.counts.get_or_insert_default();
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            sum.skipped += counts.skipped;
        } else if let Some(numbers) = line.strip_prefix("FAILED (") {
            // Python's unittest, after the number of all: `FAILED (failures=1, errors=2, skipped=1)`
            let number = |label: &str| {
                let after = numbers.split_once(label).map_or("", |(_, after)| after);
                after.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(0)
            };
            let (failed, skipped): (u32, u32) = (number("failures=") + number("errors="), number("skipped="));
            if let Some(sum) = &mut self.counts {
                sum.passed = sum.passed.saturating_sub(failed + skipped);
                sum.failed += failed;
                sum.skipped += skipped;
            }
        } else if let Some(name) = failed_test(line, raw) {
            if raw.starts_with("--- FAIL: ") {
                self.counts.get_or_insert_default().failed += 1;
            }
            remember(&mut self.failed_tests, name);
        } else if is_error(line) {
            self.wants_place = remember(&mut self.errors, line);
        }
    }
}

/// The numbers on a line that sums up, if it is one.
fn counts(line: &str, raw: &str) -> Option<Counts> {
    // cargo test: `test result: ok. 5 passed; 1 failed; 2 ignored; 0 measured; …`
    if let Some(rest) = line.strip_prefix("test result: ") {
        return Some(labelled(rest));
    }
    // cargo nextest: `Summary [ 0.5s] 10 tests run: 9 passed, 1 failed, 2 skipped`
    if line.starts_with("Summary [") && line.contains("run:") {
        return line.split_once("run:").map(|(_, rest)| labelled(rest));
    }
    // jest: `Tests:       1 failed, 2 skipped, 5 passed, 8 total`
    if let Some(rest) = line.strip_prefix("Tests:") {
        return Some(labelled(rest));
    }
    // vitest: `Tests  1 failed | 5 passed (6)`
    if let Some(rest) = line.strip_prefix("Tests  ") {
        return Some(labelled(rest));
    }
    // pytest: `=== 1 failed, 5 passed, 2 skipped, 1 error in 0.12s ===`, with `-q` without the rule
    let bare = line.trim_matches(['=', ' ']);
    if (line.starts_with('=') || bare.starts_with(|c: char| c.is_ascii_digit()))
        && bare.contains(" in ")
        && bare.trim_end_matches(')').ends_with(|c: char| c == 's' || c.is_ascii_digit())
        && ["passed", "failed", "error", "skipped"].iter().any(|word| bare.contains(word))
        && bare.starts_with(|c: char| c.is_ascii_digit())
    {
        return bare.split_once(" in ").map(|(numbers, _)| labelled(numbers));
    }
    // mocha: `5 passing (10ms)`, `1 failing`, `2 pending`, each on a line
    let mut words = line.split_whitespace();
    if let (Some(number), Some(word @ ("passing" | "failing" | "pending"))) = (words.next(), words.next())
        && number.parse::<u32>().is_ok()
        && raw.starts_with(' ')
    {
        return Some(labelled(&format!("{number} {word}")));
    }
    // maven: `Tests run: 5, Failures: 1, Errors: 0, Skipped: 0`; one with a time is of a single class
    if let Some((_, rest)) = line.split_once("Tests run: ")
        && !line.contains("Time elapsed")
    {
        let number = |label: &str| {
            let after =
                rest.split_once(label).map_or(if label.is_empty() { rest } else { "" }, |(_, after)| after);
            after
                .trim_start()
                .split(|c: char| !c.is_ascii_digit())
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(0)
        };
        let (run, failed, skipped): (u32, u32, u32) =
            (number(""), number("Failures:") + number("Errors:"), number("Skipped:"));
        return Some(Counts { passed: run.saturating_sub(failed + skipped), failed, skipped });
    }
    // gradle, only when something failed: `5 tests completed, 1 failed, 2 skipped`
    if let Some((completed, rest)) =
        line.split_once(" tests completed,").or_else(|| line.split_once(" test completed,"))
    {
        let run: u32 = completed.parse().ok()?;
        let rest = labelled(rest);
        return Some(Counts { passed: run.saturating_sub(rest.failed + rest.skipped), ..rest });
    }
    // JUnit's console: `[         5 tests successful      ]`
    if let Some(inner) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let words: Vec<&str> = inner.split_whitespace().collect();
        if let [number, "tests", word @ ("successful" | "failed" | "skipped")] = words.as_slice() {
            return Some(labelled(&format!("{number} {word}")));
        }
    }
    // node --test: `# pass 5`, `ℹ fail 1`
    if let Some(rest) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) {
        let mut words = rest.split_whitespace();
        if let (Some(word @ ("pass" | "fail" | "skipped")), Some(number), None) =
            (words.next(), words.next(), words.next())
        {
            return Some(labelled(&format!("{number} {word}")));
        }
    }
    // go test -v: a line for each test; those of parts are indented
    for (start, label) in [("--- PASS: ", "passed"), ("--- SKIP: ", "skipped")] {
        if raw.starts_with(start) {
            return Some(labelled(&format!("1 {label}")));
        }
    }
    unittest(line)
}

/// Python's unittest gives the number of tests and of failures apart: `Ran 5 tests in 0.001s`, `FAILED (failures=1)`.
fn unittest(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("Ran ")?;
    let (number, rest) = rest.split_once(' ')?;
    rest.starts_with("test").then(|| labelled(&format!("{number} passed")))
}

/// Numbers with their word after them: `5 passed; 1 failed`.
fn labelled(text: &str) -> Counts {
    let mut counts = Counts::default();
    let mut number = None;
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        match (word.parse::<u32>().ok(), number.take()) {
            (Some(found), _) => number = Some(found),
            (None, Some(found)) => match word {
                "passed" | "passing" | "pass" | "successful" => counts.passed += found,
                "failed" | "failing" | "fail" | "error" | "errors" => counts.failed += found,
                "skipped" | "ignored" | "pending" | "todo" | "xfailed" => counts.skipped += found,
                _ => {}
            },
            (None, None) => {}
        }
    }
    counts
}

/// The name of a test that failed, if a line says so.
fn failed_test<'a>(line: &'a str, raw: &str) -> Option<&'a str> {
    if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
        return Some(name);
    }
    for start in ["FAILED ", "ERROR ", "--- FAIL: ", "not ok ", "✖ ", "● ", "× ", "✗ "] {
        if let Some(name) = line.strip_prefix(start) {
            return Some(name.trim()).filter(|name| !name.is_empty());
        }
    }
    if let Some(rest) = line.strip_prefix("FAIL ") {
        // nextest gives the time first.
        return Some(rest.split_once("] ").map_or(rest, |(_, name)| name).trim());
    }
    if let Some(name) = line.strip_suffix(" FAILED").filter(|name| name.contains(" > ")) {
        return Some(name);
    }
    let is_maven =
        line.starts_with("[ERROR]") && line.contains("<<< FAILURE!") && !line.contains("Tests run:");
    if is_maven {
        return line.strip_prefix("[ERROR]").map(str::trim);
    }
    // mocha: `  1) cart adds:`
    let (number, name) = line.split_once(") ")?;
    (raw.starts_with("  ") && number.len() < 4 && number.parse::<u32>().is_ok()).then_some(name)
}

/// Whether a line says what is wrong, in one of the ways compilers have.
fn is_error(line: &str) -> bool {
    line.starts_with("error:")
        || line.starts_with("error[")
        || line.starts_with("Error:")
        || line.starts_with("E   ")
        || line.starts_with("[ERROR] ") && line.contains(".java:")
        || line.contains(": error")
        || is_place(line)
}

/// `cart.py:3:1: F401 …`, `./cart.go:5:2: …`
fn is_place(line: &str) -> bool {
    let mut parts = line.splitn(4, ':');
    let (Some(file), Some(row), Some(column)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    file.contains('.') && !file.contains(' ') && is_number(row) && is_number(column) && parts.next().is_some()
}

/// Once each, and not without end. True when it was added.
fn remember(list: &mut Vec<String>, found: &str) -> bool {
    let found: String = found.chars().take(MAX_LENGTH).collect();
    let is_new = list.len() < MAX_FAILURES && !list.contains(&found);
    if is_new {
        list.push(found);
    }
    is_new
}
