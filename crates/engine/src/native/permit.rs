//! The gate: what the guard says about a call, and what the person says where it leaves the choice to them.

use std::sync::Arc;

use agents::{Answer, Question, Refused, Reporter, Services};
use guard::{Action, Guard, Request, Ruling, Scope, Verdict};
use project::Grants;
use protocol::{AnsweredBy, CallId, Mode, Notice, NoticeLevel, OptionKind, PermissionOption, Update};
use tools::ToolError;

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
    ) -> Result<Passed, ToolError> {
        let request = Request { tool, actions, mode: self.mode, attended: self.attended };
        let verdict = self.guard.decide(&request);
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

    /// An answer that can not be kept still counts now.
    async fn remember(&self, request: &Request<'_>, verdict: &Verdict, yes: bool, scope: Scope) {
        let (level, text) = match self.guard.answered(request, verdict, guard::Answer { yes, scope }) {
            Ok(None) => return,
            Ok(Some(rules)) => {
                let text = format!(
                    "you allowed this often; to have it run unasked, add to permissions.allow: {}",
                    rules.join(", ")
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
        match self.services.ask(question).await {
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
