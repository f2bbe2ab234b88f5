use proptest::prelude::*;

use super::*;

/// The arguments of the first simple command, as we read them.
fn ours(word: &str) -> Vec<String> {
    let script = parse(&format!("p {word}")).unwrap_or_else(|error| panic!("{word}: {error}"));
    let [Command::Simple(simple)] = script.commands.as_slice() else { panic!("{word}: {script:?}") };
    let variables = Variables::default();
    simple.words[1..].iter().flat_map(|word| variables.expand(word)).map(|arg| arg.text).collect()
}

/// The same, as bash reads them.
fn bash(words: &[String]) -> Option<Vec<String>> {
    let script: String = std::iter::once("set -f; p() { printf '[%s]' \"$@\"; printf '\\n'; }\n".to_owned())
        .chain(words.iter().map(|word| format!("p {word}\n")))
        .collect();
    let output = std::process::Command::new("bash")
        .arg("--norc")
        .arg("-c")
        .arg(script)
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9_./-]{1,6}",
        "'[ a-z$\"\\\\*]{0,6}'",
        "\"[ a-z'*]{0,6}\"",
        "\\\\[a-z \"'$*\\\\]",
        "\\$'(\\\\x[2-7][0-9a-f]|\\\\[0-1][0-7][0-7]|\\\\[ntr\\\\]|[a-z ]){1,4}'".prop_filter(
            "no line breaks",
            |text| !text.contains("\\n")
                && !text.contains("\\r")
                && !text.contains("\\x0")
                && !text.contains("\\01")
                && !text.contains("\\00")
        ),
        "\\{[a-c]{0,2},[a-c]{1,2}\\}",
        "\\{[1-3]\\.\\.[2-6]\\}",
        "\"\\\\[\"$\\\\a]\"",
        Just("''".to_owned()),
        Just("$(printf '%s' ab)".to_owned()),
        Just("$(echo c)".to_owned()),
        Just("`echo d`".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Words are what bash makes of them. The shell itself is asked, so nothing is taken on trust.
    #[test]
    fn words_are_what_bash_makes_of_them(words in prop::collection::vec(prop::collection::vec(piece(), 1..5), 60)) {
        let words: Vec<String> = words.iter().map(|pieces| pieces.concat()).collect();
        let Some(theirs) = bash(&words) else { return Ok(()) };
        for (word, theirs) in words.iter().zip(&theirs) {
            let ours: String = ours(word).iter().map(|arg| format!("[{arg}]")).collect();
            let ours = if ours.is_empty() { "[]".to_owned() } else { ours };
            // A tilde that is no home is marked as a name, and means the same file.
            let plain = |text: &str| text.replace("[./~", "[~");
            prop_assert_eq!(plain(&ours), plain(theirs), "{}", word);
        }
    }
}

fn shape(text: &str) -> String {
    fn command(command: &Command) -> String {
        match command {
            Command::Simple(simple) => {
                let words: Vec<String> =
                    simple.words.iter().map(|word| word.literal().unwrap_or_else(|| "?".into())).collect();
                format!("{}{}", words.join(" "), ">".repeat(simple.redirects.len()))
            }
            Command::Chain(parts) => format!("chain({})", list(parts)),
            Command::Pipeline(parts) => format!("pipe({})", list(parts)),
            Command::Group { body, redirects } => {
                format!("group({}){}", list(body), ">".repeat(redirects.len()))
            }
            Command::Block { body, redirects, .. } => {
                format!("block({}){}", list(body), ">".repeat(redirects.len()))
            }
            Command::For { name, body, .. } => format!("for {name}({})", list(body)),
            Command::Function { name, body } => format!("fn {name}({})", list(body)),
        }
    }
    fn list(commands: &[Command]) -> String {
        commands.iter().map(command).collect::<Vec<_>>().join(", ")
    }
    match parse(text) {
        Ok(script) => list(&script.commands),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn commands_have_their_shape() {
    for (text, wanted) in [
        ("ls -la; pwd", "ls -la, pwd"),
        ("a && b || c", "chain(a, b, c)"),
        ("a | b |& c", "pipe(a, b, c)"),
        ("a & b &", "a, b"),
        ("(a; b) > x", "group(a, b)>"),
        ("{ a; b; } 2>&1", "group(a, b)>"),
        ("if a; then b; elif c; then d; else e; fi", "block(a, b, c, d, e)"),
        ("while a; do b; done < x", "block(a, b)>"),
        ("for x in 1 2; do a; done", "for x(a)"),
        ("for ((i=0;i<3;i++)); do a; done", "block(a)"),
        ("case $x in a|b) c;; *) d;; esac", "block(c, d)"),
        ("f() { a; }; f", "fn f(group(a)), f"),
        ("function g { a; }", "fn g(group(a))"),
        ("[[ -f x && $y == z* ]] && a", "chain(block(), a)"),
        ("cat <<EOF | b\ntext\nEOF\nc", "pipe(cat>, b), c"),
        ("cat <<-'A' <<B\n\tx\n\tA\ny\nB\nz", "cat>>, z"),
        ("a # comment ; b\nc", "a, c"),
        ("a \\\n b", "a b"),
        ("x=1 y=2 a", "a"),
        ("a 2>&1 >/dev/null <in", "a>>>"),
        ("! a", "a"),
        ("time -p a", "a"),
        ("echo if then fi", "echo if then fi"),
        ("a &> x", "a>"),
        ("((x = 1 + 2))", "block()"),
        ("echo $((1 + (2 * 3)))", "echo ?"),
        ("a;;b", "error: this does not belong here (at character 2)"),
        ("a 'b", "error: a quote is not closed (at character 4)"),
        ("if a; then b", "error: something is not closed (at character 13)"),
        ("a | ", "error: a command is missing (at character 5)"),
        ("a )", "error: this does not belong here (at character 3)"),
        ("$(a", "error: a bracket is not closed (at character 4)"),
    ] {
        assert_eq!(shape(text), wanted, "{text}");
    }
}
