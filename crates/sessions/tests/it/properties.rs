//! What holds for any session.

use proptest::prelude::*;
use protocol::*;
use sessions::{Opened, Record};

use crate::support::*;

fn body() -> impl Strategy<Value = Body> {
    let turn = prop::option::of("t[1-4]");
    let text =
        prop_oneof![8 => "\\PC{0,40}", 1 => Just("x".repeat(9000)), 1 => "[\\x00-\\x1f\"\\\\<>&]{0,20}"];
    (turn, text, 0..12u8, any::<u32>()).prop_map(|(turn, text, kind, number)| {
        let message = MessageId::new(format!("m{}", number % 4));
        let call = CallId::new(format!("c{}", number % 6));
        let body = match kind {
            0 => EventBody::UserPrompt(UserPrompt { content: vec![Content::text(text)], key: None }),
            1 => {
                let parent = number.is_multiple_of(2).then(|| TurnId::new(format!("t{}", number % 4)));
                EventBody::TurnStart(TurnStart {
                    parent,
                    agent: "native".into(),
                    model: None,
                    mode: Mode::Ask,
                    limits: None,
                    attended: None,
                })
            }
            2 | 3 => EventBody::AgentMessage(Chunk { message, text }),
            4 => EventBody::AgentThought(Chunk { message, text }),
            5 => EventBody::MessageEnd(MessageEnd { message }),
            6 => EventBody::Retract(Retract { message, reason: text }),
            7 => EventBody::ToolCall(ToolCall {
                call,
                name: "shell".to_owned(),
                title: text.clone(),
                kind: ToolKind::Execute,
                status: ToolStatus::Pending,
                input: serde_json::json!({ "command": text, "n": number }),
                locations: Vec::new(),
                via: None,
            }),
            8 => EventBody::ToolCallUpdate(ToolCallUpdate {
                status: Some(ToolStatus::Completed),
                content: Some(vec![ToolContent::text(text)]),
                ..ToolCallUpdate::of(call)
            }),
            9 => EventBody::Usage(UsageReport {
                model: None,
                usage: Usage { input: number.into(), output: 3, ..Usage::default() },
                estimated: false,
            }),
            10 => EventBody::TurnEnd(TurnEnd {
                stop: Stop::Done,
                cause: None,
                usage: Usage::default(),
                steps: 1,
                duration_ms: number.into(),
            }),
            _ => EventBody::Title(TitleChanged { title: text }),
        };
        (turn.map(TurnId::from), body)
    })
}

/// Batches of events, and after which of them the owner makes a checkpoint or reopens the session.
fn history() -> impl Strategy<Value = Vec<(Vec<Body>, u8)>> {
    prop::collection::vec((prop::collection::vec(body(), 0..60), 0..4u8), 0..8)
}

fn write(place: &Place, history: Vec<(Vec<Body>, u8)>) -> Vec<Event> {
    let Opened { mut writer, mut view, .. } = place.store.create(start(&id(1)), at(0)).unwrap();
    let mut written = place.events(&id(1));
    for (number, (batch, then)) in history.into_iter().enumerate() {
        for event in writer.append(batch, at(number as i64)).unwrap() {
            view.apply(&event);
            written.push(Event::clone(&event));
        }
        match then {
            0 => writer.checkpoint(&view).unwrap(),
            1 => {
                writer.close(&view).unwrap();
                Opened { writer, view, .. } = place.store.open_writer(&id(1), at(99)).unwrap();
            }
            2 => {
                drop(writer);
                Opened { writer, view, .. } = place.store.open_writer(&id(1), at(99)).unwrap();
            }
            _ => {}
        }
    }
    writer.checkpoint(&view).unwrap();
    written
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_is_read(history in history(), pages in prop::collection::vec(1..90usize, 3)) {
        let place = place();
        let written = write(&place, history);
        prop_assert_eq!(&place.events(&id(1)), &written);

        let mut reader = place.store.reader(&id(1)).unwrap();
        let (mut forwards, mut backwards) = (Vec::<Event>::new(), Vec::<Event>::new());
        for size in pages.iter().cycle() {
            let after = forwards.last().map_or(0, |event| event.seq);
            let page = reader.events_from(after, *size).unwrap();
            if page.is_empty() {
                break;
            }
            forwards.extend(page.into_iter().filter_map(Record::event));
        }
        for size in pages.iter().cycle() {
            let page = match backwards.first() {
                None => reader.last(*size).unwrap(),
                Some(first) => reader.before(first.seq, *size).unwrap(),
            };
            if page.is_empty() {
                break;
            }
            backwards.splice(0..0, page.into_iter().filter_map(Record::event));
        }
        prop_assert_eq!(&forwards, &written);
        prop_assert_eq!(&backwards, &written);
        prop_assert!(place.store.verify(&id(1)).unwrap().is_sound());
    }

    #[test]
    fn caches_and_the_log_say_the_same(history in history()) {
        let place = place();
        let written = write(&place, history);
        let quick = place.store.open_view(&id(1)).unwrap();
        let turns = place.store.reader(&id(1)).unwrap().turns().unwrap();
        let summary = place.store.summary(&id(1)).unwrap();
        for name in ["snapshot", "index", "metadata.json"] {
            let _ = std::fs::remove_file(file(&place, &id(1), name));
        }
        prop_assert_eq!(&place.store.open_view(&id(1)).unwrap(), &quick);
        prop_assert_eq!(SessionView::fold(None, &written), Some(quick));
        prop_assert_eq!(place.store.reader(&id(1)).unwrap().turns().unwrap(), turns);
        prop_assert_eq!(place.store.summary(&id(1)).unwrap(), summary);
    }
}
