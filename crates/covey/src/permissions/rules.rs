//! `covey guard rules` and `covey guard forget`.

use guard::{Effect, Memory, Source};
use serde_json::{Value, json};

use super::arguments::RulesArguments;
use super::{done, looking_on};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::{Stream, Style, plain};

pub(super) fn rules(arguments: &RulesArguments) -> Result<Exit, Failure> {
    let json = arguments.json;
    let settings = Settings::load(None, &[])?;
    add(&settings, arguments)?;
    let guard = looking_on(&settings, settings.permissions(&[], &[])?)?;
    let rules = guard.rules();
    let memory = Memory::load(settings.home.data_dir());
    let now = now();
    let counts: Vec<(String, guard::Count)> = memory
        .counts
        .get(&*settings.root.to_string_lossy())
        .into_iter()
        .flatten()
        .map(|(rule, count)| (rule.clone(), count.faded(now)))
        .collect();
    if json {
        let rules: Vec<Value> = rules
            .iter()
            .map(|entry| json!({"rule": entry.rule.text(), "effect": entry.effect, "source": entry.source}))
            .collect();
        let counts: Vec<Value> = counts
            .iter()
            .map(|(rule, count)| json!({"rule": rule, "yes": count.yes, "no": count.no}))
            .collect();
        return done(&format!("{}\n", json!({"rules": rules, "answers": counts})));
    }
    let style = Style::of(Stream::Out);
    let mut out = String::new();
    for entry in rules.iter() {
        let effect = match entry.effect {
            Effect::Allow => style.good("allow"),
            Effect::Ask => style.warning("ask  "),
            Effect::Deny => style.danger("deny "),
        };
        let from = match entry.source {
            Source::Config => "settings",
            Source::Flag => "flag",
            Source::Session => "this session",
            Source::Project => "your answer, this project",
            Source::User => "your answer, everywhere",
        };
        out.push_str(&format!("{effect} {}  {}\n", plain(entry.rule.text()), style.faint(from)));
    }
    if out.is_empty() {
        out.push_str("no rules; the mode decides\n");
    }
    let often: Vec<_> = counts.iter().filter(|(_, count)| count.yes >= 4.5 && count.no < 0.5).collect();
    for (rule, count) in often {
        let times = count.yes.round();
        out.push_str(&format!(
            "{} you allowed {} {times} times; make it a rule: covey guard rules --allow '{}'\n",
            style.accent("hint:"),
            plain(rule),
            plain(rule)
        ));
    }
    done(&out)
}

/// Keeps what the person said as if they had answered so to a question.
fn add(settings: &Settings, arguments: &RulesArguments) -> Result<(), Failure> {
    let root = (!arguments.everywhere).then_some(settings.root.as_path());
    let kinds =
        [(&arguments.allow, Effect::Allow), (&arguments.ask, Effect::Ask), (&arguments.deny, Effect::Deny)];
    for text in kinds.iter().flat_map(|(rules, _)| rules.iter()) {
        let parsed: Result<guard::Rule, guard::RuleError> = text.parse();
        parsed.map_err(|error| Failure::usage(error.to_string()).hint(error.hint()))?;
    }
    for (rules, effect) in kinds.into_iter().filter(|(rules, _)| !rules.is_empty()) {
        Memory::change(settings.home.data_dir(), |memory| memory.keep(root, rules, effect, now()))
            .map_err(|error| Failure::from_error(&error))?;
    }
    Ok(())
}

pub(super) fn forget(rule: Option<&str>, all: bool, json: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let rule = rule.filter(|_| !all);
    let gone = Memory::change(settings.home.data_dir(), |memory| memory.forget(&settings.root, rule))
        .map_err(|error| Failure::from_error(&error))?;
    if json {
        return done(&format!("{}\n", json!({"forgotten": gone})));
    }
    match (gone, rule) {
        (0, Some(rule)) => {
            Err(Failure::new(format!("nothing is kept for `{rule}`")).hint("see what is: covey guard rules"))
        }
        (0, None) => done("nothing was kept for this project\n"),
        (gone, _) => done(&format!("forgot {gone}\n")),
    }
}

fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
