//! Stories of inputs and effects, without a runtime.

use super::*;
use proptest::prelude::*;
use protocol::{Chunk, MessageId, OptionKind, PermissionOption, ToolCall, ToolKind, ToolStatus};

struct Story {
    session: Session,
    log: Vec<(Option<TurnId>, EventBody)>,
    effects: Vec<Effect>,
    ticket: Ticket,
}

impl Story {
    fn new() -> Self {
        Self {
            session: Session::new("native".into(), None, Mode::Ask, 0),
            log: vec![],
            effects: vec![],
            ticket: 0,
        }
    }

    fn give(&mut self, input: Input) -> &mut Self {
        for effect in self.session.step(input, Timestamp::from_millis(0)) {
            if let Effect::Append(records) = &effect {
                self.log.extend(records.clone());
            }
            self.effects.push(effect);
        }
        self
    }

    fn op(&mut self, op: SessionOp) -> Result<Option<TurnId>, Refusal> {
        self.ticket += 1;
        let ticket = self.ticket;
        self.give(Input::Op { op, ticket });
        let answer = self.effects.iter().find_map(|effect| match effect {
            Effect::Answer { ticket: t, result } if *t == ticket => Some(result.clone()),
            _ => None,
        });
        answer.expect("every op is answered")
    }

    fn start(&mut self, attended: bool) -> TurnId {
        self.op(prompt("hi", None, attended)).unwrap().unwrap()
    }

    fn says(&mut self, turn: &TurnId, message: &str, text: &str) -> &mut Self {
        let chunk = Chunk { message: MessageId::new(message), text: text.into() };
        self.give(Input::Update { turn: turn.clone(), update: Update::Message(chunk) })
    }

    fn calls(&mut self, turn: &TurnId, call: &str) -> &mut Self {
        let call = ToolCall {
            call: call.into(),
            name: "read".into(),
            title: "read".into(),
            kind: ToolKind::Read,
            status: ToolStatus::InProgress,
            input: serde_json::Value::Null,
            locations: vec![],
            via: None,
        };
        self.give(Input::Update { turn: turn.clone(), update: Update::ToolCall(call) })
    }

    fn done(&mut self, turn: &TurnId) -> &mut Self {
        self.give(Input::Update {
            turn: turn.clone(),
            update: Update::Done { stop: Stop::Done, cause: None },
        })
    }

    fn asks(&mut self, turn: &TurnId) -> Ticket {
        self.ticket += 1;
        let option = |id: &str, kind| PermissionOption { id: id.into(), name: id.into(), kind };
        let options = vec![option("yes", OptionKind::AllowOnce), option("no", OptionKind::RejectOnce)];
        let question = Question {
            call: None,
            title: "read /etc".into(),
            reasons: vec![],
            options,
            is_question: false,
            refused: None,
        };
        let ticket = self.ticket;
        self.give(Input::Ask { turn: turn.clone(), question, ticket });
        ticket
    }

    fn answered(&self, wanted: Ticket) -> Option<&Answer> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::AnswerAgent { ticket, answer } if *ticket == wanted => Some(answer),
            _ => None,
        })
    }

    fn names(&self) -> Vec<&str> {
        self.log.iter().map(|(_, body)| body.name()).collect()
    }

    fn stop(&self) -> (Stop, Option<StopCause>) {
        let end = self.log.iter().rev().find_map(|(_, body)| match body {
            EventBody::TurnEnd(end) => Some((end.stop, end.cause)),
            _ => None,
        });
        end.expect("a turn has ended")
    }
}

fn prompt(text: &str, key: Option<&str>, attended: bool) -> SessionOp {
    let prompt = vec![Content::text(text)];
    SessionOp::StartTurn { prompt, key: key.map(str::to_owned), limits: Limits::default(), attended }
}

#[test]
fn a_prompt_is_recorded_before_it_is_acknowledged_and_the_agent_starts_after_that() {
    let mut story = Story::new();
    story.start(true);
    let kinds: Vec<_> = story.effects.iter().map(|effect| format!("{effect:?}")).collect();
    assert!(kinds[0].starts_with("Append"));
    assert!(kinds[1].starts_with("Answer"));
    assert!(kinds[2].starts_with("StartAgent"));
}

#[test]
fn deltas_become_one_record_per_frame_and_are_flushed_by_whatever_comes_next() {
    let mut story = Story::new();
    let turn = story.start(true);
    story.says(&turn, "m1", "a").says(&turn, "m1", "b").says(&turn, "m1", "c");
    assert_eq!(story.names(), ["user_prompt", "turn_start"]);
    assert_eq!(story.effects.iter().filter(|e| matches!(e, Effect::FlushSoon)).count(), 1);
    story.give(Input::Flush).says(&turn, "m1", "d").calls(&turn, "c1");
    assert_eq!(story.names()[2..], ["agent_message", "agent_message", "tool_call"]);
    let EventBody::AgentMessage(first) = &story.log[2].1 else { panic!() };
    assert_eq!(first.text, "abc");
}

#[test]
fn a_second_prompt_waits_its_turn_but_the_same_key_is_the_same_prompt() {
    let mut story = Story::new();
    let turn = story.op(prompt("hi", Some("k"), true)).unwrap();
    assert_eq!(story.op(prompt("hi", Some("k"), true)), Ok(turn.clone()));
    assert_eq!(story.op(prompt("more", None, true)), Err(Refusal::Busy));
    story.done(&turn.clone().unwrap());
    assert_eq!(story.op(prompt("hi", Some("k"), true)), Ok(turn));
    assert_eq!(story.op(prompt("  ", None, true)), Err(Refusal::EmptyPrompt));
    assert!(story.op(prompt("more", None, true)).is_ok());
}

#[test]
fn cancel_closes_everything_that_is_open() {
    let mut story = Story::new();
    let turn = story.start(true);
    story.says(&turn, "m1", "half").calls(&turn, "c1");
    let ticket = story.asks(&turn);
    story.op(SessionOp::CancelTurn { turn: None }).unwrap();
    assert_eq!(story.answered(ticket), Some(&Answer::Cancelled));
    story.give(Input::GraceOver { turn: turn.clone() });
    let names = story.names();
    assert_eq!(names[names.len() - 4..], ["permission", "message_end", "tool_call_update", "turn_end"]);
    assert_eq!(story.stop(), (Stop::Cancelled, None));
    assert!(story.op(prompt("next", None, true)).is_ok());
}

#[test]
fn an_agent_that_vanishes_ends_its_turn_with_an_error() {
    let mut story = Story::new();
    let turn = story.start(true);
    story.says(&turn, "m1", "half").give(Input::AgentGone { turn });
    assert_eq!(story.names()[2..], ["agent_message", "error", "message_end", "turn_end"]);
    assert_eq!(story.stop(), (Stop::Error, None));
}

#[test]
fn without_a_person_the_answer_is_no_and_the_turn_says_so() {
    let mut story = Story::new();
    let turn = story.start(false);
    let ticket = story.asks(&turn);
    assert!(matches!(story.answered(ticket), Some(Answer::Denied { .. })));
    story.done(&turn);
    assert_eq!(story.stop().0, Stop::Denied);
}

#[test]
fn the_first_answer_counts_and_only_a_choice_that_was_offered() {
    let mut story = Story::new();
    let turn = story.start(true);
    let ticket = story.asks(&turn);
    let choose = |option: &str| SessionOp::AnswerPermission {
        request: "t1.r1".into(),
        decision: Decision::Choose { option: option.into(), reason: None },
    };
    assert_eq!(story.op(choose("maybe")), Err(Refusal::NotAChoice("maybe".into())));
    assert_eq!(story.answered(ticket), None);
    assert!(story.op(choose("yes")).is_ok());
    assert_eq!(story.answered(ticket), Some(&Answer::Allowed { option: "yes".into(), said: None }));
    assert_eq!(story.op(choose("no")), Err(Refusal::NotAsked));
}

#[test]
fn time_running_out_is_a_limit_even_if_the_agent_says_cancelled() {
    let mut story = Story::new();
    let turn = story.start(true);
    story.give(Input::Deadline { turn: turn.clone() });
    let update = Update::Done { stop: Stop::Cancelled, cause: None };
    story.give(Input::Update { turn, update });
    assert_eq!(story.stop(), (Stop::Limit, Some(StopCause::Timeout)));
}

#[test]
fn what_a_full_disk_refused_is_written_when_there_is_room_again() {
    let mut story = Story::new();
    let turn = story.start(true);
    story.says(&turn, "m1", "half");
    let lost = match story.session.step(Input::Flush, Timestamp::from_millis(0)).remove(0) {
        Effect::Append(lost) => lost,
        other => panic!("{other:?}"),
    };
    story.give(Input::StorageFailed { lost });
    assert!(story.effects.contains(&Effect::AbortAgent { turn }));
    story.start(true);
    assert_eq!(
        story.names(),
        [
            "user_prompt",
            "turn_start",
            "agent_message",
            "message_end",
            "turn_end",
            "user_prompt",
            "turn_start"
        ]
    );
}

#[test]
fn a_prompt_that_could_not_be_written_was_never_sent() {
    let mut story = Story::new();
    let mut effects = story
        .session
        .step(Input::Op { op: prompt("hi", Some("k"), true), ticket: 9 }, Timestamp::from_millis(0));
    let Effect::Append(lost) = effects.remove(0) else { panic!() };
    story.give(Input::StorageFailed { lost });
    story.op(prompt("hi", Some("k"), true)).unwrap();
    assert_eq!(story.names(), ["user_prompt", "turn_start"]);
}

/// Whatever happens in whatever order: once the session is ended, every turn, message, call and question is closed.
fn check_closed(log: &[(Option<TurnId>, EventBody)]) {
    let count = |name: &str| log.iter().filter(|(_, body)| body.name() == name).count();
    assert_eq!(count("turn_start"), count("turn_end"));
    assert_eq!(count("permission_request"), count("permission"));
    for (_, body) in log {
        if let EventBody::ToolCall(call) = body {
            let closed =
                |body: &EventBody| matches!(body, EventBody::ToolCallUpdate(u) if u.call == call.call);
            assert!(log.iter().any(|(_, body)| closed(body)), "{} has no result", call.call);
        }
    }
}

proptest! {
    #[test]
    fn every_interleaving_leaves_a_closed_history(steps in prop::collection::vec(0u8..11, 0..60)) {
        let mut story = Story::new();
        let mut turn = TurnId::new("t0");
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                0 => if let Ok(Some(started)) = story.op(prompt("x", None, n % 2 == 0)) { turn = started },
                1 => { story.says(&turn, "m1", "text"); }
                2 => { story.calls(&turn, &format!("c{n}")); }
                3 => { story.asks(&turn); }
                4 => { story.give(Input::Flush); }
                5 => { let _ = story.op(SessionOp::CancelTurn { turn: None }); }
                6 => { story.give(Input::AgentGone { turn: turn.clone() }); }
                7 => { story.give(Input::GraceOver { turn: turn.clone() }); }
                8 => { story.give(Input::Deadline { turn: turn.clone() }); }
                9 => { story.done(&turn); }
                _ => { story.give(Input::StorageFailed { lost: vec![] }); }
            }
        }
        let _ = story.op(SessionOp::End { reason: "over".into() });
        check_closed(&story.log);
    }
}
