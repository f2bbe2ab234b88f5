//! Writes sessions for measuring, and measures them.
//!
//! ```text
//! make_log --sessions-dir DIR --bytes 1000000000      one session of about this size
//! make_log --sessions-dir DIR --count 10000           many small ones
//! make_log --sessions-dir DIR --measure               open, tail, list and search what is there
//! ```
//! Each line of output is one JSON object.
#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::error::Error;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use protocol::*;
use sessions::{ListOptions, Opened, Search, Store};

type Body = (Option<TurnId>, EventBody);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut dir, mut bytes, mut count, mut measure) = (None, None, 1u32, false);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--sessions-dir" => dir = Some(PathBuf::from(value()?)),
            "--bytes" => bytes = Some(value()?.parse::<u64>()?),
            "--count" => count = value()?.parse()?,
            "--measure" => measure = true,
            other => return Err(format!("`{other}` is not an option").into()),
        }
    }
    let dir = dir.ok_or("--sessions-dir is missing")?;
    let store = Store::new(&dir);
    if measure {
        return measure_all(&store, &dir.join("../search.sqlite"));
    }
    let began = Instant::now();
    let mut total = 0;
    for number in 0..count {
        total += make(&store, number, bytes.unwrap_or(4096))?;
    }
    report("written", began, serde_json::json!({ "sessions": count, "bytes": total }));
    Ok(())
}

fn make(store: &Store, number: u32, bytes: u64) -> Result<u64, Box<dyn Error>> {
    let created = Timestamp::from_millis(1_769_351_452_000 + i64::from(number) * 60_000);
    let session = SessionId::new(created, number);
    let start = SessionStart {
        session: session.clone(),
        cwd: format!("/src/project-{}", number % 20),
        agent: "native".into(),
        model: Some("local/small".into()),
        mode: Mode::Ask,
        title: None,
        forked_from: None,
        covey: "bench".to_owned(),
    };
    let Opened { mut writer, mut view, .. } = store.create(start, created)?;
    let mut turn = 0u64;
    while writer.log_bytes() < bytes {
        turn += 1;
        let now = Timestamp::from_millis(created.as_millis() + turn as i64 * 1000);
        for event in writer.append(bodies(number, turn), now)? {
            view.apply(&event);
        }
        if turn.is_multiple_of(4096) {
            writer.checkpoint(&view)?;
        }
    }
    let written = writer.log_bytes();
    writer.close(&view)?;
    Ok(written)
}

/// One turn: a prompt, a thought, some streaming, a tool call with its output, an answer.
fn bodies(number: u32, turn: u64) -> Vec<Body> {
    const WORDS: &[&str] =
        &["coupon", "cart", "queue", "parser", "index", "socket", "retry", "budget", "diff", "lock"];
    let word = |n: u64| WORDS[((u64::from(number) + turn) * 7 + n) as usize % WORDS.len()];
    let id = TurnId::new(format!("t{turn}"));
    let message = MessageId::new(format!("t{turn}.m1"));
    let call = CallId::new(format!("c{turn}"));
    let chunk = |n| Chunk {
        message: message.clone(),
        text: format!("the {} of the {} is \"wrong\"\n", word(n), word(n + 3)),
    };
    let prompt =
        Content::text(format!("why does the {} break the {} in case {number}-{turn}?", word(1), word(2)));
    let mut bodies = vec![
        EventBody::UserPrompt(UserPrompt { content: vec![prompt], key: None }),
        EventBody::TurnStart(TurnStart {
            parent: None,
            agent: "native".into(),
            model: None,
            mode: Mode::Ask,
            limits: None,
            attended: None,
        }),
    ];
    bodies.extend((0..8).map(|n| EventBody::AgentMessage(chunk(n))));
    bodies.push(EventBody::ToolCall(ToolCall {
        call: call.clone(),
        name: "read".to_owned(),
        title: format!("read src/{}.rs", word(4)),
        kind: ToolKind::Read,
        status: ToolStatus::InProgress,
        input: serde_json::json!({ "path": format!("src/{}.rs", word(4)) }),
        locations: Vec::new(),
        via: None,
    }));
    bodies.push(EventBody::ToolCallUpdate(ToolCallUpdate {
        status: Some(ToolStatus::Completed),
        content: Some(vec![ToolContent::text(format!("fn {}() {{\n    todo!()\n}}\n", word(5)).repeat(40))]),
        ..ToolCallUpdate::of(call)
    }));
    bodies.push(EventBody::MessageEnd(MessageEnd { message }));
    let usage = Usage { input: 1000, output: 50, ..Usage::default() };
    bodies.push(EventBody::Usage(UsageReport { model: None, usage, estimated: false }));
    bodies.push(EventBody::TurnEnd(TurnEnd {
        stop: Stop::Done,
        cause: None,
        usage,
        steps: 1,
        duration_ms: 900,
    }));
    bodies.into_iter().map(|body| (Some(id.clone()), body)).collect()
}

fn measure_all(store: &Store, database: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let listing = store.list(&ListOptions::default())?;
    report("list", began, serde_json::json!({ "sessions": listing.sessions.len() }));

    let largest = listing.sessions.iter().max_by_key(|summary| summary.seq).ok_or("no sessions")?;
    let began = Instant::now();
    let mut reader = store.reader(&largest.session)?;
    let view = reader.view()?;
    let last = reader.last(200)?;
    let bytes = reader.log_bytes()?;
    report("open", began, serde_json::json!({ "bytes": bytes, "seq": view.seq, "tail": last.len() }));

    let began = Instant::now();
    let page = reader.before(view.seq / 2, 200)?;
    report("page", began, serde_json::json!({ "events": page.len() }));

    let mut search = Search::open(database)?;
    let began = Instant::now();
    let updated = search.update(store, &mut |_| ControlFlow::Continue(()))?;
    report("index", began, serde_json::json!({ "sessions": updated.sessions, "bytes": updated.bytes }));
    let began = Instant::now();
    let hits = search.search("cart break queu", 20)?;
    report("search", began, serde_json::json!({ "hits": hits.len() }));
    Ok(())
}

fn report(what: &str, began: Instant, facts: serde_json::Value) {
    let millis = began.elapsed().as_secs_f64() * 1000.0;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).map(str::trim).unwrap_or("?").to_owned();
    println!(
        "{}",
        serde_json::json!({ "what": what, "ms": (millis * 10.0).round() / 10.0, "peak": peak, "facts": facts })
    );
}
