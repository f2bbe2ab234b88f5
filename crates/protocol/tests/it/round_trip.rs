//! Whatever is written can be read back, and what this version does not know passes through unharmed.

use proptest::prelude::*;
use protocol::*;
use serde_json::{Map, Value, json};

fn text() -> BoxedStrategy<String> {
    prop_oneof![any::<String>(), Just("naïve 漢字 🦀 \u{202e}\0\n".to_owned())].boxed()
}

fn small_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn content() -> impl Strategy<Value = Content> {
    let blob = (text(), any::<u64>()).prop_map(|(hash, bytes)| BlobRef { hash: hash.into(), bytes }).boxed();
    let source = prop_oneof![text().prop_map(Source::Data), blob.clone().prop_map(Source::Blob)];
    prop_oneof![
        text().prop_map(Content::text),
        (text(), prop::option::of(text()), source)
            .prop_map(|(media_type, name, source)| Content::Image(Image { media_type, name, source })),
        (text(), prop::option::of(text()), prop::option::of(blob)).prop_map(|(uri, text, blob)| {
            Content::Resource(Resource { uri, media_type: None, text, blob })
        }),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    (any::<[u64; 5]>(), prop::option::of(0.0..1e6)).prop_map(|(n, cost_usd)| Usage {
        input: n[0],
        output: n[1],
        cache_read: n[2],
        cache_write: n[3],
        reasoning: n[4],
        cost_usd,
    })
}

fn tool_content() -> impl Strategy<Value = ToolContent> {
    prop_oneof![
        content().prop_map(|content| ToolContent::Content { content }),
        (text(), prop::option::of(text()), text()).prop_map(|(path, old, new)| ToolContent::Diff {
            path,
            old,
            new
        }),
        text().prop_map(|terminal| ToolContent::Terminal { terminal }),
    ]
}

fn body() -> impl Strategy<Value = EventBody> {
    let chunk = (text(), text()).prop_map(|(message, text)| Chunk { message: message.into(), text }).boxed();
    let option =
        (text(), text()).prop_map(|(id, name)| PermissionOption { id, name, kind: OptionKind::AllowOnce });
    prop_oneof![
        (prop::collection::vec(content(), 0..3), prop::option::of(text()))
            .prop_map(|(content, key)| EventBody::UserPrompt(UserPrompt { content, key })),
        chunk.clone().prop_map(EventBody::AgentMessage),
        chunk.prop_map(EventBody::AgentThought),
        (text(), text(), small_json()).prop_map(|(call, name, input)| EventBody::ToolCall(ToolCall {
            call: call.into(),
            title: name.clone(),
            name,
            kind: ToolKind::Search,
            status: ToolStatus::InProgress,
            input,
            locations: vec![Location { path: "a".into(), line: Some(3) }],
            via: None,
        })),
        (text(), prop::option::of(prop::collection::vec(tool_content(), 0..3))).prop_map(
            |(call, content)| {
                EventBody::ToolCallUpdate(ToolCallUpdate { content, ..ToolCallUpdate::of(call.into()) })
            }
        ),
        (text(), prop::collection::vec(option, 0..3), any::<bool>()).prop_map(
            |(title, options, is_question)| {
                EventBody::PermissionRequest(PermissionRequest {
                    request: "r1".into(),
                    call: None,
                    title,
                    reasons: vec![],
                    options,
                    is_question,
                })
            }
        ),
        (text(), prop::option::of(text()), text()).prop_map(|(call, summary, from)| {
            EventBody::Compaction(Compaction {
                stage: CompactionStage::Summarise,
                summary,
                from: Some(from),
                pruned: vec![call.into()],
                tokens_before: 2,
                tokens_after: 1,
            })
        }),
        (text(), small_json()).prop_map(|(label, input)| {
            let action = SuggestedStep::RunTool { tool: "verify".to_owned(), input };
            EventBody::SuggestedActions(SuggestedActions { actions: vec![SuggestedAction { label, action }] })
        }),
        (text(), text(), prop::option::of(text())).prop_map(|(name, description, hint)| {
            EventBody::Commands(AgentCommands { commands: vec![AgentCommand { name, description, hint }] })
        }),
        (text(), prop::option::of(content())).prop_map(|(pin, content)| EventBody::Pin(Pin { pin, content })),
        (usage(), prop::option::of(text())).prop_map(|(usage, model)| EventBody::Usage(UsageReport {
            model: model.map(Into::into),
            usage,
            estimated: false
        })),
        usage().prop_map(|usage| EventBody::TurnEnd(TurnEnd {
            stop: Stop::Limit,
            cause: Some(StopCause::MaxSteps),
            usage,
            steps: 3,
            duration_ms: 12,
        })),
        (text(), prop::option::of(text()))
            .prop_map(|(message, hint)| EventBody::Error(ErrorInfo { message, hint })),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let millis = -62_000_000_000_000i64..250_000_000_000_000;
    (any::<u64>(), millis, prop::option::of(text()), body()).prop_map(|(seq, millis, turn, body)| {
        Event::new(seq, Timestamp::from_millis(millis), turn.map(Into::into), body)
    })
}

/// Puts `extra` into the `n`th object of a tree, under a name that no type of ours has.
fn inject(value: &mut Value, n: &mut usize, extra: &Value) {
    match value {
        Value::Object(map) => {
            if *n == 0 {
                map.insert("a newer field".into(), extra.clone());
            }
            *n = n.wrapping_sub(1);
            map.values_mut().for_each(|value| inject(value, n, extra));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| inject(value, n, extra)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(event in event()) {
        let json = event.to_json();
        prop_assert!(!json.contains('\n'));
        prop_assert_eq!(Event::from_json(json.as_bytes()).unwrap(), event);
    }

    #[test]
    fn unknown_fields_survive_at_any_depth(event in event(), mut depth in 0usize..8, extra in small_json()) {
        let mut value: Value = serde_json::from_str(&event.to_json()).unwrap();
        inject(&mut value, &mut depth, &extra);
        let event = Event::from_json(value.to_string().as_bytes()).unwrap();
        prop_assert_eq!(serde_json::to_value(&event).unwrap(), value);
    }

    #[test]
    fn unknown_types_are_carried(kind in "[a-z]{3,12}_of_tomorrow", extra in small_json()) {
        let value = json!({"v": 2, "seq": 4, "ts": "2026-01-25T14:30:52.000Z", "turn": "t1", "type": kind, "x": extra});
        let event = Event::from_json(value.to_string().as_bytes()).unwrap();
        prop_assert!(matches!(event.body, EventBody::Other(_)));
        prop_assert_eq!(event.body.name(), kind);
        prop_assert_eq!(serde_json::to_value(&event).unwrap(), value);
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_read_but_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Event::from_json(&bytes).map(|event| event.to_json());
    }

    #[test]
    fn session_ids_are_safe_as_folder_names(text in any::<String>()) {
        if let Ok(id) = text.parse::<SessionId>() {
            prop_assert!(id.as_str().bytes().all(|b| b.is_ascii_hexdigit() || b == b'-'));
            prop_assert_eq!(id.as_str().len(), 24);
        }
    }
}

#[test]
fn a_known_type_that_changed_its_fields_is_carried_too() {
    let line = r#"{"v":9,"seq":1,"ts":"2026-01-25T14:30:52.000Z","type":"plan","entries":"none"}"#;
    let event = Event::from_json(line.as_bytes()).unwrap();
    assert!(matches!(event.body, EventBody::Other(_)));
    assert_eq!(event.to_json(), line);
}

#[test]
fn the_checksum_of_a_line_is_not_part_of_the_event() {
    let line =
        r#"{"v":1,"seq":1,"ts":"2026-01-25T14:30:52.000Z","type":"title","title":"x","crc":"00000000"}"#;
    assert!(!Event::from_json(line.as_bytes()).unwrap().to_json().contains("crc"));
}

#[test]
fn session_ids_have_one_form() {
    let id = SessionId::new("2026-01-25T14:30:52Z".parse().unwrap(), 0xa1b2c3d4);
    assert_eq!(id.as_str(), "20260125-143052-a1b2c3d4");
    for bad in ["", "..", "20260125-143052-a1b2c3d", "20260125-143052-A1B2C3D4", "20260125/143052-a1b2c3d4"] {
        assert!(bad.parse::<SessionId>().is_err(), "{bad}");
        assert!(serde_json::from_value::<SessionId>(bad.into()).is_err(), "{bad}");
    }
}
