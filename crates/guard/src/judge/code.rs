//! Interpreters, and what can be seen of a program in their arguments.

use super::{Call, Flow, Judge};
use crate::finding::Kind;
use crate::shell::Arg;

/// Names, the flags that take a program as text.
const INTERPRETERS: [(&str, &[&str]); 26] = [
    ("python", &["-c"]),
    ("python2", &["-c"]),
    ("python3", &["-c"]),
    ("pypy", &["-c"]),
    ("pypy3", &["-c"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nodejs", &["-e", "--eval", "-p", "--print"]),
    ("deno", &["eval"]),
    ("bun", &["-e", "--eval"]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("Rscript", &["-e"]),
    ("R", &["-e"]),
    ("julia", &["-e", "-E"]),
    ("osascript", &["-e"]),
    ("tclsh", &[]),
    ("ghc", &["-e"]),
    ("scala", &["-e"]),
    ("groovy", &["-e"]),
    ("elixir", &["-e"]),
    ("java", &[]),
    ("tsx", &["-e"]),
    ("ts-node", &["-e"]),
];

/// What deletes, starts programs or hides code, in the languages above.
const DESTROYS: [&str; 66] = [
    "os.remove",
    "os.unlink",
    "os.rmdir",
    "os.removedirs",
    "os.truncate",
    "shutil.rmtree",
    "shutil.move",
    ".unlink(",
    ".rmdir(",
    "rmtree",
    "os.system",
    "os.popen",
    "os.exec",
    "os.spawn",
    "os.kill",
    "pty.spawn",
    "__import__",
    "exec(",
    "eval(",
    "b64decode",
    "fromhex",
    "marshal",
    "ctypes",
    "socket.socket",
    "getattr(os",
    "codecs.decode",
    "importlib",
    "fs.rm",
    "rmSync",
    "unlinkSync",
    "rmdirSync",
    ".unlink",
    "promises.rm",
    "truncateSync",
    "child_process",
    "execSync",
    "spawnSync",
    "Function(",
    "process.kill",
    "'base64'",
    "\"base64\"",
    "net.connect",
    "atob(",
    "rimraf",
    "Deno.remove",
    "Deno.Command",
    "unlink",
    "rmtree(",
    "remove_tree",
    "qx",
    "FileUtils",
    "File.delete",
    "Dir.delete",
    "Dir.rmdir",
    "rm_rf",
    "rm_r",
    "IO.popen",
    "Kernel.exec",
    "%x",
    "shell_exec",
    "passthru",
    "proc_open",
    "popen(",
    "do shell script",
    "IO::Socket",
    "TCPSocket",
];

/// What starts a program; its strings are looked at as a command.
const STARTS: [&str; 11] = [
    "subprocess",
    "system",
    "exec",
    "spawn",
    "popen",
    "Popen",
    "call(",
    "check_output",
    "Command",
    "`",
    "fork",
];

impl Judge<'_> {
    pub(super) fn interpreter(&mut self, call: &Call<'_>) -> Option<Flow> {
        let name = versionless(call.name);
        let (_, flags) = INTERPRETERS.iter().find(|(known, _)| *known == call.name || *known == name)?;
        if matches!(name, "deno" | "bun")
            && !call.args.first().is_some_and(|arg| {
                flags.contains(&arg.text.as_str())
                    || arg.text == "run"
                    || arg.text.ends_with(".ts")
                    || arg.text.ends_with(".js")
            })
        {
            return None;
        }
        if self.checks_only(name, call) {
            return Some(Flow::Data);
        }
        if let Some(at) = call.args.iter().position(|arg| arg.text == "-m").filter(|_| name.starts_with("py"))
        {
            let before_is_flags = call.args[..at].iter().all(|arg| arg.text.starts_with('-'));
            if before_is_flags {
                return Some(self.module(call, &call.args[at + 1..]));
            }
        }
        self.add(Kind::Ask, format!("`{}` runs a program that is not looked into", call.name), call);
        for (at, arg) in call.args.iter().enumerate() {
            let text = arg.text.as_str();
            let glued =
                flags.iter().find(|flag| flag.len() == 2 && text.starts_with(**flag) && text.len() > 2);
            let cluster = text.len() > 2
                && text.starts_with('-')
                && !text.starts_with("--")
                && matches!(name, "perl" | "ruby" | "python" | "python3" | "php")
                && flags.iter().any(|flag| text.ends_with(&flag[1..]));
            if flags.contains(&text) || cluster {
                if let Some(code) = call.args.get(at + 1) {
                    self.code(&code.text);
                }
            } else if let Some(flag) = glued {
                self.code(&text[flag.len()..]);
            } else if !text.starts_with('-') && at == 0 {
                self.reads(arg);
                self.runs_file(text, call);
                if text.starts_with("/dev/fd/") || text == "/dev/stdin" {
                    self.add(Kind::Block, "it runs what another command prints", call);
                }
                let script = text.rsplit('/').next().unwrap_or(text);
                if crate::knowledge::find(script).is_some() {
                    // `php artisan …`, `python manage.py …`
                    let inner = Call {
                        name: script,
                        args: &call.args[1..],
                        argv: call.argv.clone(),
                        input: call.input,
                    };
                    self.by_table(&inner);
                }
            }
        }
        if name == "perl"
            && call
                .args
                .iter()
                .any(|arg| arg.text.starts_with("-") && !arg.text.starts_with("--") && arg.text.contains('i'))
        {
            self.add(Kind::Ask, "it edits files in place", call);
        }
        let no_script = call
            .args
            .iter()
            .all(|arg| arg.unknown() || arg.text.starts_with('-') && !flags.contains(&arg.text.as_str()));
        if no_script {
            match call.input {
                Flow::Text(text) => self.code(text),
                Flow::Hidden(how) => self.add(Kind::Block, format!("it runs what was {how}, unseen"), call),
                Flow::Data | Flow::Listed => {
                    self.add(Kind::Block, "it runs what another command prints", call)
                }
                Flow::Nothing | Flow::File => {}
            }
        }
        Some(if matches!(call.input, Flow::Hidden(_)) { call.input.clone() } else { Flow::Data })
    }

    /// Invocations that run nothing of the project but its tests.
    fn checks_only(&mut self, name: &str, call: &Call<'_>) -> bool {
        let first = call.args.first().map(|arg| arg.text.as_str()).unwrap_or_default();
        let (kind, because) = match (name, first) {
            ("node", "--test") => (Kind::Build, "it runs the tests"),
            ("node", "--check" | "-c") => (Kind::Look, "it checks a script without running it"),
            ("php", "-l" | "-i" | "-m") => (Kind::Look, "it checks a script without running it"),
            ("ruby", "-c") => (Kind::Look, "it checks a script without running it"),
            (_, "-V" | "-v" | "--version") if call.args.len() == 1 => (Kind::Look, "it shows a version"),
            ("java", "-version") => (Kind::Look, "it shows a version"),
            _ => return false,
        };
        call.args[1..].iter().filter(|arg| !arg.text.starts_with('-')).for_each(|arg| self.reads(arg));
        self.add(kind, because, call);
        true
    }

    /// `python -m MODULE`.
    fn module(&mut self, call: &Call<'_>, rest: &[Arg]) -> Flow {
        const KNOWN: [&str; 22] = [
            "pytest",
            "unittest",
            "mypy",
            "ruff",
            "flake8",
            "black",
            "isort",
            "pylint",
            "pyright",
            "tox",
            "nox",
            "coverage",
            "pip",
            "compileall",
            "py_compile",
            "build",
            "bandit",
            "doctest",
            "timeit",
            "pyflakes",
            "pycodestyle",
            "json.tool",
        ];
        match rest.first().map(|arg| arg.text.as_str()) {
            Some(name) if KNOWN.contains(&name) => self.inner_run(rest, call.input),
            _ => {
                self.add(Kind::Ask, "it runs a module that is not known", call);
                Flow::Data
            }
        }
    }

    /// A program as text.
    pub(super) fn code(&mut self, text: &str) {
        if mentions_destruction(text) {
            self.extra(Kind::Block, "its program deletes, starts other programs or hides what it does");
        }
        if STARTS.iter().any(|word| text.contains(word)) {
            let strings = strings(text);
            strings.iter().for_each(|string| self.maybe_script(string));
            self.maybe_script(&strings.join(" "));
        }
        if ["http://", "https://", "socket", "urllib", "requests.", "fetch("]
            .iter()
            .any(|word| text.contains(word))
        {
            self.findings.sends = true;
            self.findings.needs.any_host = true;
        }
        for string in strings(text) {
            if string.starts_with(['/', '~', '.']) && !string.contains(' ') {
                self.reads(&Arg::plain(&string));
            }
        }
    }
}

/// `python3.12` is `python3`.
fn versionless(name: &str) -> &str {
    match name.split_once('.') {
        Some((base, minor)) if minor.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => name,
    }
}

/// Whether text in some language names what destroys.
pub(super) fn mentions_destruction(text: &str) -> bool {
    DESTROYS.iter().any(|word| text.contains(word))
        || text.contains("rm -")
        || text.contains("mkfs")
        || text.contains("dd if=")
}

/// The string literals in a program, whatever the language.
pub(super) fn strings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if !matches!(c, '"' | '\'' | '`') {
            continue;
        }
        let mut string = String::new();
        loop {
            match characters.next() {
                None => break,
                Some(end) if end == c => break,
                Some('\\') => string.extend(characters.next()),
                Some(other) => string.push(other),
            }
        }
        found.push(string);
    }
    found
}
