//! What a command amounts to.
//!
//! A [`Judge`] walks a script the way a shell would run it, without running it. Every simple command is looked through
//! its wrappers down to a program, and held against what is known of that program. Everything that is reached adds a
//! finding and nothing takes one away, so a longer command is never less grave than a part of it.

mod assignments;
mod code;
mod containers;
mod deleting;
mod flow;
mod git;
mod network;
pub(crate) mod output;
mod packages;
mod paths;
mod programs;
mod redirects;
mod searching;
mod sql;
mod text_tools;
mod wrappers;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use crate::UNKNOWN;
use crate::files::Surroundings;
use crate::finding::{Findings, Kind};
use crate::powershell;
use crate::rules::Subject;
use crate::shell::{self, Arg, Change, Command, Piece, Script, Simple, Target, Variables, Word};

use flow::Flow;

/// Longer commands are not read: nobody writes them by hand, and reading them takes time.
const MAX_LENGTH: usize = 16 * 1024;

/// How deep scripts may call scripts: `sh -c`, functions, `eval`.
const MAX_DEPTH: usize = 12;

/// How many simple commands are looked at. Loops over many values multiply them.
const MAX_STEPS: usize = 2000;

pub(crate) struct Judge<'a> {
    around: &'a Surroundings,
    findings: &'a mut Findings,
    variables: Variables,
    functions: BTreeMap<String, Vec<Command>>,
    /// The functions being called.
    calling: Vec<String>,
    depth: usize,
    steps: usize,
    /// It may not come to what is being looked at.
    uncertain: usize,
    /// A substitution brings in what was downloaded or decoded.
    hidden: Option<&'static str>,
    /// Files that the command itself wrote.
    written: Vec<String>,
}

/// A program about to run.
struct Call<'c> {
    /// Its name, free of the folders that programs are installed in.
    name: &'c str,
    args: &'c [Arg],
    /// Name and arguments, for rules.
    argv: Vec<String>,
    /// What comes in by a pipe or a redirection.
    input: &'c Flow,
}

impl Call<'_> {
    fn has(&self, flags: &[&str]) -> bool {
        self.args.iter().any(|arg| flags.contains(&arg.text.as_str()))
    }

    /// Whether one of these letters is among the short flags.
    fn short(&self, letters: &str) -> bool {
        self.args.iter().any(|arg| {
            arg.text
                .strip_prefix('-')
                .is_some_and(|rest| !rest.starts_with('-') && rest.contains(|c| letters.contains(c)))
        })
    }

    /// What is no flag.
    fn operands(&self) -> Vec<&Arg> {
        let mut only_operands = false;
        let mut found = Vec::new();
        for arg in self.args {
            if !only_operands && arg.text == "--" {
                only_operands = true;
            } else if only_operands || !arg.text.starts_with('-') || arg.text == "-" {
                found.push(arg);
            }
        }
        found
    }
}

impl<'a> Judge<'a> {
    pub(crate) fn new(around: &'a Surroundings, cwd: &Path, findings: &'a mut Findings) -> Self {
        let mut variables = Variables::default();
        variables.cwd = Some(cwd.to_owned());
        variables.home = around.user_home().to_owned();
        variables.root = around.root().to_owned();
        // A command line has no arguments of its own.
        variables.arguments = Some(Vec::new());
        Self {
            around,
            findings,
            variables,
            functions: BTreeMap::new(),
            calling: Vec::new(),
            depth: 0,
            steps: 0,
            uncertain: 0,
            hidden: None,
            written: Vec::new(),
        }
    }

    /// A command line.
    pub(crate) fn shell(&mut self, text: &str) {
        let whole = || Subject::Command(vec![text.to_owned()]);
        if text.len() > MAX_LENGTH {
            let because = format!("it is longer than {} kB and was not read", MAX_LENGTH / 1024);
            return self.findings.add(Kind::Ask, because, Subject::Extra);
        }
        if let Some((kind, because)) = powershell::held(text) {
            self.findings.add(kind, because, whole());
        }
        match shell::parse(text) {
            Ok(script) => {
                self.script(&script.commands, &Flow::Nothing);
                if self.findings.list.is_empty() {
                    self.findings.add(Kind::Look, "it does nothing", whole());
                }
            }
            Err(error) => self.not_understood(text, &error.to_string()),
        }
        self.carries_secrets_away();
    }

    /// A program that is started without a shell.
    pub(crate) fn program(&mut self, argv: &[String]) {
        let args: Vec<Arg> = argv.iter().map(|text| Arg { quoted: true, ..Arg::plain(text) }).collect();
        self.run(&args, &Flow::Nothing);
        self.carries_secrets_away();
    }

    /// Something that no grammar covers: never safe, and blocked if any line of it would be.
    fn not_understood(&mut self, text: &str, problem: &str) {
        self.findings.add(Kind::Ask, format!("it is not understood: {problem}"), Subject::Extra);
        if code::mentions_destruction(text) {
            self.extra(Kind::Block, "it is not understood, and names what destroys");
        }
        // What stands between signs may still be read, and is as grave as it would be alone.
        if self.depth < 2 {
            self.depth += 1;
            let pieces = text.split([';', '&', '|', '\n', '(', ')', '{', '}', '`']);
            for piece in pieces.take(100) {
                let piece = piece.trim();
                let words = ["then ", "do ", "else ", "if ", "while ", "until ", "! "];
                let piece = words.iter().find_map(|word| piece.strip_prefix(word)).unwrap_or(piece);
                self.maybe_script(piece);
                // A quote that was cut in two says nothing any more.
                if piece.contains(['"', '\'', '$', '\\']) {
                    self.maybe_script(piece.replace(['"', '\'', '$', '\\'], " ").trim());
                }
            }
            self.depth -= 1;
        }
    }

    /// A secret on one side and a way out on the other need no more proof.
    fn carries_secrets_away(&mut self) {
        if self.findings.secret && self.findings.sends {
            self.findings.add(Kind::Block, "it reads secrets and talks to another machine", Subject::Extra);
        }
    }

    /// Text that something hands to a shell.
    fn script_text(&mut self, text: &str, input: &Flow) {
        self.depth += 1;
        if self.depth > MAX_DEPTH || text.len() > MAX_LENGTH {
            self.findings.add(Kind::Block, "scripts call scripts too deeply to follow", Subject::Extra);
        } else {
            match self.hidden.filter(|_| text.contains(UNKNOWN)) {
                Some(how) => self.extra(Kind::Block, format!("it runs what was {how}, unseen")),
                None if text.contains(UNKNOWN) => {
                    self.extra(Kind::Ask, "a part of what it runs can not be known before")
                }
                None => {}
            }
            match shell::parse(text) {
                Ok(script) => {
                    self.script(&script.commands, input);
                }
                Err(error) => self.not_understood(text, &error.to_string()),
            }
        }
        self.depth -= 1;
    }

    /// Commands one after the other; answers what comes out of the last.
    fn script(&mut self, commands: &[Command], input: &Flow) -> Flow {
        let mut out = Flow::Nothing;
        for command in commands {
            out = self.command(command, input);
        }
        if commands.len() > 1 { Flow::Data } else { out }
    }

    fn maybe(&mut self, commands: &[Command], input: &Flow) -> Flow {
        self.uncertain += 1;
        let out = self.script(commands, input);
        self.uncertain -= 1;
        out
    }

    fn command(&mut self, command: &Command, input: &Flow) -> Flow {
        self.steps += 1;
        if self.steps > MAX_STEPS {
            // Loops in loops would go on for ever.
            self.extra(Kind::Block, "it is too much to follow");
            return Flow::Data;
        }
        match command {
            Command::Simple(simple) => self.simple(simple, input),
            Command::Chain(parts) => {
                let Some((first, rest)) = parts.split_first() else { return Flow::Nothing };
                let out = self.command(first, input);
                // `cd there && …`: what follows is meant for where it went.
                let rest_out = self.maybe(rest, input);
                if rest.is_empty() { out } else { rest_out.joined(&out) }
            }
            Command::Pipeline(stages) => {
                // Each stage is a process of its own: where it goes and what it sets stays with it.
                let before = (self.variables.clone(), self.uncertain);
                let mut flow = input.clone();
                for stage in stages {
                    flow = self.command(stage, &flow);
                    self.variables.cwd.clone_from(&before.0.cwd);
                }
                flow
            }
            Command::Group { body, redirects } => {
                let input = self.redirects(redirects, input);
                let cwd = self.variables.cwd.clone();
                let out = self.maybe(body, &input);
                if self.variables.cwd != cwd {
                    // A subshell comes back, braces do not; either way it was somewhere else.
                    self.variables.cwd = cwd;
                }
                out
            }
            Command::Block { words, body, redirects } => {
                let input = self.redirects(redirects, input);
                words.iter().for_each(|word| self.substitutions(word));
                self.maybe(body, &input)
            }
            Command::For { name, words, body, redirects } => {
                let input = self.redirects(redirects, input);
                self.counting(name, words.as_deref(), body, &input)
            }
            Command::Function { name, body } => {
                let arguments = self.variables.arguments.take();
                self.calling.push(name.clone());
                self.maybe(body, &Flow::Data);
                self.calling.pop();
                self.variables.arguments = arguments;
                self.functions.insert(name.clone(), body.clone());
                Flow::Nothing
            }
        }
    }

    fn counting(&mut self, name: &str, words: Option<&[Word]>, body: &[Command], input: &Flow) -> Flow {
        const EACH: usize = 8;
        let mut values = Vec::new();
        match words {
            None => values.push(Arg { text: UNKNOWN.to_string(), ..Arg::default() }),
            Some(words) => {
                for word in words {
                    self.substitutions(word);
                    values.extend(self.variables.expand(word));
                }
            }
        }
        if values.len() > EACH {
            // Looked at one by one they would be the same again and again, so the rest stands for itself by rank.
            values.sort_by_key(|value| std::cmp::Reverse(paths::suspicion(&value.text)));
            values.truncate(EACH);
        }
        let mut out = Flow::Nothing;
        for value in values {
            if self.steps > MAX_STEPS {
                break;
            }
            let listed = value.listed;
            let value = shell::Value { text: value.text, listed };
            self.variables.set(name, value, true);
            out = self.maybe(body, input);
        }
        out.joined(&Flow::Data)
    }

    fn simple(&mut self, simple: &Simple, input: &Flow) -> Flow {
        for word in simple.assignments.iter().flat_map(|assignment| &assignment.values) {
            self.substitutions(word);
        }
        simple.words.iter().for_each(|word| self.substitutions(word));
        self.assignments(&simple.assignments, simple.words.is_empty());
        let inputs = self.inputs(&simple.redirects, input);
        let mut out = Flow::Nothing;
        for pick in 0..self.variables.choices().min(8) {
            self.variables.pick = pick;
            let args: Vec<Arg> = simple.words.iter().flat_map(|word| self.variables.expand(word)).collect();
            self.variables.pick = 0;
            if args.is_empty() {
                continue;
            }
            if args[0].unknown() || args.iter().any(|arg| arg.unknown() && arg.may_split) {
                // As if what is unknown were nothing: `${x}rm` may well be `rm`, and `sh $x` may read its input.
                self.variables.blank = true;
                let blank: Vec<Arg> =
                    simple.words.iter().flat_map(|word| self.variables.expand(word)).collect();
                self.variables.blank = false;
                if !blank.is_empty() {
                    inputs.iter().for_each(|input| {
                        self.run(&blank, input);
                    });
                }
            }
            for input in &inputs {
                out = self.run(&args, input);
            }
        }
        if simple.words.is_empty() && self.findings.list.is_empty() && !simple.assignments.is_empty() {
            self.findings.add(Kind::Look, "it sets a variable", Subject::Extra);
        }
        if writes_away(simple) { Flow::Nothing } else { out }
    }

    /// Everything that runs inside a word.
    fn substitutions(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Text { .. } => {}
                Piece::Variable { name, change, .. } => {
                    self.variable_is_read(name);
                    match change {
                        Change::None => {}
                        Change::Instead(word) | Change::Other(word) => self.substitutions(word),
                    }
                }
                Piece::Output { script, .. } | Piece::Process(script) => self.inner(script),
                Piece::Number(words) => words.iter().for_each(|word| self.substitutions(word)),
            }
        }
    }

    fn inner(&mut self, script: &Script) {
        let variables = self.variables.clone();
        // A number in it would be one that only a variable can be.
        if let Flow::Hidden(how) = self.maybe(&script.commands, &Flow::Nothing) {
            self.hidden = Some(how);
        }
        self.variables = variables;
    }

    /// Adds what was found about a program.
    fn add(&mut self, kind: Kind, because: impl Into<String>, call: &Call<'_>) {
        self.findings.add(kind, because, Subject::Command(call.argv.clone()));
    }

    /// A script that is run by its name: if the command wrote it first, nobody has seen it.
    fn runs_file(&mut self, text: &str, call: &Call<'_>) {
        let name = text.strip_prefix("./").unwrap_or(text);
        if self.written.iter().any(|written| written == name) {
            self.add(Kind::Block, "it runs what it has just written or downloaded", call);
        }
    }

    fn extra(&mut self, kind: Kind, because: impl Into<String>) {
        self.findings.add(kind, because, Subject::Extra);
    }
}

/// Whether all output goes to a file, so that nothing is left for the next stage.
fn writes_away(simple: &Simple) -> bool {
    simple.redirects.iter().any(|redirect| {
        matches!(redirect.direction, shell::Direction::Write | shell::Direction::Append)
            && matches!(&redirect.target, Target::File(word) if word.literal().is_none_or(|text| !text.starts_with("/dev/")))
    })
}
