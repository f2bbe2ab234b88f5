//! What a substitution prints, where that is plain to see without running it.

use crate::shell::{Arg, Command, Script, Value, Variables, unescape};

/// The output of a script that does nothing but print something known.
pub(crate) fn of(script: &Script, variables: &Variables) -> Option<Value> {
    let known = |text: String| Some(Value { text: text.trim_end_matches('\n').to_owned(), listed: false });
    let simple = match script.commands.as_slice() {
        [Command::Simple(simple)] => simple,
        [Command::Pipeline(stages)] => {
            // A listing that is then ordered or cut is still a listing.
            let Some(Command::Simple(first)) = stages.first() else { return None };
            let args = words(first, variables);
            let rest_picks = stages[1..].iter().all(|stage| match stage {
                Command::Simple(simple) => {
                    words(simple, variables).first().is_some_and(|arg| picks(&arg.text))
                }
                _ => false,
            });
            return (lists(&args) && rest_picks).then(listed);
        }
        _ => return None,
    };
    let args = words(simple, variables);
    let texts: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    match texts.as_slice() {
        ["echo" | "printf", ..] if args.iter().any(Arg::unknown) => None,
        ["echo", ..] => known(echo(&args[1..])),
        ["printf", ..] => known(printf(&args[1..])?),
        ["pwd"] => known(variables.cwd.as_ref()?.to_string_lossy().into_owned()),
        ["git", "rev-parse", "--show-toplevel"] => known(variables.root.to_string_lossy().into_owned()),
        ["dirname", path] if !path.contains(crate::UNKNOWN) => {
            known(path.rsplit_once('/').map_or(".", |(folder, _)| folder).to_owned())
        }
        ["basename", path] if !path.contains(crate::UNKNOWN) => {
            known(path.rsplit('/').next().unwrap_or_default().to_owned())
        }
        ["which" | "nproc" | "date" | "hostname" | "uname" | "id" | "whoami" | "seq" | "wc", ..] => None,
        _ if lists(&args) => Some(listed()),
        _ => None,
    }
}

fn listed() -> Value {
    Value { text: crate::UNKNOWN.to_string(), listed: true }
}

fn words(simple: &crate::shell::Simple, variables: &Variables) -> Vec<Arg> {
    simple.words.iter().flat_map(|word| variables.expand(word)).collect()
}

/// Programs whose output is names of files they found here.
pub(super) fn lists(args: &[Arg]) -> bool {
    let texts: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let outside = args.iter().skip(1).any(|arg| arg.text.starts_with(['/', '~']) || arg.text.contains(".."));
    if outside {
        return false;
    }
    match texts.as_slice() {
        ["git", "ls-files", ..] | ["find" | "fd" | "fdfind" | "ls" | "tree", ..] => true,
        ["git", "diff" | "show" | "log" | "status", rest @ ..] => rest.contains(&"--name-only"),
        ["grep" | "rg" | "egrep" | "fgrep" | "ag" | "ack", rest @ ..] => rest.iter().any(|flag| {
            matches!(*flag, "--files" | "--files-with-matches" | "--files-without-match")
                || (flag.starts_with('-') && !flag.starts_with("--") && flag.contains(['l', 'L']))
        }),
        _ => false,
    }
}

/// Programs that pick, order or count lines and change none of them beyond recognition.
pub(super) fn picks(program: &str) -> bool {
    matches!(
        program,
        "head" | "tail" | "sort" | "uniq" | "grep" | "egrep" | "fgrep" | "rg" | "shuf" | "tac" | "cat"
    )
}

pub(super) fn echo(args: &[Arg]) -> String {
    let flags = args.iter().take_while(|arg| {
        arg.text.len() > 1
            && arg.text.starts_with('-')
            && arg.text[1..].bytes().all(|byte| b"neE".contains(&byte))
    });
    let flags: Vec<&Arg> = flags.collect();
    let text: Vec<&str> = args[flags.len()..].iter().map(|arg| arg.text.as_str()).collect();
    let text = text.join(" ");
    if flags.iter().any(|flag| flag.text.contains('e')) { unescape(&text) } else { text }
}

/// `printf` with the directives people use for text.
pub(super) fn printf(args: &[Arg]) -> Option<String> {
    let (format, values) = match args {
        [flag, rest @ ..] if flag.text == "--" => rest.split_first()?,
        [flag, ..] if flag.text == "-v" => return None,
        all => all.split_first()?,
    };
    let format = unescape(&format.text);
    let mut values = values.iter();
    let mut out = String::new();
    loop {
        let mut used = false;
        let mut characters = format.chars();
        while let Some(c) = characters.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            let mut directive = characters.next()?;
            while directive.is_ascii_digit() || "-+ #.'".contains(directive) {
                directive = characters.next()?;
            }
            match directive {
                '%' => out.push('%'),
                's' | 'd' | 'i' | 'u' | 'q' => {
                    used = true;
                    out.push_str(values.next().map_or("", |arg| &arg.text));
                }
                'b' => {
                    used = true;
                    out.push_str(&unescape(values.next().map_or("", |arg| &arg.text)));
                }
                'c' => {
                    used = true;
                    out.extend(values.next().and_then(|arg| arg.text.chars().next()));
                }
                _ => return None,
            }
        }
        if !used || values.len() == 0 {
            return Some(out);
        }
    }
}
