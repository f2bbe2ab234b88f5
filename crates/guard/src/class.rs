//! What an action amounts to.

use std::path::Path;

use crate::action::{Action, Change};
use crate::files::Surroundings;
use crate::finding::{Findings, Kind};
use crate::hosts;
use crate::judge::Judge;
use crate::rules::Subject;

/// Adds to `findings` all that the action does.
pub(crate) fn action(action: &Action, around: &Surroundings, findings: &mut Findings) {
    match action {
        Action::Shell { command, cwd } => Judge::new(around, cwd, findings).shell(command),
        Action::Program { argv, cwd } => Judge::new(around, cwd, findings).program(argv),
        Action::Read { paths } => {
            for path in paths {
                read(path, around, findings);
            }
        }
        Action::Write { change, paths } => {
            for path in paths {
                write(*change, path, around, findings);
            }
        }
        Action::Fetch { url } => hosts::fetch(url, findings),
        Action::Foreign { .. } => {
            findings.add(
                Kind::Ask,
                "the tool is someone else's, and what it does is not known",
                Subject::Call,
            );
        }
        Action::Inward => {}
    }
}

fn read(path: &Path, around: &Surroundings, findings: &mut Findings) {
    let spot = around.spot(&path.to_string_lossy(), around.root());
    let shown = path.display();
    let subject = Subject::Read(spot.target.clone());
    match (spot.secret, spot.inside) {
        (Some(why), false) => findings.add(Kind::Block, format!("`{shown}` {why}"), subject),
        (Some(why), true) => findings.add(Kind::Ask, format!("`{shown}` {why}"), subject),
        (None, true) => findings.add(Kind::Look, "it reads inside the project", subject),
        (None, false) if spot.public => {
            findings.needs.reads.push(spot.target);
            findings.add(Kind::Look, "it reads what everybody may read", subject);
        }
        (None, false) => {
            findings.needs.reads.push(spot.target);
            findings.add(Kind::Peek, format!("`{shown}` is outside the project"), subject);
        }
    }
    findings.secret |= spot.secret.is_some();
}

fn write(change: Change, path: &Path, around: &Surroundings, findings: &mut Findings) {
    let spot = around.spot(&path.to_string_lossy(), around.root());
    let shown = path.display();
    let subject = Subject::Write(spot.target.clone());
    let verb = match change {
        Change::Create => "creates",
        Change::Edit => "changes",
        Change::Move => "moves",
        Change::Delete => "deletes",
    };
    if change != Change::Create && spot.inside {
        findings.destroy(spot.target.clone());
    }
    let in_git = spot.target.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
    match (&spot.later, spot.inside) {
        (Some(why), true) if in_git => {
            findings.add(Kind::Block, format!("it {verb} `{shown}`: {why}"), subject)
        }
        (Some(why), true) => findings.add(Kind::Ask, format!("it {verb} `{shown}`: {why}"), subject),
        (Some(why), false) => findings.add(Kind::Block, format!("it {verb} `{shown}`: {why}"), subject),
        (None, false) if spot.secret.is_some() => {
            findings.add(Kind::Block, format!("it {verb} `{shown}`, which holds secrets"), subject);
        }
        (None, false) => {
            findings.needs.writes.push(spot.target);
            findings.add(Kind::Ask, format!("it {verb} `{shown}`, which is outside the project"), subject);
        }
        (None, true) if spot.secret.is_some() => {
            findings.add(Kind::Ask, format!("it {verb} `{shown}`, which holds secrets"), subject);
        }
        (None, true) if change == Change::Delete && spot.whole_project => {
            findings.add(Kind::Block, "it deletes the whole project", subject);
        }
        (None, true)
            if change == Change::Delete && (spot.target.is_dir() || around.is_ignored(&spot.target)) =>
        {
            findings.add(
                Kind::Ask,
                format!("it deletes `{shown}`, which git alone can not bring back"),
                subject,
            );
        }
        (None, true) => findings.add(Kind::Edit, format!("it {verb} a file of the project"), subject),
    }
}
