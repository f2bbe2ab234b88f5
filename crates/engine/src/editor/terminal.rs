//! A program that runs in an editor's terminal.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use project::{Exit, HostError, Running};
use protocol::{HostAnswer, HostCall, HostTask};

use super::convert::{decode, encode, exit, expected, unexpected};
use super::line::{Asked, Line};

/// How long an editor may take to start a program, or to hand it something.
const WITHIN: Duration = Duration::from_secs(30);

pub(super) struct Terminal {
    line: Arc<Line>,
    terminal: String,
    /// Asked for what it prints next. Kept, because whoever waits for that may stop waiting and come back.
    output: Option<Asked>,
    exit: Option<Exit>,
}

impl Terminal {
    pub(super) async fn start(line: &Arc<Line>, task: HostTask) -> Result<Self, HostError> {
        let cwd = task.cwd.clone();
        let answer = line.ask(HostCall::Start(task), Some(WITHIN)).await?;
        match expected(Path::new(&cwd), answer) {
            Ok(HostAnswer::Started { terminal }) => {
                Ok(Self { line: line.clone(), terminal, output: None, exit: None })
            }
            Ok(_) => Err(unexpected()),
            Err(error) => Err(HostError::NotStarted(error.to_string())),
        }
    }

    /// The next piece, or none when it ended.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, HostError> {
        let asked = match &mut self.output {
            Some(asked) => asked,
            None => self.output.insert(self.line.send(HostCall::Output { terminal: self.terminal.clone() })?),
        };
        let answer = self.line.wait_for(asked, None).await;
        self.output = None;
        match answer? {
            HostAnswer::Output { bytes } => Ok(Some(decode(&bytes)?)),
            HostAnswer::Ended { code, signal } => {
                self.exit = Some(exit(code, signal));
                Ok(None)
            }
            _ => Err(unexpected()),
        }
    }
}

#[async_trait]
impl Running for Terminal {
    async fn output(&mut self) -> Option<Vec<u8>> {
        if self.exit.is_some() {
            return None;
        }
        match self.next().await {
            Ok(piece) => piece,
            Err(error) => {
                self.exit = Some(Exit::Unknown);
                Some(format!("\n[{error}]\n").into_bytes())
            }
        }
    }

    async fn exit(&mut self) -> Exit {
        while self.exit.is_none() {
            self.output().await;
        }
        self.exit.unwrap_or(Exit::Unknown)
    }

    async fn write(&mut self, bytes: &[u8]) -> bool {
        let call = HostCall::Input { terminal: self.terminal.clone(), bytes: encode(bytes) };
        matches!(self.line.ask(call, Some(WITHIN)).await, Ok(HostAnswer::Done))
    }

    fn close_input(&mut self) {
        // Sent after what was written, on the same line; nothing hangs on the answer.
        self.line.tell(HostCall::CloseInput { terminal: self.terminal.clone() });
    }

    async fn stop(&mut self, grace: Duration) {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let call = HostCall::Stop { terminal: self.terminal.clone(), grace_ms };
        // One that can not be stopped is released, with all it started.
        let _ = self.line.ask(call, Some(grace + WITHIN)).await;
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.line.tell(HostCall::Release { terminal: std::mem::take(&mut self.terminal) });
    }
}
