//! What git can be told to do beyond its subcommands.

use super::{Call, Judge};
use crate::finding::Kind;
use crate::shell::Arg;

/// Settings whose value git runs, or that change what it trusts.
const RUNS: [&str; 24] = [
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.hookspath",
    "core.askpass",
    "core.gitproxy",
    "core.attributesfile",
    "diff.external",
    "sequence.editor",
    "credential.helper",
    "gpg.program",
    "include.path",
    "init.templatedir",
    "uploadpack.packobjectshook",
    "protocol.ext.allow",
    "http.proxy",
    "remote.origin.url",
    "remote.origin.pushurl",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "ssh.variant",
    "browser.path",
    "core.worktree",
];

fn runs(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    RUNS.contains(&key.as_str())
        || ["alias.", "pager.", "includeif.", "url.", "filter.", "credential."]
            .iter()
            .any(|start| key.starts_with(start))
        || [
            ".cmd",
            ".command",
            ".textconv",
            ".driver",
            ".clean",
            ".smudge",
            ".process",
            ".helper",
            ".vcs",
            ".program",
        ]
        .iter()
        .any(|end| key.ends_with(end))
}

impl Judge<'_> {
    pub(super) fn git(&mut self, call: &Call<'_>) {
        let args = call.args;
        let mut at = 0;
        // What stands before the subcommand.
        while let Some(arg) = args.get(at) {
            let text = arg.text.as_str();
            match text {
                "-c" | "--config-env" => {
                    let setting = args.get(at + 1).map(|arg| arg.text.clone()).unwrap_or_default();
                    let (key, value) = setting.split_once('=').unwrap_or((&setting, "true"));
                    let tame = key.eq_ignore_ascii_case("core.pager") && matches!(value, "cat" | "less" | "");
                    if runs(key) && !tame {
                        self.add(Kind::Block, format!("`{key}` makes git run another program"), call);
                        self.maybe_script(value.trim_start_matches('!'));
                    }
                    at += 2;
                }
                "--exec-path" => {
                    self.add(Kind::Block, "it is told where git's own programs are", call);
                    at += 2;
                }
                "-C" | "--git-dir" | "--work-tree" | "--namespace" => {
                    if let Some(folder) = args.get(at + 1) {
                        self.git_place(folder, call);
                    }
                    at += 2;
                }
                _ if text.starts_with("--git-dir=")
                    || text.starts_with("--work-tree=")
                    || text.starts_with("--exec-path=") =>
                {
                    let folder = text.split_once('=').map_or("", |(_, folder)| folder);
                    if text.starts_with("--exec-path") {
                        self.add(Kind::Block, "it is told where git's own programs are", call);
                    }
                    self.git_place(&Arg::plain(folder), call);
                    at += 1;
                }
                _ if text.starts_with('-') => at += 1,
                _ => break,
            }
        }
        let Some((sub, rest)) = args.get(at..).and_then(<[Arg]>::split_first) else { return };
        let words: Vec<&str> = rest.iter().map(|arg| arg.text.as_str()).collect();
        let has = |flags: &[&str]| words.iter().any(|word| flags.contains(word));
        match sub.text.as_str() {
            "config" => self.git_config(&words, call),
            "push" => {
                let force = words.iter().any(|word| word.starts_with('+') || word.starts_with(':'));
                if force {
                    self.add(Kind::Block, "it overwrites or deletes a branch on another machine", call);
                }
                self.findings.sends = true;
                self.findings.needs.any_host = true;
            }
            "checkout" | "restore" => {
                let whole = words.iter().any(|word| matches!(*word, "." | ":/" | "*" | "./"));
                let discards = sub.text == "restore" && !has(&["--staged", "-S"]) || has(&["--"]) || whole;
                if discards {
                    self.add(
                        if whole { Kind::Block } else { Kind::Ask },
                        "it throws away changes that were not committed",
                        call,
                    );
                    self.git_loses(rest);
                }
            }
            "commit" => {
                if has(&["--no-verify", "-n"]) {
                    self.add(Kind::Ask, "it skips the project's hooks", call);
                }
                if self.on_protected_branch() {
                    self.add(Kind::Ask, "the branch is protected", call);
                }
            }
            "rm" | "mv" => self.git_loses(rest),
            "clean" => self.git_cleans(rest, call),
            "submodule" | "bisect" | "rebase" | "filter-branch" | "for-each-repo" | "difftool"
            | "mergetool" => {
                rest.iter().for_each(|arg| self.maybe_script(&arg.text));
                if words.first() == Some(&"foreach") {
                    self.script_text(&words[1..].join(" "), &super::Flow::Nothing);
                }
                if sub.text == "bisect" && words.first() == Some(&"run") {
                    self.inner_run(&rest[1..], &super::Flow::Nothing);
                }
                if let Some(command) = super::wrappers::value_of(rest, &["-x", "--exec", "--extcmd"]) {
                    self.script_text(&command.text, &super::Flow::Nothing);
                }
            }
            "grep"
                if words
                    .iter()
                    .any(|word| word.starts_with("-O") || word.starts_with("--open-files-in-pager")) =>
            {
                self.add(Kind::Block, "it is told to open files with a program", call);
            }
            "diff" | "log" | "show" | "archive" | "format-patch" => {
                for (at, word) in words.iter().enumerate() {
                    if let Some(file) = word.strip_prefix("--output=") {
                        self.writes(&Arg::plain(file), "overwrites");
                    } else if matches!(*word, "-o" | "--output") {
                        rest.get(at + 1).cloned().iter().for_each(|arg| self.writes(arg, "overwrites"));
                    }
                }
                if has(&["--no-index"]) {
                    rest.iter().filter(|arg| !arg.text.starts_with('-')).for_each(|arg| self.reads(arg));
                }
            }
            _ => {}
        }
        for word in &words {
            if word.starts_with("--upload-pack")
                || word.starts_with("--receive-pack")
                || word.starts_with("--exec=")
                || word.starts_with("ext::")
            {
                self.add(Kind::Block, "it is told which program to run", call);
            }
        }
        if matches!(sub.text.as_str(), "show" | "cat-file" | "blame") {
            for word in &words {
                let file = word.rsplit(':').next().unwrap_or(word);
                if crate::files::names_a_secret(file.rsplit('/').next().unwrap_or(file)) && file.contains('.')
                {
                    self.findings.secret = true;
                    self.add(Kind::Ask, format!("`{file}` holds secrets, by its name"), call);
                }
            }
        }
    }

    /// Files that will not be as they were.
    fn git_loses(&mut self, args: &[Arg]) {
        for arg in args.iter().filter(|arg| !arg.text.starts_with('-')) {
            if let Some(spot) = self.spot(arg).filter(|spot| spot.inside && spot.target.exists()) {
                self.findings.destroy(spot.target);
            }
        }
    }

    /// With `-x` or `-X` git deletes what it ignores, and with `-d` whole folders of it.
    fn git_cleans(&mut self, args: &[Arg], call: &Call<'_>) {
        let (mut letters, mut places, mut words) = (String::new(), Vec::new(), args.iter());
        while let Some(arg) = words.next() {
            match arg.text.strip_prefix('-') {
                None => places.push(arg),
                Some("-dry-run") => return,
                Some("-exclude") => drop(words.next()),
                Some(long) if long.starts_with('-') => {}
                Some(short) => {
                    // Behind `e` stands a pattern and no more letters: in this word, or as the next one.
                    let (flags, pattern) = short.split_once('e').unwrap_or((short, "none"));
                    letters.push_str(flags);
                    if pattern.is_empty() {
                        words.next();
                    }
                }
            }
        }
        if letters.contains('n') {
            return;
        }
        let here = Arg::plain(".");
        let places = if places.is_empty() { vec![&here] } else { places };
        let spots: Vec<_> = places.into_iter().filter_map(|place| self.spot(place)).collect();
        for spot in spots.into_iter().filter(|spot| spot.inside) {
            if letters.contains(['x', 'X']) && letters.contains('d') {
                self.loses_generated(&spot.target, call);
            }
            self.findings.destroy(spot.target);
        }
    }

    fn git_place(&mut self, folder: &Arg, call: &Call<'_>) {
        match self.spot(folder) {
            Some(spot) if spot.inside => {}
            _ => self.add(Kind::Ask, "it works in another repository, whose settings can run programs", call),
        }
    }

    fn git_config(&mut self, words: &[&str], call: &Call<'_>) {
        let reads = words.iter().any(|word| {
            matches!(
                *word,
                "--get" | "--list" | "-l" | "--get-all" | "--get-regexp" | "get" | "list" | "--show-origin"
            )
        });
        let operands: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let operands: &[&str] = match operands.first() {
            Some(&"set" | &"unset" | &"get" | &"list" | &"edit") => &operands[1..],
            _ => &operands,
        };
        if reads
            || (operands.len() == 1
                && !words
                    .iter()
                    .any(|word| word.starts_with("--un") || matches!(*word, "unset" | "-e" | "--edit")))
        {
            return self.add(Kind::Look, "it shows settings of git", call);
        }
        let key = operands.first().copied().unwrap_or_default();
        let wide = words.iter().any(|word| matches!(*word, "--global" | "--system" | "-f" | "--file"));
        let kind = if runs(key) { Kind::Block } else { Kind::Ask };
        let because = match (runs(key), wide) {
            (true, _) => format!("`{key}` makes git run another program"),
            (false, true) => "it changes settings of git for every project".to_owned(),
            (false, false) => "it changes settings of git".to_owned(),
        };
        self.add(kind, because, call);
        if let Some(value) = operands.get(1) {
            self.maybe_script(value.trim_start_matches('!'));
        }
    }

    /// Whether the branch that is checked out is one of those.
    fn on_protected_branch(&self) -> bool {
        let head = std::fs::read_to_string(self.around.root().join(".git/HEAD")).unwrap_or_default();
        match head.trim().strip_prefix("ref: refs/heads/") {
            Some(branch) => {
                self.around.protected_branches.iter().any(|pattern| crate::glob::word(pattern, branch))
            }
            // A linked worktree, or no branch at all: not known, so protected.
            None => true,
        }
    }
}
