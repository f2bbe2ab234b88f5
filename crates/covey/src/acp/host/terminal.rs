//! A command in a terminal of the editor's.

use std::time::Duration;

use ::acp::{CallError, Editor, TerminalExit, TerminalProgram};
use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use project::{Exit, Grants, Program, Roots, Running, Task};
use tokio::sync::mpsc;

use super::super::relay::Input;
use crate::inside;

/// What the editor keeps of an output. More than is ever shown to a model.
const KEEP: u64 = 1 << 20;
/// How often it is asked for more while the command runs.
const BEAT: Duration = Duration::from_millis(150);
/// By how much of its end what was seen before is found again.
const OVERLAP: usize = 512;

pub(super) async fn start(
    editor: &Editor,
    roots: &Roots,
    grants: &Grants,
    task: &Task,
    relay: &mpsc::Sender<Input>,
) -> Result<Box<dyn Running>, CallError> {
    let Program::Shell(line) = &task.program else { return Err(CallError::Closed) };
    let (command, args, env) = inside::walled(roots, grants, line);
    let env: Vec<(String, String)> = env.into_iter().chain(task.env.iter().cloned()).collect();
    let cwd = roots.main().join(&task.cwd);
    let program = TerminalProgram { command: &command, args: &args, env: &env, cwd: &cwd, keep: KEEP };
    let terminal = editor.create_terminal(&program).await?;
    // A relay that is gone has nothing to show it in.
    let _ = relay.send(Input::InTerminal { command: line.clone(), terminal: terminal.clone() }).await;
    let (waiting, id) = (editor.clone(), terminal.clone());
    let exit: FuturesUnordered<BoxFuture<'static, Exit>> = FuturesUnordered::new();
    exit.push(
        async move { waiting.terminal_exit(&id).await.map_or(Exit::Unknown, |exit| code(&exit)) }.boxed(),
    );
    Ok(Box::new(InTerminal {
        editor: editor.clone(),
        terminal,
        seen: Seen::default(),
        waiting: exit,
        exit: None,
        done: false,
    }))
}

struct InTerminal {
    editor: Editor,
    terminal: String,
    seen: Seen,
    /// Resolves once, with the command's end.
    waiting: FuturesUnordered<BoxFuture<'static, Exit>>,
    exit: Option<Exit>,
    /// All was read after the end.
    done: bool,
}

#[async_trait]
impl Running for InTerminal {
    async fn output(&mut self) -> Option<Vec<u8>> {
        loop {
            if self.done {
                return None;
            }
            if self.exit.is_none() {
                tokio::select! {
                    exit = self.waiting.next() => self.exit = Some(exit.unwrap_or(Exit::Unknown)),
                    () = tokio::time::sleep(BEAT) => {}
                }
            }
            let ended = self.exit.is_some();
            match self.editor.terminal_output(&self.terminal).await {
                Ok(now) => {
                    // The end is known by its answer too, where waiting for it takes longer.
                    self.exit = self.exit.or(now.exit.as_ref().map(code));
                    let piece = self.seen.news(&now.output, now.truncated);
                    self.done = ended;
                    if !piece.is_empty() {
                        return Some(piece.into_bytes());
                    }
                }
                Err(_) => {
                    self.exit = self.exit.or(Some(Exit::Unknown));
                    self.done = true;
                }
            }
        }
    }

    async fn exit(&mut self) -> Exit {
        match self.exit {
            Some(exit) => exit,
            None => {
                let exit = self.waiting.next().await.unwrap_or(Exit::Unknown);
                *self.exit.insert(exit)
            }
        }
    }

    async fn write(&mut self, _bytes: &[u8]) -> bool {
        // Nothing is started here that is written to.
        false
    }

    fn close_input(&mut self) {}

    async fn stop(&mut self, grace: Duration) {
        // One that has ended, or an editor that is gone.
        let _ = self.editor.kill_terminal(&self.terminal).await;
        // The editor ends it in its own way; who does not hear of it goes on.
        let _ = tokio::time::timeout(grace, self.exit()).await;
        self.exit = self.exit.or(Some(Exit::Unknown));
    }
}

impl Drop for InTerminal {
    fn drop(&mut self) {
        let (editor, terminal) = (self.editor.clone(), std::mem::take(&mut self.terminal));
        // An editor that is gone has released it already.
        tokio::spawn(async move { drop(editor.release_terminal(&terminal).await) });
    }
}

fn code(exit: &TerminalExit) -> Exit {
    match (exit.code, &exit.signal) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => signal.parse().map_or(Exit::Unknown, Exit::Signal),
        (None, None) => Exit::Unknown,
    }
}

/// What was read of an output that is told whole each time, and from its end once it is long.
#[derive(Default)]
struct Seen {
    length: usize,
    tail: String,
}

impl Seen {
    fn news(&mut self, output: &str, truncated: bool) -> String {
        // A terminal ends its lines as terminals do.
        let output = output.replace("\r\n", "\n");
        let start = match truncated {
            false => self.length.min(output.len()),
            // Its beginning is gone: what follows the last that was seen is new.
            true => output.rfind(self.tail.as_str()).map_or(0, |at| at + self.tail.len()),
        };
        let news = output.get(start..).unwrap_or_default().to_owned();
        self.length = output.len();
        let tail = output.len().saturating_sub(OVERLAP);
        self.tail = output[output.floor_char_boundary(tail)..].to_owned();
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_not_told_again() {
        let mut seen = Seen::default();
        assert_eq!(seen.news("one\r\n", false), "one\n");
        assert_eq!(seen.news("one\r\n", false), "");
        assert_eq!(seen.news("one\r\ntwo", false), "two");
        // Cut from its beginning.
        assert_eq!(seen.news("ne\r\ntwo three", true), "ne\ntwo three");
        assert_eq!(seen.news("two three four", true), "two three four");
        let mut seen = Seen::default();
        let long = "x".repeat(2000) + "end";
        seen.news(&long, false);
        assert_eq!(seen.news(&format!("{} more", &long[1000..]), true), " more");
    }
}
