//! Programs that delete, move, copy and overwrite files.

use std::path::Path;

use super::wrappers::value_of;
use super::{Call, Flow, Judge};
use crate::finding::Kind;
use crate::generated;
use crate::rules::Subject;
use crate::shell::Arg;

/// Folders that a build makes again.
const MADE_AGAIN: [&str; 30] = [
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "coverage",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".nyc_output",
    ".tox",
    ".nox",
    ".gradle",
    "bin",
    "obj",
    "tmp",
    ".svelte-kit",
    ".angular",
    ".vite",
    "htmlcov",
    ".eggs",
    "*.egg-info",
    "*.pyc",
    "storybook-static",
];

impl Judge<'_> {
    pub(super) fn deleting(&mut self, call: &Call<'_>) -> Option<Flow> {
        match call.name {
            "rm" | "grm" | "del" | "trash" | "trash-put" | "rimraf" | "srm" | "unlink" => self.removes(call),
            "shred" | "wipe" => {
                self.add(Kind::Block, "what it destroys can not be brought back", call);
            }
            "mv" | "gmv" | "rename" => self.moves(call),
            "cp" | "gcp" | "install" | "ditto" => self.copies(call),
            "ln" => {
                call.operands().iter().for_each(|arg| self.reads(arg));
                if let [.., last] = call.operands().as_slice() {
                    self.writes(last, "makes a link at");
                }
                self.add(Kind::Ask, "it makes a link", call);
            }
            "tee" | "sponge" => {
                call.operands().iter().for_each(|arg| self.writes(arg, "writes"));
                self.add(Kind::Look, "it passes on what comes in", call);
                return Some(call.input.clone());
            }
            "touch" | "mkdir" => self.makes(call),
            "dd" => self.dd(call),
            "truncate" | "fallocate" => {
                let file = call.operands();
                file.iter().filter(|arg| !arg.text.is_empty()).for_each(|arg| self.writes(arg, "cuts"));
                self.add(Kind::Ask, "it cuts files", call);
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "chflags" => self.rights(call),
            "tar" | "bsdtar" | "gtar" => self.tar(call),
            "rsync" => self.rsync(call),
            _ => return None,
        }
        Some(Flow::Data)
    }

    fn removes(&mut self, call: &Call<'_>) {
        let recursive = call.short("rR")
            || call.has(&["--recursive", "--dir"])
            || call.name == "rimraf"
            || call.args.iter().any(|arg| arg.text.len() > 3 && "--recursive".starts_with(arg.text.as_str()));
        if call.args.iter().any(|arg| arg.text.starts_with("--no-pres")) {
            self.add(Kind::Block, "it is told to delete the root", call);
        }
        let operands = call.operands();
        if operands.is_empty() {
            self.add(Kind::Ask, "it deletes", call);
        }
        for arg in operands {
            let (kind, because) = self.gravity_of_removing(arg, recursive);
            self.add(kind, because, call);
            if recursive && let Some(spot) = self.spot(arg).filter(|spot| spot.inside && !spot.whole_project)
            {
                self.loses_generated(&spot.target, call);
            }
        }
    }

    /// A person hears of what undo will not bring back.
    pub(super) fn loses_generated(&mut self, path: &Path, call: &Call<'_>) {
        // One that git has files in is kept like any other folder.
        let mut lost = generated::lost_with(path);
        lost.retain(|folder| self.around.is_ignored(folder));
        if !lost.is_empty() {
            self.add(Kind::Lose, generated::because(&lost, self.around.root()), call);
        }
    }

    fn gravity_of_removing(&mut self, arg: &Arg, recursive: bool) -> (Kind, String) {
        let shown = arg.text.replace(crate::UNKNOWN, "…");
        let grave = |grave: bool| if grave { Kind::Block } else { Kind::Ask };
        if arg.unknown() && (arg.text.starts_with(crate::UNKNOWN) || recursive) {
            let because = "it deletes what can not be known before".to_owned();
            return (grave(recursive || arg.may_split), because);
        }
        let Some(spot) = self.spot(arg) else {
            return (grave(recursive), "it deletes in a folder that can not be known before".to_owned());
        };
        self.findings.add(Kind::Look, "it deletes", Subject::Write(spot.target.clone()));
        let all = arg.glob
            && arg.text.trim_start_matches("./").starts_with(['*', '.', '?', '['])
            && !arg.text.contains('.');
        if spot.whole_project {
            return (Kind::Block, format!("`{shown}` holds the whole project"));
        }
        if spot.target.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
            return (Kind::Block, format!("`{shown}` holds the history of the project"));
        }
        if !spot.inside {
            let scratch = spot.public
                && spot.target.starts_with("/tmp")
                && spot.target.components().count() > 2
                && !arg.glob;
            return (grave(!scratch), format!("it deletes `{shown}`, which is outside the project"));
        }
        if !arg.glob {
            self.findings.destroy(spot.target.clone());
        }
        let name =
            spot.target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let made_again = MADE_AGAIN.iter().any(|pattern| crate::glob::word(pattern, &name));
        if all || (recursive && !made_again) {
            return (Kind::Block, format!("it deletes `{shown}` with all that is in it"));
        }
        let ignored = if self.around.is_ignored(&spot.target) { ", which git does not keep" } else { "" };
        (Kind::Ask, format!("it deletes `{shown}`{ignored}"))
    }

    fn moves(&mut self, call: &Call<'_>) {
        let operands = call.operands();
        self.add(Kind::Ask, "it moves files", call);
        let target = value_of(call.args, &["-t", "--target-directory"]);
        for (at, arg) in operands.iter().enumerate() {
            let last = at + 1 == operands.len() && target.is_none();
            if !last && target.is_none() && may_be_target(&operands, at) {
                self.writes(arg, "moves onto");
            }
            if last && arg.text == "/dev/null" {
                self.add(Kind::Block, "what is moved there is gone", call);
            } else if last {
                self.writes(arg, "moves onto");
            } else {
                let outside = self.spot(arg).is_none_or(|spot| !spot.inside || spot.whole_project);
                if outside {
                    self.reads(arg);
                    self.add(
                        Kind::Block,
                        format!("it takes `{}` away from where it is", arg.text.replace(crate::UNKNOWN, "…")),
                        call,
                    );
                } else if let Some(spot) = self.spot(arg) {
                    let in_git =
                        spot.target.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
                    if in_git {
                        self.add(Kind::Block, "it moves git's own data", call);
                    }
                    self.findings.destroy(spot.target);
                }
            }
        }
        if let Some(target) = target {
            self.writes(target, "moves onto");
        }
    }

    fn copies(&mut self, call: &Call<'_>) {
        let operands = call.operands();
        let target = value_of(call.args, &["-t", "--target-directory"]);
        for (at, arg) in operands.iter().enumerate() {
            if target.is_none() && operands.len() > 1 && may_be_target(&operands, at) {
                self.writes(arg, "copies onto");
            } else {
                self.reads(arg);
            }
        }
        if let Some(target) = target {
            self.writes(target, "copies onto");
        }
        self.add(Kind::Ask, "it copies files", call);
    }

    fn makes(&mut self, call: &Call<'_>) {
        let what = if call.name == "mkdir" { "a folder" } else { "an empty file" };
        let mut skip = false;
        for arg in call.args {
            let text = arg.text.as_str();
            if skip || (text.starts_with('-') && text.len() > 1) {
                skip = matches!(text, "-m" | "--mode" | "-d" | "--date" | "-t" | "-r" | "--reference");
                continue;
            }
            self.creates(arg, what);
        }
        self.add(Kind::Look, format!("it makes {what}"), call);
    }

    fn dd(&mut self, call: &Call<'_>) {
        for arg in call.args {
            match arg.text.split_once('=') {
                Some(("if", file)) => self.reads(&Arg { text: file.to_owned(), ..arg.clone() }),
                Some(("of", file)) => {
                    self.writes(&Arg { text: file.to_owned(), ..arg.clone() }, "overwrites");
                    self.add(Kind::Ask, "it writes raw data", call);
                }
                _ => {}
            }
        }
        self.add(Kind::Ask, "it copies raw data", call);
    }

    fn rights(&mut self, call: &Call<'_>) {
        let recursive = call.short("R") || call.has(&["--recursive"]);
        let operands = call.operands();
        let mode = operands.first().map(|arg| arg.text.as_str()).unwrap_or_default();
        let open = call.name == "chmod"
            && (matches!(mode.trim_start_matches('0'), "777" | "666" | "776" | "767")
                || mode.contains("+s")
                || mode.contains("a+w")
                || mode.contains("o+w")
                || mode.contains("a=rwx")
                || mode.contains("u+s")
                || (mode.trim_start_matches('0').len() == 4
                    && mode.bytes().all(|byte| byte.is_ascii_digit()))
                || mode == "+rwx"
                || mode == "ugo+rwx"
                || mode == "000");
        let owner = call.name != "chmod";
        let mut outside = false;
        for arg in operands.iter().skip(1) {
            let spot = self.spot(arg);
            outside |= spot.as_ref().is_none_or(|spot| {
                !spot.inside
                    || spot.whole_project && recursive
                    || spot.target.components().any(|part| part.as_os_str() == ".git")
            });
            if let Some(spot) = spot {
                self.findings.add(Kind::Look, "it changes rights", Subject::Write(spot.target));
            }
        }
        let kind =
            if open || outside || (owner && recursive) || mode.contains("root") || call.name == "chattr" {
                Kind::Block
            } else {
                Kind::Ask
            };
        let because = if open { "it lets everybody in" } else { "it changes who may use files" };
        self.add(kind, because, call);
    }

    fn tar(&mut self, call: &Call<'_>) {
        let runs = call.args.iter().any(|arg| {
            [
                "--to-command",
                "--checkpoint-action",
                "--use-compress-program",
                "--rsh-command",
                "--info-script",
                "--new-volume-script",
            ]
            .iter()
            .any(|flag| arg.text.starts_with(flag))
        });
        if runs || call.has(&["-I", "-F"]) {
            self.add(Kind::Block, "it is told to run a program for what it unpacks", call);
        }
        if call.has(&["--remove-files"]) {
            self.add(Kind::Block, "it deletes what it packs", call);
        }
        // Letters may come without a dash, as the first word.
        let first = call.args.first().map(|arg| arg.text.as_str()).unwrap_or_default();
        let letters: String = match first.starts_with('-') {
            true => call
                .args
                .iter()
                .filter(|arg| arg.text.starts_with('-') && !arg.text.starts_with("--"))
                .map(|arg| arg.text.as_str())
                .collect(),
            false => first.to_owned(),
        };
        let lists = letters.contains('t') || call.has(&["--list"]);
        let packs = letters.contains('c')
            || letters.contains('r')
            || letters.contains('u')
            || call.has(&["--create", "--append", "--update"]);
        for arg in call.args.iter().filter(|arg| arg.text.starts_with(['/', '~', '.'])) {
            if packs {
                self.reads(arg)
            } else if let Some(spot) = self.spot(arg).filter(|spot| !spot.inside && !lists) {
                let (kind, because) = self.gravity_of_writing(&spot, &arg.text, "unpacks at");
                self.findings.add(kind, because, Subject::Write(spot.target));
            } else {
                self.reads(arg);
            }
        }
        if packs {
            for arg in call.operands() {
                self.reads(arg);
            }
        }
        match lists && !packs {
            true => self.add(Kind::Look, "it lists an archive", call),
            false => {
                self.add(Kind::Ask, if packs { "it makes an archive" } else { "it unpacks an archive" }, call)
            }
        }
    }

    fn rsync(&mut self, call: &Call<'_>) {
        let operands = call.operands();
        let remote = |text: &str| {
            text.contains("://") || text.split_once(':').is_some_and(|(host, _)| !host.contains('/'))
        };
        if operands.iter().any(|arg| remote(&arg.text)) {
            self.findings.sends = true;
            self.findings.needs.any_host = true;
            self.add(Kind::Ask, "it copies to or from another machine", call);
        }
        if call.args.iter().any(|arg| arg.text.starts_with("--del") || arg.text == "--remove-source-files") {
            self.add(Kind::Block, "it deletes what the other side does not have", call);
        }
        if let Some(shell) = value_of(call.args, &["-e", "--rsh"]) {
            self.script_text(&shell.text, &Flow::Nothing);
            self.add(Kind::Ask, "it is told which program connects", call);
        }
        for (at, arg) in operands.iter().enumerate().filter(|(_, arg)| !remote(&arg.text)) {
            if may_be_target(&operands, at) { self.writes(arg, "copies onto") } else { self.reads(arg) }
        }
        let dry = call.has(&["--dry-run"]) || call.short("n");
        self.add(if dry { Kind::Look } else { Kind::Ask }, "it copies files", call);
    }
}

/// Whether an operand is where things go: the last one. When that can not be known it may be nothing at all, and any but the
/// first may be the one.
fn may_be_target(operands: &[&Arg], at: usize) -> bool {
    let unknown = operands
        .last()
        .is_some_and(|last| last.text.contains(crate::UNKNOWN) || last.text.starts_with("/dev/fd/"));
    at + 1 == operands.len() || (unknown && at > 0)
}
