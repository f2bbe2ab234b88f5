//! The guard of one session.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use project::{Home, Roots};

use crate::action::Action;
use crate::class;
use crate::decide::{self, Situation};
use crate::files::Surroundings;
use crate::finding::Findings;
use crate::glob;
use crate::request::{Answer, HookSays, Request, Scope};
use crate::rules::{Effect, Entry, RuleSet, Source};
use crate::settings::GuardSettings;
use crate::verdict::{Ruling, Verdict};

/// Says whether things may happen, in one project, for one session.
pub struct Guard {
    settings: GuardSettings,
    surroundings: Surroundings,
    /// Answers that hold for this session.
    session_rules: Mutex<RuleSet>,
}

/// Where a [`Guard`] works.
#[derive(Debug, Clone)]
pub struct GuardOptions {
    pub settings: GuardSettings,
    /// The folders that belong to the project.
    pub roots: Roots,
    /// The person's folders; what is remembered is kept there. Without it nothing is remembered or recorded.
    pub home: Option<Home>,
    /// The person's home folder, where their keys are.
    pub user_home: PathBuf,
    /// The session whose audit log this guard writes.
    pub session: Option<String>,
}

impl Guard {
    pub fn new(options: GuardOptions) -> Self {
        let GuardOptions { settings, roots, home: _, user_home, session: _ } = options;
        Self {
            surroundings: Surroundings::new(roots, user_home, settings.protected_branches.clone()),
            settings,
            session_rules: Mutex::default(),
        }
    }

    /// May this happen? The answer goes into the audit log.
    pub fn decide(&self, request: &Request<'_>) -> Verdict {
        self.judge(request)
    }

    /// As [`decide`](Self::decide), for those who only want to know: nothing is recorded.
    pub fn judge(&self, request: &Request<'_>) -> Verdict {
        let mut findings = Findings::default();
        for action in request.actions {
            class::action(action, &self.surroundings, &mut findings);
        }
        if request.actions.is_empty() {
            class::action(&Action::Foreign { read_only: false }, &self.surroundings, &mut findings);
        }
        let session = self.session_rules.lock().unwrap_or_else(PoisonError::into_inner);
        let situation = Situation {
            mode: request.mode,
            attended: request.attended,
            temperament: self.settings.temperament,
            rules: &[&self.settings.rules, &session],
            place: self.surroundings.place(),
        };
        decide::decide(request.tool, &findings, &situation)
    }

    /// Remembers what the person said. An answer to something blocked holds once, whatever they chose.
    pub fn answered(&self, _request: &Request<'_>, verdict: &Verdict, answer: Answer) {
        if !verdict.may_remember || answer.scope == Scope::Once {
            return;
        }
        let effect = if answer.yes { Effect::Allow } else { Effect::Deny };
        let mut rules = self.session_rules.lock().unwrap_or_else(PoisonError::into_inner);
        for text in &verdict.rules {
            if let Ok(rule) = text.parse() {
                rules.push(Entry { rule, effect, source: Source::Session });
            }
        }
    }

    /// Whether the model is told of a tool at all.
    pub fn offers(&self, tool: &str, category: &str) -> bool {
        let named = |list: &[String], name: &str| list.iter().any(|pattern| glob::word(pattern, name));
        !named(&self.settings.disabled_tools, tool) && !named(&self.settings.disabled_categories, category)
    }

    /// The folder that relative paths start from.
    pub fn root(&self) -> &Path {
        self.surroundings.root()
    }
}

/// What becomes of a verdict after a hook spoke. A hook can always be stricter; its allow only skips a question.
pub fn fold_hook(mut verdict: Verdict, hook: &HookSays) -> Verdict {
    match hook {
        HookSays::Deny { because } => {
            verdict.decision = Ruling::Deny;
            verdict.because.insert(0, format!("a hook denied it: {because}"));
        }
        HookSays::Ask { because } if verdict.decision == Ruling::Allow => {
            verdict.decision = Ruling::Ask;
            verdict.because.insert(0, format!("a hook wants it asked: {because}"));
        }
        HookSays::Allow if verdict.decision == Ruling::Ask && !verdict.confirm_twice => {
            verdict.decision = Ruling::Allow;
            verdict.because.insert(0, "a hook allowed it, so the question was skipped".to_owned());
        }
        HookSays::Ask { .. } | HookSays::Allow => {}
    }
    verdict
}
