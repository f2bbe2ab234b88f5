//! Programs that run other programs, and how to find those in their arguments.

use super::{Call, Flow, Judge, output};
use crate::UNKNOWN;
use crate::finding::Kind;
use crate::shell::{Arg, Value};

/// A wrapper that changes nothing about what it runs: the flags that take a value, and how many operands come before
/// the command.
const PLAIN: [(&str, &[&str], usize); 26] = [
    ("nice", &["-n", "--adjustment"], 0),
    ("nohup", &[], 0),
    ("timeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    ("gtimeout", &["-s", "--signal", "-k", "--kill-after"], 1),
    ("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    ("setsid", &[], 0),
    ("ionice", &["-c", "-n", "-p", "--class", "--classdata"], 0),
    ("taskset", &["-c", "--cpu-list", "-p"], 1),
    ("chrt", &["-T", "-P", "-D"], 1),
    ("unbuffer", &[], 0),
    ("time", &["-f", "--format", "-o", "--output"], 0),
    ("caffeinate", &["-t", "-w"], 0),
    ("faketime", &["-f"], 1),
    ("cross-env", &[], 0),
    ("cross-env-shell", &[], 0),
    ("dotenv", &["-e", "-c", "-v"], 0),
    ("bundle", &[], 0),
    ("sccache", &[], 0),
    ("ccache", &[], 0),
    ("xvfb-run", &["-s", "-n", "-e", "--server-args", "--server-num"], 0),
    ("fakeroot", &["-l", "-s", "-i", "-b"], 0),
    ("command", &[], 0),
    ("builtin", &[], 0),
    ("exec", &["-a"], 0),
    ("noglob", &[], 0),
    ("chronic", &[], 0),
];

/// Wrappers that change who runs it, or what it can reach.
const POWERFUL: [(&str, &[&str], usize); 14] = [
    (
        "sudo",
        &[
            "-u", "--user", "-g", "--group", "-h", "--host", "-p", "--prompt", "-C", "-r", "-t", "-T", "-D",
            "-R",
        ],
        0,
    ),
    ("doas", &["-u", "-C"], 0),
    ("pkexec", &["--user"], 0),
    ("runuser", &["-u", "--user", "-g", "-G", "-s"], 0),
    ("su", &["-s", "-g", "-G", "--shell"], 0),
    ("chroot", &["--userspec", "--groups"], 1),
    ("unshare", &["-S", "-G", "--setuid", "--setgid", "--root", "--wd"], 0),
    ("nsenter", &["-t", "--target", "-S", "-G"], 0),
    ("setpriv", &["--reuid", "--regid", "--groups"], 0),
    ("machinectl", &[], 0),
    ("systemd-run", &["-u", "--unit", "-p", "--property", "--uid", "--gid"], 0),
    ("capsh", &[], 0),
    ("gosu", &[], 1),
    ("su-exec", &[], 1),
];

/// Wrappers that look into what they run.
const WATCHERS: [(&str, &[&str], usize); 10] = [
    ("strace", &["-e", "-o", "-p", "-s", "-P", "-E", "-u"], 0),
    ("ltrace", &["-e", "-o", "-p", "-s"], 0),
    ("valgrind", &[], 0),
    ("perf", &["-e", "-o", "-F"], 1),
    ("gdb", &["-ex", "-x", "-p"], 0),
    ("lldb", &["-o", "-s", "-p"], 0),
    ("rr", &[], 1),
    ("heaptrack", &["-o"], 0),
    ("proxychains", &["-f"], 0),
    ("torsocks", &[], 0),
];

pub(super) const SHELLS: [&str; 12] =
    ["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh", "rbash", "csh", "tcsh", "osh"];

impl Judge<'_> {
    /// What a wrapper runs; nothing if it is none.
    pub(super) fn wrapper(&mut self, call: &Call<'_>) -> Option<Flow> {
        let args = call.args;
        if let Some((_, values, skip)) = PLAIN.iter().find(|(name, ..)| *name == call.name) {
            return self.plain(call, values, *skip);
        }
        if let Some((_, values, skip)) = POWERFUL.iter().find(|(name, ..)| *name == call.name) {
            self.add(Kind::Block, format!("`{}` acts with rights that are not yours", call.name), call);
            if let Some(script) = value_of(args, &["-c", "--command"]) {
                self.script_text(&script.text, call.input);
            }
            let at = command_at(args, values, *skip);
            return Some(self.inner_run(&args[at..], call.input));
        }
        if let Some((_, values, skip)) = WATCHERS.iter().find(|(name, ..)| *name == call.name) {
            self.add(Kind::Ask, format!("`{}` looks into another program", call.name), call);
            let at = command_at(args, values, *skip);
            return Some(self.inner_run(&args[at..], call.input));
        }
        if SHELLS.contains(&call.name) {
            return Some(self.shell_program(call));
        }
        match call.name {
            "env" => Some(self.env(call)),
            "eval" => {
                let text = join(args);
                if text.contains(UNKNOWN) {
                    self.add(Kind::Ask, "`eval` runs text that can not be known before", call);
                }
                self.script_text(&text, call.input);
                Some(Flow::Data)
            }
            "source" | "." => {
                if let [file, ..] = args {
                    self.reads(file);
                    if file.text.starts_with("/dev/fd") || file.text.starts_with("/dev/stdin") {
                        self.add(Kind::Block, "it runs what another command prints", call);
                    }
                    self.runs_file(&file.text, call);
                }
                self.add(Kind::Ask, "it runs a script", call);
                Some(Flow::Data)
            }
            "busybox" | "toybox" => Some(self.inner_run(args, call.input)),
            "xargs" | "gxargs" | "parallel" => Some(self.xargs(call)),
            "watch" | "hyperfine" | "entr" | "concurrently" | "nodemon" => {
                self.add(Kind::Ask, format!("`{}` runs a command again and again", call.name), call);
                let at = command_at(
                    args,
                    &["-n", "--interval", "-w", "--warmup", "-r", "--runs", "-e", "--exec", "-d"],
                    0,
                );
                self.script_text(&join(&args[at..]), call.input);
                Some(Flow::Data)
            }
            "script" => {
                self.add(Kind::Ask, "`script` records a terminal", call);
                if let Some(text) = value_of(args, &["-c", "--command", "-qc", "-ec", "-qec"]) {
                    self.script_text(&text.text, call.input);
                }
                Some(Flow::Data)
            }
            "flock" => {
                if let Some(text) = value_of(args, &["-c", "--command"]) {
                    self.script_text(&text.text, call.input);
                    return Some(Flow::Data);
                }
                let at = command_at(args, &["-w", "--timeout", "-E"], 1);
                self.add(Kind::Create, "it takes a lock", call);
                Some(self.inner_run(&args[at..], call.input))
            }
            "tmux" | "screen" | "at" | "batch" | "dtach" | "zellij" => {
                self.add(Kind::Ask, format!("`{}` runs things that outlive this command", call.name), call);
                for (at, arg) in args.iter().enumerate() {
                    self.maybe_script(&arg.text);
                    if !arg.text.starts_with('-') {
                        self.maybe_run(&args[at..]);
                    }
                }
                if let Flow::Text(text) = call.input {
                    self.script_text(text, &Flow::Nothing);
                }
                Some(Flow::Data)
            }
            "trap" => {
                if let [text, ..] = args {
                    self.script_text(&text.text, &Flow::Nothing);
                }
                Some(Flow::Nothing)
            }
            "alias" => {
                for arg in args {
                    if let Some((_, text)) = arg.text.split_once('=') {
                        self.script_text(text, &Flow::Nothing);
                        self.add(Kind::Ask, "it gives another meaning to a name", call);
                    }
                }
                Some(Flow::Nothing)
            }
            _ => None,
        }
    }

    fn plain(&mut self, call: &Call<'_>, values: &[&str], skip: usize) -> Option<Flow> {
        let args = call.args;
        if call.name == "command" && call.has(&["-v", "-V"]) {
            self.add(Kind::Look, "it asks where a program is", call);
            return Some(Flow::Data);
        }
        if call.name == "bundle" && args.first().is_none_or(|arg| arg.text != "exec") {
            return None;
        }
        if call.name == "time"
            && let Some(file) = value_of(args, &["-o", "--output"])
        {
            self.writes(file, "overwrites");
        }
        let args = if call.name == "bundle" { &args[1..] } else { args };
        let mut at = command_at(args, values, skip);
        // `cross-env A=1 cmd`, as with `env`.
        while call.name.starts_with("cross-env") && args.get(at).is_some_and(|arg| arg.text.contains('=')) {
            at += 1;
        }
        if at >= args.len() {
            if call.name != "exec" {
                self.add(Kind::Look, "it runs nothing", call);
            }
            return Some(Flow::Nothing);
        }
        Some(self.inner_run(&args[at..], call.input))
    }

    /// What a wrapper found in its arguments.
    pub(super) fn inner_run(&mut self, args: &[Arg], input: &Flow) -> Flow {
        self.depth += 1;
        let out = if self.depth > super::MAX_DEPTH {
            self.extra(Kind::Block, "wrappers are nested too deeply to follow");
            Flow::Data
        } else if args.is_empty() {
            Flow::Data
        } else {
            self.run(args, input)
        };
        self.depth -= 1;
        out
    }

    fn env(&mut self, call: &Call<'_>) -> Flow {
        let mut at = 0;
        while let Some(arg) = call.args.get(at) {
            let text = arg.text.as_str();
            match text {
                "-u" | "--unset" | "-C" | "--chdir" => {
                    if text == "-C" || text == "--chdir" {
                        self.variables.cwd = None;
                    }
                    at += 2;
                }
                "-S" | "--split-string" => {
                    self.script_text(&join(&call.args[at + 1..]), call.input);
                    return Flow::Data;
                }
                _ if text.starts_with("-S") || text.starts_with("--split-string=") => {
                    let inner = text.trim_start_matches("--split-string=").trim_start_matches("-S");
                    self.script_text(inner, call.input);
                    return Flow::Data;
                }
                "--" | "-" => at += 1,
                _ if text.starts_with('-') => at += 1,
                _ => match text.split_once('=') {
                    Some((name, value)) if !name.is_empty() && !arg.text.starts_with('=') => {
                        let value = Value { text: value.to_owned(), listed: false };
                        self.assign(name, value, false);
                        at += 1;
                    }
                    _ => break,
                },
            }
        }
        if at >= call.args.len() {
            self.findings.secret = true;
            self.add(Kind::Ask, "it shows the whole environment, which may hold secrets", call);
            return Flow::Data;
        }
        self.inner_run(&call.args[at..], call.input)
    }

    /// `sh -c TEXT`, `sh FILE`, `… | sh`.
    fn shell_program(&mut self, call: &Call<'_>) -> Flow {
        let args = call.args;
        if call.has(&["--version", "--help"]) && args.len() == 1 {
            self.add(Kind::Look, "it shows a version", call);
            return Flow::Data;
        }
        for (at, arg) in args.iter().enumerate() {
            let text = arg.text.as_str();
            if matches!(text, "--rcfile" | "--init-file" | "-o" | "+o" | "-O") {
                continue;
            }
            let is_short = text.len() > 1 && text.starts_with(['-', '+']) && !text.starts_with("--");
            if is_short && text.contains('n') && !text.contains('c') && text.len() <= 3 {
                // Only reads the script to see whether it is one.
                args[at + 1..].iter().for_each(|file| self.reads(file));
                self.add(Kind::Look, "it checks a script without running it", call);
                return Flow::Data;
            }
            if is_short && text.contains('c') || text == "--command" {
                let flags_behind = args[at + 1..].iter().take_while(|arg| arg.text.starts_with('-')).count();
                let Some(script) = args.get(at + 1 + flags_behind) else {
                    self.add(Kind::Ask, "a shell is given no command", call);
                    return Flow::Data;
                };
                // `sh -c TEXT NAME ARG…`
                let own = args.get(at + 3 + flags_behind..).map(<[Arg]>::to_vec).unwrap_or_default();
                let before = self.variables.arguments.replace(own);
                let variables = self.variables.clone();
                self.script_text(&script.text, call.input);
                self.variables = variables;
                self.variables.arguments = before;
                return Flow::Data;
            }
            if !text.starts_with(['-', '+']) {
                self.reads(arg);
                if text.starts_with("/dev/fd/") || text == "/dev/stdin" {
                    self.add(Kind::Block, "a shell runs what another command prints", call);
                }
                self.runs_file(text, call);
                if arg.unknown() {
                    // It may be nothing, and then the shell reads what comes in.
                    self.shell_reads_input(call);
                }
                self.add(Kind::Ask, "it runs a shell script", call);
                return Flow::Data;
            }
        }
        self.shell_reads_input(call);
        Flow::Data
    }

    /// A shell without a script runs what comes in.
    fn shell_reads_input(&mut self, call: &Call<'_>) {
        match call.input {
            Flow::Text(text) => {
                self.script_text(text, &Flow::Nothing);
                if text.contains('\\') {
                    // Some shells' `echo` reads escapes without being told to.
                    self.maybe_script(&crate::shell::unescape(text));
                }
            }
            Flow::Nothing => self.add(Kind::Ask, "it starts a shell", call),
            Flow::File => self.add(Kind::Ask, "it runs a file as a shell script", call),
            Flow::Hidden(how) => self.add(Kind::Block, format!("it runs what was {how}, unseen"), call),
            Flow::Listed | Flow::Data => self.add(Kind::Block, "it runs what another command prints", call),
        }
    }

    fn xargs(&mut self, call: &Call<'_>) -> Flow {
        const VALUES: [&str; 20] = [
            "-I",
            "-n",
            "-P",
            "-L",
            "-s",
            "-d",
            "-a",
            "-E",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--delimiter",
            "--arg-file",
            "--replace",
            "-j",
            "--jobs",
            "--colsep",
            "-J",
            "-R",
            "--halt",
        ];
        let at = command_at(call.args, &VALUES, 0);
        let (given, replace) = (&call.args[at..], value_of(call.args, &["-I", "--replace", "-J"]));
        if let Some(file) = value_of(call.args, &["-a", "--arg-file"]) {
            self.reads(file);
        }
        let listed = matches!(call.input, Flow::Listed);
        let unknown = Arg { text: UNKNOWN.to_string(), may_split: true, listed, ..Arg::default() };
        let mark = replace.map_or("{}", |arg| arg.text.as_str());
        let known: Option<Vec<Arg>> = match call.input {
            Flow::Text(text) => Some(text.split_whitespace().map(Arg::plain).collect()),
            _ => None,
        };
        let more = known.unwrap_or_else(|| vec![unknown.clone()]);
        let mut args: Vec<Arg> = Vec::new();
        for arg in given {
            if (replace.is_some() || call.name == "parallel") && arg.text.contains(mark) && !mark.is_empty() {
                let text = more.iter().map(|value| value.text.as_str()).collect::<Vec<_>>().join(" ");
                args.push(Arg { text: arg.text.replace(mark, &text), listed, ..arg.clone() });
            } else {
                args.push(arg.clone());
            }
        }
        if replace.is_none() {
            args.extend(more);
        }
        match args.as_slice() {
            [] => {
                self.add(Kind::Look, "it prints what comes in", call);
                Flow::Data
            }
            args if given.is_empty() && call.name == "xargs" => {
                let mut echo = vec![Arg::plain("echo")];
                echo.extend_from_slice(args);
                self.inner_run(&echo, &Flow::Nothing);
                Flow::Data
            }
            args if call.name == "parallel" => {
                let own: Vec<Arg> =
                    args.iter().take_while(|arg| !arg.text.starts_with(":::")).cloned().collect();
                if own.is_empty() || own[0].unknown() {
                    self.add(Kind::Block, "it runs what another command prints", call);
                } else {
                    let rest =
                        args.iter().skip(own.len()).filter(|arg| !arg.text.starts_with(":::")).cloned();
                    let mut all = own.clone();
                    all.extend(rest);
                    self.script_text(&join(&own), &Flow::Nothing);
                    self.maybe_run(&all);
                    self.add(Kind::Ask, "it runs commands side by side", call);
                }
                Flow::Data
            }
            args => {
                // A program that reads commands from its arguments would run what comes in.
                if SHELLS.contains(&args[0].text.as_str()) && args[1..].iter().any(Arg::unknown) {
                    self.add(Kind::Block, "it runs what another command prints", call);
                }
                self.inner_run(args, &Flow::Nothing);
                Flow::Data
            }
        }
    }

    /// Text that may or may not be a command: only what is grave in it counts.
    pub(super) fn maybe_script(&mut self, text: &str) {
        if text.len() < 3 || !text.contains(' ') && !text.contains('\n') {
            return;
        }
        let mut found = crate::finding::Findings::default();
        if self.depth < super::MAX_DEPTH {
            let cwd = self.variables.cwd.clone().unwrap_or_else(|| self.around.root().to_owned());
            let mut judge = Judge::new(self.around, &cwd, &mut found);
            judge.depth = self.depth + 1;
            judge.steps = self.steps;
            judge.script_text(text, &Flow::Nothing);
            self.steps = judge.steps;
        }
        for finding in found.list.into_iter().filter(|finding| finding.kind == Kind::Block) {
            self.extra(Kind::Block, finding.because);
        }
    }

    /// A program that runs somewhere else: only what is grave in it counts.
    pub(super) fn maybe_run(&mut self, args: &[Arg]) {
        if args.is_empty() || self.depth >= super::MAX_DEPTH {
            return;
        }
        let mut found = crate::finding::Findings::default();
        let cwd = self.around.root().to_owned();
        let mut judge = Judge::new(self.around, &cwd, &mut found);
        judge.depth = self.depth + 1;
        judge.run(args, &Flow::Nothing);
        for finding in found.list.into_iter().filter(|finding| finding.kind == Kind::Block) {
            self.extra(Kind::Block, finding.because);
        }
    }

    /// What `echo` and its like put into a pipe.
    pub(super) fn printed(&self, call: &Call<'_>) -> Flow {
        if call.args.iter().any(|arg| arg.unknown() && !arg.listed) {
            return Flow::Data;
        }
        match call.name {
            "printf" => output::printf(call.args).map_or(Flow::Data, Flow::Text),
            _ => Flow::Text(output::echo(call.args)),
        }
    }
}

/// Where the command starts behind flags and `skip` operands.
pub(super) fn command_at(args: &[Arg], values: &[&str], skip: usize) -> usize {
    let (mut at, mut skipped) = (0, 0);
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        if text == "--" {
            at += 1;
            // Operands may still come before the command.
            return (at + skip - skipped.min(skip)).min(args.len());
        }
        if values.contains(&text) {
            at += 2;
        } else if text.starts_with('-') && text.len() > 1 {
            at += 1;
        } else if skipped < skip {
            skipped += 1;
            at += 1;
        } else {
            break;
        }
    }
    at.min(args.len())
}

/// The value of a flag: `-x V`, `--x=V`, `-xV`.
pub(super) fn value_of<'a>(args: &'a [Arg], flags: &[&str]) -> Option<&'a Arg> {
    args.iter().position(|arg| flags.contains(&arg.text.as_str())).and_then(|at| args.get(at + 1))
}

pub(super) fn join(args: &[Arg]) -> String {
    args.iter().map(|arg| arg.text.as_str()).collect::<Vec<_>>().join(" ")
}
