//! Many front ends on one server: `load URL FOLDER SESSIONS WATCHERS`, for `cargo xtask load`.
//!
//! Starts a turn in each session and follows each with so many sockets. Prints one line of JSON: how many events the
//! sessions had, what watchers were told of them, and how late. Fails if an event was lost or out of order.
#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use client::{Address, Client, Remote};
use futures::StreamExt;
use protocol::{Content, EventBody, Limits, Op, Reply, Request, SessionId, Timestamp};
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;

type Failed = Box<dyn Error + Send + Sync>;

/// Connections that are made at once.
const AT_ONCE: usize = 32;
/// Nothing takes longer than this between two events.
const PATIENCE: Duration = Duration::from_secs(120);

/// What one watcher saw.
#[derive(Default)]
struct Seen {
    events: u64,
    reordered: u64,
    late_ms: Vec<u32>,
    /// Pieces of text in a second, from the first to the last, as the log has their times.
    rate: f64,
}

fn main() -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(load())
}

async fn load() -> Result<(), Failed> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, cwd, sessions, watchers] = words.as_slice() else {
        return Err("usage: load URL FOLDER SESSIONS WATCHERS".into());
    };
    let (sessions, watchers): (usize, usize) = (sessions.parse()?, watchers.parse()?);
    let address = Address::parse(url, None)?;
    let driver = Remote::connect(address.clone()).await?;
    let mut ids = Vec::new();
    for _ in 0..sessions {
        let (agent, model, mode, title) = (None, None, None, None);
        let op = Op::CreateSession {
            cwd: cwd.clone(),
            agent,
            model,
            mode,
            title,
            folders: vec![],
            ephemeral: false,
        };
        ids.push(driver.submit(op).await?.session);
    }
    let connecting = Instant::now();
    let ready = Arc::new(Barrier::new(sessions * watchers + 1));
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut watching: JoinSet<Result<Seen, Failed>> = JoinSet::new();
    for id in ids.iter().flat_map(|id| std::iter::repeat_n(id, watchers)) {
        watching.spawn(watch(address.clone(), id.clone(), ready.clone(), room.clone()));
    }
    ready.wait().await;
    let connected_ms = connecting.elapsed().as_millis() as u64;

    let started = Instant::now();
    for session in ids.iter().cloned() {
        let prompt = vec![Content::text("go")];
        let op = Op::StartTurn { session, prompt, key: None, limits: Limits::default(), attended: false };
        driver.submit(op).await?;
    }
    let (mut delivered, mut reordered, mut late, mut rates) = (0, 0, Vec::new(), Vec::new());
    while let Some(seen) = watching.join_next().await {
        let seen = seen??;
        delivered += seen.events;
        reordered += seen.reordered;
        late.extend(seen.late_ms);
        rates.push(seen.rate);
    }
    let seconds = started.elapsed().as_secs_f64();
    let recorded = recorded(&driver, &ids).await?;
    // Every watcher had to see every event of its session.
    let lost = (recorded * watchers as u64).saturating_sub(delivered);
    late.sort_unstable();
    rates.sort_by(f64::total_cmp);
    let at = |share: f64| late.get(((late.len() as f64 - 1.0) * share).max(0.0) as usize).copied();
    println!(
        "{}",
        serde_json::json!({
            "sessions": sessions, "clients": sessions * watchers, "connected_ms": connected_ms,
            "seconds": seconds, "events": recorded, "delivered": delivered, "lost": lost, "reordered": reordered,
            "events_a_second": {"least": rates.first(), "median": rates.get(rates.len() / 2)},
            "late_ms": {"median": at(0.5), "p99": at(0.99), "most": at(1.0)},
        })
    );
    if lost + reordered > 0 { Err("events were lost or out of order".into()) } else { Ok(()) }
}

/// Follows a session on a socket of its own until its turn is over.
async fn watch(
    address: Address,
    session: SessionId,
    ready: Arc<Barrier>,
    room: Arc<Semaphore>,
) -> Result<Seen, Failed> {
    let place = room.acquire_owned().await?;
    let remote = Remote::connect(address).await?;
    let mut events = remote.events(session, 0).await?;
    drop(place);
    ready.wait().await;
    let (mut seen, mut last, mut first) = (Seen::default(), 0, None);
    while let Some(event) = tokio::time::timeout(PATIENCE, events.next()).await? {
        let event = event?;
        if event.seq != last + 1 {
            seen.reordered += 1;
        }
        last = event.seq;
        seen.events += 1;
        match event.body {
            EventBody::AgentMessage(_) => {
                let since = event.ts.as_millis() - *first.get_or_insert(event.ts.as_millis());
                seen.rate = seen.late_ms.len() as f64 * 1000.0 / since.max(1) as f64;
                let late = Timestamp::now().as_millis() - event.ts.as_millis();
                seen.late_ms.push(u32::try_from(late).unwrap_or(0));
            }
            EventBody::TurnEnd(_) => break,
            _ => {}
        }
    }
    Ok(seen)
}

/// How many events the sessions have, as their logs say.
async fn recorded(driver: &Remote, ids: &[SessionId]) -> Result<u64, Failed> {
    let mut all = 0;
    for session in ids {
        match driver.read(Request::Session { session: session.clone() }).await? {
            Reply::Session(view) => all += view.seq,
            _ => return Err("the server answered something else".into()),
        }
    }
    Ok(all)
}
