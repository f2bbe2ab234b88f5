//! Where a turn tells people's hooks what is about to happen and what did.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use guard::{Action, HookSays};
use protocol::{HookEvent, Update};
use serde_json::Value;

use crate::{HookAnswer, HookCall, Reporter, Services, Turn};

/// What a hook is shown of a text, in bytes.
const SHOWN: usize = 64 * 1024;

/// Hooks, as a turn reaches them.
#[derive(Clone)]
pub struct Heard {
    services: Arc<dyn Services>,
    reporter: Reporter,
    root: PathBuf,
}

impl Heard {
    pub fn new(turn: &Turn, reporter: Reporter) -> Self {
        let root = turn.services.host().roots().main().to_owned();
        Self { services: turn.services.clone(), reporter, root }
    }

    /// Tells them, and records what they said.
    pub async fn tell(&self, call: HookCall) -> HookAnswer {
        let answer = self.services.hook(call).await;
        for ran in &answer.ran {
            self.reporter.send(Update::Hook(ran.clone())).await;
        }
        answer
    }

    /// A call that is about to run, or did.
    pub fn call(&self, on: HookEvent, tool: &str, input: &Value, actions: &[Action]) -> HookCall {
        let paths = self.paths(actions);
        HookCall { tool: Some(tool.to_owned()), paths, ..HookCall::new(on) }.with("input", input.clone())
    }

    /// What is touched, as hooks know it.
    pub(crate) fn paths(&self, actions: &[Action]) -> Vec<PathBuf> {
        let mut touched: Vec<PathBuf> = Vec::new();
        let mut commands = Vec::new();
        for action in actions {
            match action {
                Action::Read { paths } | Action::Write { paths, .. } => touched.extend(paths.iter().cloned()),
                Action::Shell { .. } | Action::Program { .. } => commands.push(action.clone()),
                _ => {}
            }
        }
        // A file that a command names is touched like any other. To find them takes reading the command.
        if !commands.is_empty() && self.services.has_hooks() {
            touched.extend(self.services.guard().touched(&commands));
        }
        touched.iter().map(|path| self.below(path)).collect()
    }

    /// A path as hooks know it: relative to the project, where it is in there.
    pub fn below(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_owned()
    }

    /// After a call: what it gave, and whether it worked.
    pub async fn done(&self, mut call: HookCall, failed: bool, text: &str) -> Vec<String> {
        call.on = if failed { HookEvent::ToolFailed } else { HookEvent::PostTool };
        let answer = self.tell(call.with("result", shown(text))).await;
        let no = match answer.says {
            Some(HookSays::Deny { because }) => Some(because),
            _ => None,
        };
        answer.context.into_iter().chain(no).collect()
    }

    /// What hooks want done before the agent may stop; nothing if it may.
    pub async fn go_on(&self, said: &str) -> Option<String> {
        match self.tell(HookCall::new(HookEvent::Stop).with("text", shown(said))).await.says {
            Some(HookSays::Deny { because }) => Some(because),
            _ => None,
        }
    }
}

fn shown(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN)]
}
