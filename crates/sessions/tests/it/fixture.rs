//! The first version of the format stays readable for good.
//!
//! `fixtures/v1/` was written once and is only ever added to: when a type of event is new, its record goes at the end.
//! It also feeds the tests in TypeScript.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use protocol::*;
use sessions::{Record, Store};

use crate::support::*;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/v1")
}

/// A copy, so that no cache is written into the repository.
fn copied() -> (Place, SessionId) {
    let place = place();
    let session: SessionId = "20260125-143052-a1b2c3d4".parse().unwrap();
    let (from, to) = (fixture().join(session.as_str()), place.store.dir(&session));
    fs::create_dir_all(to.join("blobs")).unwrap();
    fs::copy(from.join("events.jsonl"), to.join("events.jsonl")).unwrap();
    for blob in fs::read_dir(from.join("blobs")).unwrap().map(Result::unwrap) {
        fs::copy(blob.path(), to.join("blobs").join(blob.file_name())).unwrap();
    }
    (place, session)
}

#[test]
fn the_first_version_is_read_in_full() {
    let (place, session) = copied();
    let report = place.store.verify(&session).unwrap();
    assert!(report.is_sound(), "{report:?}");
    let events = place.events(&session);
    let names: HashSet<&str> = events.iter().map(|event| event.body.name()).collect();
    for kind in EventBody::TYPES {
        assert!(names.contains(kind), "no `{kind}` in the fixture");
    }
    // Known types are understood, not merely carried; one that is not known is carried.
    let carried: Vec<_> = events.iter().filter(|event| matches!(event.body, EventBody::Other(_))).collect();
    assert_eq!(carried.iter().map(|event| event.body.name()).collect::<Vec<_>>(), ["from_the_future"]);
}

#[test]
fn the_first_version_adds_up_to_the_same_view() {
    let (place, session) = copied();
    let view = place.store.open_view(&session).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&view).unwrap());
}

#[test]
fn what_is_read_is_written_again_the_same() {
    let (place, session) = copied();
    let log = fs::read_to_string(place.log(&session)).unwrap();
    for (line, event) in log.lines().zip(place.events(&session)) {
        let body = line.rsplit_once(",\"crc\":\"").unwrap().0;
        let json: serde_json::Value = serde_json::from_str(&format!("{body}}}")).unwrap();
        assert_eq!(serde_json::to_value(&event).unwrap(), json);
    }
}

#[test]
fn the_first_version_can_be_written_to() {
    let (place, session) = copied();
    let mut opened = place.store.open_writer(&session, at(500)).unwrap();
    assert_eq!(opened.repaired, None);
    opened.writer.append(vec![notice("still here")], at(501)).unwrap();
    drop(opened);
    assert!(matches!(place.store.reader(&session).unwrap().last(1).unwrap()[0], Record::Event(_)));
}

/// Makes the fixture, once: `COVEY_WRITE_FIXTURE=1`.
#[test]
fn write_fixture() {
    if std::env::var_os("COVEY_WRITE_FIXTURE").is_none() {
        return;
    }
    let session: SessionId = "20260125-143052-a1b2c3d4".parse().unwrap();
    let store = Store::new(fixture());
    assert!(!store.exists(&session), "it is only ever added to");
    let mut opened = store.create(start(&session), at(0)).unwrap();
    let blob = opened.writer.blobs().put(b"\x89PNG\r\n\x1a\n").unwrap();
    for (second, body) in bodies(blob).into_iter().enumerate() {
        opened.writer.append(vec![body], at(1 + second as i64)).unwrap();
    }
    drop(opened);
    for name in ["lock", "index"] {
        fs::remove_file(store.dir(&session).join(name)).unwrap();
    }
}

fn bodies(blob: BlobRef) -> Vec<Body> {
    let t1 = |body| (Some(TurnId::from("t1")), body);
    let t2 = |body| (Some(TurnId::from("t2")), body);
    let usage =
        Usage { input: 1200, output: 80, cache_read: 1000, cost_usd: Some(0.0125), ..Usage::default() };
    let chunk = |message: &str, text: &str| Chunk { message: message.into(), text: text.to_owned() };
    let call = |call: &str, name: &str, kind| ToolCall {
        call: call.into(),
        name: name.to_owned(),
        title: format!("{name} src/cart.rs"),
        kind,
        status: ToolStatus::Pending,
        input: serde_json::json!({"path": "src/cart.rs", "limit": 88}),
        locations: vec![Location { path: "src/cart.rs".to_owned(), line: Some(41) }],
        via: None,
    };
    let image = Image {
        media_type: "image/png".to_owned(),
        name: Some("cart.png".to_owned()),
        source: Source::Blob(blob.clone()),
    };
    let content = vec![
        Content::text("the cart total is wrong when a coupon is applied twice — “twice”"),
        Content::Image(image),
        Content::Resource(Resource {
            uri: "file:///src/shop/src/cart.rs".to_owned(),
            media_type: Some("text/x-rust".to_owned()),
            text: Some("fn total() {}\n".to_owned()),
            blob: None,
        }),
    ];
    let plan = Plan {
        entries: vec![
            PlanEntry {
                content: "find the cause".to_owned(),
                priority: PlanPriority::High,
                status: PlanStatus::Completed,
            },
            PlanEntry {
                content: "fix it".to_owned(),
                priority: PlanPriority::Medium,
                status: PlanStatus::InProgress,
            },
        ],
    };
    let request = PermissionRequest {
        request: "r1".into(),
        call: Some("c2".into()),
        title: "edit src/cart.rs".to_owned(),
        reasons: vec!["changes a file".to_owned()],
        options: vec![
            PermissionOption { id: "once".to_owned(), name: "once".to_owned(), kind: OptionKind::AllowOnce },
            PermissionOption { id: "no".to_owned(), name: "no".to_owned(), kind: OptionKind::RejectOnce },
        ],
        is_question: false,
    };
    let answer = PermissionAnswer {
        request: "r1".into(),
        outcome: PermissionOutcome::Approved,
        option: Some("once".to_owned()),
        by: AnsweredBy::Person,
        reason: None,
    };
    let turn = |parent: Option<&str>, agent: &str| TurnStart {
        parent: parent.map(TurnId::from),
        agent: agent.into(),
        model: Some("local/small".into()),
        mode: Mode::Ask,
        limits: None,
        attended: None,
    };
    let end = |cause| TurnEnd { stop: Stop::Done, cause, usage, steps: 1, duration_ms: 3200 };
    let mut future = serde_json::Map::new();
    future.insert("shape".to_owned(), serde_json::json!({"round": true, "sizes": [1, 2.5, null]}));
    vec![
        (None, EventBody::UserPrompt(UserPrompt { content, key: Some("k1".to_owned()) })),
        t1(EventBody::TurnStart(turn(None, "native"))),
        t1(EventBody::AgentThought(chunk("t1.m1", "Where are coupons applied?"))),
        t1(EventBody::MessageEnd(MessageEnd { message: "t1.m1".into() })),
        t1(EventBody::AgentMessage(chunk("t1.m2", "This was cut o"))),
        t1(EventBody::Retract(Retract { message: "t1.m2".into(), reason: "the stream broke".to_owned() })),
        t1(EventBody::Retry(Retry {
            attempt: 1,
            wait_ms: 500,
            reason: "`local` is rate limiting us".to_owned(),
        })),
        t1(EventBody::AgentMessage(chunk("t1.m3", "I'll look at how "))),
        t1(EventBody::AgentMessage(chunk("t1.m3", "coupons are applied.\n"))),
        t1(EventBody::MessageEnd(MessageEnd { message: "t1.m3".into() })),
        t1(EventBody::Plan(plan)),
        t1(EventBody::ToolCall(call("c1", "read", ToolKind::Read))),
        t1(EventBody::FileRead(FileRead {
            path: "src/cart.rs".to_owned(),
            bytes: 2048,
            call: Some("c1".into()),
        })),
        t1(EventBody::ToolCallUpdate(ToolCallUpdate {
            status: Some(ToolStatus::Completed),
            summary: Some("lines 1-88".to_owned()),
            content: Some(vec![ToolContent::text("fn total() {}\n")]),
            duration_ms: Some(12),
            ..ToolCallUpdate::of("c1".into())
        })),
        t1(EventBody::ToolCall(call("c2", "edit", ToolKind::Edit))),
        t1(EventBody::PermissionRequest(request)),
        t1(EventBody::Permission(answer)),
        t1(EventBody::FileWrite(FileWrite {
            path: "src/cart.rs".to_owned(),
            bytes: 8,
            call: Some("c2".into()),
            blob: Some(blob),
        })),
        t1(EventBody::ToolCallUpdate(ToolCallUpdate {
            status: Some(ToolStatus::Completed),
            content: Some(vec![ToolContent::Diff {
                path: "src/cart.rs".to_owned(),
                old: Some("a\n".to_owned()),
                new: "b\n".to_owned(),
            }]),
            ..ToolCallUpdate::of("c2".into())
        })),
        t2(EventBody::TurnStart(turn(Some("t1"), "codex"))),
        t2(EventBody::AgentMessage(chunk("t2.m1", "Looks right."))),
        t2(EventBody::MessageEnd(MessageEnd { message: "t2.m1".into() })),
        t2(EventBody::TurnEnd(end(None))),
        t1(EventBody::Usage(UsageReport { model: Some("local/small".into()), usage, estimated: false })),
        t1(EventBody::TurnEnd(end(Some(StopCause::OutputLimit)))),
        (None, EventBody::Mode(ModeChanged { mode: Mode::Edit })),
        (None, EventBody::Model(ModelChanged { model: "anthropic/claude-sonnet".into() })),
        (None, EventBody::Agent(AgentChanged { agent: "claude".into(), model: None })),
        (None, EventBody::Title(TitleChanged { title: "Coupon applied twice".to_owned() })),
        notice("switched to `claude`"),
        (
            None,
            EventBody::Error(ErrorInfo {
                message: "could not reach `anthropic`".to_owned(),
                hint: Some("check base_url".to_owned()),
            }),
        ),
        (
            None,
            EventBody::Repair(Repair { offset: 4096, bytes: 17, kept_in: Some("torn-4096.bin".to_owned()) }),
        ),
        (None, EventBody::Other(OtherEvent { kind: "from_the_future".to_owned(), fields: future })),
        (None, EventBody::SessionEnd(SessionEnd { reason: "user_quit".to_owned() })),
    ]
}
