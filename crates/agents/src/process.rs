//! A foreign agent's process: started inside the walls, its last words kept, ended with all it started.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use acp::{Line, Lines};
use guard::SandboxNeeds;
use project::{Child, HostError, Stream, command};
use protocol::AgentId;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::task::AbortHandle;

use crate::fleet::FleetOptions;
use crate::roll::OnRoll;

const TAIL_LINES: usize = 30;
const TAIL_LINE: usize = 400;

/// How an agent is to be started.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Start {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: PathBuf,
    /// The folders of its project.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) needs: SandboxNeeds,
}

/// A running agent. Dropping it kills its whole group.
pub(crate) struct Process {
    place: Arc<OnRoll>,
    /// Only held, never used: the lock makes that something that can be shared.
    _child: Mutex<Child>,
    tail: Tail,
    reading: AbortHandle,
}

impl Process {
    /// Starts it, and hands out the ends of its pipes.
    pub(crate) fn start(
        start: &Start,
        options: &FleetOptions,
        id: &AgentId,
    ) -> Result<(Self, ChildStdin, ChildStdout), HostError> {
        start.needs.writable.iter().for_each(|place| make_state_folder(place));
        let mut agent = command(&start.program);
        agent.args(&start.args).envs(start.env.iter().map(|(name, value)| (name, value))).cwd(&start.cwd);
        agent.stdin(Stream::Piped).stdout(Stream::Piped).stderr(Stream::Piped);
        let mut child = options.launcher.launch_with(agent, start.roots.clone(), &start.needs)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(HostError::NotStarted("it has no pipes".to_owned()));
        };
        let tail = Tail::default();
        let reading = tokio::spawn(keep_tail(stderr, tail.clone())).abort_handle();
        let place = options.roll.enter(id, child.id(), &start.cwd);
        Ok((Self { place, _child: Mutex::new(child), tail, reading }, stdin, stdout))
    }

    /// Its place on the roll.
    pub(crate) fn on_roll(&self) -> &Arc<OnRoll> {
        &self.place
    }

    pub(crate) fn tail(&self) -> Tail {
        self.tail.clone()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// An agent that starts for the first time makes its own folders, and inside the walls it could not.
fn make_state_folder(place: &Path) {
    if place.extension().is_none() && !place.exists() {
        // Where it can not be made the agent says so itself.
        let _ = project::create_private_dir(place);
    }
}

/// The last that a process said on its standard error.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    pub(crate) fn push(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(line.chars().take(TAIL_LINE).collect());
    }

    /// What is worth showing of it: no stack frames, no blank lines.
    pub(crate) fn words(&self) -> Option<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let told =
            lines.iter().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("at "));
        let told: Vec<&str> = told.map(String::as_str).collect();
        let last = &told[told.len().saturating_sub(6)..];
        (!last.is_empty()).then(|| last.join("\n"))
    }
}

async fn keep_tail(stderr: ChildStderr, tail: Tail) {
    let mut lines = Lines::with_max(stderr, 64 * 1024);
    while let Ok(Some(line)) = lines.next().await {
        if let Line::Whole(line) = line {
            tail.push(&String::from_utf8_lossy(&line));
        }
    }
}
