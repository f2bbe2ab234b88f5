//! The decision: what one input means for a session. No waiting, no clock, no disk.
//!
//! [`Session::step`] takes one [`Input`] and answers with the [`Effect`]s to carry out, in order. A change that a front
//! end asked for is recorded before it is acknowledged, because its `Append` comes before its `Answer`.

use std::collections::{BTreeMap, HashMap};

use agents::{Answer, ChildEnd, Question, Refused};
use protocol::{
    AgentChanged, AgentId, AnsweredBy, Content, Decision, Effort, EffortChanged, ErrorInfo, EventBody,
    Limits, Marks, Mode, ModeChanged, ModelChanged, ModelRef, PermissionAnswer, PermissionOutcome,
    PermissionRequest, RequestId, SessionEnd, SessionView, Stop, StopCause, Timestamp, TitleChanged, TurnId,
    TurnStart, Update, Usage, UserPrompt,
};

use super::turn::{Records, Turn};

/// Everything a session can be told.
#[derive(Debug)]
pub(crate) enum Input {
    /// A front end asks for a change; its answer goes to `ticket`.
    Op { op: SessionOp, ticket: Ticket },
    /// An agent said something.
    Update { turn: TurnId, update: Update },
    /// An agent's stream ended.
    AgentGone { turn: TurnId },
    /// An agent waits for permission; the answer goes to `ticket`.
    Ask { turn: TurnId, question: Question, ticket: Ticket },
    /// A turn starts another; its end is told to `ticket`.
    StartChild { parent: TurnId, start: ChildStart, ticket: Ticket },
    /// Collected text is due to be recorded.
    Flush,
    /// A turn's time is up.
    Deadline { turn: TurnId },
    /// A cancelled agent did not end its stream in time.
    GraceOver { turn: TurnId },
    /// An append failed: nothing of it is in the log.
    StorageFailed { lost: Records },
}

/// A child turn, as far as it is data.
#[derive(Debug)]
pub(crate) struct ChildStart {
    pub(crate) agent: AgentId,
    pub(crate) model: Option<ModelRef>,
    pub(crate) prompt: Vec<Content>,
    pub(crate) mode: Mode,
    pub(crate) limits: Limits,
}

/// Names somebody who waits for an answer.
pub(crate) type Ticket = u64;

/// The part of [`protocol::Op`] that concerns one open session.
#[derive(Debug, Clone)]
pub(crate) enum SessionOp {
    StartTurn {
        prompt: Vec<Content>,
        key: Option<String>,
        limits: Limits,
        attended: bool,
    },
    CancelTurn {
        turn: Option<TurnId>,
    },
    AnswerPermission {
        request: RequestId,
        decision: Decision,
    },
    SetMode {
        mode: Mode,
    },
    SetModel {
        model: ModelRef,
    },
    SetEffort {
        effort: Option<Effort>,
    },
    SetAgent {
        agent: AgentId,
        model: Option<ModelRef>,
    },
    Rename {
        title: String,
    },
    Mark {
        pinned: Option<bool>,
        archived: Option<bool>,
    },
    /// Something was done to the conversation that the agent's memory of it does not have.
    Note {
        body: Box<EventBody>,
        /// Only between turns.
        idle: bool,
        /// Models are sent something else because of it.
        changes_history: bool,
    },
    End {
        reason: String,
    },
    /// The process lets go of the session; it may be taken up again later.
    Park,
}

/// What is to be done about it, in order.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    Append(Records),
    /// Accepted; names the turn that it started or found.
    Answer {
        ticket: Ticket,
        result: Result<Option<TurnId>, Refusal>,
    },
    StartAgent {
        turn: TurnId,
        /// Whose agent: a child's, or the session's own.
        child: Option<Ticket>,
        prompt: Vec<Content>,
        mode: Mode,
        effort: Option<Effort>,
        attended: bool,
        limits: Limits,
    },
    CancelAgent {
        turn: TurnId,
    },
    AbortAgent {
        turn: TurnId,
    },
    AnswerAgent {
        ticket: Ticket,
        answer: Answer,
    },
    ChildDone {
        ticket: Ticket,
        end: ChildEnd,
    },
    /// The agent has to read the log again.
    HistoryChanged,
    FlushSoon,
    DeadlineIn {
        turn: TurnId,
        millis: u64,
    },
    GraceIn {
        turn: TurnId,
    },
    /// A turn is over: a good moment to write caches and to reach the disk.
    Settle,
    /// Nothing runs and nothing more is wanted.
    Close,
}

/// Why a change is not made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("a turn is running in this session")]
    Busy,
    #[error("the prompt is empty")]
    EmptyPrompt,
    #[error("no such question is waiting (it may have been answered already)")]
    NotAsked,
    #[error("`{0}` is not one of the choices")]
    NotAChoice(String),
    #[error("no turn `{0}` is running")]
    NotRunning(TurnId),
}

/// The state that decisions need. What front ends see is the view, which is folded from the events.
pub(crate) struct Session {
    agent: AgentId,
    model: Option<ModelRef>,
    mode: Mode,
    effort: Option<Effort>,
    marks: Marks,
    next_turn: u32,
    turns: BTreeMap<TurnId, Turn>,
    /// Prompts by the key their front end chose.
    keys: HashMap<String, TurnId>,
    questions: Vec<Pending>,
    flush_due: bool,
    /// What failed appends still owe the log. It goes first when there is room again.
    owed: Records,
    ending: bool,
}

struct Pending {
    turn: TurnId,
    request: PermissionRequest,
    ticket: Ticket,
}

impl Pending {
    fn withdrawn(self) -> (Option<TurnId>, EventBody) {
        let answer = PermissionAnswer {
            request: self.request.request,
            outcome: PermissionOutcome::Cancelled,
            option: None,
            by: AnsweredBy::Policy,
            reason: None,
        };
        (Some(self.turn), EventBody::Permission(answer))
    }
}

impl Session {
    pub(crate) fn new(agent: AgentId, model: Option<ModelRef>, mode: Mode, turns_so_far: u32) -> Self {
        Self {
            agent,
            model,
            mode,
            effort: None,
            marks: Marks::default(),
            next_turn: turns_so_far + 1,
            turns: BTreeMap::new(),
            keys: HashMap::new(),
            questions: Vec::new(),
            flush_due: false,
            owed: Vec::new(),
            ending: false,
        }
    }

    /// With what the log tells of earlier: a prompt that comes again under its key is the same prompt, even after a
    /// restart.
    pub(crate) fn taking_up(mut self, view: &SessionView) -> Self {
        (self.marks, self.effort) = (view.marks, view.effort);
        self.keys = view.keys.iter().map(|known| (known.key.clone(), known.turn.clone())).collect();
        self
    }

    /// Whether no turn is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.turns.is_empty()
    }

    pub(crate) fn step(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        let mut effects = self.decide(input, now);
        if let Some(Effect::Append(records)) = effects.iter_mut().find(|e| matches!(e, Effect::Append(_))) {
            records.splice(0..0, std::mem::take(&mut self.owed));
        }
        effects
    }

    fn decide(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        match input {
            Input::Op { op, ticket } => self.op(op, ticket, now),
            Input::Update { turn, update } => self.update(&turn, update, now),
            Input::AgentGone { turn } => self.agent_gone(&turn, now),
            Input::Ask { turn, question, ticket } => self.ask(turn, question, ticket),
            Input::StartChild { parent, start, ticket } => self.start_child(&parent, start, ticket, now),
            Input::Flush => {
                self.flush_due = false;
                let records = self.turns.values_mut().flat_map(Turn::flush).collect::<Vec<_>>();
                append(records)
            }
            Input::Deadline { turn } => self.stop_turn(&turn, Stop::Limit, Some(StopCause::Timeout)),
            Input::GraceOver { turn } => self.agent_gone(&turn, now),
            Input::StorageFailed { lost } => self.storage_failed(lost, now),
        }
    }

    fn op(&mut self, op: SessionOp, ticket: Ticket, now: Timestamp) -> Vec<Effect> {
        let accept = |mut effects: Vec<Effect>, turn| {
            effects.push(Effect::Answer { ticket, result: Ok(turn) });
            effects
        };
        let refuse = |refusal| vec![Effect::Answer { ticket, result: Err(refusal) }];
        match op {
            SessionOp::StartTurn { prompt, key, limits, attended } => {
                if let Some(turn) = key.as_ref().and_then(|key| self.keys.get(key)) {
                    return accept(vec![], Some(turn.clone()));
                }
                if !self.turns.is_empty() || self.ending {
                    return refuse(Refusal::Busy);
                }
                if prompt.iter().all(|block| block.as_text().is_some_and(|text| text.trim().is_empty())) {
                    return refuse(Refusal::EmptyPrompt);
                }
                self.start_turn(prompt, key, limits, attended, ticket, now)
            }
            SessionOp::CancelTurn { turn: Some(turn) } if !self.turns.contains_key(&turn) => {
                refuse(Refusal::NotRunning(turn))
            }
            SessionOp::CancelTurn { turn } => {
                let turns = turn.map_or_else(|| self.turns.keys().cloned().collect(), |turn| vec![turn]);
                let stops =
                    turns.iter().flat_map(|turn| self.stop_turn(turn, Stop::Cancelled, None)).collect();
                accept(stops, None)
            }
            SessionOp::AnswerPermission { request, decision } => self.answer(&request, decision, ticket),
            SessionOp::SetMode { mode } => {
                self.mode = mode;
                accept(append(vec![(None, EventBody::Mode(ModeChanged { mode }))]), None)
            }
            SessionOp::SetModel { model } => {
                self.model = Some(model.clone());
                accept(append(vec![(None, EventBody::Model(ModelChanged { model }))]), None)
            }
            SessionOp::SetEffort { effort } => {
                self.effort = effort;
                accept(append(vec![(None, EventBody::Effort(EffortChanged { effort }))]), None)
            }
            SessionOp::SetAgent { agent, model } => {
                if !self.turns.is_empty() {
                    return refuse(Refusal::Busy);
                }
                (self.agent, self.model) = (agent.clone(), model.clone());
                accept(append(vec![(None, EventBody::Agent(AgentChanged { agent, model }))]), None)
            }
            SessionOp::Rename { title } => {
                accept(append(vec![(None, EventBody::Title(TitleChanged { title }))]), None)
            }
            SessionOp::Mark { pinned, archived } => {
                self.marks = Marks {
                    pinned: pinned.unwrap_or(self.marks.pinned),
                    archived: archived.unwrap_or(self.marks.archived),
                };
                accept(append(vec![(None, EventBody::Marks(self.marks))]), None)
            }
            SessionOp::Note { idle: true, .. } if !self.turns.is_empty() => refuse(Refusal::Busy),
            SessionOp::Note { body, changes_history, .. } => {
                let mut effects = append(vec![(None, *body)]);
                effects.extend(changes_history.then_some(Effect::HistoryChanged));
                accept(effects, None)
            }
            SessionOp::End { reason } => {
                let mut effects = self.stop_everything(None, now);
                effects.extend(append(vec![(None, EventBody::SessionEnd(SessionEnd { reason }))]));
                let mut effects = accept(effects, None);
                effects.push(Effect::Close);
                effects
            }
            SessionOp::Park => {
                let mut effects = accept(self.stop_everything(Some(StopCause::Interrupted), now), None);
                effects.push(Effect::Close);
                effects
            }
        }
    }

    fn stop_everything(&mut self, cause: Option<StopCause>, now: Timestamp) -> Vec<Effect> {
        self.ending = true;
        let turns: Vec<TurnId> = self.turns.keys().cloned().collect();
        let mut effects = Vec::new();
        for turn in turns {
            effects.extend(self.stop_turn(&turn, Stop::Cancelled, cause));
            effects.push(Effect::AbortAgent { turn: turn.clone() });
            effects.extend(self.finish(&turn, Stop::Cancelled, cause, now));
        }
        effects
    }

    fn start_turn(
        &mut self,
        prompt: Vec<Content>,
        key: Option<String>,
        limits: Limits,
        attended: bool,
        ticket: Ticket,
        now: Timestamp,
    ) -> Vec<Effect> {
        let turn = TurnId::from(format!("t{}", self.next_turn));
        self.next_turn += 1;
        if let Some(key) = &key {
            self.keys.insert(key.clone(), turn.clone());
        }
        self.turns.insert(turn.clone(), Turn::new(turn.clone(), attended, now));

        let content = prompt.clone();
        let (agent, model, mode) = (self.agent.clone(), self.model.clone(), self.mode);
        let begin = TurnStart {
            parent: None,
            agent,
            model,
            mode,
            limits: (limits != Limits::default()).then(|| limits.clone()),
            attended: (!attended).then_some(false),
        };
        let mut effects = vec![
            Effect::Append(vec![
                (Some(turn.clone()), EventBody::UserPrompt(UserPrompt { content, key })),
                (Some(turn.clone()), EventBody::TurnStart(begin)),
            ]),
            Effect::Answer { ticket, result: Ok(Some(turn.clone())) },
            Effect::StartAgent {
                turn: turn.clone(),
                child: None,
                prompt,
                mode,
                effort: self.effort,
                attended,
                limits: limits.clone(),
            },
        ];
        if let Some(millis) = limits.timeout_ms {
            effects.push(Effect::DeadlineIn { turn, millis });
        }
        effects
    }

    /// A child is a turn of its own, with its parent's person. It ends with its parent at the latest.
    fn start_child(
        &mut self,
        parent: &TurnId,
        start: ChildStart,
        ticket: Ticket,
        now: Timestamp,
    ) -> Vec<Effect> {
        let refused = |stop| {
            let end = ChildEnd { stop, said: String::new(), usage: Usage::default(), steps: 0 };
            vec![Effect::ChildDone { ticket, end }]
        };
        let Some(above) = self.turns.get_mut(parent) else { return refused(Stop::Cancelled) };
        if above.stopping().is_some() {
            return refused(Stop::Cancelled);
        }
        let turn = above.next_child();
        let attended = above.attended;
        let mut records = above.flush();
        let ChildStart { agent, model, prompt, mode, limits } = start;
        let content = prompt.clone();
        // Its limits are drawn from its parent's, which are told.
        let parent_id = Some(parent.clone());
        let begin = TurnStart { parent: parent_id, agent, model, mode, limits: None, attended: None };
        records.push((Some(turn.clone()), EventBody::TurnStart(begin)));
        records.push((Some(turn.clone()), EventBody::UserPrompt(UserPrompt { content, key: None })));
        let child = Turn::new(turn.clone(), attended, now).child_of(parent.clone(), ticket);
        self.turns.insert(turn.clone(), child);
        let mut effects = append(records);
        if let Some(millis) = limits.timeout_ms {
            effects.push(Effect::DeadlineIn { turn: turn.clone(), millis });
        }
        let (child, effort) = (Some(ticket), self.effort);
        effects.push(Effect::StartAgent { turn, child, prompt, mode, effort, attended, limits });
        effects
    }

    fn update(&mut self, id: &TurnId, update: Update, now: Timestamp) -> Vec<Effect> {
        // What an agent says after its turn was closed is of no account.
        let Some(turn) = self.turns.get_mut(id) else { return vec![] };
        if let Update::Done { stop, cause } = update {
            return self.finish(id, stop, cause, now);
        }
        let mut effects = append(turn.update(update));
        if turn.has_unflushed() && !self.flush_due {
            self.flush_due = true;
            effects.push(Effect::FlushSoon);
        }
        effects
    }

    fn agent_gone(&mut self, id: &TurnId, now: Timestamp) -> Vec<Effect> {
        let Some(turn) = self.turns.get_mut(id) else { return vec![] };
        let mut effects = vec![Effect::AbortAgent { turn: id.clone() }];
        if turn.stopping().is_none() {
            let mut records = turn.flush();
            let message = "the agent ended without finishing its turn".to_owned();
            let hint = Some("send the prompt again; the conversation so far is kept".to_owned());
            records.push((Some(id.clone()), EventBody::Error(ErrorInfo { message, hint })));
            effects.extend(append(records));
        }
        effects.extend(self.finish(id, Stop::Error, None, now));
        effects
    }

    /// Asks a running agent to stop; the turn ends when its stream does, or after the grace.
    fn stop_turn(&mut self, id: &TurnId, stop: Stop, cause: Option<StopCause>) -> Vec<Effect> {
        let Some(turn) = self.turns.get_mut(id) else { return vec![] };
        if !turn.stop(stop, cause) {
            return vec![];
        }
        let children: Vec<TurnId> = self.children_of(id);
        let mut effects: Vec<Effect> =
            children.iter().flat_map(|child| self.stop_turn(child, Stop::Cancelled, None)).collect();
        effects.push(Effect::CancelAgent { turn: id.clone() });
        effects.extend(self.withdraw_questions(id));
        effects.push(Effect::GraceIn { turn: id.clone() });
        effects
    }

    /// Closes a turn: whatever is open in it gets its end, so the history is valid whatever happened.
    fn finish(&mut self, id: &TurnId, stop: Stop, cause: Option<StopCause>, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        for child in self.children_of(id) {
            effects.push(Effect::AbortAgent { turn: child.clone() });
            effects.extend(self.finish(&child, Stop::Cancelled, None, now));
        }
        effects.extend(self.withdraw_questions(id));
        let Some(mut turn) = self.turns.remove(id) else { return effects };
        let parent = turn.parent();
        let end = turn.child_end(stop);
        effects.extend(append(turn.close(stop, cause, now)));
        match (parent, end) {
            (Some(parent), Some((ticket, end))) => {
                if let Some(above) = self.turns.get_mut(&parent) {
                    above.add_child(&end);
                }
                effects.push(Effect::ChildDone { ticket, end });
            }
            _ => effects.push(Effect::Settle),
        }
        effects
    }

    fn children_of(&self, id: &TurnId) -> Vec<TurnId> {
        let children = self.turns.iter().filter(|(_, turn)| turn.parent().as_ref() == Some(id));
        children.map(|(id, _)| id.clone()).collect()
    }

    fn ask(&mut self, id: TurnId, question: Question, ticket: Ticket) -> Vec<Effect> {
        let cancelled = vec![Effect::AnswerAgent { ticket, answer: Answer::Cancelled }];
        let Some(turn) = self.turns.get_mut(&id) else { return cancelled };
        if turn.stopping().is_some() {
            return cancelled;
        }
        let mut records = turn.flush();
        let request = PermissionRequest {
            request: turn.next_request(),
            call: question.call,
            title: question.title,
            reasons: question.reasons,
            options: question.options,
            is_question: question.is_question,
        };
        records.push((Some(id.clone()), EventBody::PermissionRequest(request.clone())));
        if turn.attended && question.refused.is_none() {
            self.questions.push(Pending { turn: id, request, ticket });
            return append(records);
        }
        let Refused { by, reason } = question.refused.unwrap_or_else(|| {
            let reason = match request.is_question {
                true => "nobody is there to answer",
                false => "nobody is there to allow it",
            };
            Refused { by: AnsweredBy::Nobody, reason: reason.to_owned() }
        });
        // A question that nobody hears denies nothing; the agent goes on without an answer.
        turn.denied |= by == AnsweredBy::Nobody && !request.is_question;
        let answer = PermissionAnswer {
            request: request.request,
            outcome: PermissionOutcome::Denied,
            option: None,
            by,
            reason: Some(reason.clone()),
        };
        records.push((Some(id), EventBody::Permission(answer)));
        vec![Effect::Append(records), Effect::AnswerAgent { ticket, answer: Answer::Denied { reason } }]
    }

    fn answer(&mut self, request: &RequestId, decision: Decision, ticket: Ticket) -> Vec<Effect> {
        let refuse = |refusal| vec![Effect::Answer { ticket, result: Err(refusal) }];
        let Some(at) = self.questions.iter().position(|pending| pending.request.request == *request) else {
            return refuse(Refusal::NotAsked);
        };
        let options = &self.questions[at].request.options;
        let (outcome, option, reason) = match decision {
            Decision::Dismiss => (PermissionOutcome::Cancelled, None, None),
            Decision::Choose { option, reason } => {
                let Some(chosen) = options.iter().find(|candidate| candidate.id == option) else {
                    return refuse(Refusal::NotAChoice(option));
                };
                match chosen.kind.allows() {
                    true => (PermissionOutcome::Approved, Some(option), reason),
                    false => (PermissionOutcome::Denied, Some(option), reason),
                }
            }
        };
        let pending = self.questions.remove(at);
        let answer = match (&outcome, &option) {
            (PermissionOutcome::Approved, Some(option)) => {
                Answer::Allowed { option: option.clone(), said: reason.clone() }
            }
            _ => Answer::Denied { reason: reason.clone().unwrap_or_else(|| "the person said no".to_owned()) },
        };
        let (request, by) = (request.clone(), AnsweredBy::Person);
        let record = EventBody::Permission(PermissionAnswer { request, outcome, option, by, reason });
        vec![
            Effect::Append(vec![(Some(pending.turn), record)]),
            Effect::Answer { ticket, result: Ok(None) },
            Effect::AnswerAgent { ticket: pending.ticket, answer },
        ]
    }

    fn withdraw_questions(&mut self, id: &TurnId) -> Vec<Effect> {
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.questions).into_iter().partition(|pending| pending.turn == *id);
        self.questions = kept;
        let mut effects = Vec::new();
        for pending in gone {
            let ticket = pending.ticket;
            effects.push(Effect::Append(vec![pending.withdrawn()]));
            effects.push(Effect::AnswerAgent { ticket, answer: Answer::Cancelled });
        }
        effects
    }

    /// Ends every turn. What was lost and what closes the turns is owed to the log, except for a turn whose very start
    /// was lost: its front end is told that the prompt was not taken.
    fn storage_failed(&mut self, lost: Records, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        let starting = |(turn, body): &(Option<TurnId>, EventBody)| {
            matches!(body, EventBody::TurnStart(_)).then(|| turn.clone()).flatten()
        };
        let not_begun: Vec<TurnId> = lost.iter().filter_map(starting).collect();
        self.owed.splice(0..0, lost);
        self.owed.retain(|(turn, _)| turn.as_ref().is_none_or(|turn| !not_begun.contains(turn)));
        self.keys.retain(|_, turn| !not_begun.contains(turn));
        for pending in std::mem::take(&mut self.questions) {
            effects.push(Effect::AnswerAgent { ticket: pending.ticket, answer: Answer::Cancelled });
            self.owed.push(pending.withdrawn());
        }
        for (id, mut turn) in std::mem::take(&mut self.turns) {
            turn.stop(Stop::Error, Some(StopCause::Storage));
            if !not_begun.contains(&id) {
                self.owed.extend(turn.close(Stop::Error, Some(StopCause::Storage), now));
            }
            effects.push(Effect::AbortAgent { turn: id });
        }
        effects
    }
}

fn append(records: Records) -> Vec<Effect> {
    if records.is_empty() { vec![] } else { vec![Effect::Append(records)] }
}

#[cfg(test)]
mod tests;
