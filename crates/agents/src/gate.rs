//! The gate that another agent's requests go through: what the guard says, and what the person says where it leaves
//! the choice to them.

use std::sync::Arc;

use guard::{Action, Guard, Request, Ruling, Scope, Verdict};
use protocol::{AnsweredBy, CallId, Mode, Notice, NoticeLevel, OptionKind, PermissionOption, Update};

use crate::{Answer, Question, Refused, Reporter, Services, Turn};

const ONCE: &str = "allow";
const SESSION: &str = "allow_session";
const ALWAYS: &str = "allow_always";
const DENY: &str = "deny";

/// Where requests of one turn are let through, or not.
#[derive(Clone)]
pub struct Gate {
    guard: Arc<Guard>,
    services: Arc<dyn Services>,
    mode: Mode,
    attended: bool,
    reporter: Reporter,
}

/// Not let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// And why, for the agent.
    Denied(String),
    /// The turn is over.
    Cancelled,
}

impl Gate {
    pub fn new(turn: &Turn, reporter: Reporter) -> Self {
        Self {
            guard: turn.services.guard(),
            services: turn.services.clone(),
            mode: turn.mode,
            attended: turn.attended,
            reporter,
        }
    }

    /// Asks whether a tool may do these things. Waits for the person if it must.
    pub async fn pass(
        &self,
        tool: &str,
        call: Option<&CallId>,
        title: &str,
        actions: &[Action],
    ) -> Result<Verdict, Refusal> {
        let request = Request { tool, actions, mode: self.mode, attended: self.attended };
        let verdict = self.guard.decide(&request);
        match verdict.decision {
            Ruling::Allow => Ok(verdict),
            Ruling::Deny => Err(self.refuse(&request, verdict, call, title).await),
            Ruling::Ask => {
                self.put_to_the_person(&request, &verdict, call, title).await?;
                Ok(verdict)
            }
        }
    }

    /// Puts something that the agent wants to know to the person; none when nobody answers.
    pub async fn question(&self, title: String, options: Vec<PermissionOption>) -> Option<String> {
        let question =
            Question { call: None, title, reasons: vec![], options, is_question: true, refused: None };
        match self.services.ask(question).await {
            Answer::Allowed { option, said } => Some(said.unwrap_or(option)),
            Answer::Denied { .. } | Answer::Cancelled => None,
        }
    }

    /// Records the refusal, and finds the words for the agent.
    async fn refuse(
        &self,
        request: &Request<'_>,
        verdict: Verdict,
        call: Option<&CallId>,
        title: &str,
    ) -> Refusal {
        let mut reason = verdict.because.first().cloned().unwrap_or_else(|| "not allowed".to_owned());
        // With a person there it would have been a question: that is what is missing, and what a rule can replace.
        let missing = !self.attended
            && self.guard.judge(&Request { attended: true, ..*request }).decision == Ruling::Ask;
        let by = if missing { AnsweredBy::Nobody } else { AnsweredBy::Policy };
        if missing {
            let rules: Vec<String> = verdict.rules.iter().map(|rule| format!("--allow '{rule}'")).collect();
            reason = match rules.as_slice() {
                [] => "nobody is there to allow it".to_owned(),
                rules => format!("nobody is there to allow it; it would run with {}", rules.join(" ")),
            };
        }
        let question = Question {
            call: call.cloned(),
            title: title.to_owned(),
            reasons: verdict.because,
            options: vec![],
            is_question: false,
            refused: Some(Refused { by, reason: reason.clone() }),
        };
        match self.services.ask(question).await {
            Answer::Cancelled => Refusal::Cancelled,
            _ => Refusal::Denied(reason),
        }
    }

    async fn put_to_the_person(
        &self,
        request: &Request<'_>,
        verdict: &Verdict,
        call: Option<&CallId>,
        title: &str,
    ) -> Result<(), Refusal> {
        let scope = match self.ask(verdict, call, title.to_owned(), options(verdict)).await {
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
                let rules = rules.join(", ");
                let text = format!(
                    "you allowed this often; to have it run unasked, add to permissions.allow: {rules}"
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
        call: Option<&CallId>,
        title: String,
        options: Vec<PermissionOption>,
    ) -> Result<String, Refusal> {
        let question = Question {
            call: call.cloned(),
            title,
            reasons: verdict.because.clone(),
            options,
            is_question: false,
            refused: None,
        };
        match self.services.ask(question).await {
            Answer::Allowed { option, .. } => Ok(option),
            Answer::Denied { reason } => Err(Refusal::Denied(reason)),
            Answer::Cancelled => Err(Refusal::Cancelled),
        }
    }
}

/// Once, for the session, always with the rule that it makes, no.
fn options(verdict: &Verdict) -> Vec<PermissionOption> {
    let mut options = vec![once("Allow once")];
    if verdict.may_remember && !verdict.rules.is_empty() {
        let rules = verdict.rules.join(", ");
        let (session, always) =
            (format!("Allow {rules} in this session"), format!("Always allow {rules} in this project"));
        options.push(option(SESSION, &session, OptionKind::AllowAlways));
        options.push(option(ALWAYS, &always, OptionKind::AllowAlways));
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
