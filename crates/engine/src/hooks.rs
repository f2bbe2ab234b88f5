//! Hooks that hear of a session from outside its turns: that it begins, what is asked, what is set.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use agents::{HookAnswer, HookCall};
use guard::HookSays;
use project::Roots;
use protocol::{Content, EventBody, HookEvent, HookRan, Resource, SessionId, prompt_text};
use serde_json::Value;

use crate::EngineError;
use crate::engine::Engine;
use crate::native::with_shelf;
use crate::session::{Handle, Hooks, SessionOp};

impl Engine {
    /// The hooks of a session.
    pub(crate) fn hooks(&self, roots: &Roots, cwd: &Path, session: SessionId) -> Arc<Hooks> {
        let (shelved, bad) = with_shelf(self.home(), roots.main(), cwd, |shelf| shelf.hooks());
        let bad = bad.into_iter().map(|bad| format!("{}: {}", bad.path.display(), bad.why)).collect();
        let launcher = self.launcher();
        Arc::new(Hooks::new(shelved.items, bad, launcher, roots.clone(), cwd.to_owned(), session))
    }

    /// Tells hooks of a prompt, and at first of the session. They may add to it, change it, or refuse it.
    pub(crate) async fn heard(
        &self,
        session: &SessionId,
        handle: &Handle,
        mut prompt: Vec<Content>,
    ) -> Result<Vec<Content>, EngineError> {
        let hooks = &handle.hooks;
        let mut added = Vec::new();
        if let Some(bad) = hooks.bad().first() {
            // What a hook would have forbidden must not happen because of a typing mistake.
            let message = format!("these hooks are not understood: {bad}");
            let hint = Some("mend the file, or move it away".to_owned());
            return Err(EngineError::Refused { message, hint });
        }
        let is_first = !handle.has_begun.swap(true, Ordering::Relaxed);
        if is_first && hooks.listen_to(HookEvent::SessionStart) {
            let answer = hooks.run(None, HookCall::new(HookEvent::SessionStart)).await;
            added.extend(self.taken(session, answer).await?);
        }
        if hooks.listen_to(HookEvent::Prompt) {
            let call = HookCall::new(HookEvent::Prompt).with("prompt", prompt_text(&prompt));
            let answer = hooks.run(None, call).await;
            if let Some(HookSays::Deny { because }) = &answer.says {
                let message = format!("a hook refused the prompt: {because}");
                let hint = Some("its file is in `hooks/` of your settings or in `.covey/hooks/`".to_owned());
                return Err(EngineError::Refused { message, hint });
            }
            if let Some(changed) = answer.input.as_ref().and_then(new_prompt) {
                prompt.retain(|content| content.as_text().is_none());
                prompt.insert(0, Content::text(changed));
            }
            added.extend(self.taken(session, answer).await?);
        }
        prompt.extend(added);
        Ok(prompt)
    }

    /// Tells hooks that something about the session was set.
    pub(crate) async fn config_changed(&self, session: &SessionId, what: &str, value: &str) {
        let Ok(handle) = self.handle(session).await else { return };
        if !handle.hooks.listen_to(HookEvent::ConfigChange) {
            return;
        }
        let call = HookCall::new(HookEvent::ConfigChange).with("setting", what).with("value", value);
        for ran in handle.hooks.run(None, call).await.ran {
            // The change is made; that a hook's word about it is not recorded does not undo it.
            let _ = self.note_hook(session, EventBody::Hook(ran)).await;
        }
    }

    /// Records what hooks said, and makes content of what they add.
    async fn taken(&self, session: &SessionId, answer: HookAnswer) -> Result<Vec<Content>, EngineError> {
        let added = answer.ran.iter().filter_map(context).collect();
        for ran in answer.ran {
            self.note_hook(session, EventBody::Hook(HookRan { context: None, ..ran })).await?;
        }
        Ok(added)
    }

    async fn note_hook(&self, session: &SessionId, body: EventBody) -> Result<(), EngineError> {
        let note = SessionOp::Note { body: Box::new(body), idle: false, changes_history: false };
        self.ask(session.clone(), note).await.map(drop)
    }
}

fn context(ran: &HookRan) -> Option<Content> {
    let (uri, text) = (format!("hook:{}", ran.hook), ran.context.clone()?);
    Some(Content::Resource(Resource { uri, media_type: None, text: Some(text), blob: None }))
}

/// The prompt that a hook wants instead: a text, or `{"prompt": text}`.
fn new_prompt(input: &Value) -> Option<String> {
    let text = input.as_str().or_else(|| input.get("prompt")?.as_str())?;
    Some(text.to_owned()).filter(|text| !text.trim().is_empty())
}
