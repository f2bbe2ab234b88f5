//! Colours and signs, only where a person looks.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// To stdout, all of it or an error: a reader that left is no success. What is printed is seen at once.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| io::Error::new(error.kind(), format!("could not write to stdout: {error}")))
}

/// What is told while something else has the screen; none when nothing has.
static HELD: Mutex<Option<String>> = Mutex::new(None);

/// To stderr, as far as anybody is there to read it. A terminal that went away must not end the work.
pub(crate) fn tell(text: &str) {
    match HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        Some(held) => held.push_str(text),
        None => _ = io::stderr().lock().write_all(text.as_bytes()),
    }
}

/// Keeps what is told until the screen is free again.
pub(crate) fn hold() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// Tells what was kept.
pub(crate) fn release() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    tell(held.as_deref().unwrap_or_default());
}

/// Whether somebody sits at a terminal that can be drawn on.
pub(crate) fn has_person() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !dumb
}

/// What happened, and on a line of its own what to do.
pub(crate) fn tell_error(message: &str, hint: Option<&str>) {
    let style = Style::of(Stream::Err);
    let hint = hint.map(|hint| format!("{} {hint}\n", style.accent("hint:"))).unwrap_or_default();
    tell(&format!("{} {message}\n{hint}", style.danger("error:")));
}

pub(crate) fn tell_warning(text: &str) {
    tell(&format!("{} {text}\n", Style::of(Stream::Err).warning("warning:")));
}

/// One of the program's two outputs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stream {
    Out,
    Err,
}

impl Stream {
    pub(crate) fn is_terminal(self) -> bool {
        match self {
            Self::Out => std::io::stdout().is_terminal(),
            Self::Err => std::io::stderr().is_terminal(),
        }
    }
}

/// How much fits on a line of the person's terminal without touching its edge; a page's width where there is none.
pub(crate) fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.map(|size| usize::from(size.ws_col)).ok().filter(|columns| *columns > 0).unwrap_or(120) - 1
}

/// Paints for a stream, or not at all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    on: bool,
}

impl Style {
    pub(crate) fn of(stream: Stream) -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { on: stream.is_terminal() && !unwanted }
    }

    pub(crate) fn accent(self, text: &str) -> String {
        self.paint("36", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn danger(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Text from outside, safe to show: no control characters but line breaks and tabs, so that nothing a model or a
/// repository says can drive the terminal.
pub(crate) fn plain(text: &str) -> std::borrow::Cow<'_, str> {
    let hostile = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(hostile) {
        return text.into();
    }
    text.replace("\r\n", "\n").replace(hostile, "\u{fffd}").into()
}

/// One line of it.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let flat = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= max {
        flat
    } else {
        flat.chars().take(max.saturating_sub(1)).collect::<String>() + "…"
    }
}

/// `1.2 s`, `340 ms`, `3 min 5 s`.
pub(crate) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1000.0),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000),
    }
}

/// `412`, `3.4k`, `1.2M`.
pub(crate) fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 => format!("{:.1}k", number as f64 / 1e3),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// `just now`, `5 min ago`, `3 h ago`, then a date.
pub(crate) fn ago(then: protocol::Timestamp, now: protocol::Timestamp) -> String {
    match now.millis_since(then) / 1000 {
        0..60 => "just now".to_owned(),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => then.to_string().chars().take(10).collect(),
    }
}
