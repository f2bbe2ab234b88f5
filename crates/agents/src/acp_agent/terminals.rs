//! Programs that an agent has us run, and whose output it looks at.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use acp::RpcError;
use project::{Exit, Grants, Host, HostError, Program, Streams, Task};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

/// What is kept of an output for which the agent names no limit.
const KEEP: usize = 1 << 20;
/// No limit is above this.
const MOST: u64 = 16 << 20;
/// Programs of one session at a time.
const AT_ONCE: usize = 32;
const GRACE: Duration = Duration::from_secs(2);

/// The terminals of one session. When the last clone is dropped, their programs end.
#[derive(Clone, Default)]
pub(super) struct Terminals(Arc<Mutex<Open>>);

#[derive(Default)]
struct Open {
    terminals: HashMap<String, Terminal>,
    count: u32,
}

struct Terminal {
    output: Arc<Mutex<Ring>>,
    exit: watch::Receiver<Option<Exit>>,
    kill: mpsc::Sender<()>,
    running: AbortHandle,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// The end of an output.
struct Ring {
    bytes: Vec<u8>,
    keep: usize,
    truncated: bool,
}

impl Ring {
    fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        // Cut in large steps, so that each byte is moved about once.
        if self.bytes.len() > self.keep.saturating_mul(2).max(self.keep + 4096) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let excess = self.bytes.len().saturating_sub(self.keep);
        if excess > 0 {
            self.bytes.drain(..excess);
            self.truncated = true;
        }
    }

    /// The text, from the first whole character on.
    fn text(&mut self) -> (String, bool) {
        self.cut();
        let start = if self.truncated {
            self.bytes.iter().take(3).take_while(|b| **b & 0xC0 == 0x80).count()
        } else {
            0
        };
        (String::from_utf8_lossy(&self.bytes[start..]).into_owned(), self.truncated)
    }
}

/// A program to be run, as the agent asks for it.
pub(super) struct Wanted {
    pub(super) program: Program,
    pub(super) env: Vec<(String, String)>,
    pub(super) cwd: std::path::PathBuf,
    pub(super) keep: Option<u64>,
}

impl Terminals {
    pub(super) async fn create(
        &self,
        host: Arc<dyn Host>,
        grants: &Grants,
        wanted: Wanted,
    ) -> Result<String, RpcError> {
        if self.lock().terminals.len() >= AT_ONCE {
            return Err(RpcError::new(
                RpcError::INTERNAL,
                format!("{AT_ONCE} terminals are open; release some"),
            ));
        }
        let host = if grants.is_empty() { host } else { host.granting(grants).map_err(failed)? };
        let task = Task { program: wanted.program, cwd: wanted.cwd, env: wanted.env, streams: Streams::Out };
        let mut program = host.start(task).await.map_err(failed)?;
        let keep = wanted.keep.map_or(KEEP, |keep| usize::try_from(keep.min(MOST)).unwrap_or(KEEP));
        let output = Arc::new(Mutex::new(Ring { bytes: Vec::new(), keep, truncated: false }));
        let (ended, exit) = watch::channel(None);
        let (kill, mut killed) = mpsc::channel(1);
        let ring = output.clone();
        let running = tokio::spawn(async move {
            loop {
                tokio::select! {
                    piece = program.output() => match piece {
                        Some(piece) => ring.lock().unwrap_or_else(PoisonError::into_inner).push(&piece),
                        None => break,
                    },
                    Some(()) = killed.recv() => program.stop(GRACE).await,
                }
            }
            ended.send_replace(Some(program.exit().await));
        });
        let mut open = self.lock();
        open.count += 1;
        let id = format!("term{}", open.count);
        open.terminals.insert(id.clone(), Terminal { output, exit, kill, running: running.abort_handle() });
        Ok(id)
    }

    pub(super) fn output(&self, id: &str) -> Result<Value, RpcError> {
        let open = self.lock();
        let terminal = get(&open, id)?;
        let (output, truncated) = terminal.output.lock().unwrap_or_else(PoisonError::into_inner).text();
        let exit = terminal.exit.borrow().map(status);
        Ok(json!({"output": output, "truncated": truncated, "exitStatus": exit}))
    }

    /// Waits for the end without holding on to the others.
    pub(super) fn wait(
        &self,
        id: &str,
    ) -> Result<impl Future<Output = Result<Value, RpcError>> + Send + use<>, RpcError> {
        let mut exit = get(&self.lock(), id)?.exit.clone();
        Ok(async move {
            let exit = exit.wait_for(Option::is_some).await.map(|exit| *exit);
            Ok(exit.ok().flatten().map_or_else(|| json!({"exitCode": null, "signal": null}), status))
        })
    }

    /// Ends the program; its output stays until it is released.
    pub(super) fn kill(&self, id: &str) -> Result<Value, RpcError> {
        // It has ended, or is being ended already.
        let _ = get(&self.lock(), id)?.kill.try_send(());
        Ok(json!({}))
    }

    pub(super) fn release(&self, id: &str) -> Result<Value, RpcError> {
        self.lock().terminals.remove(id).map(|_| json!({})).ok_or_else(|| unknown(id))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn get<'a>(open: &'a Open, id: &str) -> Result<&'a Terminal, RpcError> {
    open.terminals.get(id).ok_or_else(|| unknown(id))
}

/// A line for the shell, or a program with its words: many agents send a line where the protocol has a program.
pub(super) fn program(command: &str, args: &[String]) -> Program {
    let line = args.is_empty() && command.chars().any(|c| c.is_whitespace() || "|&;<>()$`\"'*?".contains(c));
    if line && !Path::new(command).is_file() {
        return Program::Shell(command.to_owned());
    }
    Program::Argv(std::iter::once(command.to_owned()).chain(args.iter().cloned()).collect())
}

fn status(exit: Exit) -> Value {
    match exit {
        Exit::Code(code) => json!({"exitCode": code, "signal": null}),
        Exit::Signal(signal) => json!({"exitCode": null, "signal": signal.to_string()}),
        Exit::Unknown => json!({"exitCode": null, "signal": null}),
    }
}

fn unknown(id: &str) -> RpcError {
    RpcError::new(RpcError::NOT_FOUND, format!("there is no terminal `{id}`"))
}

fn failed(error: HostError) -> RpcError {
    RpcError::new(RpcError::INTERNAL, error.to_string())
}
