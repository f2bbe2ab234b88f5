//! `covey stats`: what was spent.

use std::collections::BTreeMap;

use protocol::{Timestamp, Usage};
use serde_json::{Value, json};
use sessions::{UsageEntry, UsageLog};

use crate::cli::{By, Span, StatsArguments};
use crate::exit::{Exit, Failure};
use crate::settings::home;
use crate::terminal::{Stream, Style, columns, count, one_line, print, tell_warning};

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
/// No bar is longer than this, however wide the screen.
const LONGEST_BAR: usize = 40;

/// What was spent on one thing.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    usage: Usage,
    calls: u64,
}

pub(crate) fn stats(arguments: &StatsArguments) -> Result<Exit, Failure> {
    let log = UsageLog::at(home()?.data_dir().join("usage.jsonl"));
    let now = Timestamp::now();
    let span_ms = match arguments.span {
        Span::Day => DAY_MS,
        Span::Week => 7 * DAY_MS,
        Span::Month => 30 * DAY_MS,
    };
    let since = Timestamp::from_millis(now.as_millis() - span_ms);
    let mut groups: BTreeMap<String, Spent> = BTreeMap::new();
    if arguments.by.is_none() {
        // Days on which nothing was spent are a part of the picture.
        groups = steps(arguments.span, since, now).map(|name| (name, Spent::default())).collect();
    }
    let mut all = Spent::default();
    let unreadable = log.read(|entry| {
        if entry.ts >= since {
            all.add(&entry);
            groups.entry(group(&entry, arguments)).or_default().add(&entry);
        }
    })?;
    if unreadable > 0 {
        tell_warning(&format!("{unreadable} lines of usage.jsonl can not be read and are not counted"));
    }
    let mut rows: Vec<(String, Spent)> = groups.into_iter().collect();
    if arguments.by.is_some() {
        rows.sort_by(|a, b| b.1.weight().total_cmp(&a.1.weight()));
    }
    let out = if arguments.json { as_json(&rows, &all, since, now) } else { as_text(&rows, &all) };
    print(&out)?;
    Ok(Exit::Done)
}

impl Spent {
    fn add(&mut self, entry: &UsageEntry) {
        self.usage += entry.usage;
        self.calls += 1;
    }

    /// Money where it is known; else tokens, which are small enough not to drown it.
    fn weight(&self) -> f64 {
        self.usage.cost_usd.filter(|cost| *cost > 0.0).unwrap_or(self.usage.total() as f64 / 1e9)
    }
}

/// Which row a call counts for.
fn group(entry: &UsageEntry, arguments: &StatsArguments) -> String {
    match (arguments.by, arguments.span) {
        (Some(By::Model), _) => entry.model.as_ref().map_or("(unknown)", |model| model.as_str()).to_owned(),
        (Some(By::Agent), _) => entry.agent.to_string(),
        (Some(By::Project), _) => entry.cwd.clone(),
        (None, span) => step(span, entry.ts),
    }
}

/// `2026-01-25`, or the hour of it when one day is looked at. Days are counted in UTC, as in the log.
fn step(span: Span, ts: Timestamp) -> String {
    let letters = if span == Span::Day { 13 } else { 10 };
    ts.to_string().chars().take(letters).collect::<String>().replace('T', " ")
}

fn steps(span: Span, since: Timestamp, now: Timestamp) -> impl Iterator<Item = String> {
    let width = if span == Span::Day { HOUR_MS } else { DAY_MS };
    let moments = (since.as_millis()..now.as_millis()).step_by(width as usize).chain([now.as_millis()]);
    moments.skip(1).map(move |millis| step(span, Timestamp::from_millis(millis)))
}

fn as_text(rows: &[(String, Spent)], all: &Spent) -> String {
    if all.calls == 0 {
        return "nothing was spent\n".to_owned();
    }
    let style = Style::of(Stream::Out);
    let name_width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(40);
    let figures: Vec<String> = rows.iter().map(|(_, spent)| figures(spent)).collect();
    let figure_width = figures.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let room = columns().saturating_sub(name_width + figure_width + 4).min(LONGEST_BAR);
    let most = rows.iter().map(|(_, spent)| spent.weight()).fold(0.0, f64::max);
    let mut out = String::new();
    for ((name, spent), figures) in rows.iter().zip(figures) {
        let name = one_line(name, name_width);
        let bar = style.accent(&bar(spent.weight() / most.max(f64::MIN_POSITIVE), room));
        out.push_str(format!("{name:name_width$}  {figures:>figure_width$}  {bar}").trim_end());
        out.push('\n');
    }
    let reasoning = match all.usage.cache_read {
        0 => String::new(),
        read => format!(", {} of it from a cache", count(read)),
    };
    let calls = if all.calls == 1 { "1 call".to_owned() } else { format!("{} calls", all.calls) };
    out.push_str(&style.faint(&format!(
        "{calls}, {} tokens in{reasoning}, {} out{}",
        count(all.usage.input),
        count(all.usage.output),
        all.usage.cost_usd.map(|cost| format!(", ${cost:.2}")).unwrap_or_default()
    )));
    out.push('\n');
    out
}

fn figures(spent: &Spent) -> String {
    if spent.calls == 0 {
        return "–".to_owned();
    }
    let tokens = format!("{} tokens", count(spent.usage.total()));
    spent.usage.cost_usd.map(|cost| format!("{tokens}  ${cost:.2}")).unwrap_or(tokens)
}

/// Eighths of a cell, so that small differences show.
fn bar(share: f64, cells: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * cells as f64 * 8.0).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    "█".repeat(eighths / 8) + part
}

fn as_json(rows: &[(String, Spent)], all: &Spent, since: Timestamp, until: Timestamp) -> String {
    let row = |name: &str, spent: &Spent| json!({"name": name, "calls": spent.calls, "usage": spent.usage});
    let rows: Vec<Value> = rows.iter().map(|(name, spent)| row(name, spent)).collect();
    format!("{}\n", json!({"since": since, "until": until, "rows": rows, "total": row("total", all)}))
}
