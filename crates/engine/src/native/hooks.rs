//! Where the built-in agent tells people's hooks what it is about to do and what it did.

use std::path::PathBuf;
use std::sync::Arc;

use agents::{HookAnswer, HookCall, Reporter, Services};
use guard::{Action, HookSays};
use protocol::{HookEvent, Update};
use serde_json::Value;

/// What a hook is shown of a result, in bytes.
const SHOWN: usize = 64 * 1024;
/// How often in one turn a hook may keep the agent from stopping.
pub(super) const MAX_GO_ON: usize = 3;

/// Hooks, as a turn reaches them.
#[derive(Clone)]
pub(super) struct Heard {
    pub(super) services: Arc<dyn Services>,
    pub(super) reporter: Reporter,
    pub(super) root: PathBuf,
}

impl Heard {
    /// Tells them, and records what they said.
    pub(super) async fn tell(&self, call: HookCall) -> HookAnswer {
        let answer = self.services.hook(call).await;
        for ran in &answer.ran {
            self.reporter.send(Update::Hook(ran.clone())).await;
        }
        answer
    }

    /// A call that is about to run, or did.
    pub(super) fn call(&self, on: HookEvent, tool: &str, input: &Value, actions: &[Action]) -> HookCall {
        let touched = actions.iter().flat_map(|action| match action {
            Action::Read { paths } | Action::Write { paths, .. } => paths.as_slice(),
            _ => &[],
        });
        let below = |path: &PathBuf| path.strip_prefix(&self.root).unwrap_or(path).to_owned();
        HookCall { tool: Some(tool.to_owned()), paths: touched.map(below).collect(), ..HookCall::new(on) }
            .with("input", input.clone())
    }

    /// After a call: what it gave, and whether it worked.
    pub(super) async fn done(&self, mut call: HookCall, failed: bool, text: &str) -> Vec<String> {
        call.on = if failed { HookEvent::ToolFailed } else { HookEvent::PostTool };
        let call = call.with("result", &text[..text.floor_char_boundary(SHOWN)]);
        let answer = self.tell(call).await;
        let no = match answer.says {
            Some(HookSays::Deny { because }) => Some(because),
            _ => None,
        };
        answer.context.into_iter().chain(no).collect()
    }

    /// What hooks want done before the agent may stop; nothing if it may.
    pub(super) async fn go_on(&self, said: &str) -> Option<String> {
        let call = HookCall::new(HookEvent::Stop).with("text", &said[..said.floor_char_boundary(SHOWN)]);
        match self.tell(call).await.says {
            Some(HookSays::Deny { because }) => Some(because),
            _ => None,
        }
    }
}

/// The words with which the agent goes on when a hook wants it to.
pub(super) fn go_on_prompt(because: &str) -> String {
    format!("[covey: do not stop yet, a hook says: {because}]")
}
