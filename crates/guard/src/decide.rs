//! From what was found to what happens: mode, rules, and whether anybody can be asked.

use protocol::Mode;

#[cfg(test)]
mod tests;

use crate::finding::{Finding, Findings, Kind};
use crate::rules::{Effect, Place, Rule, RuleSet, Subject};
use crate::settings::Temperament;
use crate::verdict::{Level, Ruling, Verdict};

/// Everything besides the action itself that a decision depends on.
pub(crate) struct Situation<'a> {
    pub(crate) mode: Mode,
    pub(crate) attended: bool,
    pub(crate) temperament: Temperament,
    pub(crate) rules: &'a [&'a RuleSet],
    pub(crate) place: Place<'a>,
}

/// What is to be done about one finding, and the clause that says so.
struct Clause {
    ruling: Ruling,
    text: Option<String>,
    /// No rule and no answer that is kept can change it.
    fixed: bool,
}

pub(crate) fn decide(tool: &str, findings: &Findings, situation: &Situation<'_>) -> Verdict {
    let level = findings.level();
    let mut clauses: Vec<(&Finding, Clause)> =
        findings.list.iter().map(|finding| (finding, clause(tool, finding, situation))).collect();
    // The strictest decides; of several the gravest comes first.
    clauses.sort_by_key(|(finding, clause)| std::cmp::Reverse((clause.ruling, finding.kind)));
    let decided = clauses.first().map_or(Ruling::Allow, |(_, clause)| clause.ruling);
    let mut because: Vec<String> = Vec::new();
    let mut say = |text: &str| {
        if !because.iter().any(|known| known == text) {
            because.push(text.to_owned());
        }
    };
    for (finding, clause) in &clauses {
        // What is harmless in something that is not needs no words.
        if finding.kind == Kind::Look && clause.text.is_none() && level != Level::Safe {
            continue;
        }
        match &clause.text {
            Some(text) => {
                say(text);
                say(&finding.because);
            }
            None => say(&finding.because),
        }
    }
    if because.is_empty() {
        because.push("nothing outside the session is touched".to_owned());
    }
    let open = clauses.iter().filter(|(_, clause)| clause.ruling > Ruling::Allow);
    let fixed = open.clone().any(|(_, clause)| clause.fixed);
    let mut rules = Vec::new();
    if !fixed {
        for rule in open.filter_map(|(finding, _)| allowing(tool, &finding.subject, &situation.place)) {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    let covered = !fixed
        && clauses.iter().all(|(finding, clause)| {
            clause.ruling == Ruling::Allow || allowing(tool, &finding.subject, &situation.place).is_some()
        });
    if !covered {
        rules.clear();
    }
    let mut decision = decided;
    if decided == Ruling::Ask && !situation.attended {
        decision = Ruling::Deny;
        let way = match rules.as_slice() {
            [] => "nobody is there to ask".to_owned(),
            rules => format!(
                "nobody is there to ask; this would allow it: --allow '{}'",
                rules.join("' --allow '")
            ),
        };
        because.insert(0, way);
    }
    let blocked = level == Level::Blocked;
    Verdict {
        level,
        decision,
        because,
        confirm_twice: blocked && decision == Ruling::Ask,
        may_remember: !blocked && !rules.is_empty(),
        rules,
        checkpoint: decision != Ruling::Deny && (blocked || !findings.destroys.is_empty()),
        destroys: findings.destroys.clone(),
        needs: findings.needs.clone(),
    }
}

fn clause(tool: &str, finding: &Finding, situation: &Situation<'_>) -> Clause {
    let Situation { mode, attended, .. } = *situation;
    let rule = RuleSet::decides(situation.rules, tool, &finding.subject, &situation.place);
    let deny = rule.filter(|entry| entry.effect == Effect::Deny);
    if let Some(entry) = deny {
        let text = format!("the rule `{}` denies it", entry.rule);
        return Clause { ruling: Ruling::Deny, text: Some(text), fixed: true };
    }
    if finding.kind == Kind::Block {
        let (ruling, text) = match mode {
            Mode::Full => (Ruling::Allow, None),
            Mode::Ask | Mode::Edit if attended => (Ruling::Ask, None),
            Mode::Ask | Mode::Edit => {
                (Ruling::Deny, Some("it is blocked, and nobody is there to confirm it twice".to_owned()))
            }
            mode => (Ruling::Deny, Some(format!("mode `{}` denies what is blocked", mode.as_str()))),
        };
        return Clause { ruling, text, fixed: true };
    }
    if matches!(mode, Mode::Explore | Mode::Plan) && !finding.kind.only_looks() {
        let text = format!("mode `{}` changes nothing", mode.as_str());
        return Clause { ruling: Ruling::Deny, text: Some(text), fixed: true };
    }
    if let Some(entry) = rule {
        let (ruling, word) = match entry.effect {
            Effect::Allow => (Ruling::Allow, "allows"),
            Effect::Ask | Effect::Deny => (Ruling::Ask, "asks about"),
        };
        let text = Some(format!("the rule `{}` {word} it", entry.rule));
        // An answer can not outlive a rule that wants the question.
        return Clause { ruling, text, fixed: ruling == Ruling::Ask };
    }
    let ruling = if by_itself(finding.kind, mode, situation.temperament, attended) {
        Ruling::Allow
    } else {
        Ruling::Ask
    };
    Clause { ruling, text: None, fixed: false }
}

/// What a mode does without a question.
fn by_itself(kind: Kind, mode: Mode, temperament: Temperament, attended: bool) -> bool {
    match mode {
        Mode::Explore | Mode::Plan | Mode::Ask => kind == Kind::Look,
        Mode::Edit => matches!(kind, Kind::Look | Kind::Edit),
        Mode::Full => kind != Kind::Lose || !attended,
        Mode::Auto => match kind {
            Kind::Look => true,
            Kind::Create | Kind::Edit | Kind::Build => temperament >= Temperament::Balanced,
            Kind::Format | Kind::Install | Kind::Commit | Kind::Fetch => {
                temperament >= Temperament::Aggressive
            }
            Kind::Peek | Kind::Ask | Kind::Lose | Kind::Block => false,
        },
    }
}

/// The rule that allows just this.
fn allowing(tool: &str, subject: &Subject, place: &Place<'_>) -> Option<String> {
    let path = |path: &std::path::Path| match path.strip_prefix(place.root) {
        Ok(relative) if relative.as_os_str().is_empty() => ".".to_owned(),
        Ok(relative) => relative.display().to_string(),
        Err(_) => path.display().to_string(),
    };
    match subject {
        Subject::Command(argv) if argv.iter().any(|word| word.contains(crate::UNKNOWN)) => None,
        Subject::Command(argv) => Some(Rule::for_command(argv)),
        Subject::Read(read) => Some(format!("read({})", path(read))),
        Subject::Write(written) => Some(format!("edit({})", path(written))),
        Subject::Host(name) => Some(format!("web_fetch({name})")),
        Subject::Call => Some(tool.to_owned()),
        Subject::Extra => None,
    }
}
