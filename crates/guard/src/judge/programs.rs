//! From a command's words to the program that runs, and what is known of it.

use super::{Call, Flow, Judge, output};
use crate::UNKNOWN;
use crate::finding::Kind;
use crate::knowledge::{self, Known};
use crate::rules::program;
use crate::shell::{Arg, Value};

impl Judge<'_> {
    /// Words that were expanded; the first names a program. Answers what it prints.
    pub(super) fn run(&mut self, args: &[Arg], input: &Flow) -> Flow {
        let Some((first, rest)) = args.split_first() else { return Flow::Nothing };
        let argv: Vec<String> = std::iter::once(program(&first.text).to_owned())
            .chain(rest.iter().map(|arg| arg.text.clone()))
            .collect();
        let call = Call { name: program(&first.text), args: rest, argv, input };
        if first.unknown() {
            self.add(Kind::Ask, "which program runs can not be known before", &call);
            if rest
                .iter()
                .any(|arg| matches!(arg.text.as_str(), "-rf" | "-fr" | "-Rf" | "-r" | "/" | "/*" | "~"))
            {
                self.add(Kind::Block, "an unknown program is told to go through everything", &call);
            }
            return Flow::Data;
        }
        if first.glob && !first.text.starts_with("./") && first.text != "[" && first.text != "[[" {
            self.add(Kind::Block, "the program hides its name behind stars", &call);
            return Flow::Data;
        }
        if let Some(body) = self.functions.get(call.name).cloned() {
            return self.call_function(&call, &body);
        }
        if self.calling.iter().any(|name| name == call.name) {
            self.add(Kind::Block, "it calls itself without end", &call);
            return Flow::Data;
        }
        if call.name.contains('/') {
            return self.by_path(&call);
        }
        if let Some(out) = self.wrapper(&call) {
            return out;
        }
        self.known(&call)
    }

    fn call_function(&mut self, call: &Call<'_>, body: &[crate::shell::Command]) -> Flow {
        if self.calling.iter().any(|name| name == call.name) {
            self.add(Kind::Block, "it calls itself without end", call);
            return Flow::Data;
        }
        let before = self.variables.arguments.replace(call.args.to_vec());
        self.calling.push(call.name.to_owned());
        self.maybe(body, call.input);
        self.calling.pop();
        self.variables.arguments = before;
        self.add(Kind::Look, "it calls a function of the command itself", call);
        Flow::Data
    }

    /// A program that is named by where it is.
    fn by_path(&mut self, call: &Call<'_>) -> Flow {
        let name = call.name.rsplit('/').next().unwrap_or_default();
        const TOOLS: [&str; 9] = [
            "node_modules/.bin",
            ".venv/bin",
            "venv/bin",
            "env/bin",
            "vendor/bin",
            "bin",
            ".bin",
            "node_modules/.pnpm/bin",
            ".tox/bin",
        ];
        let folder = call.name.strip_suffix(name).unwrap_or_default().trim_end_matches('/');
        let folder = folder.strip_prefix("./").unwrap_or(folder);
        let in_tools = TOOLS.iter().any(|tools| folder == *tools || folder.ends_with(&format!("/{tools}")));
        let wrapper = matches!(name, "gradlew" | "mvnw") && matches!(folder, "" | "." | "..");
        let spot = self.spot(&Arg::plain(call.name));
        if spot.is_some_and(|spot| spot.inside) && (in_tools || wrapper) {
            // The project's copy of a known tool does what the tool does, and what the project made of it.
            let inner = Call { name, args: call.args, argv: call.argv.clone(), input: call.input };
            let out = self.wrapper(&inner).unwrap_or_else(|| self.known(&inner));
            self.add(Kind::Build, "it runs the project's copy of a tool", call);
            return out;
        }
        // What is destructive stays so under another path.
        if knowledge::is_grave(name) {
            let inner = Call { name, args: call.args, argv: call.argv.clone(), input: call.input };
            if self.wrapper(&inner).is_none() {
                self.known(&inner);
            }
        }
        if super::wrappers::SHELLS.contains(&name) {
            let inner = Call { name, args: call.args, argv: call.argv.clone(), input: call.input };
            self.wrapper(&inner);
        }
        self.runs_file(call.name, call);
        self.add(Kind::Ask, format!("it runs the file `{}`", call.name.replace(UNKNOWN, "…")), call);
        Flow::Data
    }

    /// A program by its name.
    fn known(&mut self, call: &Call<'_>) -> Flow {
        if let Some(flow) = self.builtin(call) {
            return flow;
        }
        if only_about_itself(call) {
            self.add(Kind::Look, "it shows help or a version", call);
            return Flow::Data;
        }
        let special = self
            .deleting(call)
            .or_else(|| self.searching(call))
            .or_else(|| self.text_tool(call))
            .or_else(|| self.network(call))
            .or_else(|| self.interpreter(call))
            .or_else(|| self.database(call))
            .or_else(|| self.container(call))
            .or_else(|| self.packages(call));
        if let Some(flow) = special {
            return flow;
        }
        self.by_table(call)
    }

    /// What the table says. Git's own dangers are looked at on top.
    pub(super) fn by_table(&mut self, call: &Call<'_>) -> Flow {
        let Some(known) = knowledge::find(call.name) else {
            self.add(
                Kind::Ask,
                format!("`{}` is not a known program", call.name.replace(UNKNOWN, "…")),
                call,
            );
            call.args.iter().for_each(|arg| self.maybe_script(&arg.text));
            return Flow::Data;
        };
        let (kind, because) = known.judge(call.args);
        let because = if because.is_empty() { usual(kind, call.name) } else { because };
        self.add(kind, because, call);
        if call.name == "git" {
            self.git(call);
        }
        self.operand_paths(known, call);
        match kind {
            _ if output::lists(&self.whole(call)) => Flow::Listed,
            Kind::Look if output::picks(call.name) && !matches!(call.input, Flow::Nothing) => {
                match (call.name, call.input) {
                    ("cat", Flow::Text(text)) if call.args.is_empty() => Flow::Text(text.clone()),
                    (_, input) => input.picked(),
                }
            }
            Kind::Look if call.name == "cat" && call.args.is_empty() => call.input.clone(),
            Kind::Look if call.name == "cat" => Flow::File,
            _ if knowledge::decodes(call.name) => Flow::Hidden("decoded"),
            _ if matches!(call.input, Flow::Hidden(_)) => call.input.clone(),
            _ => Flow::Data,
        }
    }

    fn whole(&self, call: &Call<'_>) -> Vec<Arg> {
        std::iter::once(Arg::plain(call.name)).chain(call.args.iter().cloned()).collect()
    }

    /// Looks at the paths among the arguments, as the table says where they are.
    pub(super) fn operand_paths(&mut self, known: &Known, call: &Call<'_>) {
        for (arg, written) in known.paths(call.args) {
            if written { self.writes(&arg, "overwrites") } else { self.reads(&arg) }
        }
    }

    /// What the shell itself does.
    fn builtin(&mut self, call: &Call<'_>) -> Option<Flow> {
        match call.name {
            "cd" | "pushd" | "popd" | "chdir" => self.change_folder(call),
            "export" | "declare" | "typeset" | "local" | "readonly" | "setenv" => {
                for arg in call.args {
                    if let Some((name, value)) = arg.text.split_once('=') {
                        let value = Value { text: value.to_owned(), listed: arg.listed };
                        self.assign(name, value, self.uncertain == 0 && call.name != "local");
                    }
                }
                let shows = call.args.iter().all(|arg| arg.text.starts_with('-'));
                if shows {
                    self.findings.secret = true;
                    self.add(Kind::Ask, "it shows variables, which may hold secrets", call);
                } else {
                    self.add(Kind::Look, "it sets a variable", call);
                }
            }
            "read" | "mapfile" | "readarray" => {
                let listed = matches!(call.input, Flow::Listed);
                for name in call.operands() {
                    let value = Value { text: UNKNOWN.to_string(), listed };
                    self.variables.set(&name.text, value, false);
                }
                self.add(Kind::Look, "it reads a line", call);
            }
            "set" if call.args.is_empty() => {
                self.findings.secret = true;
                self.add(Kind::Ask, "it shows all variables, which may hold secrets", call);
            }
            "printenv" => {
                let public = |name: &str| {
                    matches!(
                        name,
                        "PATH"
                            | "HOME"
                            | "USER"
                            | "SHELL"
                            | "PWD"
                            | "LANG"
                            | "TERM"
                            | "EDITOR"
                            | "CI"
                            | "NODE_ENV"
                    )
                };
                let harmless = !call.args.is_empty() && call.args.iter().all(|arg| public(&arg.text));
                self.findings.secret |= !harmless;
                let kind = if harmless { Kind::Look } else { Kind::Ask };
                self.add(kind, "it shows the environment", call);
            }
            "echo" | "printf" => {
                self.add(Kind::Look, "it prints text", call);
                return Some(self.printed(call));
            }
            // Whether a file is there is no secret.
            "test" | "[" => self.add(Kind::Look, "it compares", call),
            "kill" | "pkill" | "killall" | "killall5" | "skill" | "xkill" => self.killing(call),
            "history" => {
                self.findings.secret = true;
                let kind = if call.short("cdw") { Kind::Block } else { Kind::Ask };
                self.add(kind, "the history of commands may hold secrets", call);
            }
            _ => return None,
        }
        Some(Flow::Data)
    }

    fn change_folder(&mut self, call: &Call<'_>) {
        let target = call.operands().first().map(|arg| (*arg).clone());
        self.add(Kind::Look, "it changes the folder", call);
        let Some(target) = target.filter(|_| call.name != "popd") else {
            self.variables.cwd = (call.name != "popd").then(|| self.around.user_home().to_owned());
            return;
        };
        if target.text == "-" {
            self.variables.cwd = Some(self.around.root().to_owned());
            return;
        }
        if target.unknown() && !target.text.contains('/') && !target.listed {
            self.variables.cwd = None;
            return self.extra(Kind::Peek, "it goes to a folder that can not be known before");
        }
        self.reads(&target);
        let cwd = self.variables.cwd.clone().unwrap_or_else(|| self.around.root().to_owned());
        let spot = if target.listed { None } else { Some(self.around.spot(&target.text, &cwd)) };
        self.variables.cwd = Some(spot.map_or(cwd, |spot| spot.target));
    }

    fn killing(&mut self, call: &Call<'_>) {
        if call.has(&["-l", "-L", "--list", "-0"]) {
            return self.add(Kind::Look, "it lists signals or asks whether a process lives", call);
        }
        let all = call.args.iter().skip(1).any(|arg| arg.text == "-1" || arg.text == "1")
            || call.args.first().is_some_and(|arg| arg.text == "1")
            || call.name == "killall5";
        let everybody = call.has(&["-u", "--user", "--uid", "-U"]);
        let kind = if all || everybody { Kind::Block } else { Kind::Ask };
        self.add(
            kind,
            if kind == Kind::Block { "it ends every process there is" } else { "it ends processes" },
            call,
        );
    }
}

/// `cmd --help`, `cmd --version`: programs answer that and do nothing else.
fn only_about_itself(call: &Call<'_>) -> bool {
    let asks = |text: &str| matches!(text, "--help" | "--version" | "-version" | "-V" | "--usage");
    let risky = matches!(call.name, "npx" | "docker" | "ssh" | "kubectl" | "bunx" | "uvx" | "pipx");
    match call.args {
        [only] => {
            asks(&only.text) && !risky
                || matches!(
                    (call.name, only.text.as_str()),
                    ("npx" | "docker" | "kubectl", "--version" | "--help")
                )
        }
        [sub, flag] => {
            flag.text == "--help"
                && !risky
                && !sub.text.starts_with('-')
                && !sub.unknown()
                && knowledge::find(call.name).is_some()
        }
        _ => false,
    }
}

fn usual(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Look => "it only looks".to_owned(),
        Kind::Create => "it adds to the project and harms nothing in it".to_owned(),
        Kind::Edit => "it changes a file of the project".to_owned(),
        Kind::Build => format!("`{name}` builds, tests or checks the project"),
        Kind::Format => format!("`{name}` rewrites files of the project"),
        Kind::Install => "it installs what a lock file pins".to_owned(),
        Kind::Commit => "it commits".to_owned(),
        Kind::Fetch => format!("`{name}` reads from another machine"),
        Kind::Peek => "it looks outside the project".to_owned(),
        Kind::Ask => format!("`{name}` may change things that can not be told from here"),
        Kind::Lose => "it deletes what no checkpoint keeps".to_owned(),
        Kind::Block => format!("`{name}` destroys or gives away"),
    }
}
