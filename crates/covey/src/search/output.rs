//! What a search found, for people and for programs.

use std::time::Duration;

use ::index::{Found, Hit, Kind, Searcher, SnippetLine};
use serde_json::json;

use crate::exit::Failure;
use crate::terminal::{Stream, Style, columns, plain, print};

/// Lines of code for each result.
const LINES: usize = 4;

/// A result a line.
pub(super) fn json(found: &Found, explain: bool) -> Result<(), Failure> {
    let mut out = String::new();
    for hit in &found.hits {
        let mut line = serde_json::to_value(hit).map_err(|error| Failure::from_error(&error))?;
        if explain {
            line["why"] = json!({"query": found.kind, "lexical": hit.why.lexical, "dense": hit.why.dense,
                "file": hit.why.file, "mentioned": hit.why.mentioned, "part": hit.why.part});
        }
        out.push_str(&format!("{line}\n"));
    }
    Ok(print(&out)?)
}

pub(super) fn text(searcher: &Searcher, found: &Found, explain: bool, took: Duration) -> Result<(), Failure> {
    let style = Style::of(Stream::Out);
    if found.hits.is_empty() {
        print("nothing found\n")?;
        return Ok(());
    }
    let mut out = String::new();
    for hit in &found.hits {
        out.push_str(&heading(hit, style));
        if explain {
            out.push_str(&style.faint(&why(hit)));
        }
        for line in searcher.snippet(found, hit, LINES) {
            out.push_str(&code(&line, style));
        }
    }
    let sides = if found.dense { "words and meaning" } else { "words" };
    let millis = took.as_secs_f64() * 1e3;
    out.push_str(&style.faint(&format!("{} results by {sides} · {millis:.0} ms", found.hits.len())));
    out.push('\n');
    Ok(print(&out)?)
}

fn heading(hit: &Hit, style: Style) -> String {
    // A name may hold anything but a slash; here it has to stay on its line.
    let file = plain(&hit.file).replace(['\n', '\t'], "\u{fffd}");
    let place = format!("{file}:{}-{}", hit.start_line, hit.end_line);
    let symbol = match (&hit.symbol, hit.kind) {
        (Some(symbol), _) => format!("  {}", plain(symbol)),
        (None, Kind::File | Kind::Loose) => String::new(),
        (None, kind) => format!("  {}", kind.word()),
    };
    format!("{} {}{symbol}\n", style.faint(&format!("{:2}", hit.rank)), style.strong(&style.accent(&place)))
}

fn why(hit: &Hit) -> String {
    let mut parts = vec![
        format!("words {:.2}", hit.why.lexical),
        format!("meaning {:.2}", hit.why.dense),
        format!("file {:.2}", hit.why.file),
    ];
    if hit.why.mentioned > 0.0 {
        parts.push(format!("mentioned +{:.2}", hit.why.mentioned));
    }
    if hit.why.part < 1.0 {
        parts.push(format!("tests, docs or examples ×{:.2}", hit.why.part));
    }
    format!("   score {:.3}: {}\n", hit.score, parts.join(", "))
}

/// A line with the words of the query marked.
fn code(line: &SnippetLine, style: Style) -> String {
    let room = columns().saturating_sub(12);
    let mut shown = String::new();
    let mut at = 0;
    let end = line.text.floor_char_boundary(room);
    for mark in line.marks.iter().filter(|mark| mark.end <= end) {
        shown.push_str(&plain(&line.text[at..mark.start]));
        shown.push_str(&style.warning(&plain(&line.text[mark.clone()])));
        at = mark.end;
    }
    shown.push_str(&plain(&line.text[at..end.max(at)]));
    format!("{} {}\n", style.faint(&format!("{:7} │", line.number)), shown.replace('\t', "    "))
}
