use proptest::prelude::*;

use crate::corpus::{Label, corpus};
use crate::testing::{self, World};
use crate::verdict::Level;

/// Simple commands that are blocked as they stand.
const GRAVE: [&str; 22] = [
    "rm -rf src",
    "rm -rf /",
    "git push --force",
    "git reset --hard HEAD~1",
    "git clean -fdx",
    "git branch -D main",
    "dd if=/dev/zero of=/dev/sda",
    "mkfs.ext4 /dev/sdb1",
    "chmod -R 777 /",
    "chown -R root /etc",
    "shred -u notes.txt",
    "find . -delete",
    "cat /etc/shadow",
    "crontab -r",
    "shutdown -h now",
    "docker system prune -af",
    "kubectl delete namespace prod",
    "terraform destroy",
    "npm publish",
    "aws s3 rm s3://b --recursive",
    "systemctl stop sshd",
    "rsync -a --delete a b",
];

fn level(world: &World, command: &str) -> Level {
    world.classed(command).level()
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if "\"\\$`".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out + "\""
}

/// One way to write a word so that a shell reads the same.
fn quoted(word: &str, how: u8, at: usize) -> String {
    let at = at % word.len().max(1);
    if !word.is_ascii() || word.is_empty() {
        return word.to_owned();
    }
    let (head, tail) = word.split_at(at);
    match how % 8 {
        0 => single(word),
        1 => double(word),
        2 => format!("$'{}'", word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>()),
        3 => format!("$'{}'", word.bytes().map(|byte| format!("\\{byte:03o}")).collect::<String>()),
        4 => format!("{head}''{tail}"),
        5 => format!("{head}\"\"{tail}"),
        6 => format!("{head}\\{tail}"),
        _ => format!("{}{}", single(head), double(tail)),
    }
}

/// One way to run a command by means of another. `simple` ones take a command without operators.
fn wrapped(command: &str, how: u8) -> String {
    match how % 34 {
        0 => format!("sh -c {}", single(command)),
        1 => format!("bash -c {}", double(command)),
        2 => format!("eval {}", single(command)),
        // With blanks: `$((…))` would be a sum.
        3 => format!("( {command} )"),
        4 => format!("{{ {command}; }}"),
        5 => format!("if true; then {command}; fi"),
        6 => format!("while true; do {command}; break; done"),
        7 => format!("for i in 1 2; do {command}; done"),
        8 => format!("echo $({command})"),
        9 => format!("echo \"a $({command}) b\""),
        10 => format!("f() {{ {command}; }}; f"),
        11 => format!("true && {command}"),
        12 => format!("false || {command}"),
        13 => format!("{command} | cat"),
        14 => format!("ls | {{ {command}; }}"),
        15 => format!("! {command}"),
        16 => format!("trap {} EXIT", single(command)),
        17 => format!("X=$({command}) ls"),
        18 => format!("cat <({command})"),
        19 => format!("{{ bash <<'E{0}'\n{command}\nE{0}\n}}", command.len()),
        20 => format!("{{ cat <<E{0}\n$({command}\n)\nE{0}\n}}", command.len()),
        21 => format!("echo {} | sh", single(command)),
        22 => format!("bash <<< {}", single(command)),
        23 => format!("case x in x) {command};; esac"),
        24 => format!("sudo sh -c {}", single(command)),
        25 => format!("ssh host {}", single(command)),
        26 => format!("find . -exec sh -c {} \\;", single(command)),
        27 => format!("env A=1 bash -c {}", single(command)),
        28 => format!("timeout 9 sh -c {}", single(command)),
        29 => format!("xargs sh -c {} < list", single(command)),
        30 => format!("[[ -n $({command}) ]]"),
        31 => format!("alias x={}", single(command)),
        32 => format!("CMD={}; eval \"$CMD\"", single(command)),
        _ => format!("ls\n{command}\nls"),
    }
}

fn prefixed(command: &str, how: u8) -> String {
    let prefix = match how % 14 {
        0 => "env",
        1 => "command",
        2 => "nice -n 5",
        3 => "nohup",
        4 => "timeout -k 1 5",
        5 => "stdbuf -oL",
        6 => "setsid",
        7 => "env -i A=b",
        8 => "time",
        9 => "A=1 B=2",
        10 => "exec",
        11 => "busybox",
        12 => "sudo -u me",
        _ => "xargs -n 1",
    };
    format!("{prefix} {command}")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_quoting_and_no_wrapper_lowers_what_is_blocked(
        base in 0..GRAVE.len(),
        quotes in prop::collection::vec((any::<u8>(), any::<usize>()), 8),
        quote in any::<bool>(),
        prefix in prop::option::of(any::<u8>()),
        wraps in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let world = testing::world();
        let mut command = GRAVE[base].to_owned();
        if quote {
            let words = command.split(' ').zip(&quotes).map(|(word, (how, at))| quoted(word, *how, *at));
            command = words.collect::<Vec<_>>().join(" ");
        }
        if let Some(how) = prefix {
            command = prefixed(&command, how);
        }
        for how in &wraps {
            command = wrapped(&command, *how);
        }
        prop_assert_eq!(level(&world, &command), Level::Blocked, "{}", command);
    }

    #[test]
    fn nothing_that_is_appended_lowers_a_command(a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>(), how in 0u8..12) {
        let world = testing::world();
        let all = corpus();
        let (first, second) = (&a.get(&all).1, &b.get(&all).1);
        let longer = match how {
            0 => format!("{first}; {second}"),
            1 => format!("{first} && {second}"),
            2 => format!("{first} || {second}"),
            3 => format!("{first} | {second}"),
            4 => format!("{first} & {second}"),
            5 => format!("{first}\n{second}"),
            6 => format!("{first} > out.txt"),
            7 => format!("{first} 2>/dev/null"),
            8 => format!("{first} \"$({second})\""),
            9 => format!("{first} `ls`"),
            10 => format!("{first} < in.txt"),
            _ => format!("{first} <(ls)"),
        };
        prop_assert!(level(&world, &longer) >= level(&world, first), "`{}` is less than `{}`", longer, first);
    }

    #[test]
    fn no_text_breaks_the_judge(text in "[ -~\n]{0,200}") {
        let world = testing::world();
        world.classed(&text);
    }

    #[test]
    fn no_mixture_of_signs_breaks_the_judge(parts in prop::collection::vec(
        prop::sample::select(vec!["'", "\"", "$(", ")", "`", "${", "}", "<<", "<<<", "EOF", "\n", ";", "&&", "|", "rm", " -rf", " /", "$'", "\\", "((", "))", "[[",
            "]]", "if ", "then ", "fi", "do ", "done", "case ", "esac", "{", "x=", "*", "ü", ">", "&", "#", "function ", "for ", " in "]), 0..40)) {
        let world = testing::world();
        world.classed(&parts.concat());
    }
}

#[test]
fn what_is_too_long_is_not_read_and_never_safe() {
    let world = testing::world();
    let start = std::time::Instant::now();
    assert_eq!(level(&world, &format!("ls {}", "a ".repeat(10_000))), Level::Caution);
    assert!(start.elapsed().as_millis() < 500);
    assert_eq!(level(&world, &format!("ls {}", "a ".repeat(2_000))), Level::Safe);
}

#[test]
fn hostile_texts_take_no_time_worth_noticing() {
    let world = testing::world();
    let start = std::time::Instant::now();
    for text in [
        "{a,b}".repeat(3000),
        "$(".repeat(5000),
        "(".repeat(16_000),
        "`".repeat(16_000),
        "\"$(".repeat(4000),
        format!("{}ls{}", "eval ".repeat(2000), ""),
        "for a in 1 2 3 4 5 6 7 8; do ".repeat(30) + "ls" + &"; done".repeat(30),
        "f(){ f; f; }; ".repeat(500) + "f",
        "sh -c 'sh -c ls' ;".repeat(800),
        "x=a; ".repeat(3000) + "$x$x",
        "a=$a$a; ".repeat(30) + "echo $a",
        "env ".repeat(4000),
        "<<A ".repeat(3000),
        "((".repeat(8000),
        "${".repeat(8000),
        "rm -rf ".repeat(2000),
    ] {
        let one = std::time::Instant::now();
        world.classed(&text);
        assert!(one.elapsed().as_secs() < 10, "{:?}: {}", one.elapsed(), &text[..40]);
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn the_corpus_is_classed_as_its_labels_say() {
    let world = testing::world();
    for (label, command) in corpus() {
        if label != Label::Harmless {
            assert!(level(&world, &command) > Level::Safe, "{command}");
        }
    }
}
