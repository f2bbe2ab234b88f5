//! The fold: what a stream of events adds up to, from the start or from a snapshot.

use protocol::*;

fn log(bodies: Vec<(&str, EventBody)>) -> Vec<Event> {
    let start = EventBody::SessionStart(SessionStart {
        session: "20260125-143052-a1b2c3d4".parse().unwrap(),
        cwd: "/src/shop".into(),
        agent: "native".into(),
        model: Some("local/small".into()),
        mode: Mode::Ask,
        title: None,
        forked_from: None,
        covey: "0.1.0".into(),
    });
    let all = std::iter::once(("", start)).chain(bodies);
    all.enumerate()
        .map(|(i, (turn, body))| {
            let turn = (!turn.is_empty()).then(|| TurnId::new(turn));
            Event::new(i as u64 + 1, Timestamp::from_millis(1_769_351_452_000 + i as i64), turn, body)
        })
        .collect()
}

fn prompt(text: &str) -> EventBody {
    EventBody::UserPrompt(UserPrompt { content: vec![Content::text(text)], key: None })
}

fn start() -> EventBody {
    EventBody::TurnStart(TurnStart {
        parent: None,
        agent: "native".into(),
        model: None,
        mode: Mode::Ask,
        limits: None,
        attended: None,
    })
}

fn says(message: &str, text: &str) -> EventBody {
    EventBody::AgentMessage(Chunk { message: message.into(), text: text.into() })
}

fn end() -> EventBody {
    EventBody::TurnEnd(TurnEnd {
        stop: Stop::Done,
        cause: None,
        usage: Usage::default(),
        steps: 1,
        duration_ms: 5,
    })
}

fn texts(view: &SessionView) -> Vec<String> {
    let text = |item: &Item| match &item.body {
        ItemBody::Message { text, .. } => Some(text.clone()),
        _ => None,
    };
    view.items.iter().filter_map(text).collect()
}

#[test]
fn pieces_append_to_the_message_they_name() {
    let events = log(vec![
        ("t1", prompt("hi")),
        ("t1", start()),
        ("t1", says("m1", "one ")),
        ("t2", says("m2", "other")),
        ("t1", says("m1", "two")),
    ]);
    let view = SessionView::fold(None, &events).unwrap();
    assert_eq!(texts(&view), ["one two", "other"]);
    assert_eq!(view.status, SessionStatus::Running);
    assert_eq!(view.title, "hi");
}

#[test]
fn a_retracted_message_is_gone_and_may_come_again() {
    let retract = EventBody::Retract(Retract { message: "m1".into(), reason: "cut".into() });
    let events = log(vec![("t1", says("m1", "half a")), ("t1", retract), ("t1", says("m2", "whole"))]);
    assert_eq!(texts(&SessionView::fold(None, &events).unwrap()), ["whole"]);
}

#[test]
fn a_question_waits_until_it_is_answered_or_its_turn_is_over() {
    let ask = |id: &str| {
        EventBody::PermissionRequest(PermissionRequest {
            request: id.into(),
            call: None,
            title: "read /etc/passwd".into(),
            reasons: vec![],
            options: vec![],
            is_question: false,
        })
    };
    let answer = EventBody::Permission(PermissionAnswer {
        request: "r1".into(),
        outcome: PermissionOutcome::Denied,
        option: None,
        by: AnsweredBy::Person,
        reason: None,
    });
    let events =
        log(vec![("t1", start()), ("t1", ask("r1")), ("t1", ask("r2")), ("t1", answer), ("t1", end())]);
    let waiting = SessionView::fold(None, &events[..5]).unwrap();
    assert_eq!((waiting.status, waiting.pending.len()), (SessionStatus::Waiting, 1));
    let over = SessionView::fold(Some(waiting), &events[5..]).unwrap();
    assert_eq!((over.status, over.pending.len()), (SessionStatus::Idle, 0));
}

#[test]
fn a_fold_from_any_snapshot_equals_the_whole_fold_and_overlap_is_harmless() {
    let mut bodies = vec![];
    for n in 0..60 {
        let turn = if n % 2 == 0 { "t1" } else { "t2" };
        bodies.extend([
            (turn, prompt("do it")),
            (turn, start()),
            (turn, says(&format!("m{n}"), "some words ")),
            (turn, says(&format!("m{n}"), &"long ".repeat(9000))),
            (turn, end()),
        ]);
    }
    let events = log(bodies);
    let whole = SessionView::fold(None, &events).unwrap();
    for cut in (1..events.len()).step_by(13) {
        let snapshot = SessionView::fold(None, &events[..cut]).unwrap();
        let stored: SessionView = serde_json::from_str(&serde_json::to_string(&snapshot).unwrap()).unwrap();
        let rest = &events[cut.saturating_sub(3)..];
        assert_eq!(SessionView::fold(Some(stored), rest).unwrap(), whole);
    }
}

#[test]
fn a_long_conversation_is_kept_bounded_and_says_where_it_begins() {
    let bodies = (0..5000).map(|n| ("t1", says(&format!("m{n}"), &"x".repeat(1000)))).collect();
    let view = SessionView::fold(None, &log(bodies)).unwrap();
    assert!(view.items.len() <= 400);
    assert_eq!(view.first, view.items[0].seq);
    assert!(serde_json::to_vec(&view).unwrap().len() < 2 << 20);
}
