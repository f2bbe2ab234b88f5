use std::path::{Path, PathBuf};

use super::*;

fn hit(rule: &str, subject: &Subject) -> bool {
    let place = Place { root: Path::new("/p"), home: Path::new("/h") };
    rule.parse::<Rule>().unwrap().matches("tool", subject, &place)
}

fn command(text: &str) -> Subject {
    Subject::Command(text.split(' ').map(str::to_owned).collect())
}

#[test]
fn commands_are_matched_word_by_word() {
    assert!(hit("shell(cargo test *)", &command("cargo test")));
    assert!(hit("shell(cargo test *)", &command("cargo test -p x")));
    assert!(hit("shell(cargo test *)", &command("/usr/bin/cargo test -p x")));
    assert!(!hit("shell(cargo test *)", &command("./cargo test -p x")));
    assert!(!hit("shell(cargo test *)", &command("cargo testing")));
    assert!(!hit("shell(cargo test)", &command("cargo test -p x")));
    assert!(hit("shell(npm run test:*)", &command("npm run test:unit")));
    assert!(hit("shell", &command("anything at all")));
    let odd = vec!["git".to_owned(), "commit".to_owned(), "-m".to_owned(), "it's * done".to_owned()];
    let exact = Rule::for_command(&odd);
    assert!(hit(&exact, &Subject::Command(odd)), "{exact}");
}

#[test]
fn paths_are_canonical_and_below_the_project() {
    let write = |path: &str| Subject::Write(PathBuf::from(path));
    assert!(hit("edit(src/**)", &write("/p/src/a/b.rs")));
    assert!(!hit("edit(src/**)", &write("/q/src/a/b.rs")));
    assert!(!hit("read(src/**)", &write("/p/src/a/b.rs")));
    assert!(hit("edit(*.md)", &write("/p/docs/a.md")));
    assert!(hit("read(~/.cargo/**)", &Subject::Read(PathBuf::from("/h/.cargo/registry"))));
}

#[test]
fn hosts_are_named_whole() {
    let host = |name: &str| Subject::Host(name.to_owned());
    assert!(hit("web_fetch(docs.example.org)", &host("docs.example.org")));
    assert!(!hit("web_fetch(example.org)", &host("docs.example.org")));
    assert!(hit("web_fetch(*.example.org)", &host("docs.example.org")));
    assert!(!hit("web_fetch(*.example.org)", &host("badexample.org")));
}

#[test]
fn a_deny_wins_then_the_most_specific() {
    let mut rules = RuleSet::default();
    rules.add(Effect::Allow, Source::Config, "shell(git *)").unwrap();
    rules.add(Effect::Ask, Source::Config, "shell(git push *)").unwrap();
    rules.add(Effect::Allow, Source::Config, "shell(git push origin main)").unwrap();
    let place = Place { root: Path::new("/p"), home: Path::new("/h") };
    let decides = |rules: &RuleSet, text: &str| {
        RuleSet::decides(&[rules], "shell", &command(text), &place).map(|entry| entry.effect)
    };
    assert_eq!(decides(&rules, "git log"), Some(Effect::Allow));
    assert_eq!(decides(&rules, "git push origin dev"), Some(Effect::Ask));
    assert_eq!(decides(&rules, "git push origin main"), Some(Effect::Allow));
    rules.add(Effect::Deny, Source::Config, "shell").unwrap();
    assert_eq!(decides(&rules, "git push origin main"), Some(Effect::Deny));
}

#[test]
fn what_is_no_rule_says_why() {
    for text in ["", "shell(", "(x)", "shell()", "shell('x)", "rm -rf"] {
        let error = text.parse::<Rule>().unwrap_err();
        assert!(error.to_string().contains("is not a rule"), "{error}");
    }
}
