//! The gate: what the guard says about a call, and what the person says where it leaves the choice to them.

use std::sync::Arc;

use agents::{Answer, HookCall, Question, Refused, Reporter, Services};
use guard::{Action, Guard, HookSays, Request, Ruling, Scope, Verdict};
use project::Grants;
use protocol::{
    AnsweredBy, CallId, HookEvent, Mode, Notice, NoticeLevel, OptionKind, PermissionOption, Update,
};
use tools::ToolError;

use super::hooks::Heard;

const ONCE: &str = "allow";
const SESSION: &str = "allow_session";
const ALWAYS: &str = "allow_always";
const DENY: &str = "deny";

/// Where calls are let through, or not.
pub(super) struct Gate {
    pub(super) guard: Arc<Guard>,
    pub(super) services: Arc<dyn Services>,
    pub(super) mode: Mode,
    pub(super) attended: bool,
    pub(super) reporter: Reporter,
    pub(super) heard: Heard,
}

/// A call that may run.
pub(super) struct Passed {
    pub(super) verdict: Verdict,
    pub(super) grants: Grants,
}

impl Gate {
    /// Asks for a call that is about to do these things. The error is for the model.
    pub(super) async fn pass(
        &self,
        tool: &str,
        call: &CallId,
        title: &str,
        actions: &[Action],
        hook: Option<&HookSays>,
    ) -> Result<Passed, ToolError> {
        let request = Request { tool, actions, mode: self.mode, attended: self.attended };
        let verdict = self.guard.decide_with(&request, hook);
        let grants = match verdict.decision {
            Ruling::Deny => return Err(self.refuse(&request, verdict, call, title).await),
            Ruling::Ask => {
                self.put_to_the_person(&request, &verdict, call, title).await?;
                grants(&verdict)
            }
            // Mode `full` asks nothing, but it opens no sandbox: what a program reaches for outside stays out of reach.
            Ruling::Allow if self.mode == Mode::Full && actions.iter().any(runs_a_program) => {
                Grants::default()
            }
            Ruling::Allow => grants(&verdict),
        };
        Ok(Passed { verdict, grants })
    }

    /// Records the refusal, and finds the words for the model.
    async fn refuse(&self, request: &Request<'_>, verdict: Verdict, call: &CallId, title: &str) -> ToolError {
        let mut reason = verdict.because.first().cloned().unwrap_or_else(|| "not allowed".to_owned());
        // With a person there it would have been a question: that is what is missing, and what a rule can replace.
        let missing = !self.attended
            && self.guard.judge(&Request { attended: true, ..*request }).decision == Ruling::Ask;
        let by = if missing { AnsweredBy::Nobody } else { AnsweredBy::Policy };
        if missing {
            reason = format!("nobody is there to allow it ({reason})");
            let rules: Vec<String> = verdict.rules.iter().map(|rule| format!("--allow '{rule}'")).collect();
            if !rules.is_empty() {
                reason.push_str(&format!("; it would run with {}", rules.join(" ")));
            }
        }
        let refused = Refused { by, reason: reason.clone() };
        let question = Question {
            call: Some(call.clone()),
            title: title.to_owned(),
            reasons: verdict.because,
            options: vec![],
            is_question: false,
            refused: Some(refused),
        };
        self.services.ask(question).await;
        ToolError(format!("denied: {reason}. Do not try it in another way; go on without it and say so."))
    }

    async fn put_to_the_person(
        &self,
        request: &Request<'_>,
        verdict: &Verdict,
        call: &CallId,
        title: &str,
    ) -> Result<(), ToolError> {
        match self.hooks_word(request, verdict, title).await {
            Some(HookSays::Deny { because }) => {
                return Err(ToolError(format!("denied by a hook: {because}")));
            }
            // What is blocked takes a person's word, twice.
            Some(HookSays::Allow) if !verdict.confirm_twice => return Ok(()),
            _ => {}
        }
        let chosen = self.ask(verdict, call, title.to_owned(), options(verdict)).await;
        let scope = match chosen {
            Ok(option) => match option.as_str() {
                SESSION => Scope::Session,
                ALWAYS => Scope::Project,
                _ => Scope::Once,
            },
            Err(refusal) => {
                self.remember(request, verdict, false, Scope::Once).await;
                return Err(refusal);
            }
        };
        if verdict.confirm_twice {
            let again = vec![option(DENY, "No", OptionKind::RejectOnce), once("Yes, really")];
            let title = format!("this is blocked because it can do harm; really? {title}");
            self.ask(verdict, call, title, again).await?;
        }
        self.remember(request, verdict, true, scope).await;
        Ok(())
    }

    /// What hooks say to a question before the person is asked.
    async fn hooks_word(&self, request: &Request<'_>, verdict: &Verdict, title: &str) -> Option<HookSays> {
        let call = HookCall { tool: Some(request.tool.to_owned()), ..HookCall::new(HookEvent::Permission) }
            .with("title", title)
            .with("level", verdict.level.as_str())
            .with("reasons", verdict.because.clone());
        let answer = self.heard.tell(call).await;
        if let Some(says) = &answer.says {
            // Whoever answers instead of the person is in the audit too.
            let request = Request { attended: true, ..*request };
            self.guard.decide_with(&request, Some(says));
        }
        answer.says
    }

    /// An answer that can not be kept still counts now.
    async fn remember(&self, request: &Request<'_>, verdict: &Verdict, yes: bool, scope: Scope) {
        let (level, text) = match self.guard.answered(request, verdict, guard::Answer { yes, scope }) {
            Ok(None) => return,
            Ok(Some(rules)) => {
                let text = format!(
                    "you allowed this often; to have it run unasked: covey guard rules{}",
                    rules.iter().map(|rule| format!(" --allow '{rule}'")).collect::<String>()
                );
                (NoticeLevel::Info, text)
            }
            Err(error) => (NoticeLevel::Warning, format!("the answer holds once only: {error}")),
        };
        self.reporter.send(Update::Notice(Notice { level, text })).await;
    }

    async fn ask(
        &self,
        verdict: &Verdict,
        call: &CallId,
        title: String,
        options: Vec<PermissionOption>,
    ) -> Result<String, ToolError> {
        let question = Question {
            call: Some(call.clone()),
            title,
            reasons: verdict.because.clone(),
            options,
            is_question: false,
            refused: None,
        };
        let title = question.title.clone();
        let asked = self.services.ask(question);
        let told = self.heard.tell(HookCall::new(HookEvent::Notification).with("text", title));
        let (mut asked, mut told) = (std::pin::pin!(asked), std::pin::pin!(told));
        // They hear of it while the person thinks; an answer does not wait for them.
        let mut is_told = false;
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut asked => break answer,
                _ = &mut told, if !is_told => is_told = true,
            }
        };
        match answer {
            Answer::Allowed { option, .. } => Ok(option),
            Answer::Denied { reason } => Err(ToolError(format!("denied: {reason}"))),
            Answer::Cancelled => Err(ToolError("cancelled by the person before it ran".to_owned())),
        }
    }
}

fn runs_a_program(action: &Action) -> bool {
    matches!(action, Action::Shell { .. } | Action::Program { .. })
}

/// The room that a verdict gives. What does not exist can not be opened up; whoever needs it says so themselves.
fn grants(verdict: &Verdict) -> Grants {
    let there = |paths: &[std::path::PathBuf]| paths.iter().filter(|path| path.exists()).cloned().collect();
    let needs = &verdict.needs;
    Grants { reads: there(&needs.reads), writes: there(&needs.writes), network: needs.network() }
}

/// Once, for the session, always with the rule that it makes, no.
fn options(verdict: &Verdict) -> Vec<PermissionOption> {
    let mut options = vec![once("Allow once")];
    if verdict.may_remember && !verdict.rules.is_empty() {
        let rules = verdict.rules.join(", ");
        options.push(option(SESSION, &format!("Allow {rules} in this session"), OptionKind::AllowAlways));
        options.push(option(
            ALWAYS,
            &format!("Always allow {rules} in this project"),
            OptionKind::AllowAlways,
        ));
    }
    options.push(option(DENY, "No", OptionKind::RejectOnce));
    options
}

fn once(name: &str) -> PermissionOption {
    option(ONCE, name, OptionKind::AllowOnce)
}

fn option(id: &str, name: &str, kind: OptionKind) -> PermissionOption {
    PermissionOption { id: id.to_owned(), name: name.to_owned(), kind }
}
