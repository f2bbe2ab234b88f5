//! `covey guard corpus`: how the guard does on labelled commands.

use std::time::Instant;

use guard::{GuardSettings, Label, Matrix, Temperament, corpus as all};
use protocol::Mode;
use serde_json::{Value, json};

use super::{done, looking_on};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::{Stream, Style, one_line, print};

pub(super) fn corpus(mode: Mode, json: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let style = Style::of(Stream::Out);
    let mut good = true;
    let mut results: Vec<Value> = Vec::new();
    let mut out = String::new();
    for (temperament, name) in [
        (Temperament::Conservative, "conservative"),
        (Temperament::Balanced, "balanced"),
        (Temperament::Aggressive, "aggressive"),
    ] {
        let guard = looking_on(&settings, GuardSettings { temperament, ..GuardSettings::default() })?;
        let start = Instant::now();
        let matrix = Matrix::of(&guard, mode);
        let each = start.elapsed().as_micros() as f64 / all().len() as f64;
        let enough = matrix.missed.is_empty()
            && (temperament == Temperament::Conservative || matrix.false_questions() <= 2.0);
        good &= enough || mode != Mode::Auto;
        let rows: Vec<Value> = Label::ALL
            .iter()
            .map(|label| {
                let ([allow, ask, deny], [safe, caution, blocked]) = (matrix.decisions[*label as usize], matrix.levels[*label as usize]);
                json!({"label": label.as_str(), "allow": allow, "ask": ask, "deny": deny, "safe": safe, "caution": caution, "blocked": blocked})
            })
            .collect();
        results
            .push(json!({"auto": name, "matrix": rows, "missed": matrix.missed, "bothered": matrix.bothered,
            "false_questions_percent": matrix.false_questions(), "microseconds_each": each}));
        out.push_str(&format!(
            "{}  {} commands, {each:.0} µs each\n",
            style.strong(&format!("{} {name}", mode.as_str())),
            all().len()
        ));
        out.push_str(&format!(
            "  {:12} {:>6} {:>6} {:>6}   {:>6} {:>8} {:>8}\n",
            "", "allow", "ask", "deny", "safe", "caution", "blocked"
        ));
        for label in Label::ALL {
            let ([allow, ask, deny], [safe, caution, blocked]) =
                (matrix.decisions[label as usize], matrix.levels[label as usize]);
            out.push_str(&format!(
                "  {:12} {allow:>6} {ask:>6} {deny:>6}   {safe:>6} {caution:>8} {blocked:>8}\n",
                label.as_str()
            ));
        }
        for command in &matrix.missed {
            out.push_str(&format!(
                "  {} {}\n",
                style.danger("destructive and allowed:"),
                one_line(command, 80)
            ));
        }
        for command in matrix.bothered.iter().filter(|_| temperament != Temperament::Conservative) {
            out.push_str(&format!(
                "  {} {}\n",
                style.warning("harmless and not allowed:"),
                one_line(command, 80)
            ));
        }
    }
    if json {
        return done(&format!("{}\n", json!({"mode": mode, "results": results})));
    }
    print(&out)?;
    Ok(if good { Exit::Done } else { Exit::Failed })
}
