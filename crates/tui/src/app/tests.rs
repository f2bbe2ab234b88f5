//! Stories: what happens, and what the screen shows.

mod fuzz;

use std::sync::Arc;

use protocol::{
    AgentId, Chunk, Event, EventBody, MessageEnd, Mode, ModelRef, OptionKind, PermissionOption,
    PermissionRequest, SessionStart, Stop, Timestamp, ToolCall, ToolCallUpdate, ToolContent, ToolKind,
    ToolStatus, TurnEnd, TurnId, TurnStart, Usage, UserPrompt,
};
use serde_json::json;

use super::*;
use crate::keys::{Decoder, Key};
use crate::paint::Painter;
use crate::text::{Line, width};

const BEGIN: i64 = 1_769_351_452_000;

/// The app with a terminal that shows it.
pub(super) struct Story {
    pub(super) app: App,
    painter: Painter,
    terminal: vt100::Parser,
    now: i64,
    seq: u64,
    pub(super) effects: Vec<Effect>,
}

impl Story {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        let size = Size { columns, rows };
        let app = App::new(Setup {
            cwd: "/src/shop".to_owned(),
            place: "~/src/shop".to_owned(),
            branch: Some("main*".to_owned()),
            agent: AgentId::new("native"),
            model: Some(ModelRef::new("anthropic/claude-sonnet")),
            mode: Mode::Ask,
            folders: vec![],
            theme: Theme::Terminal,
            vim: false,
            full: false,
            notes: vec![],
            bindings: Bindings::new([]).unwrap(),
            history: vec!["an earlier prompt".to_owned(), "the newest prompt".to_owned()],
            draft: None,
            size,
            now: Timestamp::from_millis(BEGIN),
        });
        let terminal = |n: usize| u16::try_from(n).unwrap().try_into().unwrap();
        Self {
            app,
            painter: Painter::new(size, Theme::Terminal),
            terminal: vt100::Parser::new(terminal(rows), terminal(columns), 100),
            now: BEGIN,
            seq: 0,
            effects: vec![],
        }
    }

    pub(super) fn input(&mut self, input: Input) {
        let effects = self.app.update(input, Timestamp::from_millis(self.now));
        let created = effects.iter().any(|effect| matches!(effect, Effect::Submit(_, Ticket::Created)));
        self.effects.extend(effects);
        if created && self.seq == 0 {
            let session: SessionId = "20260125-143052-a1b2c3d4".parse().unwrap();
            let receipt = Receipt { session: session.clone(), turn: None };
            self.start(session);
            self.input(Input::Reply(Ticket::Created, Ok(Answer::Receipt(receipt))));
        }
    }

    fn start(&mut self, session: SessionId) {
        self.event(
            None,
            EventBody::SessionStart(SessionStart {
                session,
                cwd: "/src/shop".to_owned(),
                agent: AgentId::new("native"),
                model: Some(ModelRef::new("anthropic/claude-sonnet")),
                mode: Mode::Ask,
                title: None,
                forked_from: None,
                covey: "0.1.0".to_owned(),
            }),
        );
    }

    pub(super) fn event(&mut self, turn: Option<&str>, body: EventBody) {
        self.seq += 1;
        self.now += 100;
        let event = Event::new(self.seq, Timestamp::from_millis(self.now), turn.map(TurnId::new), body);
        self.input(Input::Event(Arc::new(event)));
    }

    /// Bytes as a terminal sends them.
    pub(super) fn keys(&mut self, bytes: &str) {
        let mut decoder = Decoder::default();
        let mut signals = decoder.feed(bytes.as_bytes());
        signals.extend(decoder.settle());
        for signal in signals {
            self.now += 20;
            self.input(Input::Signal(signal));
        }
    }

    pub(super) fn wait(&mut self, millis: i64) {
        self.now += millis;
        self.input(Input::Tick);
    }

    /// A prompt is sent and its turn begins.
    fn prompt(&mut self, text: &str) {
        self.keys(text);
        self.keys("\r");
        let content = vec![Content::text(text)];
        self.event(Some("t1"), EventBody::UserPrompt(UserPrompt { content, key: None }));
        let (agent, model) = (AgentId::new("native"), Some(ModelRef::new("anthropic/claude-sonnet")));
        self.event(
            Some("t1"),
            EventBody::TurnStart(TurnStart {
                parent: None,
                agent,
                model,
                mode: Mode::Ask,
                limits: None,
                attended: None,
            }),
        );
    }

    fn says(&mut self, message: &str, text: &str) {
        let chunk = Chunk { message: message.into(), text: text.to_owned() };
        self.event(Some("t1"), EventBody::AgentMessage(chunk));
    }

    fn thinks(&mut self, message: &str, text: &str) {
        let chunk = Chunk { message: message.into(), text: text.to_owned() };
        self.event(Some("t1"), EventBody::AgentThought(chunk));
    }

    fn said(&mut self, message: &str) {
        self.event(Some("t1"), EventBody::MessageEnd(MessageEnd { message: message.into() }));
    }

    fn call(&mut self, call: &str, title: &str, kind: ToolKind, input: serde_json::Value) {
        let name = title.split(' ').next().unwrap().to_owned();
        let call = ToolCall {
            call: call.into(),
            name,
            title: title.to_owned(),
            kind,
            status: ToolStatus::InProgress,
            input,
            locations: vec![],
            via: None,
        };
        self.event(Some("t1"), EventBody::ToolCall(call));
    }

    fn result(&mut self, call: &str, summary: &str, content: Vec<ToolContent>) {
        let update = ToolCallUpdate {
            status: Some(ToolStatus::Completed),
            summary: Some(summary.to_owned()),
            content: Some(content),
            duration_ms: Some(12),
            ..ToolCallUpdate::of(call.into())
        };
        self.event(Some("t1"), EventBody::ToolCallUpdate(update));
    }

    fn asks(&mut self, call: &str, title: &str) {
        let option =
            |id: &str, name: &str, kind| PermissionOption { id: id.to_owned(), name: name.to_owned(), kind };
        let request = PermissionRequest {
            request: "r1".into(),
            call: Some(call.into()),
            title: title.to_owned(),
            reasons: vec!["runs a build in this folder".to_owned(), "not seen before".to_owned()],
            options: vec![
                option("allow", "Allow once", OptionKind::AllowOnce),
                option("always", "Always allow shell(cargo test *) in this project", OptionKind::AllowAlways),
                option("edit", "Change it first", OptionKind::AllowEdited),
                option("deny", "No", OptionKind::RejectOnce),
            ],
            is_question: false,
        };
        self.event(Some("t1"), EventBody::PermissionRequest(request));
    }

    fn ends(&mut self, stop: Stop) {
        let usage = Usage { input: 3_000, output: 400, cost_usd: Some(0.04), ..Usage::default() };
        let end = TurnEnd { stop, cause: None, usage, steps: 2, duration_ms: 14_000 };
        self.event(Some("t1"), EventBody::TurnEnd(end));
    }

    pub(super) fn draw(&mut self) -> Vec<Line> {
        let drawing = self.app.draw();
        let live = drawing.live.clone();
        assert!(live.len() <= self.app.size.rows.max(4), "{} rows of {}", live.len(), self.app.size.rows);
        for line in drawing.frozen.iter().chain(&live) {
            assert!(line.width() <= self.app.size.columns, "{:?} in {}", line.text(), self.app.size.columns);
        }
        if let Some((row, column)) = drawing.caret {
            assert!(row < live.len() && column <= self.app.size.columns, "{row},{column}");
        }
        let bytes = self.painter.frame(drawing.frozen, drawing.live, drawing.caret);
        self.terminal.process(bytes.as_bytes());
        live
    }

    pub(super) fn screen(&mut self) -> String {
        self.draw();
        let columns = u16::try_from(self.app.size.columns).unwrap();
        let rows = self.terminal.screen().rows(0, columns).map(|row| row.trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// What was asked of the engine.
    fn ops(&self) -> Vec<&Op> {
        fn op(effect: &Effect) -> Option<&Op> {
            match effect {
                Effect::Submit(op, _) => Some(op),
                _ => None,
            }
        }
        self.effects.iter().filter_map(op).collect()
    }
}

#[test]
fn only_long_turns_that_nobody_watches_ring_a_bell() {
    let told = |story: &Story| {
        let told = story.effects.iter().filter_map(|effect| match effect {
            Effect::Notify { title, body } => Some(format!("{title}: {body}")),
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    let away = "\x1b[O";
    let mut watched = coupon(80, 40);
    watched.ends(Stop::Done);
    assert!(told(&watched).is_empty());
    let mut unwatched = coupon(80, 40);
    unwatched.keys(away);
    unwatched.ends(Stop::Done);
    assert_eq!(told(&unwatched), ["covey is done: I'll look at how coupons are applied."]);
    let mut short = coupon(80, 40);
    short.keys(away);
    let end =
        TurnEnd { stop: Stop::Done, cause: None, usage: Usage::default(), steps: 1, duration_ms: 4_900 };
    short.event(Some("t1"), EventBody::TurnEnd(end));
    assert!(told(&short).is_empty());
    let mut back = coupon(80, 40);
    back.keys(away);
    back.keys("\x1b[I");
    back.ends(Stop::Done);
    assert!(told(&back).is_empty());
}

#[test]
fn sub_agents_have_lanes() {
    let mut story = Story::new(80, 30);
    story.prompt("look at it from all sides");
    let start = |agent: &str| {
        let (agent, model) = (AgentId::new(agent), None);
        EventBody::TurnStart(TurnStart {
            parent: Some(TurnId::new("t1")),
            agent,
            model,
            mode: Mode::Ask,
            limits: None,
            attended: None,
        })
    };
    let asked =
        |text: &str| EventBody::UserPrompt(UserPrompt { content: vec![Content::text(text)], key: None });
    for (turn, agent, text) in [
        ("t1.1", "claude", "find every caller of apply_coupon"),
        ("t1.2", "codex", "write the test that fails"),
        ("t1.3", "native", "read the docs about coupons"),
    ] {
        story.event(Some(turn), start(agent));
        story.event(Some(turn), asked(text));
    }
    let call = |call: &str, title: &str| {
        EventBody::ToolCall(ToolCall {
            call: call.into(),
            name: "read".to_owned(),
            title: title.to_owned(),
            kind: ToolKind::Read,
            status: ToolStatus::InProgress,
            input: json!({}),
            via: None,
            locations: vec![],
        })
    };
    story.event(Some("t1.2"), call("d1", "read src/queue.rs"));
    let usage = Usage { input: 2_000, output: 300, cost_usd: Some(0.02), ..Usage::default() };
    let end = TurnEnd { stop: Stop::Done, cause: None, usage, steps: 2, duration_ms: 4_000 };
    story.event(Some("t1.1"), EventBody::TurnEnd(end));
    insta::assert_snapshot!("lanes_80", story.screen());
}

#[test]
fn what_can_be_mentioned_is_listed_by_kind() {
    use protocol::{Mention, MentionKind};
    let mut story = Story::new(80, 24);
    story.keys("see @cart");
    let mention =
        |kind, name: &str, detail: &str| Mention { kind, name: name.to_owned(), detail: detail.to_owned() };
    let found = vec![
        mention(MentionKind::Path, "src/cart/", ""),
        mention(MentionKind::Path, "src/my cart.rs", ""),
        mention(MentionKind::Agent, "cart-expert", "knows the cart"),
        mention(MentionKind::Symbol, "Cart::apply", "src/cart/coupon.rs:41"),
    ];
    story.input(Input::Reply(Ticket::Mentions("cart".to_owned()), Ok(Answer::Reply(Reply::Mentions(found)))));
    insta::assert_snapshot!("mentions_80", story.screen());
    story.keys("\x1b[B\t");
    assert_eq!(story.app.composer.buffer.text(), "see @\"src/my cart.rs\" ");
}

#[test]
fn folders_are_completed_added_listed_and_taken_away() {
    let mut story = Story::new(80, 24);
    story.prompt("hello");
    story.ends(Stop::Done);
    story.keys("/add-dir ../li");
    let found = ["../library/", "../linter/"].map(str::to_owned).to_vec();
    story.input(Input::Reply(Ticket::Folders("../li".to_owned()), Ok(Answer::Reply(Reply::Paths(found)))));
    assert!(story.screen().contains("▸ ../linter/"), "{}", story.screen());
    story.keys("\t");
    assert_eq!(story.app.composer.buffer.text(), "/add-dir ../library/");
    // What was typed is what is meant, whatever else is listed.
    story.keys("\r");
    let added = |story: &Story| match story.ops().last() {
        Some(Op::SetFolders { folders, .. }) => folders.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(added(&story), ["../library/"]);
    let folders = vec!["/src/library".to_owned(), "/src/my lib".to_owned()];
    story.event(None, EventBody::Folders(protocol::FoldersChanged { folders }));
    story.keys("/add-dir\r");
    let screen = story.screen();
    assert!(screen.contains("/src/shop") && screen.contains("/src/library"), "{screen}");
    story.keys("/remove-dir /src/m\t");
    assert_eq!(story.app.composer.buffer.text(), "/remove-dir /src/my lib");
    story.keys("\r");
    assert_eq!(added(&story), ["/src/library"]);
    story.keys("/remove-dir elsewhere\r");
    assert!(story.screen().contains("which one? /src/library"), "{}", story.screen());
}

/// The conversation of the picture in the README.
fn coupon(columns: usize, rows: usize) -> Story {
    let mut story = Story::new(columns, rows);
    story.prompt("the cart total is wrong when a coupon is applied twice");
    story.thinks("m1", "Where are coupons applied? I should look at the cart first.");
    story.now += 3_000;
    story.said("m1");
    story.says("m2", "I'll look at how coupons are applied.");
    story.said("m2");
    story.call("c1", "code_search \"apply coupon\"", ToolKind::Search, json!({}));
    story.result("c1", "6 results", vec![ToolContent::text("a\nb\n")]);
    story.call("c2", "read src/cart/coupon.rs", ToolKind::Read, json!({"path": "src/cart/coupon.rs"}));
    story.result("c2", "lines 1-88", vec![ToolContent::text("fn apply() {}\n")]);
    story.call("c3", "edit src/cart/coupon.rs", ToolKind::Edit, json!({"path": "src/cart/coupon.rs"}));
    let old = "fn apply(&mut self, coupon: &Coupon) {\n    self.discount += coupon.value;\n}\n";
    let new = "fn apply(&mut self, coupon: &Coupon) {\n    if self.applied.insert(coupon.id) {\n        self.discount += coupon.value;\n    }\n}\n";
    let diff = ToolContent::Diff {
        path: "src/cart/coupon.rs".to_owned(),
        old: Some(old.to_owned()),
        new: new.to_owned(),
    };
    story.result("c3", "+3 -1", vec![diff]);
    story.call("c4", "$ cargo test -p cart", ToolKind::Execute, json!({"command": "cargo test -p cart"}));
    story
}

#[test]
fn frames_at_every_width() {
    for (columns, rows) in [(40, 30), (80, 32), (120, 32), (200, 32)] {
        let mut story = coupon(columns, rows);
        story.asks("c4", "$ cargo test -p cart");
        insta::assert_snapshot!(format!("asks_{columns}"), story.screen());
    }
}

#[test]
fn an_answer_with_everything() {
    let mut story = coupon(80, 50);
    story.result("c4", "exit code 0", vec![ToolContent::text("ok\n")]);
    story.says("m3", "Fixed. A coupon now counts **once**:\n\n- `applied` remembers it\n- the total is right\n\n```rust\nif self.applied.insert(coupon.id) {\n```\n\n| test | result |\n|---|---|\n| twice | ok |");
    story.said("m3");
    story.ends(Stop::Done);
    insta::assert_snapshot!("answer_80", story.screen());
    // Nothing of it is drawn again.
    assert_eq!(story.draw().len(), 5);
}

#[test]
fn colours_of_every_theme() {
    for theme in [Theme::Terminal, Theme::Dark, Theme::Light, Theme::Contrast, Theme::Plain] {
        let mut story = coupon(60, 40);
        story.painter.set_theme(theme);
        let drawing = story.app.draw();
        let bytes = story.painter.frame(drawing.frozen, drawing.live, drawing.caret);
        let shown = bytes.replace('\x1b', "^").replace("\r\n", "\n");
        let rows: Vec<&str> =
            shown.lines().filter(|row| row.contains("apply") || row.contains("discount")).collect();
        insta::assert_snapshot!(format!("theme_{}", theme.name()), rows.join("\n"));
    }
}

/// A recorded log of every type of event, and of types that this version does not know.
#[test]
fn a_recorded_log_is_shown() {
    let log = include_str!("../../../sessions/fixtures/v1/20260125-143052-a1b2c3d4/events.jsonl");
    let mut story = Story::new(80, 60);
    // Later versions add to it.
    for line in log.lines().take(46) {
        let event = Event::from_json(line.as_bytes()).unwrap();
        story.now = event.ts.as_millis();
        story.input(Input::Event(Arc::new(event)));
        story.draw();
    }
    insta::assert_snapshot!("recorded_80", story.screen());
    let view = story.app.view.clone().unwrap();
    // Opened again, it looks the same but for what only the moment knew.
    let mut again = Story::new(80, 60);
    again.input(Input::Reply(
        Ticket::Open(view.session.clone()),
        Ok(Answer::Reply(Reply::Session(Box::new(view)))),
    ));
    insta::assert_snapshot!("reopened_80", again.screen());
}

#[test]
fn text_is_given_to_the_terminal_as_it_settles() {
    let mut story = Story::new(40, 12);
    story.prompt("go");
    let mut whole = String::new();
    for number in 0..200 {
        let piece = format!("word{number} ");
        whole.push_str(&piece);
        story.says("m1", &piece);
        let live = story.draw();
        assert!(live.len() <= 12);
    }
    story.said("m1");
    story.ends(Stop::Done);
    story.draw();
    story.terminal.screen_mut().set_scrollback(100);
    let mut seen = String::new();
    for offset in (0..=100).rev() {
        story.terminal.screen_mut().set_scrollback(offset);
        seen.push_str(&story.terminal.screen().contents());
        seen.push('\n');
    }
    for number in 0..200 {
        assert!(
            seen.contains(&format!("word{number} ")) || seen.contains(&format!("word{number}\n")),
            "word{number}"
        );
    }
}

#[test]
fn code_that_streams_is_the_code_that_was_sent() {
    let mut story = Story::new(60, 200);
    story.prompt("go");
    let code: String = (0..80).map(|n| format!("    let line_{n} = {n}; // and some more text\n")).collect();
    let text = format!("Look:\n\n```rust\nfn main() {{\n{code}}}\n```\n\nThat is *all*.");
    for piece in text.as_bytes().chunks(7) {
        story.says("m1", std::str::from_utf8(piece).unwrap());
        story.draw();
    }
    story.said("m1");
    let streamed = story.screen();
    let mut whole = Story::new(60, 200);
    whole.prompt("go");
    whole.says("m1", &text);
    whole.said("m1");
    let whole = whole.screen();
    let above = |screen: &str| screen.rsplit_once('\n').map(|(above, _)| above.to_owned());
    assert_eq!(above(&streamed), above(&whole));
}

#[test]
fn a_question_is_not_answered_by_what_was_being_typed() {
    let mut story = coupon(80, 30);
    story.keys("step 1");
    story.asks("c4", "$ cargo test -p cart");
    story.keys("12");
    assert_eq!(story.app.composer.buffer.text(), "step 112");
    story.wait(2_000);
    story.keys("1");
    assert!(matches!(story.ops().last(), Some(Op::AnswerPermission { .. })), "{:?}", story.ops());
    assert!(!story.screen().contains("Allow once"));
}

#[test]
fn history_search_pickers_and_vim() {
    let mut story = Story::new(80, 24);
    story.keys("\x1b[A");
    assert_eq!(story.app.composer.buffer.text(), "the newest prompt");
    story.keys("\x1b[B\x12earl");
    assert!(story.screen().contains("› an earlier prompt"), "{}", story.screen());
    story.keys("\r");
    assert_eq!(story.app.composer.buffer.text(), "an earlier prompt");
    story.keys("\x15/vim\r");
    for keys in ["two words", "\x1b", "0cwthree", "\x1b"] {
        story.keys(keys);
    }
    assert_eq!(story.app.composer.buffer.text(), "three words");
    assert!(story.screen().contains(" normal "), "{}", story.screen());
}

#[test]
fn the_hardware_cursor_stands_at_the_caret() {
    let mut story = Story::new(40, 20);
    for (text, columns) in
        [("日本語", 6), ("e\u{301}é", 2), ("👩‍👩‍👧‍👦!", 3), ("한글 ok", 7), ("שלום", 4), ("ｱｲｳ", 3)]
    {
        story.keys(text);
        story.draw();
        let (_, column) = story.terminal.screen().cursor_position();
        assert_eq!(usize::from(column), 4 + columns, "{text}");
        assert_eq!(width(text), columns, "{text}");
        story.keys("\x15");
    }
}

#[test]
fn what_the_terminal_can_not_show_does_no_harm() {
    let mut story = Story::new(40, 20);
    story.prompt("go");
    story.says("m1", "\x1b[2J\x1b]0;owned\x07 hello \u{202e}evil\u{0} [x](javascript:alert)");
    story.call("c1", "read \x1b[31m../../etc", ToolKind::Read, json!({}));
    story.result("c1", "\x07\x1b[H", vec![ToolContent::text("\x1bc")]);
    let screen = story.screen();
    assert!(screen.contains("hello") && screen.contains("covey"), "{screen}");
}

#[test]
fn keys_of_every_kind_are_named_in_help() {
    let mut story = Story::new(100, 80);
    story.keys("?");
    let screen = story.screen();
    for wanted in ["ctrl-r", "shift-tab", "esc", "search earlier prompts"] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    assert!(Key::parse("ctrl-r").is_some());
}

#[test]
fn work_in_the_background_is_told_of() {
    let mut story = Story::new(80, 24);
    story.keys("& run all the tests\r");
    assert!(matches!(story.ops()[..], [Op::CreateSession { .. }]), "{:?}", story.ops());
    let session: SessionId = "20260125-143052-0000000b".parse().unwrap();
    let (text, content) = ("run all the tests".to_owned(), vec![Content::text("run all the tests")]);
    let receipt = Receipt { session: session.clone(), turn: None };
    story.input(Input::Reply(Ticket::Background { text, content }, Ok(Answer::Receipt(receipt))));
    assert!(matches!(story.ops().last(), Some(Op::StartTurn { attended: true, .. })));
    assert!(story.effects.contains(&Effect::Watch));
    assert!(story.screen().contains("1 job"), "{}", story.screen());
    let summary = |status| protocol::SessionSummary {
        session: session.clone(),
        title: String::new(),
        cwd: String::new(),
        agent: AgentId::new("native"),
        model: None,
        created: Timestamp::default(),
        updated: Timestamp::default(),
        seq: 9,
        turns: 1,
        usage: Usage::default(),
        status,
        marks: protocol::Marks::default(),
    };
    story.input(Input::Listed(ListChange::Put(Box::new(summary(SessionStatus::Idle)))));
    let screen = story.screen();
    assert!(
        screen.contains("done in the background: run all the tests") && !screen.contains("1 job"),
        "{screen}"
    );
}

#[test]
fn what_the_agent_offers_is_one_key_away() {
    let mut story = coupon(80, 40);
    story.ends(Stop::Done);
    let action = |label: &str, action| protocol::SuggestedAction { label: label.to_owned(), action };
    let actions = vec![
        action("Run the tests", protocol::SuggestedStep::SendMessage { text: "run the tests".to_owned() }),
        action("Say more", protocol::SuggestedStep::FillInput { text: "also ".to_owned() }),
    ];
    story.event(Some("t1"), EventBody::SuggestedActions(protocol::SuggestedActions { actions }));
    assert!(story.screen().contains("alt-1 Run the tests  alt-2 Say more"), "{}", story.screen());
    story.keys("\x1b2");
    assert_eq!(story.app.composer.buffer.text(), "also ");
    story.keys("\x15");
    story.keys("\x1b1");
    assert!(matches!(story.ops().last(), Some(Op::StartTurn { .. })));
}
