use super::*;
use crate::keys::{Code, Key};

/// The text with a bar at the caret.
fn shown(buffer: &Buffer) -> String {
    let (before, after) = buffer.text().split_at(buffer.caret());
    format!("{before}|{after}")
}

fn buffer(text: &str) -> Buffer {
    let mut buffer = Buffer::default();
    buffer.insert(text);
    buffer
}

#[test]
fn words_graphemes_and_lines() {
    let mut b = buffer("one twö 👩‍👩‍👧‍👦e\u{301}");
    b.go(Move::Left);
    b.go(Move::Left);
    assert_eq!(shown(&b), "one twö |👩‍👩‍👧‍👦e\u{301}");
    b.go(Move::WordLeft);
    assert_eq!(shown(&b), "one |twö 👩‍👩‍👧‍👦e\u{301}");
    b.delete(Move::WordLeft);
    assert_eq!(shown(&b), "|twö 👩‍👩‍👧‍👦e\u{301}");
    b.go(Move::WordRight);
    b.delete(Move::Left);
    b.go(Move::End);
    b.delete(Move::Left);
    assert_eq!(shown(&b), "twö |");
}

#[test]
fn what_is_cut_comes_back_together() {
    let mut b = buffer("alpha beta gamma");
    b.kill(Move::WordLeft);
    b.kill(Move::WordLeft);
    assert_eq!(shown(&b), "alpha |");
    b.yank();
    assert_eq!(shown(&b), "alpha beta gamma|");
    b.go(Move::LineStart);
    b.kill(Move::LineEnd);
    assert_eq!(shown(&b), "|");
    b.yank();
    assert_eq!(shown(&b), "alpha beta gamma|");
}

#[test]
fn every_step_can_be_taken_back_and_done_again() {
    let mut b = Buffer::default();
    for c in "two words".chars() {
        b.insert(c.encode_utf8(&mut [0; 4]));
    }
    b.undo();
    assert_eq!(shown(&b), "two |");
    b.undo();
    b.undo();
    assert_eq!(shown(&b), "|");
    while b.redo() {}
    assert_eq!(shown(&b), "two words|");
}

#[test]
fn a_long_paste_is_a_chip_until_it_is_sent() {
    let mut composer = Composer::default();
    composer.type_text("look: ");
    let pasted: String = (0..40).map(|n| format!("line {n}\n")).collect();
    composer.paste(&pasted);
    composer.type_text(" ok");
    assert_eq!(composer.shown(), "look: [paste 1: 40 lines] ok");
    let draft = composer.draft();
    let mut other = Composer::default();
    other.restore(serde_json::from_str(&serde_json::to_string(&draft).unwrap()).unwrap());
    let (text, content) = other.take();
    assert_eq!(text, format!("look: {pasted} ok"));
    assert_eq!(content.len(), 1);
    composer.buffer.go(Move::WordLeft);
    composer.buffer.go(Move::Left);
    assert!(composer.unfold());
    assert_eq!(composer.shown(), format!("look: {pasted} ok"));
}

#[test]
fn the_caret_stands_where_the_character_is() {
    let mut composer = Composer::default();
    composer.type_text("日本語 wide text\nnext");
    let laid = composer.layout(8);
    let rows: Vec<String> = laid.rows.iter().map(|row| row.text()).collect();
    assert_eq!(rows, ["日本語 ", "wide ", "text", "next"]);
    assert_eq!(laid.caret, (3, 4));
    composer.buffer.set_caret("日本".len());
    assert_eq!(composer.layout(8).caret, (0, 4));
    composer.buffer.set_caret("日本語 wi".len());
    assert_eq!(composer.layout(8).caret, (1, 2));
    assert_eq!(composer.layout(8).byte_at(1, 3), "日本語 wid".len());
}

#[test]
fn history_goes_back_and_forth_and_keeps_what_was_begun() {
    let mut history = History::new(["one".to_owned(), "two".to_owned(), "two".to_owned()]);
    assert_eq!(history.older("draft").as_deref(), Some("two"));
    assert_eq!(history.older("two").as_deref(), Some("one"));
    assert_eq!(history.older("one"), None);
    assert_eq!(history.newer().as_deref(), Some("two"));
    assert_eq!(history.newer().as_deref(), Some("draft"));
    assert_eq!(history.newer(), None);
    assert_eq!(history.search("ON"), ["one"]);
}

#[test]
fn vim_moves_changes_and_takes_back() {
    let mut vim = Vim::default();
    let mut b = buffer("one two three");
    let mut keys = |b: &mut Buffer, text: &str| {
        for c in text.chars() {
            let key = if c == '\u{1b}' { Key::plain(Code::Esc) } else { Key::char(c) };
            if vim.key(key, b) == VimStep::Pass {
                b.insert(&c.to_string());
            }
        }
        shown(b)
    };
    assert_eq!(keys(&mut b, "\u{1b}0w"), "one |two three");
    assert_eq!(keys(&mut b, "dw"), "one |three");
    assert_eq!(keys(&mut b, "u"), "one |two three");
    assert_eq!(keys(&mut b, "cwTWO\u{1b}"), "one TW|O three");
    assert_eq!(keys(&mut b, "0fe"), "on|e TWO three");
    assert_eq!(keys(&mut b, "rX~"), "onx| TWO three");
    assert_eq!(keys(&mut b, "$ciwend\u{1b}"), "onx TWO en|d");
    assert_eq!(keys(&mut b, "yyp"), "onx TWO end\nonx TWO end|");
    assert_eq!(keys(&mut b, "ggdd"), "|onx TWO end");
    assert_eq!(keys(&mut b, "2x"), "|x TWO end");
}

proptest::proptest! {
    #[test]
    fn no_operation_breaks_a_character(text in "[a-z 日é👍\n\t]{0,40}", moves in proptest::collection::vec(0usize..14, 0..40), columns in 4usize..20) {
        let mut composer = Composer::default();
        composer.type_text(&text);
        const ALL: [Move; 10] = [Move::Left, Move::Right, Move::WordLeft, Move::WordRight, Move::WordEnd, Move::LineStart, Move::LineEnd, Move::LineText, Move::Start, Move::End];
        for (step, at) in moves.into_iter().enumerate() {
            match (at, step % 3) {
                (10, _) => { composer.buffer.undo(); }
                (11, _) => { composer.buffer.redo(); }
                (12, _) => composer.buffer.yank(),
                (13, _) => composer.buffer.insert("x"),
                (at, 0) => composer.buffer.go(ALL[at]),
                (at, 1) => composer.buffer.delete(ALL[at]),
                (at, _) => composer.buffer.kill(ALL[at]),
            }
            let laid = composer.layout(columns);
            proptest::prop_assert!(laid.caret.0 < laid.rows.len() && laid.caret.1 <= columns);
            let joined: String = laid.rows.iter().map(|row| row.text()).collect();
            let squeeze = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            proptest::prop_assert_eq!(squeeze(&joined), squeeze(composer.buffer.text()));
        }
    }
}
