//! The process that kills what we started when we can no longer do it ourselves.
//!
//! A shell reads a pipe whose only write ends are ours. Children register their group on it before they run
//! anything, we strike a group off before its leader is reaped (so its number cannot belong to somebody else
//! yet), and when the pipe ends, because we exited or were killed, the shell kills every group still listed.
//! `docs/decisions/0003-children-die-with-us.md` says why it is done this way.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

use super::before_exec;
use super::child::Started;

const SHELL: &str = "/bin/sh";

/// Groups are listed as ` TOKEN:GROUP ` with single spaces between. Names a group by a token of ours rather
/// than by its number, because a child that failed to start has a number nobody told us.
const SCRIPT: &str = r#"
trap '' INT TERM HUP QUIT PIPE ALRM USR1 USR2 TSTP TTIN TTOU
groups=' '
while read -r verb token group; do
    case $verb in
    +) groups="$groups$token:$group " ;;
    -) case $groups in
        *" $token:"*)
            rest=${groups#*" $token:"}
            groups="${groups%%" $token:"*} ${rest#* }" ;;
        esac ;;
    esac
done
for entry in $groups; do
    kill -s KILL -- "-${entry#*:}"
done
"#;

static WATCH: Mutex<Watch> = Mutex::new(Watch { running: None, groups: BTreeMap::new(), last_token: 0 });

/// Starts a child with a function that is told where and as what it must announce itself, as a group that dies with us.
pub(super) fn spawn(start: &mut Start<'_>) -> Result<(Started, Token), StartError> {
    lock().spawn(start, Path::new(SHELL))
}

pub(super) type Start<'a> = dyn FnMut(&PipeWriter, u64) -> io::Result<Started> + 'a;

/// Strikes a group off. To be called when the group was killed and its leader is not yet reaped.
pub(super) fn release(token: Token) {
    lock().release(token);
}

#[cfg(test)]
pub(super) fn watcher_id() -> Option<u32> {
    lock().running.as_ref().map(|running| running.shell.id())
}

/// A watcher of its own and the only write end of its pipe.
#[cfg(test)]
pub(super) fn start_for_test() -> (Child, PipeWriter) {
    let running = start(Path::new(SHELL)).unwrap();
    (running.shell, running.pipe)
}

fn lock() -> MutexGuard<'static, Watch> {
    // The state is valid between any two statements, so a panic elsewhere is no reason to stop watching.
    WATCH.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names a registered group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Token(u64);

#[derive(Debug)]
pub(super) enum StartError {
    Watcher(io::Error),
    Program(io::Error),
}

pub(super) struct Watch {
    running: Option<Running>,
    groups: BTreeMap<Token, Pid>,
    last_token: u64,
}

struct Running {
    shell: Child,
    pipe: PipeWriter,
    /// Never read. While we hold it a write to a dead watcher fails softly instead of raising SIGPIPE, which in
    /// a forked child would look like a program that started and died.
    _reader: PipeReader,
}

impl Watch {
    #[cfg(test)]
    pub(super) fn new() -> Self {
        Self { running: None, groups: BTreeMap::new(), last_token: 0 }
    }

    pub(super) fn spawn(
        &mut self,
        start: &mut Start<'_>,
        shell: &Path,
    ) -> Result<(Started, Token), StartError> {
        self.last_token += 1;
        let token = Token(self.last_token);
        let pipe = self.live_pipe(shell).map_err(StartError::Watcher)?;
        let mut started = start(pipe, token.0);
        if matches!(&started, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            // The pipe is full: the watcher was stopped. (Or we are out of processes: then this fails again.)
            started = start(self.replace(shell).map_err(StartError::Watcher)?, token.0);
        }
        match started {
            Ok(child) => {
                if let Some(pid) = Pid::from_raw(child.pid) {
                    self.groups.insert(token, pid);
                }
                Ok((child, token))
            }
            Err(error) => {
                // It may have registered before its program turned out not to run.
                self.release(token);
                Err(StartError::Program(error))
            }
        }
    }

    fn release(&mut self, token: Token) {
        self.groups.remove(&token);
        let Some(running) = &mut self.running else { return };
        let line = format!("- {}\n", token.0);
        if running.pipe.write_all(line.as_bytes()).is_err() {
            // A watcher that no longer listens would kill by a stale list. Without it, the next spawn starts
            // another and hands it the groups that are left.
            stop(self.running.take());
        }
    }

    /// The pipe of a watcher that is alive, starting one if need be.
    fn live_pipe(&mut self, shell: &Path) -> io::Result<&PipeWriter> {
        let alive = match &mut self.running {
            Some(running) => matches!(running.shell.try_wait(), Ok(None)),
            None => false,
        };
        if !alive {
            return self.replace(shell);
        }
        self.running.as_ref().map(|running| &running.pipe).ok_or_else(|| io::Error::other("no watcher"))
    }

    fn replace(&mut self, shell: &Path) -> io::Result<&PipeWriter> {
        stop(self.running.take());
        let mut running = start(shell)?;
        let mut buffer = [0; before_exec::LINE];
        for (token, pid) in &self.groups {
            let pid = pid.as_raw_pid().cast_unsigned();
            running.pipe.write_all(before_exec::registration(&mut buffer, token.0, pid))?;
        }
        Ok(&self.running.insert(running).pipe)
    }
}

fn start(shell: &Path) -> io::Result<Running> {
    let (reader, pipe) = io::pipe()?;
    // A stopped watcher must not stop us: a full pipe is an error, not a wait.
    rustix::io::ioctl_fionbio(&pipe, true)?;
    let mut command = Command::new(shell);
    command.args(["-c", SCRIPT, "covey-watcher"]).env_clear().current_dir("/");
    command.stdin(reader.try_clone()?).stdout(Stdio::null()).stderr(Stdio::null());
    before_exec::leave_session(&mut command);
    Ok(Running { shell: command.spawn()?, pipe, _reader: reader })
}

/// Ends a watcher without letting it see the end of its pipe, at which it would kill everything.
fn stop(running: Option<Running>) {
    let Some(mut running) = running else { return };
    // Both only fail when it is already gone and reaped.
    running.shell.kill().ok();
    running.shell.wait().ok();
}
