use super::*;
use crate::text::Ink;

const SIZE: Size = Size { columns: 20, rows: 8 };

struct Screen {
    painter: Painter,
    terminal: vt100::Parser,
    bytes: usize,
    /// Whether a ground was set when the last frame ended.
    ground: bool,
}

/// Rows with a `c` stand on a ground, from edge to edge.
fn line(text: &str) -> Line {
    let line = Line::of(text, Ink::Text);
    if text.contains('c') { line.on(Ground::Added, SIZE.columns) } else { line }
}

/// A terminal that fills new rows with the ground that is set (xterm, kitty, VS Code's) would show it. vt100 does not.
fn no_row_begins_on_a_ground(mut ground: bool, bytes: &str) -> bool {
    let mut rest = bytes;
    while let Some(at) = rest.find(['\n', '\x1b']) {
        if rest[at..].starts_with('\n') {
            assert!(!ground, "{bytes:?}");
            rest = &rest[at + 1..];
            continue;
        }
        rest = &rest[at + 1..];
        if let Some(sgr) = rest.strip_prefix('[')
            && let Some(end) = sgr.find(|letter: char| letter.is_ascii_alphabetic())
            && sgr[end..].starts_with('m')
        {
            ground = sgr[..end].contains("48;");
        }
    }
    ground
}

impl Screen {
    fn new() -> Self {
        Self {
            painter: Painter::new(SIZE, Theme::Dark),
            terminal: vt100::Parser::new(8.try_into().unwrap(), 20.try_into().unwrap(), 200),
            bytes: 0,
            ground: false,
        }
    }

    fn frame(&mut self, frozen: &[&str], live: &[&str], caret: Option<Caret>) -> String {
        let lines = |rows: &[&str]| rows.iter().map(|row| line(row)).collect::<Vec<_>>();
        let bytes = self.painter.frame(lines(frozen), lines(live), caret);
        self.ground = no_row_begins_on_a_ground(self.ground, &bytes);
        self.bytes = bytes.len();
        self.terminal.process(bytes.as_bytes());
        self.text()
    }

    fn text(&self) -> String {
        let screen = self.terminal.screen();
        screen.contents().lines().collect::<Vec<_>>().join("/")
    }
}

#[test]
fn finished_rows_scroll_away_and_live_rows_stay() {
    let mut screen = Screen::new();
    assert_eq!(screen.frame(&[], &["one", "[box]", "status"], Some((1, 1))), "one/[box]/status");
    assert_eq!(screen.terminal.screen().cursor_position(), (1, 1));
    assert_eq!(
        screen.frame(&[], &["one and", "two", "[box]", "status"], Some((2, 1))),
        "one and/two/[box]/status"
    );
    assert_eq!(screen.frame(&["one and"], &["two", "[box]", "status"], None), "one and/two/[box]/status");
    assert_eq!(screen.frame(&["two", "three"], &["[box]", "status"], None), "one and/two/three/[box]/status");
    let rows: Vec<String> = (0..20).map(|n| format!("row {n}")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let shown = screen.frame(&rows, &["[box]", "status"], Some((0, 2)));
    assert_eq!(shown, "row 14/row 15/row 16/row 17/row 18/row 19/[box]/status");
    assert_eq!(screen.terminal.screen().cursor_position(), (6, 2));
    assert_eq!(
        screen.frame(&[], &["live", "[box]", "status"], None),
        "row 15/row 16/row 17/row 18/row 19/live/[box]/status"
    );
    assert_eq!(screen.frame(&["live"], &["[box]"], None), "row 15/row 16/row 17/row 18/row 19/live/[box]");
}

#[test]
fn a_few_letters_cost_a_few_bytes() {
    let mut screen = Screen::new();
    screen.frame(
        &[],
        &["some text that", "╭──────────────────╮", "│ >                │", "status"],
        Some((2, 4)),
    );
    screen.frame(
        &[],
        &["some text that goes", "╭──────────────────╮", "│ >                │", "status"],
        Some((2, 4)),
    );
    assert!(screen.bytes <= 24, "{}", screen.bytes);
    screen.frame(
        &[],
        &["some text that goes", "on", "╭──────────────────╮", "│ >                │", "status"],
        Some((3, 4)),
    );
    assert!(screen.bytes <= 40, "{}", screen.bytes);
    assert_eq!(screen.text(), "some text that goes/on/╭──────────────────╮/│ >                │/status");
}

#[test]
fn wide_characters_are_whole() {
    let mut screen = Screen::new();
    screen.frame(&[], &["日本語 text", "x"], Some((1, 1)));
    assert_eq!(screen.frame(&[], &["日木語 text", "x"], Some((1, 1))), "日木語 text/x");
    assert_eq!(screen.frame(&[], &["ab木語 text", "x"], Some((1, 1))), "ab木語 text/x");
    assert_eq!(screen.frame(&[], &["a", "x"], Some((1, 1))), "a/x");
}

#[test]
fn a_resize_paints_the_screen_anew() {
    let mut screen = Screen::new();
    let rows: Vec<String> = (0..20).map(|n| format!("row {n}")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    screen.frame(&rows, &["[box]", "status"], Some((0, 2)));
    screen.terminal.screen_mut().set_size(6.try_into().unwrap(), 12.try_into().unwrap());
    let size = Size { columns: 12, rows: 6 };
    let bytes = screen.painter.repaint(
        size,
        vec![line("row 17"), line("row 18"), line("row 19")],
        vec![line("[]"), line("ok")],
        None,
    );
    screen.terminal.process(bytes.as_bytes());
    assert_eq!(screen.text(), "row 17/row 18/row 19/[]/ok");
}

proptest::proptest! {
    /// Whatever follows whatever, the screen shows the last frame.
    #[test]
    fn any_frame_after_any(frames in proptest::collection::vec(
        (proptest::collection::vec("[a-c日é ]{0,9}", 0..4), proptest::collection::vec("[a-c日é ]{0,9}", 1..8)), 1..8,
    )) {
        let mut screen = Screen::new();
        let mut all: Vec<String> = vec![];
        for (frozen, live) in &frames {
            let borrowed = |rows: &[String]| -> Vec<String> { rows.to_vec() };
            let (frozen, live) = (borrowed(frozen), borrowed(live));
            let refs = |rows: &'_ [String]| -> Vec<&'static str> {
                rows.iter().map(|row| &*Box::leak(row.clone().into_boxed_str())).collect()
            };
            screen.frame(&refs(&frozen), &refs(&live), Some((0, 0)));
            all.extend(frozen);
            let mut want: Vec<String> = all.iter().chain(&live).map(|row| row.trim_end().to_owned()).collect();
            let skip = want.len().saturating_sub(SIZE.rows);
            want.drain(..skip);
            let got: Vec<String> = screen.terminal.screen().rows(0, 20).map(|row| row.trim_end().to_owned()).collect();
            // Rows that were there and are not needed now are blank, above or below.
            let got: Vec<String> = got.into_iter().filter(|row| !row.is_empty()).collect();
            let want: Vec<String> = want.into_iter().filter(|row| !row.is_empty()).collect();
            proptest::prop_assert!(want.ends_with(&got) || got.ends_with(&want) || want == got, "{want:?} {got:?}");
            proptest::prop_assert!(live.iter().filter(|row| !row.trim().is_empty()).all(|row| got.contains(&row.trim_end().to_owned())));
        }
    }
}
