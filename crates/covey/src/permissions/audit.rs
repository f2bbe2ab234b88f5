//! `covey guard audit` and `covey guard why`.

use guard::{Record, audited_sessions, verify_audit};
use serde_json::json;

use super::arguments::AuditCommand;
use super::done;
use crate::exit::{Exit, Failure};
use crate::settings::home;
use crate::terminal::{Stream, Style, one_line, plain, print};

pub(super) fn audit(
    command: Option<&AuditCommand>,
    session: Option<&str>,
    json: bool,
) -> Result<Exit, Failure> {
    let folder = home()?.data_dir().join("audit");
    let mut sessions = audited_sessions(&folder);
    if let Some(wanted) = session {
        sessions.retain(|session| session.starts_with(wanted));
        if sessions.is_empty() {
            return Err(Failure::new(format!("no audit log belongs to `{wanted}`"))
                .hint("see all: covey guard audit"));
        }
    }
    let verify = matches!(command, Some(AuditCommand::Verify));
    let style = Style::of(Stream::Out);
    let mut sound = true;
    let mut out = String::new();
    if sessions.is_empty() && !json {
        out.push_str("nothing was decided yet\n");
    }
    for session in sessions {
        let (records, wrong) =
            verify_audit(&folder, &session).map_err(|error| Failure::from_error(&error))?;
        sound &= wrong.is_empty();
        let problems: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        if json && verify {
            let line = json!({"session": session, "records": records.len(), "sound": wrong.is_empty(), "problems": problems});
            out.push_str(&format!("{line}\n"));
            continue;
        }
        if json {
            for record in &records {
                let mut line = json!(record);
                line["session"] = json!(session);
                out.push_str(&format!("{line}\n"));
            }
            continue;
        }
        let sign = if wrong.is_empty() { style.good("✓") } else { style.danger("✗") };
        out.push_str(&format!("{sign} {session}  {} decisions\n", records.len()));
        for problem in &problems {
            out.push_str(&format!("  {}\n", style.danger(problem)));
        }
        if !verify {
            for record in &records {
                out.push_str(&short(record, style));
            }
        }
    }
    print(&out)?;
    Ok(if sound { Exit::Done } else { Exit::Failed })
}

fn short(record: &Record, style: Style) -> String {
    let decision = match record.decision.as_str() {
        "allow" => style.good("allow"),
        "ask" => style.warning("ask"),
        _ => style.danger("deny"),
    };
    let what = one_line(&record.what.join("; "), 70);
    format!(
        "  {} {decision} by {}  {} {what}\n",
        style.faint(&record.at.chars().take(19).collect::<String>()),
        record.by,
        record.tool
    )
}

pub(super) fn why(text: Option<&str>, limit: usize, json: bool) -> Result<Exit, Failure> {
    let folder = home()?.data_dir().join("audit");
    let mut found: Vec<(String, Record)> = Vec::new();
    for session in audited_sessions(&folder) {
        // A log that was tampered with still tells what is in it; `audit verify` tells the rest.
        let Ok((records, _)) = verify_audit(&folder, &session) else { continue };
        let fits =
            |record: &Record| text.is_none_or(|text| record.what.iter().any(|what| what.contains(text)));
        found.extend(records.into_iter().filter(fits).map(|record| (session.clone(), record)));
    }
    found.sort_by(|(_, a), (_, b)| b.at.cmp(&a.at));
    found.truncate(limit);
    if found.is_empty() && !json {
        let message = match text {
            Some(text) => format!("no decision about `{text}` is recorded"),
            None => "nothing was decided yet".to_owned(),
        };
        return Err(Failure::new(message).hint("ask what would happen: covey guard explain COMMAND"));
    }
    let style = Style::of(Stream::Out);
    let mut out = String::new();
    for (session, record) in &found {
        if json {
            let mut line = json!(record);
            line["session"] = json!(session);
            out.push_str(&format!("{line}\n"));
            continue;
        }
        out.push_str(&format!("{}\n", style.strong(&plain(&record.what.join("; ")))));
        let when = record.at.chars().take(19).collect::<String>();
        out.push_str(&format!(
            "{} by {} in mode {}, class {}  {}\n",
            record.decision,
            record.by,
            record.mode,
            record.level,
            style.faint(&format!("{when}, {session}"))
        ));
        for clause in &record.because {
            out.push_str(&format!("  {}\n", plain(clause)));
        }
    }
    done(&out)
}
