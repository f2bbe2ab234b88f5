//! One program from its start to its end, with a limit on its time.

use std::time::Duration;

use project::{Exit, Running, Streams, Task};
use tokio::time::{Instant, sleep_until, timeout};

use super::capture::Capture;
use crate::{ToolContext, ToolError};

/// Between asking a program to end and ending it.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// How often somebody who watches hears of it.
const BEAT: Duration = Duration::from_millis(200);
/// How often a program on a terminal is told that nobody types.
const AGAIN: Duration = Duration::from_secs(1);
/// What is still in the pipes of a program that was stopped.
const REST: Duration = Duration::from_millis(600);

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    Itself(Exit),
    /// It took too long and was ended.
    OutOfTime,
}

/// `exit code 1`, for model and person alike.
pub(crate) fn say_exit(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("ended by signal {signal}"),
        Exit::Unknown => "ended, nobody knows how".to_owned(),
    }
}

/// Runs `task`, showing what it prints as it comes. Dropping the future ends the program.
pub(crate) async fn run(
    context: &ToolContext,
    task: Task,
    stdin: Option<&str>,
    limit: Duration,
    mut capture: Capture,
) -> Result<(Ended, Capture), ToolError> {
    let started = Instant::now();
    let has_terminal = matches!(task.streams, Streams::Terminal(_));
    // Somebody at a terminal could always type more; it has to be told that nobody will.
    let stdin = stdin.or(has_terminal.then_some(""));
    let mut running = context.host.start(task).await?;
    if let Some(stdin) = stdin {
        // It fits into the pipe whole, so this can not wait for a program that first wants its own output read.
        running.write(stdin.as_bytes()).await;
        running.close_input();
    }
    let mut shown = started;
    let mut asked = started;
    let mut has_news = false;
    let ended = loop {
        tokio::select! {
            biased;
            () = sleep_until(started + limit) => break Ended::OutOfTime,
            () = sleep_until(shown + BEAT), if has_news => {
                context.desk.progress(&context.call, &capture.live());
                (shown, has_news) = (Instant::now(), false);
            }
            // On a terminal an end of input is read once; whoever reads next waits for another.
            () = sleep_until(asked + AGAIN), if has_terminal => {
                running.close_input();
                asked = Instant::now();
            }
            piece = running.output() => match piece {
                Some(piece) => {
                    capture.push(&piece);
                    has_news = true;
                }
                None => break Ended::Itself(running.exit().await),
            },
        }
    };
    if ended == Ended::OutOfTime {
        stop(running.as_mut(), |piece| capture.push(piece)).await;
    }
    capture.finish();
    Ok((ended, capture))
}

/// Ends a program and reads what it still had to say.
pub(crate) async fn stop(running: &mut dyn Running, mut sink: impl FnMut(&[u8])) {
    running.stop(GRACE).await;
    // What left the group may hold the pipe open, and write, for ever.
    let rest = async {
        while let Some(piece) = running.output().await {
            sink(&piece);
        }
    };
    timeout(REST, rest).await.ok();
}

/// Runs a program of ours to its end and gives what it printed, as bytes: for programs whose output is read by us.
/// What is printed beyond `most` is dropped, and the answer says so.
pub(crate) async fn collect(
    context: &ToolContext,
    task: Task,
    most: usize,
    limit: Duration,
) -> Result<Collected, ToolError> {
    let mut running = context.host.start(task).await?;
    let mut collected = Collected { exit: Exit::Unknown, bytes: Vec::new(), is_cut: false };
    let work = async {
        while let Some(piece) = running.output().await {
            let room = most.saturating_sub(collected.bytes.len());
            collected.is_cut |= piece.len() > room;
            collected.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        running.exit().await
    };
    match timeout(limit, work).await {
        Ok(exit) => {
            collected.exit = exit;
            Ok(collected)
        }
        Err(_) => {
            running.stop(GRACE).await;
            Err(ToolError(format!("it took longer than {} s and was ended", limit.as_secs())))
        }
    }
}

/// What a program of ours printed, to standard output and error alike.
pub(crate) struct Collected {
    pub(crate) exit: Exit,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_cut: bool,
}
