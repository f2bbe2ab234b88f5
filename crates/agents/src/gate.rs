//! The gate that every agent's calls go through, the built-in one's and another's: what hooks and the guard say, and
//! what the person says where these leave the choice to them.

use std::sync::Arc;

use guard::{Action, Guard, HookSays, Request, Ruling, Scope, Verdict};
use protocol::{
    AnsweredBy, CallId, HookEvent, Mode, Notice, NoticeLevel, OptionKind, PermissionOption, Update,
};
use serde_json::Value;

use crate::{Answer, Heard, HookCall, Question, Refused, Reporter, Services, Turn};

const ONCE: &str = "allow";
const SESSION: &str = "allow_session";
const ALWAYS: &str = "allow_always";
const EDIT: &str = "edit";
const DENY: &str = "deny";

/// Where calls of one turn are let through, or not.
#[derive(Clone)]
pub struct Gate {
    guard: Arc<Guard>,
    services: Arc<dyn Services>,
    mode: Mode,
    attended: bool,
    reporter: Reporter,
    heard: Heard,
}

/// A tool that is about to do something.
#[derive(Clone, Copy)]
pub struct Wish<'a> {
    pub tool: &'a str,
    pub call: Option<&'a CallId>,
    /// The exact action, for a person.
    pub title: &'a str,
    pub actions: &'a [Action],
}

/// Whether the person can have something else run than what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Never,
    /// They are offered to.
    Offered,
    /// They did: what is asked for is what they wrote, and so allowed.
    Made,
}

/// What came of asking.
#[derive(Debug)]
pub enum Passed {
    /// The call may run.
    As(Box<Verdict>),
    /// The person wants this text to run instead. It has to pass, too.
    Instead(String),
}

/// Not let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// By a rule, a mode or for want of a person; and why, for the agent.
    Forbidden(String),
    /// By the person or a hook; and why, for the agent.
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
            heard: Heard::new(turn, reporter.clone()),
            reporter,
        }
    }

    /// What the guard would say to these things, before anybody is asked or anything recorded.
    pub fn foresee(&self, tool: &str, actions: &[Action]) -> Verdict {
        let request = Request { tool, actions, mode: self.mode, attended: self.attended };
        self.guard.judge(&request)
    }

    /// Asks whether another agent's tool may do these things: hooks first, then [`pass`](Self::pass).
    pub async fn ask_first(&self, wish: Wish<'_>, input: &Value) -> Result<Verdict, Refusal> {
        let call = self.heard.call(HookEvent::PreTool, wish.tool, input, wish.actions);
        let answer = self.heard.tell(call).await;
        // What was shown to the guard would not be what runs.
        if answer.input.is_some_and(|changed| changed != *input) {
            let reason = "a hook wants another input, which only the agent itself can send".to_owned();
            return Err(Refusal::Denied(reason));
        }
        self.pass(wish, answer.says.as_ref()).await
    }

    /// Asks whether a tool may do these things, after a hook said its word. Waits for the person if it must.
    pub async fn pass(&self, wish: Wish<'_>, hook: Option<&HookSays>) -> Result<Verdict, Refusal> {
        match self.pass_changed(wish, hook, Change::Never).await? {
            Passed::As(verdict) => Ok(*verdict),
            // It was not offered, so nobody chose it.
            Passed::Instead(_) => Err(Refusal::Denied("it can not be changed".to_owned())),
        }
    }

    /// Whether the person would be asked, as far as the guard is concerned.
    pub fn would_ask(&self, wish: &Wish<'_>) -> bool {
        let request =
            Request { tool: wish.tool, actions: wish.actions, mode: self.mode, attended: self.attended };
        self.guard.judge(&request).decision == Ruling::Ask
    }

    /// The same for a call that the person may change, or has changed.
    pub async fn pass_changed(
        &self,
        wish: Wish<'_>,
        hook: Option<&HookSays>,
        change: Change,
    ) -> Result<Passed, Refusal> {
        let Wish { tool, actions, .. } = wish;
        let request = Request { tool, actions, mode: self.mode, attended: self.attended };
        let verdict = self.guard.decide_with(&request, hook);
        match verdict.decision {
            Ruling::Allow => {}
            Ruling::Deny => {
                // With a person there it would have been a question; then hooks may still answer it. A hook's no stays.
                let asks = matches!(hook, Some(HookSays::Ask { .. }));
                let is_open = !self.attended && !matches!(hook, Some(HookSays::Deny { .. }));
                let question = is_open.then(|| self.guard.judge(&Request { attended: true, ..request }));
                let question = question.filter(|question| {
                    question.decision == Ruling::Ask || asks && question.decision == Ruling::Allow
                });
                let Some(question) = question else {
                    return Err(self.refuse(verdict, AnsweredBy::Policy, None, wish).await);
                };
                return match self.hooks_word(&request, &question, wish.title).await {
                    Some(HookSays::Allow) if !question.confirm_twice => Ok(Passed::As(Box::new(question))),
                    Some(HookSays::Deny { because }) => {
                        Err(Refusal::Denied(format!("a hook says: {because}")))
                    }
                    _ => {
                        // What a hook wanted asked says so itself.
                        let because = if asks { verdict.because.first() } else { question.because.first() };
                        let why = because.map(|why| format!(" ({why})")).unwrap_or_default();
                        let reason = format!("nobody is there to allow it{why}");
                        Err(self.refuse(verdict, AnsweredBy::Nobody, Some(reason), wish).await)
                    }
                };
            }
            Ruling::Ask if change == Change::Made => {
                self.confirm(&verdict, wish).await?;
                self.remember(&request, &verdict, true, Scope::Once).await;
            }
            Ruling::Ask => {
                let offered = change == Change::Offered;
                if let Some(text) = self.put_to_the_person(&request, &verdict, wish, offered).await? {
                    return Ok(Passed::Instead(text));
                }
            }
        }
        Ok(Passed::As(Box::new(verdict)))
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
        verdict: Verdict,
        by: AnsweredBy,
        reason: Option<String>,
        wish: Wish<'_>,
    ) -> Refusal {
        let because = || verdict.because.first().cloned().unwrap_or_else(|| "not allowed".to_owned());
        let mut reason = reason.unwrap_or_else(because);
        if by == AnsweredBy::Nobody && !verdict.rules.is_empty() {
            let rules: Vec<String> = verdict.rules.iter().map(|rule| format!("--allow '{rule}'")).collect();
            reason.push_str(&format!("; it would run with {}", rules.join(" ")));
        }
        let question = Question {
            call: wish.call.cloned(),
            title: wish.title.to_owned(),
            reasons: verdict.because,
            options: vec![],
            is_question: false,
            refused: Some(Refused { by, reason: reason.clone() }),
        };
        match self.services.ask(question).await {
            Answer::Cancelled => Refusal::Cancelled,
            _ => Refusal::Forbidden(reason),
        }
    }

    /// Answers with what the person wants to run instead, if anything.
    async fn put_to_the_person(
        &self,
        request: &Request<'_>,
        verdict: &Verdict,
        wish: Wish<'_>,
        editable: bool,
    ) -> Result<Option<String>, Refusal> {
        match self.hooks_word(request, verdict, wish.title).await {
            Some(HookSays::Deny { because }) => {
                return Err(Refusal::Denied(format!("a hook says: {because}")));
            }
            // What is blocked takes a person's word, twice.
            Some(HookSays::Allow) if !verdict.confirm_twice => return Ok(None),
            _ => {}
        }
        let choices = options(verdict, editable);
        let scope = match self.ask(verdict, wish.call, wish.title.to_owned(), choices).await {
            Ok((option, said)) => match option.as_str() {
                SESSION => Scope::Session,
                ALWAYS => Scope::Project,
                EDIT => match said.filter(|text| !text.trim().is_empty()) {
                    Some(text) => return Ok(Some(text)),
                    // Nothing was changed, so it is as good as allowed.
                    None => Scope::Once,
                },
                _ => Scope::Once,
            },
            Err(refusal) => {
                self.remember(request, verdict, false, Scope::Once).await;
                return Err(refusal);
            }
        };
        self.confirm(verdict, wish).await?;
        self.remember(request, verdict, true, scope).await;
        Ok(None)
    }

    /// What can do harm takes a second yes.
    async fn confirm(&self, verdict: &Verdict, wish: Wish<'_>) -> Result<(), Refusal> {
        if verdict.confirm_twice {
            let again = vec![option(DENY, "No", OptionKind::RejectOnce), once("Yes, really")];
            let title = format!("this is blocked because it can do harm; really? {}", wish.title);
            self.ask(verdict, wish.call, title, again).await?;
        }
        Ok(())
    }

    /// What hooks say to a question before the person is asked.
    async fn hooks_word(&self, request: &Request<'_>, verdict: &Verdict, title: &str) -> Option<HookSays> {
        let paths = self.heard.paths(request.actions);
        let tool = Some(request.tool.to_owned());
        let call = HookCall { tool, paths, ..HookCall::new(HookEvent::Permission) }
            .with("title", title)
            .with("level", verdict.level.as_str())
            .with("reasons", verdict.because.clone());
        let answer = self.heard.tell(call).await;
        if let Some(says) = &answer.says {
            // Whoever answers instead of the person is in the audit too.
            let request = Request { attended: true, ..*request };
            let verdict = self.guard.decide_with(&request, Some(says));
            // What can not be recorded, or what only a person may allow, is not allowed by it.
            if *says == HookSays::Allow && verdict.decision != Ruling::Allow {
                return None;
            }
        }
        answer.says
    }

    /// An answer that can not be kept still counts now.
    async fn remember(&self, request: &Request<'_>, verdict: &Verdict, yes: bool, scope: Scope) {
        let (level, text) = match self.guard.answered(request, verdict, guard::Answer { yes, scope }) {
            Ok(None) => return,
            Ok(Some(rules)) => {
                let rules: String = rules.iter().map(|rule| format!(" --allow '{rule}'")).collect();
                let text =
                    format!("you allowed this often; to have it run unasked: covey guard rules{rules}");
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
    ) -> Result<(String, Option<String>), Refusal> {
        let notification = HookCall::new(HookEvent::Notification).with("text", title.as_str());
        let question = Question {
            call: call.cloned(),
            title,
            reasons: verdict.because.clone(),
            options,
            is_question: false,
            refused: None,
        };
        let (asked, told) = (self.services.ask(question), self.heard.tell(notification));
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
            Answer::Allowed { option, said } => Ok((option, said)),
            Answer::Denied { reason } => Err(Refusal::Denied(reason)),
            Answer::Cancelled => Err(Refusal::Cancelled),
        }
    }
}

/// Once, for the session, always with the rule that it makes, with a change, no.
fn options(verdict: &Verdict, editable: bool) -> Vec<PermissionOption> {
    let mut options = vec![once("Allow once")];
    if verdict.may_remember && !verdict.rules.is_empty() {
        let rules = verdict.rules.join(", ");
        let (session, always) =
            (format!("Allow {rules} in this session"), format!("Always allow {rules} in this project"));
        options.push(option(SESSION, &session, OptionKind::AllowAlways));
        options.push(option(ALWAYS, &always, OptionKind::AllowAlways));
    }
    if editable {
        options.push(option(EDIT, "Change it first", OptionKind::AllowEdited));
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
