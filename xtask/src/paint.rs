//! Colours, only where a person looks, and widths.

use std::io::IsTerminal;
use std::time::Duration;

fn paint(code: &str, text: &str) -> String {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if std::io::stdout().is_terminal() && !unwanted {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

pub(crate) fn strong(text: &str) -> String {
    paint("1", text)
}

pub(crate) fn faint(text: &str) -> String {
    paint("2", text)
}

pub(crate) fn accent(text: &str) -> String {
    paint("36", text)
}

pub(crate) fn good(text: &str) -> String {
    paint("32", text)
}

pub(crate) fn warning(text: &str) -> String {
    paint("33", text)
}

/// `0.4 s`, `12 s`, `2 min 5 s`.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        whole @ 10..60 => format!("{whole} s"),
        whole => format!("{} min {} s", whole / 60, whole % 60),
    }
}
