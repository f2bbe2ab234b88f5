//! Programs that run on while the model does something else. They end with the session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use project::{Exit, Streams, Task};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::capture::Capture;
use super::drive::{say_exit, stop};
use super::typed::with_input;
use crate::{ToolContext, ToolError, ToolState};

/// More at once is a mistake.
const MAX_RUNNING: usize = 16;
/// How many that ended are remembered.
const MAX_ENDED: usize = 32;
/// What is typed into one job altogether: all of it is judged each time.
const MAX_TYPED: usize = 64 * 1024;
/// A program that reads nothing for this long does not listen.
const LISTENS_WITHIN: Duration = Duration::from_secs(2);

pub(crate) type JobId = u32;

/// The jobs of one session. Dropping it ends them all.
#[derive(Default)]
pub(crate) struct Jobs {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last: JobId,
    jobs: BTreeMap<JobId, Arc<Job>>,
}

/// One of them.
pub(crate) struct Job {
    pub(crate) id: JobId,
    /// As the model wrote it.
    pub(crate) command: String,
    /// Where it was started.
    pub(crate) cwd: PathBuf,
    /// Absent when it has no terminal.
    keyboard: Option<mpsc::Sender<Keys>>,
    typed: Mutex<String>,
    shared: Arc<Shared>,
    reader: JoinHandle<()>,
}

/// What is to be typed, and whether it was.
struct Keys {
    text: String,
    taken: oneshot::Sender<bool>,
}

struct Shared {
    capture: Mutex<Capture>,
    /// How much the model was already told of.
    told: Mutex<u64>,
    end: watch::Sender<Option<Exit>>,
    /// Something was printed, or it ended.
    news: Notify,
    stop: Notify,
    /// Whether the model was told that it ended.
    end_is_told: Mutex<bool>,
}

impl Drop for Job {
    fn drop(&mut self) {
        // With the reader goes the program that it holds.
        self.reader.abort();
    }
}

impl Jobs {
    pub(crate) async fn start(
        &self,
        context: &ToolContext,
        task: Task,
        stdin: Option<&str>,
        command: &str,
    ) -> Result<Arc<Job>, ToolError> {
        if self.all().iter().filter(|job| job.exit().is_none()).count() >= MAX_RUNNING {
            return Err(ToolError(format!("{MAX_RUNNING} jobs run already: end one with `job_kill` first")));
        }
        let (cwd, has_terminal) = (task.cwd.clone(), matches!(task.streams, Streams::Terminal(_)));
        let mut running = context.host.start(task).await?;
        if let Some(stdin) = stdin {
            running.write(stdin.as_bytes()).await;
        }
        let (keyboard, mut keys) = mpsc::channel::<Keys>(1);
        let keyboard = has_terminal.then_some(keyboard);
        if !has_terminal {
            running.close_input();
        }
        let shared = Arc::new(Shared {
            capture: Mutex::new(Capture::new(&context.call, context.desk.as_ref())),
            told: Mutex::default(),
            end: watch::Sender::new(None),
            news: Notify::new(),
            stop: Notify::new(),
            end_is_told: Mutex::default(),
        });
        let reader = tokio::spawn({
            let shared = shared.clone();
            async move {
                loop {
                    tokio::select! {
                        biased;
                        () = shared.stop.notified() => {
                            stop(running.as_mut(), |piece| lock(&shared.capture).push(piece)).await;
                            break;
                        }
                        Some(Keys { text, taken }) = keys.recv() => {
                            let typed = tokio::time::timeout(LISTENS_WITHIN, running.write(text.as_bytes())).await;
                            // Whoever asked may have gone.
                            let _ = taken.send(typed.unwrap_or(false));
                            continue;
                        }
                        piece = running.output() => match piece {
                            Some(piece) => lock(&shared.capture).push(&piece),
                            None => break,
                        },
                    }
                    shared.news.notify_waiters();
                }
                let exit = running.exit().await;
                lock(&shared.capture).finish();
                shared.end.send_replace(Some(exit));
                shared.news.notify_waiters();
            }
        });
        let mut inner = lock(&self.inner);
        inner.last += 1;
        let (id, command) = (inner.last, command.to_owned());
        let typed = Mutex::new(stdin.unwrap_or_default().to_owned());
        let job = Arc::new(Job { id, command, cwd, keyboard, typed, shared, reader });
        inner.jobs.insert(job.id, job.clone());
        inner.forget_old();
        Ok(job)
    }

    pub(crate) fn get(&self, id: JobId) -> Result<Arc<Job>, ToolError> {
        let inner = lock(&self.inner);
        inner.jobs.get(&id).cloned().ok_or_else(|| {
            let known: Vec<String> = inner.jobs.keys().map(JobId::to_string).collect();
            match known.as_slice() {
                [] => ToolError(format!("there is no job {id}: none was started")),
                _ => ToolError(format!("there is no job {id}, only {}", known.join(", "))),
            }
        })
    }

    pub(crate) fn all(&self) -> Vec<Arc<Job>> {
        lock(&self.inner).jobs.values().cloned().collect()
    }
}

impl Inner {
    fn forget_old(&mut self) {
        let ended: Vec<JobId> =
            self.jobs.values().filter(|job| job.exit().is_some()).map(|job| job.id).collect();
        for id in ended.iter().take(ended.len().saturating_sub(MAX_ENDED)) {
            self.jobs.remove(id);
        }
    }
}

impl Job {
    /// None while it runs.
    pub(crate) fn exit(&self) -> Option<Exit> {
        *self.shared.end.borrow()
    }

    pub(crate) fn status(&self) -> String {
        self.exit().map_or_else(|| "running".to_owned(), say_exit)
    }

    /// Waits for its end.
    pub(crate) async fn ended(&self) -> Exit {
        let mut end = self.shared.end.subscribe();
        let found = end.wait_for(Option::is_some).await.ok().and_then(|exit| *exit);
        found.unwrap_or(Exit::Unknown)
    }

    /// Waits until something is printed or it ends. Made before looking, so that nothing in between is missed.
    pub(crate) fn news(&self) -> tokio::sync::futures::Notified<'_> {
        self.shared.news.notified()
    }

    /// What it printed since this was asked last.
    pub(crate) fn fresh_output(&self) -> String {
        let mut told = lock(&self.shared.told);
        let (text, total) = lock(&self.shared.capture).since(*told);
        *told = total;
        if self.exit().is_some() {
            *lock(&self.shared.end_is_told) = true;
        }
        text
    }

    /// Its command with all that was typed into it and `more`, as the guard reads it.
    pub(crate) fn read_by(&self, more: &str) -> String {
        with_input(&self.command, &format!("{}{more}", lock(&self.typed)))
    }

    /// Types something.
    pub(crate) async fn type_in(&self, text: &str) -> Result<(), ToolError> {
        let Some(keyboard) = &self.keyboard else {
            let told = "has no terminal: start it with `pty` to type into it";
            return Err(ToolError(format!("job {} {told}", self.id)));
        };
        {
            let mut typed = lock(&self.typed);
            if typed.len() + text.len() > MAX_TYPED {
                return Err(ToolError(format!("more than {MAX_TYPED} bytes were typed: start another job")));
            }
            typed.push_str(text);
        }
        let (taken, was_taken) = oneshot::channel();
        // Without the error, which would hold the other end of what is waited for.
        let is_sent = keyboard.send(Keys { text: text.to_owned(), taken }).await.is_ok();
        match (is_sent, was_taken.await) {
            (true, Ok(true)) => Ok(()),
            _ if self.exit().is_some() => Err(ToolError(format!("job {} ended: {}", self.id, self.status()))),
            _ => Err(ToolError(format!("job {} does not read what is typed", self.id))),
        }
    }

    /// Both ends of all that it printed.
    pub(crate) fn whole_output(&self) -> String {
        lock(&self.shared.capture).text()
    }

    /// Ends it, with all that it started.
    pub(crate) async fn kill(&self) -> Exit {
        if self.exit().is_none() {
            self.shared.stop.notify_one();
        }
        let exit = self.ended().await;
        *lock(&self.shared.end_is_told) = true;
        exit
    }
}

/// Which background jobs ended since this was asked last, in a line each for the model.
pub fn job_news(state: &ToolState) -> Option<String> {
    let jobs = state.extra::<Jobs>();
    let mut lines = Vec::new();
    for job in jobs.all() {
        let Some(exit) = job.exit() else { continue };
        if !std::mem::replace(&mut *lock(&job.shared.end_is_told), true) {
            lines.push(format!("job {} (`{}`) ended: {}", job.id, shorten(&job.command), say_exit(exit)));
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// A command for a list: its first line, not too long.
pub(crate) fn shorten(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(80).collect();
    if short.len() < command.len() {
        short.push('…');
    }
    short
}

/// A panic elsewhere must not take the jobs away.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
