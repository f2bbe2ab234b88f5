//! Running hooks: each a program in the sandbox, with the event as JSON on its standard input.
//!
//! It answers with its exit code (0 lets things be, 2 says no with what it wrote to standard error), or with an object on
//! standard output: `{"decision": "allow" | "ask" | "deny", "reason": …, "input": …, "context": …}`. One that hangs,
//! crashes or talks nonsense where something waits for its word has said no.

use std::path::PathBuf;
use std::sync::Arc;

use agents::{HookAnswer, HookCall};
use extend::Hook;
use guard::HookSays;
use project::{Grants, Launcher, Roots, Stream, command};
use protocol::{HookEvent, HookRan, HookWord, SessionId, TurnId};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

/// What a hook may say, in bytes.
const MAX_SAID: usize = 256 * 1024;
/// What a reason may be, in bytes.
const MAX_REASON: usize = 2_000;
/// What one hook may tell the model, in bytes.
const MAX_CONTEXT: usize = 16 * 1024;

/// The hooks of one session.
pub(crate) struct Hooks {
    hooks: Vec<Hook>,
    /// Files of hooks that nobody understands, and why.
    bad: Vec<String>,
    launcher: Arc<dyn Launcher>,
    roots: Roots,
    cwd: PathBuf,
    session: SessionId,
}

#[derive(Deserialize)]
struct Verdict {
    decision: Option<Word>,
    reason: Option<String>,
    input: Option<Value>,
    context: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Word {
    Allow,
    Ask,
    Deny,
}

impl Hooks {
    pub(crate) fn new(
        hooks: Vec<Hook>,
        bad: Vec<String>,
        launcher: Arc<dyn Launcher>,
        roots: Roots,
        cwd: PathBuf,
        session: SessionId,
    ) -> Self {
        Self { hooks, bad, launcher, roots, cwd, session }
    }

    pub(crate) fn bad(&self) -> &[String] {
        &self.bad
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    pub(crate) fn listen_to(&self, on: HookEvent) -> bool {
        self.hooks.iter().any(|hook| hook.on.contains(&on))
    }

    /// Runs those that want to hear of it, one after the other; a changed input goes on to the next. The first no ends it.
    pub(crate) async fn run(&self, turn: Option<&TurnId>, mut call: HookCall) -> HookAnswer {
        let mut answer = HookAnswer::default();
        for hook in &self.hooks {
            if !hook.fits(call.on, call.tool.as_deref(), &call.paths) {
                continue;
            }
            let said = self.one(hook, turn, &call).await;
            let said = match said {
                Ok(said) => said,
                Err(why) => {
                    let says = call.on.decides().then_some(HookWord::Deny);
                    answer.ran.push(HookRan {
                        hook: hook.name.clone(),
                        on: call.on,
                        says,
                        reason: Some(why.clone()),
                        context: None,
                        changed_input: false,
                    });
                    if says.is_some() {
                        answer.says =
                            Some(HookSays::Deny { because: format!("`{}` failed: {why}", hook.name) });
                        return answer;
                    }
                    continue;
                }
            };
            let reason = said.reason.map(|reason| cut(&reason, MAX_REASON));
            let context =
                said.context.filter(|text| !text.trim().is_empty()).map(|text| cut(&text, MAX_CONTEXT));
            let changed_input = said.input.is_some();
            let says = said.decision.map(|word| match word {
                Word::Allow => HookWord::Allow,
                Word::Ask => HookWord::Ask,
                Word::Deny => HookWord::Deny,
            });
            if says.is_some() || context.is_some() || changed_input {
                answer.ran.push(HookRan {
                    hook: hook.name.clone(),
                    on: call.on,
                    says,
                    reason: reason.clone(),
                    context: context.clone(),
                    changed_input,
                });
            }
            answer.context.extend(context);
            if let Some(input) = said.input {
                call.detail.insert("input".to_owned(), input.clone());
                answer.input = Some(input);
            }
            let because = reason.unwrap_or_else(|| format!("`{}` said so", hook.name));
            match said.decision {
                Some(Word::Deny) => {
                    answer.says = Some(HookSays::Deny { because });
                    return answer;
                }
                Some(Word::Ask) => answer.says = Some(HookSays::Ask { because }),
                Some(Word::Allow) if answer.says.is_none() => answer.says = Some(HookSays::Allow),
                Some(Word::Allow) | None => {}
            }
        }
        answer
    }

    async fn one(&self, hook: &Hook, turn: Option<&TurnId>, call: &HookCall) -> Result<Verdict, String> {
        let mut event = json!({
            "event": call.on,
            "session": self.session,
            "turn": turn,
            "cwd": self.cwd,
            "project": self.roots.main(),
            "tool": call.tool,
            "paths": call.paths,
        });
        if let Value::Object(fields) = &mut event {
            fields.extend(call.detail.clone());
        }
        let mut program = command("/bin/sh");
        program.arg("-c").arg(&hook.command).cwd(self.roots.main());
        program.env("COVEY_HOOK_EVENT", call.on.as_str()).env("COVEY_PROJECT", self.roots.main());
        program.stdin(Stream::Piped).stdout(Stream::Piped).stderr(Stream::Piped);
        let grants = Grants { network: hook.network, ..Grants::default() };
        let mut child =
            self.launcher.launch(program, &self.roots, &grants).map_err(|error| error.to_string())?;
        let stdin = child.stdin.take();
        let text = event.to_string();
        // Fed while it is listened to: neither waits for the other. One that does not read is no error.
        let feed = async move {
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(text.as_bytes()).await;
            }
            std::future::pending::<()>().await
        };
        let ended = tokio::select! {
            ended = tokio::time::timeout(hook.timeout, child.output(MAX_SAID)) => ended,
            () = feed => return Err("could not be fed".to_owned()),
        };
        let output = ended
            .map_err(|_| format!("took longer than {} s", hook.timeout.as_secs_f32()))?
            .map_err(|error| error.to_string())?;
        if output.truncated {
            return Err(format!("wrote more than {} KiB", MAX_SAID / 1024));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => understood(said.trim(), call.on),
            Some(2) => Ok(Verdict {
                decision: Some(Word::Deny),
                reason: Some(complaint.trim().to_owned()).filter(|text| !text.is_empty()),
                input: None,
                context: None,
            }),
            _ => {
                let complaint = complaint.trim();
                let more = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
                Err(cut(&format!("ended with {}{more}", output.status), MAX_REASON))
            }
        }
    }
}

/// What a hook wrote. Plain text adds to what the model is told where that is the point of the moment, and says nothing
/// anywhere else.
fn understood(said: &str, on: HookEvent) -> Result<Verdict, String> {
    let nothing = Verdict { decision: None, reason: None, input: None, context: None };
    if said.starts_with('{') {
        return serde_json::from_str(said).map_err(|error| format!("its answer is not understood: {error}"));
    }
    let tells = matches!(on, HookEvent::SessionStart | HookEvent::Prompt | HookEvent::Compact);
    Ok(match said.is_empty() || !tells {
        true => nothing,
        false => Verdict { context: Some(said.to_owned()), ..nothing },
    })
}

fn cut(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}
