//! Text from outside, made safe to show.

use std::borrow::Cow;

/// Columns between tab stops.
const TAB: usize = 4;

/// No control characters but line breaks: nothing that a model or a repository says can drive the terminal, and what
/// is shown is what is there. Tabs become spaces, colours that programs print are dropped.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| hostile(c) || c == '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' => {
                out.push(c);
                column = 0;
            }
            '\t' => {
                let spaces = TAB - column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            '\r' if rest.peek() == Some(&'\n') => {}
            '\u{1b}' => skip_escape(&mut rest),
            c if hostile(c) => {
                out.push('\u{fffd}');
                column += 1;
            }
            c => {
                out.push(c);
                column += 1;
            }
        }
    }
    Cow::Owned(out)
}

/// The same, in one line.
pub(crate) fn plain_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hostile(c: char) -> bool {
    (c.is_control() && c != '\n')
        // What turns the direction of text can make it read as something else.
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// An escape sequence, up to its end: CSI to its final byte, OSC and its kin to their terminator.
fn skip_escape(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match rest.next_if(|c| !matches!(c, '\n')) {
        Some('[') => while rest.next_if(|c| !('@'..='~').contains(c) && *c != '\n').is_some() {},
        Some(']' | 'P' | '_' | '^' | 'X') => {
            while rest.next_if(|c| !matches!(c, '\u{7}' | '\u{1b}' | '\n')).is_some() {}
            if rest.next_if_eq(&'\u{1b}').is_none() {
                rest.next_if_eq(&'\u{7}');
                return;
            }
            rest.next_if_eq(&'\\');
            return;
        }
        _ => return,
    }
    rest.next_if(|c| *c != '\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_drives_the_terminal() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m and \u{1b}]0;title\u{7}more"), "red and more");
        assert_eq!(plain("a\tb\r\nc\rd\u{8}"), "a   b\nc\u{fffd}d\u{fffd}");
        assert_eq!(plain("\u{202e}abc"), "\u{fffd}abc");
        assert_eq!(plain("\u{1b}[12\nnext"), "\nnext");
        assert_eq!(plain("plain"), "plain");
    }
}
