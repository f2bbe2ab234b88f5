//! Making sense of `git status --porcelain=v2 -z`, in which a file name can be anything but NUL.

#[cfg(test)]
mod tests;

/// How many names of one kind are listed.
const MAX_NAMES: usize = 200;

/// The state of a checkout for the model, and a few words for the person.
pub(crate) fn describe(porcelain: &[u8]) -> (String, String) {
    let status = Status::parse(&String::from_utf8_lossy(porcelain));
    (status.text(), status.summary())
}

#[derive(Debug, Default, PartialEq)]
struct Status {
    commit: String,
    branch: String,
    upstream: Option<String>,
    ahead_behind: Option<String>,
    conflicts: Vec<String>,
    staged: Vec<String>,
    unstaged: Vec<String>,
    untracked: Vec<String>,
}

impl Status {
    fn parse(text: &str) -> Self {
        let mut status = Self::default();
        let mut records = text.split('\0');
        while let Some(record) = records.next() {
            let Some((kind, rest)) = record.split_once(' ') else { continue };
            match kind {
                "#" => status.header(rest),
                // XY sub mH mI mW hH hI path
                "1" => status.changed(rest, rest.splitn(8, ' ').nth(7), None),
                // XY sub mH mI mW hH hI score path, and the old path as a record of its own
                "2" => status.changed(rest, rest.splitn(9, ' ').nth(8), records.next()),
                "u" => status.conflicts.extend(rest.splitn(10, ' ').nth(9).map(shown)),
                "?" => status.untracked.push(shown(rest)),
                _ => {}
            }
        }
        status
    }

    fn header(&mut self, rest: &str) {
        match rest.split_once(' ') {
            Some(("branch.oid", commit)) => self.commit = commit.chars().take(9).collect(),
            Some(("branch.head", branch)) => self.branch = branch.to_owned(),
            Some(("branch.upstream", upstream)) => self.upstream = Some(upstream.to_owned()),
            Some(("branch.ab", counts)) => self.ahead_behind = Some(counts.to_owned()),
            _ => {}
        }
    }

    fn changed(&mut self, rest: &str, path: Option<&str>, from: Option<&str>) {
        let mut letters = rest.chars();
        let (Some(index), Some(tree), Some(path)) = (letters.next(), letters.next(), path) else { return };
        let name = match from {
            Some(from) => format!("{} -> {}", shown(from), shown(path)),
            None => shown(path),
        };
        if index != '.' {
            self.staged.push(format!("{index} {name}"));
        }
        if tree != '.' {
            self.unstaged.push(format!("{tree} {}", shown(path)));
        }
    }

    fn text(&self) -> String {
        let mut text = match self.branch.as_str() {
            "(detached)" => format!("detached HEAD at {}", self.commit),
            branch if self.commit == "(initial)" => format!("on {branch}, no commits yet"),
            branch => format!("on {branch} at {}", self.commit),
        };
        if let Some(upstream) = &self.upstream {
            let counts = self.ahead_behind.as_deref().unwrap_or("gone");
            text.push_str(&format!(", upstream {upstream} {counts}"));
        }
        text.push('\n');
        for (title, names) in [
            ("conflicts", &self.conflicts),
            ("staged", &self.staged),
            ("not staged", &self.unstaged),
            ("untracked", &self.untracked),
        ] {
            if names.is_empty() {
                continue;
            }
            text.push_str(&format!("{title}:\n"));
            names.iter().take(MAX_NAMES).for_each(|name| text.push_str(&format!("  {name}\n")));
            if names.len() > MAX_NAMES {
                text.push_str(&format!("  … and {} more\n", names.len() - MAX_NAMES));
            }
        }
        if self.is_clean() {
            text.push_str("nothing changed\n");
        }
        text
    }

    fn is_clean(&self) -> bool {
        [&self.conflicts, &self.staged, &self.unstaged, &self.untracked].iter().all(|names| names.is_empty())
    }

    fn summary(&self) -> String {
        if self.is_clean() {
            return "clean".to_owned();
        }
        let counts = [
            (self.conflicts.len(), "in conflict"),
            (self.staged.len(), "staged"),
            (self.unstaged.len(), "not staged"),
            (self.untracked.len(), "untracked"),
        ];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        parts.join(", ")
    }
}

/// A name on one line, quoted when it would not be read as one otherwise.
fn shown(name: &str) -> String {
    if name.chars().any(|c| c.is_control()) || name.starts_with(' ') || name.ends_with(' ') {
        format!("{name:?}")
    } else {
        name.to_owned()
    }
}
