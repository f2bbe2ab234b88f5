//! Work in the background: a copy of the session that goes its own way.

use protocol::{Content, Limits, ListChange, Op, SessionId, SessionStatus, SessionSummary};

use super::{App, Effect, Job, Ticket};
use crate::text::{fit, plain_line};
use crate::transcript::Note;

impl App {
    /// `& PROMPT`: a copy works on it; this session stays as it is.
    pub(super) fn start_in_background(&mut self, text: &str, effects: &mut Vec<Effect>) {
        let content = vec![Content::text(text)];
        let ticket = Ticket::Background { text: text.to_owned(), content };
        // A session in which nothing was said has nothing to copy.
        let op = match self.session().cloned().filter(|_| !self.is_unused()) {
            Some(session) => Op::ForkSession { session, at: None },
            None => Op::CreateSession {
                cwd: self.cwd.clone(),
                agent: Some(self.current_agent().clone()),
                model: self.current_model().cloned(),
                mode: Some(self.current_mode()),
                title: None,
                folders: self.current_folders().to_vec(),
                ephemeral: false,
            },
        };
        effects.push(Effect::Submit(op, ticket));
    }

    pub(super) fn in_background(
        &mut self,
        session: SessionId,
        text: String,
        content: Vec<Content>,
        effects: &mut Vec<Effect>,
    ) {
        self.prompts_sent += 1;
        let key = format!("tui-{}-{}", self.now.as_millis(), self.prompts_sent);
        let start = Op::StartTurn {
            session: session.clone(),
            prompt: content,
            key: Some(key),
            limits: Limits::default(),
            attended: true,
        };
        effects.push(Effect::Submit(start, Ticket::Quiet));
        if self.jobs.is_empty() {
            effects.push(Effect::Watch);
        }
        let text = fit(&plain_line(&text), 60);
        self.transcript.note(Note::whisper(format!("in the background: {text}; /resume looks at it")));
        self.jobs.push(Job { session, text, status: SessionStatus::Running });
    }

    pub(super) fn listed(&mut self, change: ListChange, effects: &mut Vec<Effect>) {
        match change {
            ListChange::All(sessions) => sessions.iter().for_each(|summary| self.job_news(summary, effects)),
            ListChange::Put(summary) => self.job_news(&summary, effects),
            ListChange::Gone(session) => self.jobs.retain(|job| job.session != session),
        }
    }

    fn job_news(&mut self, summary: &SessionSummary, effects: &mut Vec<Effect>) {
        let Some(at) = self.jobs.iter().position(|job| job.session == summary.session) else { return };
        let before = std::mem::replace(&mut self.jobs[at].status, summary.status);
        if before == summary.status || summary.turns == 0 {
            return;
        }
        let text = self.jobs[at].text.clone();
        let said = match summary.status {
            SessionStatus::Waiting => {
                Note::warning(format!("in the background something is asked: {text}; /resume"))
            }
            SessionStatus::Idle | SessionStatus::Ended => {
                self.jobs.remove(at);
                Note::done(format!("done in the background: {text}; /resume looks at it"))
            }
            SessionStatus::Running => return,
        };
        self.transcript.note(said);
        if !self.focused {
            effects.push(Effect::Notify { title: "covey".to_owned(), body: text });
        }
    }

    /// How many there are, for the status line.
    pub(super) fn jobs(&self) -> usize {
        self.jobs.len()
    }
}
