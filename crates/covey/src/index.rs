//! `covey index`: making, looking at and measuring the index that `covey search` asks.

mod evaluate;
mod http;
mod progress;
mod settings;
mod status;

pub(crate) use progress::Bar;
pub(crate) use settings::{SECTION, open, open_from, options};

use std::time::Instant;

use ::index::{Cancel, Embedded, IfBusy, Index, IndexError, Updated};
use serde_json::json;

use crate::cli::{IndexArguments, IndexCommand};
use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, count, duration, plain, print, tell, tell_warning};

pub(crate) fn index(arguments: &IndexArguments) -> Result<Exit, Failure> {
    match &arguments.command {
        None => make(arguments),
        Some(IndexCommand::Status { folder, json }) => status::status(folder, *json),
        Some(IndexCommand::Clear { folder, json }) => status::clear(folder, *json),
        Some(IndexCommand::Eval { folder, commits, mode, json }) => {
            evaluate::evaluate(folder, usize::from(*commits), *mode, *json)
        }
    }
}

fn make(arguments: &IndexArguments) -> Result<Exit, Failure> {
    let index = open(arguments.folder.folder.as_deref())?;
    let cancel = stop_on_interrupt()?;
    let started = Instant::now();
    let updated = update(&index, &cancel)?;
    let lexical_ms = millis(started);
    let mut vectors = None;
    if !arguments.lexical && index.model().is_some() {
        let bar = Bar::new();
        let made = index.embed(&|step| bar.show(step), &cancel);
        bar.clear();
        vectors = Some(made.map_err(stopped)?);
    }
    if arguments.json {
        let skipped: serde_json::Map<_, _> =
            updated.skipped.iter().map(|(why, count)| (why.word().to_owned(), (*count).into())).collect();
        print(&format!(
            "{}\n",
            json!({
                "root": index.root(), "files": updated.files, "added": updated.added, "changed": updated.changed,
                "removed": updated.removed, "bytes": updated.bytes, "skipped": skipped, "lexical_ms": lexical_ms,
                "vectors": vectors.map(|vectors| json!({
                    "wanted": vectors.wanted, "computed": vectors.computed, "cached": vectors.cached,
                })),
                "duration_ms": millis(started),
            })
        ))?;
    } else {
        print(&told(&updated, vectors.as_ref(), lexical_ms, millis(started)))?;
    }
    Ok(Exit::Done)
}

/// Brings the words up to date, waiting for another process that does the same.
pub(crate) fn update(index: &Index, cancel: &Cancel) -> Result<Updated, Failure> {
    let bar = Bar::new();
    let show = |step| bar.show(step);
    let updated = match index.update(IfBusy::Refuse, &show, cancel) {
        Err(IndexError::Busy { .. }) => {
            tell("another covey is indexing this; waiting for it\n");
            index.update(IfBusy::Wait, &show, cancel)
        }
        other => other,
    };
    bar.clear();
    let updated = updated.map_err(stopped)?;
    if updated.repaired {
        tell_warning("a part of the index was damaged and was made again");
    }
    if let Some(folder) = updated.unreadable.first() {
        let more = updated.unreadable.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        tell_warning(&format!("`{}`{more} could not be read", plain(&folder.display().to_string())));
    }
    Ok(updated)
}

fn stopped(error: IndexError) -> Failure {
    let cancelled = matches!(error, IndexError::Cancelled);
    let failure = Failure::from(error);
    if cancelled {
        failure.hint("what was done is kept; the same command goes on from there")
    } else {
        failure
    }
}

fn told(updated: &Updated, vectors: Option<&Embedded>, lexical_ms: u64, all_ms: u64) -> String {
    let style = Style::of(Stream::Out);
    let changes = [(updated.added, "new"), (updated.changed, "changed"), (updated.removed, "gone")];
    let changes: Vec<String> = changes
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let changes = if changes.is_empty() { "nothing changed".to_owned() } else { changes.join(", ") };
    let rate = match updated.bytes {
        0 => String::new(),
        bytes => {
            let megabytes = bytes as f64 / 1e6;
            format!(" · {megabytes:.1} MB at {:.1} MB/s", megabytes / (lexical_ms.max(1) as f64 / 1e3))
        }
    };
    let mut out = format!("{} {} files · {changes}{rate}\n", style.good("✓"), updated.files);
    if !updated.skipped.is_empty() {
        let skipped: Vec<String> =
            updated.skipped.iter().map(|(why, count)| format!("{count} {}", why.word())).collect();
        out.push_str(&style.faint(&format!("  left out: {}", skipped.join(", "))));
        out.push('\n');
    }
    if let Some(vectors) = vectors {
        let made = match (vectors.computed, vectors.cached) {
            (0, 0) => "nothing to do".to_owned(),
            (computed, 0) => format!("{} made", count(computed as u64)),
            (0, cached) => format!("{} from the cache", count(cached as u64)),
            (computed, cached) => {
                format!("{} made, {} from the cache", count(computed as u64), count(cached as u64))
            }
        };
        out.push_str(&format!(
            "{} {} vectors · {made} · {}\n",
            style.good("✓"),
            count(vectors.wanted as u64),
            duration(all_ms)
        ));
    }
    out
}

fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The first Ctrl-C stops the work and keeps what is done, the second one ends the program.
pub(crate) fn stop_on_interrupt() -> Result<Cancel, Failure> {
    let cancel = Cancel::default();
    let told = cancel.clone();
    let (ready, wait) = std::sync::mpsc::channel::<()>();
    // It waits as long as the program runs.
    std::thread::spawn(move || {
        let waiting = crate::block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut terminate = signal(SignalKind::terminate())?;
            // A limit on the size of files is an error of ours to tell, not a reason to be ended.
            let _limit = signal(SignalKind::from_raw(SIGXFSZ))?;
            let _ = ready.send(());
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            told.cancel();
            tell("\nstopping; once more to quit at once\n");
            tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
            std::process::exit(Exit::Cancelled as i32);
            #[expect(unreachable_code, reason = "gives the block its type")]
            Ok(())
        });
        if let Err(failure) = waiting {
            failure.report();
        }
    });
    // Without the handler a signal ends the program, as it always does.
    let _ = wait.recv();
    Ok(cancel)
}

const SIGXFSZ: i32 = 25;
