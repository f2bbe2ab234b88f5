//! A running child process and the group it leads.

use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, waitid, waitpid};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::signal::unix::{SignalKind, signal};

#[cfg(target_os = "linux")]
use std::io::PipeWriter;

#[cfg(target_os = "linux")]
use super::command::Stream;
use super::session;
use super::terminal::Terminal;
use super::watcher::{self, Token};

/// How long [`Child::output`] still reads once the group is dead. Only a process that left the group can hold
/// the pipe open by then.
const DRAIN: Duration = Duration::from_secs(2);

/// A running child. Dropping it kills its whole group.
#[derive(Debug)]
pub struct Child {
    /// The other end of a piped standard input. Dropped by [`wait`](Self::wait), so a child that reads to the
    /// end is not waited for in vain.
    pub stdin: Option<ChildStdin>,
    /// The other end of a piped standard output.
    pub stdout: Option<ChildStdout>,
    /// The other end of a piped standard error.
    pub stderr: Option<ChildStderr>,
    /// The other end of its terminal, if it has one instead.
    pub terminal: Option<Terminal>,
    pid: Pid,
    /// Gone once reaped.
    leader: Option<Leader>,
    status: Option<ExitStatus>,
}

/// What [`Child::output`] collected.
#[derive(Debug)]
pub struct Output {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// More was written than the limit allowed; what came after it is lost.
    pub truncated: bool,
}

impl Child {
    pub(super) fn new(started: Started, token: Token, terminal: Option<OwnedFd>) -> io::Result<Self> {
        let pid = Pid::from_raw(started.pid);
        let pid = pid.ok_or_else(|| io::Error::other("the child has no usable process id"))?;
        // From here on dropping the leader ends the group, whatever fails below.
        let leads_session = terminal.is_some();
        let leader =
            Some(Leader { reaped: false, pid, token, leads_session, ending: started.ending, after: None });
        Ok(Self {
            stdin: started.stdin.map(ChildStdin::from_std).transpose()?,
            stdout: started.stdout.map(ChildStdout::from_std).transpose()?,
            stderr: started.stderr.map(ChildStderr::from_std).transpose()?,
            terminal: terminal.map(Terminal::new).transpose()?,
            pid,
            leader,
            status: None,
        })
    }

    /// Its process id, which is also its group's.
    pub fn id(&self) -> u32 {
        self.pid.as_raw_pid().cast_unsigned()
    }

    /// Does `work` once the whole group is gone, however it ends: waited for, killed or dropped.
    pub fn when_ended(&mut self, work: impl FnOnce() + Send + 'static) {
        match &mut self.leader {
            Some(leader) => leader.after = Some(After(Box::new(work))),
            None => work(),
        }
    }

    /// Waits for the child to exit and then kills what it left running in its group. Cancel safe.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        if self.leader.is_some() {
            exited(self.pid).await?;
        }
        self.reap()
    }

    /// Like [`wait`](Self::wait), but blocks and needs no runtime: for a child without streams that only answers a question.
    pub fn wait_blocking(&mut self) -> io::Result<ExitStatus> {
        if self.leader.is_some() {
            let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            retry_on_intr(|| waitid(WaitId::Pid(self.pid), look))?;
        }
        self.reap()
    }

    /// Its status if it already exited; like [`wait`](Self::wait) in that case.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.leader.is_some() && !has_exited(self.pid)? {
            return Ok(None);
        }
        self.reap().map(Some)
    }

    /// Asks the group to end (SIGTERM), gives its leader `grace` to do so, then kills what remains.
    pub async fn terminate(&mut self, grace: Duration) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        if let Some(leader) = &self.leader {
            leader.signal(Signal::TERM);
            // Out of time or an error: either way the next step is the same.
            tokio::time::timeout(grace, exited(self.pid)).await.ok();
        }
        self.kill().await
    }

    /// Kills the group at once (SIGKILL) and waits until its leader is gone.
    pub async fn kill(&mut self) -> io::Result<ExitStatus> {
        if let Some(leader) = &self.leader {
            leader.signal(Signal::KILL);
            exited(self.pid).await?;
        }
        self.reap()
    }

    /// Sends the interrupt of a Ctrl-C (SIGINT) to the whole group. It may be ignored.
    pub fn interrupt(&self) {
        if let Some(leader) = &self.leader {
            leader.signal(Signal::INT);
        }
    }

    /// Collects what a child with piped output writes, keeping the first `limit` bytes of each stream.
    ///
    /// Reads on past the limit, so the child never blocks on a full pipe, and ends when the child does, even if
    /// something it left in the background still holds the pipe.
    pub async fn output(mut self, limit: usize) -> io::Result<Output> {
        let (mut stdout, mut stderr) = (Captured::default(), Captured::default());
        let status = {
            let (out, err) = (self.stdout.take(), self.stderr.take());
            let reading = async { tokio::join!(stdout.fill(out, limit), stderr.fill(err, limit)) };
            tokio::pin!(reading);
            let mut read = None;
            let status = {
                let exit = self.wait();
                tokio::pin!(exit);
                loop {
                    tokio::select! {
                        status = &mut exit => break status?,
                        done = &mut reading, if read.is_none() => read = Some(done),
                    }
                }
            };
            if read.is_none() {
                read = tokio::time::timeout(DRAIN, reading).await.ok();
            }
            if let Some((out, err)) = read {
                out?;
                err?;
            }
            status
        };
        let truncated = stdout.more || stderr.more;
        Ok(Output { status, stdout: stdout.bytes, stderr: stderr.bytes, truncated })
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        if let Some(leader) = self.leader.take() {
            self.status = Some(leader.reap()?);
        }
        self.status.ok_or_else(|| io::Error::other("the child's exit status was lost"))
    }
}

/// A process that was just started, and our ends of its streams.
#[derive(Debug, Default)]
pub(super) struct Started {
    pub(super) pid: i32,
    stdin: Option<std::process::ChildStdin>,
    stdout: Option<std::process::ChildStdout>,
    stderr: Option<std::process::ChildStderr>,
    ending: Option<PipeReader>,
}

impl Started {
    /// Where a child that is not the program itself writes how that ended.
    #[cfg(target_os = "linux")]
    pub(super) fn ending(&mut self) -> io::Result<PipeWriter> {
        let (ours, theirs) = io::pipe()?;
        self.ending = Some(ours);
        Ok(theirs)
    }

    /// Makes the pipes that are asked for and keeps one end of each; the others are for the child.
    #[cfg(target_os = "linux")]
    pub(super) fn pipes(&mut self, streams: [Stream; 3]) -> io::Result<[Option<OwnedFd>; 3]> {
        let pipe = |stream| if stream == Stream::Piped { io::pipe().map(Some) } else { Ok(None) };
        let [stdin, stdout, stderr] = streams;
        let (stdin, stdout, stderr) = (pipe(stdin)?.unzip(), pipe(stdout)?.unzip(), pipe(stderr)?.unzip());
        self.stdin = stdin.1.map(|ours| OwnedFd::from(ours).into());
        self.stdout = stdout.0.map(|ours| OwnedFd::from(ours).into());
        self.stderr = stderr.0.map(|ours| OwnedFd::from(ours).into());
        Ok([stdin.0.map(OwnedFd::from), stdout.1.map(OwnedFd::from), stderr.1.map(OwnedFd::from)])
    }

    /// Reaps one that did not become its program.
    #[cfg(target_os = "linux")]
    pub(super) fn collect(&self) -> io::Result<ExitStatus> {
        collect(Pid::from_raw(self.pid).ok_or(io::ErrorKind::NotFound)?)
    }
}

impl From<std::process::Child> for Started {
    fn from(child: std::process::Child) -> Self {
        Self {
            pid: child.id().cast_signed(),
            stdin: child.stdin,
            stdout: child.stdout,
            stderr: child.stderr,
            ending: None,
        }
    }
}

/// The first process of a group, not yet reaped: as long as this exists its number belongs to nobody else.
#[derive(Debug)]
struct Leader {
    reaped: bool,
    pid: Pid,
    token: Token,
    leads_session: bool,
    /// Where its end is told, if it is not the program itself.
    ending: Option<PipeReader>,
    after: Option<After>,
}

/// What is to be done when a group is gone.
struct After(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for After {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("After")
    }
}

impl Leader {
    fn signal(&self, signal: Signal) {
        // Fails only when the group is empty, which is what every caller is after.
        kill_process_group(self.pid, signal).ok();
        if self.leads_session && signal == Signal::KILL {
            // A shell on a terminal gives each of its jobs a group.
            session::kill(self.pid);
        }
    }

    /// Kills what is left of the group, strikes it off and collects the exit status, in this order: once
    /// reaped, the number may be given to a stranger. Blocks unless the leader exited.
    fn reap(mut self) -> io::Result<ExitStatus> {
        self.end()
    }

    fn end(&mut self) -> io::Result<ExitStatus> {
        self.reaped = true;
        self.signal(Signal::KILL);
        watcher::release(self.token);
        let status = collect(self.pid).map(|status| self.ending.take().and_then(told).unwrap_or(status));
        if let Some(After(work)) = self.after.take() {
            work();
        }
        status
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        self.signal(Signal::KILL);
        if has_exited(self.pid).unwrap_or(true) {
            self.end().ok();
            return;
        }
        let (pid, token, leads_session) = (self.pid, self.token, self.leads_session);
        let (ending, after) = (self.ending.take(), self.after.take());
        // That it is reaped is up to the thread, or to nobody.
        let mut leader = Leader { reaped: true, pid, token, leads_session, ending, after };
        // Dying takes the system a moment, for which no async task should stand still. If there is no thread to
        // be had the dead child stays a zombie and registered, which harms nobody.
        let reaper = std::thread::Builder::new().name("reap".into());
        reaper.spawn(move || leader.end().ok()).ok();
    }
}

#[derive(Default)]
struct Captured {
    bytes: Vec<u8>,
    more: bool,
}

impl Captured {
    async fn fill(&mut self, stream: Option<impl AsyncRead + Unpin>, limit: usize) -> io::Result<()> {
        let Some(mut stream) = stream else { return Ok(()) };
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let read = stream.read(&mut buffer).await?;
            if read == 0 {
                return Ok(());
            }
            let kept = read.min(limit.saturating_sub(self.bytes.len()));
            self.bytes.extend_from_slice(&buffer[..kept]);
            self.more |= kept < read;
        }
    }
}

/// Reaps a child of ours. Blocks until it exited.
fn collect(pid: Pid) -> io::Result<ExitStatus> {
    let ended = retry_on_intr(|| waitpid(Some(pid), WaitOptions::empty()))?;
    let (_, status) = ended.ok_or_else(|| io::Error::other("the child's exit status was lost"))?;
    Ok(ExitStatus::from_raw(status.as_raw()))
}

/// How the program ended, if somebody told before the process that we waited for ended too.
fn told(mut ending: PipeReader) -> Option<ExitStatus> {
    let mut status = [0; 4];
    ending.read_exact(&mut status).ok()?;
    Some(ExitStatus::from_raw(i32::from_le_bytes(status)))
}

/// Whether the process exited, without reaping it.
fn has_exited(pid: Pid) -> io::Result<bool> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(pid), look)?.is_some())
}

/// Resolves when the process exited, without reaping it.
///
/// tokio's own `Child` would reap it, after which its number may already be a stranger's when we come to kill
/// the rest of its group.
async fn exited(pid: Pid) -> io::Result<()> {
    // Listening starts before the first look, so an exit in between is not missed.
    let mut changes = signal(SignalKind::child())?;
    while !has_exited(pid)? {
        changes.recv().await;
    }
    Ok(())
}
