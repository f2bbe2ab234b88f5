//! `find` and its like, which can do more than find.

use super::wrappers::command_at;
use super::{Call, Flow, Judge};
use crate::UNKNOWN;
use crate::finding::Kind;
use crate::shell::Arg;

impl Judge<'_> {
    pub(super) fn searching(&mut self, call: &Call<'_>) -> Option<Flow> {
        match call.name {
            "find" | "gfind" => Some(self.find(call)),
            "fd" | "fdfind" => Some(self.fd(call)),
            "rg" | "ripgrep" => {
                for arg in call.args {
                    if arg.text.starts_with("--pre=")
                        || arg.text == "--pre"
                        || arg.text.starts_with("--hostname-bin")
                    {
                        self.add(Kind::Block, "it is told to run a program on every file", call);
                    }
                }
                None
            }
            _ => None,
        }
    }

    fn find(&mut self, call: &Call<'_>) -> Flow {
        let args = call.args;
        let mut at = 0;
        // Options that come before the places to look.
        while args.get(at).is_some_and(|arg| {
            matches!(arg.text.as_str(), "-H" | "-L" | "-P") || arg.text.starts_with("-O") || arg.text == "-D"
        }) {
            at += if args[at].text == "-D" { 2 } else { 1 };
        }
        let mut inside = true;
        while let Some(arg) =
            args.get(at).filter(|arg| !arg.text.starts_with(['-', '(', '!']) && arg.text != "\\(")
        {
            inside &= self.spot(arg).is_some_and(|spot| spot.inside);
            self.reads(arg);
            at += 1;
        }
        self.add(Kind::Look, "it searches for files", call);
        let after_secrets = !inside
            && args[at..]
                .iter()
                .any(|arg| crate::files::names_a_secret(&arg.text) || arg.text.contains(".ssh"));
        if after_secrets {
            self.add(Kind::Block, "it searches for secrets outside the project", call);
        }
        if args[at..].iter().any(|arg| arg.unknown() && arg.may_split && !arg.listed) {
            self.add(Kind::Ask, "what it is told to do with what it finds can not be known before", call);
        }
        while let Some(arg) = args.get(at) {
            at += 1;
            match arg.text.as_str() {
                "-delete" => self.add(Kind::Block, "it deletes everything that it finds", call),
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                    if let Some(file) = args.get(at) {
                        self.writes(file, "overwrites");
                    }
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let length = args[at..]
                        .iter()
                        .position(|arg| matches!(arg.text.as_str(), ";" | "+" | "\\;"))
                        .unwrap_or(args.len() - at);
                    self.for_each_found(&args[at..at + length], inside);
                    at += length;
                }
                _ => {}
            }
        }
        if inside { Flow::Listed } else { Flow::Data }
    }

    fn fd(&mut self, call: &Call<'_>) -> Flow {
        self.add(Kind::Look, "it searches for files", call);
        const RUNS: [&str; 4] = ["-x", "-X", "--exec", "--exec-batch"];
        if let Some(at) = call.args.iter().position(|arg| RUNS.contains(&arg.text.as_str())) {
            let rest = &call.args[at + 1..];
            let start = command_at(rest, &[], 0);
            self.for_each_found(&rest[start..], true);
            self.add(Kind::Ask, "it runs a command on what it finds", call);
        }
        let operands = call.operands();
        operands.iter().skip(1).for_each(|arg| self.reads(arg));
        Flow::Listed
    }

    /// The command that runs on what was found.
    fn for_each_found(&mut self, words: &[Arg], inside: bool) {
        let found = |arg: &Arg| Arg {
            text: arg.text.replace("{}", &UNKNOWN.to_string()),
            listed: inside && arg.text.contains("{}"),
            may_split: arg.text.contains("{}"),
            ..arg.clone()
        };
        let words: Vec<Arg> = words.iter().map(found).collect();
        self.inner_run(&words, &Flow::Nothing);
    }
}
