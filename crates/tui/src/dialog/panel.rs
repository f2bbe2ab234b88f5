//! Sheets that commands show: what fills the window, what was spent, which keys and commands there are.

use client::commands::{COMMANDS, Section};
use protocol::{CommandSummary, ContextLedger, Usage};

use crate::bindings::{Bindings, SECTIONS};
use crate::format::{money, tokens};
use crate::text::{Indent, Ink, Line, Span, Style, fit, plain_line, width, wrap};

/// Kinds of things in the window, in the order of the bar.
const KINDS: &[(&str, Ink)] = &[
    ("system", Ink::Agent(0)),
    ("tools", Ink::Agent(1)),
    ("rules", Ink::Agent(2)),
    ("pins", Ink::Agent(3)),
    ("summary", Ink::Agent(4)),
    ("prompts", Ink::Accent),
    ("answers", Ink::Good),
    ("results", Ink::Warning),
];

/// What fills the window, as a bar and by kind.
pub(crate) fn context_sheet(ledger: &ContextLedger, columns: usize) -> Vec<Line> {
    let total = ledger.total();
    let window = ledger.window.map(u64::from);
    let mut rows = Vec::new();
    let mut head = Line::of("  context", Style::default().bold());
    let of = window.map_or(String::new(), |window| format!(" of {}", tokens(window)));
    let percent =
        window.filter(|w| *w > 0).map_or(String::new(), |window| format!(" · {}%", total * 100 / window));
    head.push(format!("  {}{of} tokens{percent}", tokens(total)), Ink::Faint);
    rows.push(head);
    let sum = |name: &str| {
        ledger.parts.iter().filter(|part| part.name == name).map(|part| part.tokens).sum::<u64>()
    };
    let known: Vec<(&str, Ink, u64)> = KINDS.iter().map(|(name, ink)| (*name, *ink, sum(name))).collect();
    let wide = columns.min(80).saturating_sub(4).max(10) as u64;
    let whole = window.unwrap_or(total).max(1);
    let mut bar = Line::of("  ", Ink::Text);
    let mut drawn = 0;
    for (_, ink, count) in known.iter().filter(|(.., count)| *count > 0) {
        let cells = (count * wide / whole).max(1).min(wide - drawn.min(wide));
        bar.push("█".repeat(cells as usize), *ink);
        drawn += cells;
    }
    let reserve = (u64::from(ledger.reserve) * wide / whole).min(wide.saturating_sub(drawn));
    bar.push("░".repeat(wide.saturating_sub(drawn + reserve) as usize), Ink::Line);
    bar.push("▒".repeat(reserve as usize), Ink::Line);
    rows.push(bar);
    for (name, ink, count) in known.into_iter().filter(|(.., count)| *count > 0) {
        let mut line = Line::of("  █ ", ink).then(format!("{name:<10}"), Ink::Text);
        line.push(format!("{:>7}", tokens(count)), Ink::Faint);
        let mut sources: Vec<_> = ledger.parts.iter().filter(|part| part.name == name).collect();
        sources.sort_by_key(|part| std::cmp::Reverse(part.tokens));
        let named: Vec<String> = sources
            .iter()
            .filter_map(|part| {
                Some(format!("{} {}", plain_line(part.source.as_deref()?), tokens(part.tokens)))
            })
            .take(6)
            .collect();
        if !named.is_empty() {
            line.push(format!("  {}", named.join(" · ")), Ink::Faint);
        }
        rows.push(line.cut(columns));
    }
    if ledger.reserve > 0 {
        rows.push(
            Line::of("  ▒ ", Ink::Line)
                .then(format!("{:<10}", "kept free"), Ink::Text)
                .then(format!("{:>7}", tokens(u64::from(ledger.reserve))), Ink::Faint),
        );
    }
    rows
}

/// What a session spent.
pub(crate) fn cost_sheet(usage: &Usage, turns: u32, columns: usize) -> Vec<Line> {
    let mut rows = vec![Line::of("  cost", Style::default().bold())];
    let cost = usage.cost_usd.map_or("not known".to_owned(), money);
    rows[0].push(format!("  {cost} · {turns} turn{}", if turns == 1 { "" } else { "s" }), Ink::Faint);
    let fresh = usage.input.saturating_sub(usage.cache_read);
    let all = (usage.input + usage.output).max(1);
    let wide = columns.min(60).saturating_sub(32).max(8) as u64;
    for (name, count, ink) in [
        ("read anew", fresh, Ink::Accent),
        ("read from cache", usage.cache_read, Ink::Good),
        ("written", usage.output.saturating_sub(usage.reasoning), Ink::Warning),
        ("thought", usage.reasoning, Ink::Thought),
    ] {
        let cells = (count * wide / all).max(u64::from(count > 0));
        rows.push(
            Line::of(format!("  {name:<16}{:>8}  ", tokens(count)), Ink::Soft)
                .then("█".repeat(cells as usize), ink)
                .cut(columns),
        );
    }
    rows
}

/// Name and meaning, in two columns.
pub(crate) fn table_sheet(title: &str, entries: &[(String, String)], columns: usize) -> Vec<Line> {
    let left = entries.iter().map(|(name, _)| width(name)).max().unwrap_or(0).min(columns / 2).min(30);
    let mut rows = vec![Line::of(format!("  {title}"), Style::default().bold())];
    for (name, meaning) in entries {
        let name = fit(&plain_line(name), left);
        let pad = " ".repeat(left - width(&name));
        let indent = Indent {
            first: vec![Span::new(format!("  {name}{pad}  "), Ink::Accent)],
            rest: vec![Span::new(" ".repeat(left + 4), Ink::Text)],
        };
        rows.extend(wrap(&[Span::new(plain_line(meaning), Ink::Soft)], columns.min(100), &indent));
    }
    rows
}

/// Markdown; what is fenced in it is what a program of ours printed, whose columns stay where lines are broken.
pub(crate) fn report_sheet(text: &str, columns: usize) -> Vec<Line> {
    let wide = columns.min(crate::transcript::MEASURE);
    let lead = Span::new("  ", Ink::Text);
    let mut rows = Vec::new();
    for (number, part) in text.split("```").enumerate() {
        if number % 2 == 0 {
            let laid = crate::markdown::rows(part, wide.saturating_sub(2));
            rows.extend(laid.into_iter().map(|row| row.led_by(std::slice::from_ref(&lead))));
            continue;
        }
        if !rows.is_empty() {
            rows.push(Line::new());
        }
        for line in crate::text::plain(part.trim_matches('\n')).lines() {
            let hang = Span::new(" ".repeat(2 + last_column(line).min(wide / 2)), Ink::Text);
            let indent = Indent::new(lead.clone(), hang);
            rows.extend(wrap(&[Span::new(line, Ink::Soft)], wide, &indent));
        }
    }
    while rows.last().is_some_and(|row| row.width() <= 2 && row.text().trim().is_empty()) {
        rows.pop();
    }
    rows
}

/// Where the last column of a printed table begins.
fn last_column(line: &str) -> usize {
    let chars: Vec<char> = line.chars().collect();
    let begins = |at: &usize| chars[at - 1] == ' ' && chars[at - 2] == ' ' && chars[*at] != ' ';
    (2..chars.len().min(40)).rfind(begins).unwrap_or(0)
}

/// The commands by section, and those that were added.
pub(crate) fn command_list(added: &[CommandSummary], columns: usize) -> Vec<Line> {
    let mut rows = Vec::new();
    for section in Section::ALL {
        if !rows.is_empty() {
            rows.push(Line::new());
        }
        let entries: Vec<(String, String)> = COMMANDS
            .iter()
            .filter(|command| command.section == section)
            .map(|command| {
                let hint = command.hint.map(|hint| format!(" {hint}")).unwrap_or_default();
                (
                    format!("/{}", command.name),
                    format!(
                        "{}{}",
                        command.help,
                        if hint.is_empty() { String::new() } else { format!(" ·{hint}") }
                    ),
                )
            })
            .collect();
        rows.extend(table_sheet(section.title(), &entries, columns));
    }
    let theirs: Vec<(String, String)> = added
        .iter()
        .filter(|added| client::commands::find(&added.name).is_none())
        .map(|added| (format!("/{}", added.name), added.description.clone()))
        .collect();
    if !theirs.is_empty() {
        rows.push(Line::new());
        rows.extend(table_sheet("Added", &theirs, columns));
    }
    rows
}

/// The keys by section.
pub(crate) fn key_list(bindings: &Bindings, columns: usize) -> Vec<Line> {
    let mut rows = Vec::new();
    for (section, entries) in SECTIONS {
        if !rows.is_empty() {
            rows.push(Line::new());
        }
        let entries: Vec<(String, String)> = entries
            .iter()
            .map(|entry| (bindings.keys(entry.action).join(" "), entry.help.to_owned()))
            .filter(|(keys, _)| !keys.is_empty())
            .collect();
        rows.extend(table_sheet(section, &entries, columns));
    }
    rows.push(Line::new());
    let signs = [
        ("/", "commands"),
        ("@", "files, symbols and agents"),
        ("!", "run a command and show the agent what it printed"),
        ("1 2 3 …", "answer a question by its number"),
    ];
    let signs: Vec<(String, String)> =
        signs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    rows.extend(table_sheet("At the start of a line", &signs, columns));
    rows
}
