//! Sessions as documents.

use protocol::*;
use sessions::{Format, Opened, export};

use crate::support::*;

fn exported(place: &Place, session: &SessionId, format: Format) -> String {
    let mut out = Vec::new();
    export(&mut place.store.reader(session).unwrap(), format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn finished(turn: &str, call: &str, content: Vec<ToolContent>) -> Body {
    let update = ToolCallUpdate {
        status: Some(ToolStatus::Completed),
        summary: Some("2 passed".to_owned()),
        content: Some(content),
        duration_ms: Some(1200),
        ..ToolCallUpdate::of(call.into())
    };
    (Some(turn.into()), EventBody::ToolCallUpdate(update))
}

fn thinks(turn: &str, message: &str, text: &str) -> Body {
    (Some(turn.into()), EventBody::AgentThought(Chunk { message: message.into(), text: text.to_owned() }))
}

fn retracts(message: &str) -> Body {
    (None, EventBody::Retract(Retract { message: message.into(), reason: "cut off".to_owned() }))
}

fn conversation(place: &Place) -> SessionId {
    place.session(
        1,
        vec![
            prompt("the cart total is *wrong*"),
            turn_start("t1", None),
            thinks("t1", "m0", "Where are coupons <applied>?"),
            says("t1", "m9", "This was cut o"),
            retracts("m9"),
            calls("t1", "c1"),
            says("t1", "m1", "I'll look at **how** "),
            calls("t1", "c2"),
            says("t1", "m1", "coupons are applied."),
            finished("t1", "c2", vec![ToolContent::text("```\nok\n```")]),
            finished(
                "t1",
                "c1",
                vec![ToolContent::Diff {
                    path: "src/cart.rs".to_owned(),
                    old: Some("a\nb\nc\n".to_owned()),
                    new: "a\nB\nc\n".to_owned(),
                }],
            ),
            turn_end("t1"),
        ],
    )
}

#[test]
fn markdown_reads_like_the_conversation() {
    let place = place();
    let session = conversation(&place);
    insta::assert_snapshot!(exported(&place, &session, Format::Markdown));
}

#[test]
fn html_reads_like_the_conversation() {
    let place = place();
    let session = conversation(&place);
    let html = exported(&place, &session, Format::Html);
    let main = html.split_once("<main>").unwrap().1.split_once("</body>").unwrap().0;
    insta::assert_snapshot!(main);
}

#[test]
fn json_has_the_events_as_they_were_recorded() {
    let place = place();
    let session = conversation(&place);
    let whole: serde_json::Value = serde_json::from_str(&exported(&place, &session, Format::Json)).unwrap();
    let events: Vec<Event> = serde_json::from_str(&exported(&place, &session, Format::JsonEvents)).unwrap();
    assert_eq!(events, place.events(&session));
    assert_eq!(whole["events"].as_array().unwrap().len(), events.len());
    assert_eq!(whole["session"]["title"], "the cart total is *wrong*");
    assert!(whole["events"][0].get("crc").is_none());
}

/// Every place where text from outside can stand.
#[test]
fn markup_in_any_field_of_a_page_is_only_text() {
    let evil =
        "</title></style></pre></details>--><script>alert(1)</script><img src=x onerror='alert(1)'>\"'";
    let place = place();
    let session = id(1);
    let start = SessionStart {
        cwd: evil.to_owned(),
        agent: evil.into(),
        model: Some(evil.into()),
        title: Some(evil.to_owned()),
        ..start(&session)
    };
    let Opened { mut writer, .. } = place.store.create(start, at(0)).unwrap();
    let image = |media: &str, data: &str| {
        Content::Image(Image {
            media_type: media.to_owned(),
            name: Some(evil.to_owned()),
            source: Source::Data(data.to_owned()),
        })
    };
    let content = vec![
        Content::text(evil),
        image("image/svg+xml", "PHN2Zy8+"),
        image("image/png\" onload=\"alert(1)", "iVBORw0KGgo="),
        image("text/html", "PHNjcmlwdD4="),
        image("image/png", "\"><script>"),
        image("image/png", "iVBORw0KGgo="),
        Content::Resource(Resource {
            uri: format!("javascript:{evil}"),
            media_type: None,
            text: Some(evil.to_owned()),
            blob: None,
        }),
        Content::Other(serde_json::json!({ "type": evil, evil: evil })),
    ];
    let call = ToolCall {
        call: "c1".into(),
        name: evil.to_owned(),
        title: evil.to_owned(),
        kind: ToolKind::Other,
        status: ToolStatus::Pending,
        input: serde_json::json!({ evil: evil }),
        locations: Vec::new(),
        via: None,
    };
    let update = ToolCallUpdate {
        title: Some(evil.to_owned()),
        summary: Some(evil.to_owned()),
        content: Some(vec![
            ToolContent::text(evil),
            ToolContent::Diff {
                path: evil.to_owned(),
                old: Some(evil.to_owned()),
                new: evil.to_owned() + "x",
            },
            ToolContent::Terminal { terminal: evil.to_owned() },
            ToolContent::Other(serde_json::json!([evil])),
        ]),
        ..ToolCallUpdate::of("c1".into())
    };
    let request = PermissionRequest {
        request: "r1".into(),
        call: None,
        title: evil.to_owned(),
        reasons: vec![evil.to_owned()],
        options: Vec::new(),
        is_question: false,
    };
    let plan = Plan {
        entries: vec![PlanEntry {
            content: evil.to_owned(),
            priority: PlanPriority::High,
            status: PlanStatus::Pending,
        }],
    };
    let turn = || Some(TurnId::from("t1"));
    writer
        .append(
            vec![
                (None, EventBody::UserPrompt(UserPrompt { content, key: None })),
                (
                    turn(),
                    EventBody::TurnStart(TurnStart {
                        parent: Some("t0".into()),
                        agent: evil.into(),
                        model: None,
                        mode: Mode::Ask,
                        limits: None,
                        attended: None,
                    }),
                ),
                thinks("t1", "m0", evil),
                says("t1", "m1", evil),
                says("t1", "m2", &format!("[{evil}](javascript:alert(1)) ```{evil}")),
                (turn(), EventBody::ToolCall(call)),
                (turn(), EventBody::ToolCallUpdate(update)),
                (turn(), EventBody::PermissionRequest(request)),
                (turn(), EventBody::Plan(plan)),
                (turn(), EventBody::Retry(Retry { attempt: 1, wait_ms: 1, reason: evil.to_owned() })),
                (
                    turn(),
                    EventBody::Error(ErrorInfo { message: evil.to_owned(), hint: Some(evil.to_owned()) }),
                ),
                (None, EventBody::Model(ModelChanged { model: evil.into() })),
                (None, EventBody::Agent(AgentChanged { agent: evil.into(), model: None })),
                notice(evil),
                turn_end("t1"),
            ],
            at(1),
        )
        .unwrap();
    drop(writer);
    let html = exported(&place, &session, Format::Html);
    let known = [
        "!doctype", "html", "head", "meta", "title", "style", "body", "header", "main", "footer", "h1", "p",
        "article", "span", "details", "summary", "pre", "b", "ul", "li", "ins", "del", "code", "img",
    ];
    let mut images = 0;
    for tag in html.split('<').skip(1) {
        let inside = tag.split('>').next().unwrap();
        let name = inside.trim_start_matches('/').split([' ', '\n']).next().unwrap().to_lowercase();
        assert!(known.contains(&name.as_str()), "<{inside}>");
        if name == "img" {
            images += 1;
            assert!(inside.ends_with("src=\"data:image/png;base64,iVBORw0KGgo=\""), "{inside}");
        }
        // Whatever is in quotes is one value; outside of quotes no attribute is a handler or an address.
        let outside: String = inside.split('"').step_by(2).collect();
        assert!(!outside.contains("on") || name == "meta", "<{inside}>");
        assert!(!outside.contains("href"), "<{inside}>");
    }
    assert_eq!(images, 1);
    assert_eq!(html.matches("<style>").count(), 1);
    assert!(html.contains("default-src 'none'"));
    assert!(!html.contains("<script"));
}

#[test]
fn an_export_says_what_can_not_be_read() {
    let place = place();
    let session = place.session(1, vec![notice("one"), notice("two")]);
    let mut log = std::fs::read(place.log(&session)).unwrap();
    let at = log.iter().position(|b| *b == b'\n').unwrap() + 30;
    log[at] ^= 1;
    std::fs::write(place.log(&session), log).unwrap();
    assert!(exported(&place, &session, Format::Markdown).contains("can not be read here"));
    assert!(exported(&place, &session, Format::Html).contains("can not be read here"));
    let whole: serde_json::Value = serde_json::from_str(&exported(&place, &session, Format::Json)).unwrap();
    assert_eq!(whole["damaged"][0]["why"], "the checksum does not fit");
}
