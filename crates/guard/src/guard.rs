//! The guard of one session.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use project::{Home, Roots};

#[cfg(test)]
mod tests;

use crate::action::Action;
use crate::audit::{Audit, Record};
use crate::class;
use crate::decide::{self, Situation};
use crate::files::Surroundings;
use crate::finding::Findings;
use crate::memory::{Memory, MemoryError};
use crate::request::{Answer, HookSays, Request, Scope};
use crate::rules::{Effect, Entry, RuleSet, Source, Subject};
use crate::secrets::Redactor;
use crate::settings::GuardSettings;
use crate::verdict::{Ruling, Verdict};

/// Says whether things may happen, in one project, for one session.
pub struct Guard {
    settings: GuardSettings,
    surroundings: Surroundings,
    data: Option<PathBuf>,
    /// Answers that hold for this session.
    session_rules: Mutex<RuleSet>,
    /// Answers that hold for this project or for this person.
    kept_rules: Mutex<RuleSet>,
    audit: Mutex<Option<Audit>>,
    redactor: Redactor,
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
        let GuardOptions { settings, roots, home, user_home, session } = options;
        let data = home.map(|home| home.data_dir().to_owned());
        let kept = data.as_deref().map(|data| Memory::load(data).rules_for(roots.main())).unwrap_or_default();
        let audit = data
            .as_deref()
            .zip(session.as_deref())
            .map(|(data, session)| Audit::open(&data.join("audit"), session));
        Self {
            surroundings: Surroundings::new(roots, user_home, settings.protected_branches.clone()),
            settings,
            data,
            session_rules: Mutex::default(),
            kept_rules: Mutex::new(kept),
            audit: Mutex::new(audit),
            redactor: Redactor::default(),
        }
    }

    /// Also masks these in the audit log.
    pub fn with_known_secrets(mut self, known: impl IntoIterator<Item = String>) -> Self {
        self.redactor = Redactor::new(known);
        self
    }

    /// May this happen? The answer goes into the audit log. If it can not be written there, nothing may happen.
    pub fn decide(&self, request: &Request<'_>) -> Verdict {
        self.decide_with(request, None)
    }

    /// As [`decide`](Self::decide), after a hook spoke.
    pub fn decide_with(&self, request: &Request<'_>, hook: Option<&HookSays>) -> Verdict {
        let mut verdict = self.judge(request);
        let before = verdict.decision;
        if let Some(hook) = hook {
            let mut folded = match hook {
                // It answers what would have been a question, also when nobody is there to be asked.
                HookSays::Allow => fold_hook(self.judge(&Request { attended: true, ..*request }), hook),
                _ => fold_hook(verdict.clone(), hook),
            };
            // A question that nobody can answer is a no, whoever wants it asked.
            if folded.decision == Ruling::Ask && !request.attended {
                folded.decision = Ruling::Deny;
            }
            // An allow that skipped no question changes nothing, not even the words.
            if *hook != HookSays::Allow || folded.decision == Ruling::Allow {
                verdict = folded;
            }
        }
        let by = if verdict.decision == before { "guard" } else { "hook" };
        if let Err(problem) = self.record(request, &verdict, verdict.decision, by) {
            verdict.decision = Ruling::Deny;
            verdict.checkpoint = false;
            verdict.because.insert(0, problem);
        }
        verdict
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
        let (session, kept) = (locked(&self.session_rules), locked(&self.kept_rules));
        let situation = Situation {
            mode: request.mode,
            attended: request.attended,
            temperament: self.settings.temperament,
            rules: &[&self.settings.rules, &kept, &session],
            place: self.surroundings.place(),
        };
        decide::decide(request.tool, &findings, &situation)
    }

    /// The files that these actions touch by name, those of commands too as far as they can be known: where they really
    /// lead, each once.
    pub fn touched(&self, actions: &[Action]) -> Vec<PathBuf> {
        let mut findings = Findings::default();
        for action in actions {
            class::action(action, &self.surroundings, &mut findings);
        }
        let mut paths: Vec<PathBuf> = Vec::new();
        for finding in findings.list {
            if let Subject::Read(path) | Subject::Write(path) = finding.subject
                && !paths.contains(&path)
            {
                paths.push(path);
            }
        }
        paths
    }

    /// Remembers and records what the person said. An answer to something blocked holds once, whatever they chose.
    ///
    /// Answers the rules that may now be proposed: just this was allowed again and again.
    pub fn answered(
        &self,
        request: &Request<'_>,
        verdict: &Verdict,
        answer: Answer,
    ) -> Result<Option<Vec<String>>, MemoryError> {
        let decision = if answer.yes { Ruling::Allow } else { Ruling::Deny };
        // What can not be recorded was still said; the next decision will find the log broken.
        let _ = self.record(request, verdict, decision, "person");
        if !verdict.may_remember {
            return Ok(None);
        }
        let effect = if answer.yes { Effect::Allow } else { Effect::Deny };
        let source = match answer.scope {
            Scope::Once | Scope::Session => Source::Session,
            Scope::Project => Source::Project,
            Scope::User => Source::User,
        };
        if answer.scope != Scope::Once {
            let set = if answer.scope == Scope::Session { &self.session_rules } else { &self.kept_rules };
            let mut rules = locked(set);
            for text in &verdict.rules {
                if let Ok(rule) = text.parse() {
                    rules.push(Entry { rule, effect, source });
                }
            }
        }
        let Some(data) = &self.data else { return Ok(None) };
        let (root, now) = (self.root(), now());
        Memory::change(data, |memory| {
            match answer.scope {
                Scope::Once | Scope::Session => {}
                Scope::Project => memory.keep(Some(root), &verdict.rules, effect, now),
                Scope::User => memory.keep(None, &verdict.rules, effect, now),
            }
            let proposal = memory.count(root, &verdict.rules, answer.yes, now);
            proposal.filter(|_| matches!(answer.scope, Scope::Once | Scope::Session))
        })
    }

    /// Whether the model is told of a tool at all.
    pub fn offers(&self, tool: &str, category: &str) -> bool {
        self.settings.offers(tool, category)
    }

    /// The folder that relative paths start from.
    pub fn root(&self) -> &Path {
        self.surroundings.root()
    }

    /// Every rule that holds here, wherever it comes from.
    pub fn rules(&self) -> RuleSet {
        let mut all = self.settings.rules.clone();
        all.extend(&locked(&self.kept_rules));
        all.extend(&locked(&self.session_rules));
        all
    }

    fn record(
        &self,
        request: &Request<'_>,
        verdict: &Verdict,
        decision: Ruling,
        by: &str,
    ) -> Result<(), String> {
        let mut audit = locked(&self.audit);
        let Some(audit) = audit.as_mut() else { return Ok(()) };
        let record = Record {
            n: 0,
            at: String::new(),
            tool: request.tool.to_owned(),
            what: request
                .actions
                .iter()
                .map(|action| self.redactor.redact(&action.shown()).into_owned())
                .collect(),
            mode: request.mode.as_str().to_owned(),
            level: verdict.level.as_str().to_owned(),
            decision: decision.as_str().to_owned(),
            by: by.to_owned(),
            because: verdict.because.iter().map(|clause| self.redactor.redact(clause).into_owned()).collect(),
            before: String::new(),
            hash: String::new(),
        };
        audit.append(record).map_err(|error| format!("it can not be recorded: {error}"))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// What becomes of a verdict after a hook spoke. A hook can always be stricter; its allow only skips a question.
pub fn fold_hook(mut verdict: Verdict, hook: &HookSays) -> Verdict {
    match hook {
        HookSays::Deny { because } => {
            verdict.decision = Ruling::Deny;
            verdict.may_remember = false;
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
