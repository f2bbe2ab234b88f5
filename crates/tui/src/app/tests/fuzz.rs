//! Any keys, in any order, with anything happening meanwhile.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Keys(String),
    Paste(String),
    Resize(usize, usize),
    Says(u8, String),
    Thinks(u8, String),
    Ends(u8),
    Call(u8),
    Result(u8, String),
    Asks(u8),
    Starts,
    Stops,
    Child(u8, String),
    Wait(i64),
    Reply(u8),
}

fn anything() -> impl Strategy<Value = Step> {
    let keys = prop_oneof![
        "[a-zA-Z0-9 /@!?é日👍]{1,6}",
        Just("\r".to_owned()),
        Just("\x1b".to_owned()),
        Just("\t".to_owned()),
        Just("\x7f".to_owned()),
        (1u8..27).prop_map(|byte| (byte as char).to_string()),
        "\x1b\\[[ABCDHFZ]",
        "\x1b\\[[1-8]~",
        "\x1b\\[1;[2-8][ABCD]",
        "\x1b[a-z<>_]",
    ];
    let text = "[a-z *`#>|\n\\-]{0,30}";
    prop_oneof![
        8 => keys.prop_map(Step::Keys),
        1 => "[a-z\n]{0,2000}".prop_map(Step::Paste),
        1 => (1usize..130, 1usize..50).prop_map(|(columns, rows)| Step::Resize(columns, rows)),
        3 => (0u8..4, text).prop_map(|(id, text)| Step::Says(id, text)),
        1 => (4u8..6, text).prop_map(|(id, text)| Step::Thinks(id, text)),
        1 => (0u8..6).prop_map(Step::Ends),
        1 => (0u8..4).prop_map(Step::Call),
        1 => (0u8..4, text).prop_map(|(id, text)| Step::Result(id, text)),
        1 => (0u8..4).prop_map(Step::Asks),
        1 => Just(Step::Starts),
        1 => Just(Step::Stops),
        1 => (1u8..3, text).prop_map(|(id, text)| Step::Child(id, text)),
        1 => (0i64..3_000).prop_map(Step::Wait),
        1 => (0u8..5).prop_map(Step::Reply),
    ]
}

fn mentioned(name: &str) -> protocol::Mention {
    let kind = protocol::MentionKind::Symbol;
    protocol::Mention { kind, name: name.to_owned(), detail: "here".to_owned() }
}

impl Story {
    fn step(&mut self, step: Step) {
        if self.seq == 0 {
            self.start("20260125-143052-a1b2c3d4".parse().unwrap());
        }
        match step {
            Step::Keys(keys) => self.keys(&keys),
            Step::Paste(text) => self.input(Input::Signal(Signal::Paste(text))),
            Step::Resize(columns, rows) => {
                let size = Size { columns, rows };
                self.input(Input::Resize(size));
                let (recent, drawing) = self.app.redraw();
                self.painter.repaint(size, recent, drawing.live, drawing.caret);
            }
            Step::Says(id, text) => self.says(&format!("m{id}"), &text),
            Step::Thinks(id, text) => self.thinks(&format!("m{id}"), &text),
            Step::Ends(id) => self.said(&format!("m{id}")),
            Step::Call(id) => {
                self.call(&format!("c{id}"), "$ make it so", ToolKind::Execute, json!({"command": "make"}))
            }
            Step::Result(id, text) => self.result(&format!("c{id}"), "done", vec![ToolContent::text(text)]),
            Step::Asks(id) => self.asks(&format!("c{id}"), "$ make it so"),
            Step::Starts => {
                let agent = AgentId::new("native");
                self.event(
                    Some("t1"),
                    EventBody::TurnStart(TurnStart {
                        parent: None,
                        agent,
                        model: None,
                        mode: Mode::Ask,
                        limits: None,
                        attended: None,
                    }),
                );
            }
            Step::Stops => self.ends(Stop::Done),
            Step::Child(id, text) => {
                let chunk = Chunk { message: "x".into(), text };
                self.event(Some(&format!("t1.{id}")), EventBody::AgentMessage(chunk));
            }
            Step::Wait(millis) => self.wait(millis),
            Step::Reply(which) => {
                let (ticket, reply) = match which {
                    0 => (Ticket::Sessions, Reply::Sessions(vec![])),
                    1 => (Ticket::Models, Reply::Models(vec![])),
                    2 => (
                        Ticket::Mentions("a".to_owned()),
                        Reply::Mentions(["a/b c.rs", "a/", "a::b"].map(mentioned).to_vec()),
                    ),
                    3 => (Ticket::UndoPreview { what: None, redo: false }, Reply::Changes(vec![])),
                    _ => (Ticket::Commands, Reply::Commands(vec![])),
                };
                self.input(Input::Reply(ticket, Ok(Answer::Reply(reply))));
            }
        }
        self.draw_loosely();
    }

    /// In a window of a few cells something has to give; nothing may break.
    fn draw_loosely(&mut self) {
        let drawing = self.app.draw();
        if self.app.size.columns >= 20 && self.app.size.rows >= 12 {
            for line in drawing.frozen.iter().chain(&drawing.live) {
                assert!(
                    line.width() <= self.app.size.columns,
                    "{:?} in {}",
                    line.text(),
                    self.app.size.columns
                );
            }
            assert!(
                drawing.live.len() <= self.app.size.rows,
                "{} of {}",
                drawing.live.len(),
                self.app.size.rows
            );
        }
        let bytes = self.painter.frame(drawing.frozen, drawing.live, drawing.caret);
        self.terminal.process(bytes.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_breaks_it(steps in proptest::collection::vec(anything(), 0..60)) {
        let mut story = Story::new(60, 20);
        for step in steps {
            story.step(step);
        }
    }

    /// Whatever is going on, each letter arrives.
    #[test]
    fn no_typed_character_is_lost(
        text in "[a-z日é👍 ]{1,40}",
        steps in proptest::collection::vec(anything(), 0..40),
    ) {
        let mut story = Story::new(60, 20);
        let mut typed = String::new();
        let mut steps = steps.into_iter();
        for c in text.chars() {
            story.keys(&c.to_string());
            typed.push(c);
            for step in steps.by_ref().take(2) {
                // Keys of other meanings, and questions that take keys, are left out.
                if !matches!(step, Step::Keys(_) | Step::Paste(_) | Step::Asks(_) | Step::Reply(_) | Step::Stops) {
                    story.step(step);
                }
            }
            prop_assert_eq!(story.app.composer.buffer.text(), &typed);
        }
    }
}
