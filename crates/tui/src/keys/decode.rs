//! Bytes into keys: the old sequences, those with modifiers, and the kitty protocol.

use super::{Code, Key, Signal};
use crate::picture;

/// More than this is no paste but a flood; what is over goes into the next one.
const MAX_PASTE: usize = 32 << 20;
/// No sequence that means something is longer.
const MAX_SEQUENCE: usize = 256;

const PASTE_END: &[u8] = b"\x1b[201~";

/// Reads bytes as they come, cut anywhere.
#[derive(Default)]
pub(crate) struct Decoder {
    pending: Vec<u8>,
    paste: Option<Vec<u8>>,
}

/// What the beginning of the bytes is.
enum Step {
    /// A signal, or nothing of interest, of so many bytes.
    Took(usize, Option<Signal>),
    /// More bytes may follow.
    Wait,
}

impl Decoder {
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Signal> {
        self.pending.extend_from_slice(bytes);
        self.drain(false)
    }

    /// Nothing followed for a while: an escape character on its own is the key.
    pub(crate) fn settle(&mut self) -> Vec<Signal> {
        self.drain(true)
    }

    /// Whether the meaning of what came depends on what comes.
    pub(crate) fn waits(&self) -> bool {
        !self.pending.is_empty() && self.paste.is_none()
    }

    fn drain(&mut self, settled: bool) -> Vec<Signal> {
        let mut signals = Vec::new();
        let mut at = 0;
        let pending = std::mem::take(&mut self.pending);
        while at < pending.len() {
            let rest = &pending[at..];
            if let Some(paste) = &mut self.paste {
                match find(rest, PASTE_END) {
                    Some(end) => {
                        paste.extend_from_slice(&rest[..end]);
                        at += end + PASTE_END.len();
                        signals.push(pasted(std::mem::take(paste)));
                        self.paste = None;
                    }
                    None => {
                        // The end may be cut in two: its beginning waits.
                        let keep = (1..PASTE_END.len())
                            .rev()
                            .find(|n| rest.ends_with(&PASTE_END[..*n]))
                            .unwrap_or(0);
                        paste.extend_from_slice(&rest[..rest.len() - keep]);
                        at += rest.len() - keep;
                        if paste.len() > MAX_PASTE {
                            let whole = std::mem::take(paste);
                            signals.push(pasted(whole));
                        }
                        break;
                    }
                }
                continue;
            }
            if rest.starts_with(b"\x1b[200~") {
                self.paste = Some(Vec::new());
                at += 6;
                continue;
            }
            match step(rest, settled) {
                Step::Took(length, signal) => {
                    signals.extend(signal);
                    at += length;
                }
                Step::Wait => break,
            }
        }
        self.pending = pending[at.min(pending.len())..].to_vec();
        signals
    }
}

fn pasted(bytes: Vec<u8>) -> Signal {
    let text = String::from_utf8_lossy(&bytes);
    // Terminals send the line breaks of a paste as the Enter key would.
    Signal::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn step(bytes: &[u8], settled: bool) -> Step {
    let key = |length: usize, key: Key| Step::Took(length, Some(Signal::Key(key)));
    let wait_or = |otherwise: Step| if settled { otherwise } else { Step::Wait };
    match bytes {
        [0x1b] => wait_or(key(1, Key::plain(Code::Esc))),
        [0x1b, 0x1b, ..] => key(1, Key::plain(Code::Esc)),
        [0x1b, b'['] => wait_or(key(2, Key { alt: true, ..Key::char('[') })),
        [0x1b, b'[', rest @ ..] => control(rest, settled),
        [0x1b, b'O'] => wait_or(key(2, Key { alt: true, ..Key::char('O') })),
        [0x1b, b'O', letter, ..] => {
            Step::Took(3, function(*letter).map(|code| Signal::Key(Key::plain(code))))
        }
        [0x1b, b']' | b'P' | b'_', ..] => command(bytes, settled),
        [0x1b, rest @ ..] => match character(rest, settled) {
            Step::Took(length, Some(Signal::Key(inner))) => key(length + 1, Key { alt: true, ..inner }),
            other => other,
        },
        _ => character(bytes, settled),
    }
}

fn character(bytes: &[u8], settled: bool) -> Step {
    let key = |key: Key| Step::Took(1, Some(Signal::Key(key)));
    match bytes[0] {
        b'\r' => key(Key::plain(Code::Enter)),
        // Ctrl-J: the line feed that every terminal can send.
        b'\n' => key(Key::ctrl('j')),
        b'\t' => key(Key::plain(Code::Tab)),
        0x7f => key(Key::plain(Code::Backspace)),
        0x08 => key(Key { ctrl: true, ..Key::plain(Code::Backspace) }),
        0x00 => key(Key::ctrl(' ')),
        byte @ 0x01..=0x1a => key(Key::ctrl((byte - 1 + b'a') as char)),
        byte @ 0x1c..=0x1f => key(Key::ctrl((byte - 0x1c + b'\\') as char)),
        first => {
            let length = match first {
                0x00..=0x7f => 1,
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                0xf0..=0xf4 => 4,
                _ => return Step::Took(1, None),
            };
            let Some(whole) = bytes.get(..length) else {
                return if settled { Step::Took(1, None) } else { Step::Wait };
            };
            match std::str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
                Some(c) => Step::Took(length, Some(Signal::Key(Key::char(c)))),
                None => Step::Took(1, None),
            }
        }
    }
}

/// After `ESC [`.
fn control(rest: &[u8], settled: bool) -> Step {
    // The mouse in its oldest form sends three bytes more.
    if rest.first() == Some(&b'M') {
        return if rest.len() >= 4 {
            Step::Took(6, None)
        } else if settled {
            Step::Took(3, None)
        } else {
            Step::Wait
        };
    }
    let Some(end) = rest.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        let hopeless = settled || rest.len() > MAX_SEQUENCE;
        return if hopeless { Step::Took(rest.len() + 2, None) } else { Step::Wait };
    };
    // `ESC [ [ A` is a function key of the Linux console.
    if rest[0] == b'[' {
        return match rest.get(1) {
            Some(letter @ b'A'..=b'E') => {
                Step::Took(4, Some(Signal::Key(Key::plain(Code::F(letter - b'A' + 1)))))
            }
            Some(_) => Step::Took(3, None),
            None if settled => Step::Took(3, None),
            None => Step::Wait,
        };
    }
    Step::Took(end + 3, meaning(&rest[..end], rest[end]))
}

fn meaning(parameters: &[u8], last: u8) -> Option<Signal> {
    let text = std::str::from_utf8(parameters).ok()?;
    if let Some(mouse) = text.strip_prefix('<') {
        let button: u32 = mouse.split(';').next()?.parse().ok()?;
        return match button & !0b1_1100 {
            64 => Some(Signal::Scroll { up: true }),
            65 => Some(Signal::Scroll { up: false }),
            _ => None,
        };
    }
    let mut fields = text.split(';');
    let mut number = |or: u32| {
        let field = fields.next().unwrap_or_default();
        // After a colon come other layouts, or whether the key went up.
        let mut parts = field.split(':');
        (
            parts.next().and_then(|n| n.parse().ok()).unwrap_or(or),
            parts.next().and_then(|n| n.parse::<u32>().ok()),
        )
    };
    let (first, _) = number(1);
    let (modifiers, kind) = number(1);
    if kind == Some(3) {
        return None;
    }
    let flags = modifiers.saturating_sub(1);
    let with = |code: Code| {
        Some(Signal::Key(Key { code, shift: flags & 1 != 0, alt: flags & 2 != 0, ctrl: flags & 4 != 0 }))
    };
    match last {
        b'I' => Some(Signal::Focus(true)),
        b'O' => Some(Signal::Focus(false)),
        b'Z' => Some(Signal::Key(Key { shift: true, ..Key::plain(Code::Tab) })),
        b'u' => with(unicode(first)?).map(normal),
        b'~' if first == 27 => {
            // xterm's own way to tell modified keys: 27 ; modifiers ; code ~
            let (code, _) = number(0);
            with(unicode(code)?).map(normal)
        }
        b'~' => with(match first {
            1 | 7 => Code::Home,
            2 => Code::Insert,
            3 => Code::Delete,
            4 | 8 => Code::End,
            5 => Code::PageUp,
            6 => Code::PageDown,
            11..=15 => Code::F((first - 10) as u8),
            17..=21 => Code::F((first - 11) as u8),
            23 | 24 => Code::F((first - 12) as u8),
            _ => return None,
        }),
        letter => with(function(letter)?),
    }
}

fn unicode(code: u32) -> Option<Code> {
    Some(match code {
        9 => Code::Tab,
        13 | 57414 => Code::Enter,
        27 => Code::Esc,
        127 | 8 => Code::Backspace,
        57399..=57408 => Code::Char(char::from_digit(code - 57399, 10)?),
        // The rest of the block are keys without a meaning here.
        57344..=63743 => return None,
        code => Code::Char(char::from_u32(code).filter(|c| !c.is_control())?),
    })
}

/// A shifted letter is that letter, whoever reports it.
fn normal(signal: Signal) -> Signal {
    match signal {
        Signal::Key(Key { code: Code::Char(c), ctrl: false, alt, shift: true }) => {
            let upper = c.to_uppercase().next().unwrap_or(c);
            Signal::Key(Key { code: Code::Char(upper), ctrl: false, alt, shift: false })
        }
        other => other,
    }
}

fn function(letter: u8) -> Option<Code> {
    Some(match letter {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'F' => Code::End,
        b'H' => Code::Home,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::F(letter - b'P' + 1),
        _ => return None,
    })
}

/// An answer of the terminal: `ESC ] … BEL` or `… ESC \`.
fn command(bytes: &[u8], settled: bool) -> Step {
    let end = bytes.iter().enumerate().skip(2).find_map(|(at, byte)| match byte {
        0x07 => Some((at, at + 1)),
        b'\\' if bytes[at - 1] == 0x1b => Some((at - 1, at + 1)),
        _ => None,
    });
    match end {
        Some((text, length)) if bytes[1] == b'_' => {
            Step::Took(length, (bytes[2..text] == *picture::YES).then_some(Signal::Pictures))
        }
        Some((text, length)) => Step::Took(length, background(&bytes[2..text])),
        // Alt and that letter, then.
        None if settled => Step::Took(2, Some(Signal::Key(Key { alt: true, ..Key::char(bytes[1] as char) }))),
        None if bytes.len() > MAX_SEQUENCE => Step::Took(bytes.len(), None),
        None => Step::Wait,
    }
}

/// `11;rgb:RRRR/GGGG/BBBB`
fn background(text: &[u8]) -> Option<Signal> {
    let text = std::str::from_utf8(text).ok()?.strip_prefix("11;rgb:")?;
    let mut parts = text.split('/').map(|part| u8::from_str_radix(part.get(..2)?, 16).ok());
    let mut next = || parts.next().flatten();
    Some(Signal::Background(next()?, next()?, next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> String {
        let mut decoder = Decoder::default();
        let mut signals = decoder.feed(bytes);
        signals.extend(decoder.settle());
        let name = |signal: &Signal| match signal {
            Signal::Key(key) => key.to_string(),
            other => format!("{other:?}"),
        };
        signals.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_terminals_send() {
        assert_eq!(keys(b"a\r\n\x7f\x1b"), "a enter ctrl-j backspace esc");
        assert_eq!(keys("é日👍".as_bytes()), "é 日 👍");
        assert_eq!(keys(b"\x1b[A\x1bOB\x1b[1;5C\x1b[3~\x1b[Z"), "up down ctrl-right delete shift-tab");
        assert_eq!(keys(b"\x1b\r\x1bb\x1b\x7f"), "alt-enter alt-b alt-backspace");
        assert_eq!(
            keys(b"\x1b[13;2u\x1b[27u\x1b[97;5u\x1b[97;2u\x1b[27;5;13~"),
            "shift-enter esc ctrl-a A ctrl-enter"
        );
        assert_eq!(keys(b"\x01\x12\x1f\x00"), "ctrl-a ctrl-r ctrl-_ ctrl-space");
        assert_eq!(keys(b"\x1b[I\x1b[O"), "Focus(true) Focus(false)");
        assert_eq!(keys(b"\x1b]11;rgb:1e1e/ffff/0000\x07x"), "Background(30, 255, 0) x");
        assert_eq!(keys(b"\x1b[<64;10;5M"), "Scroll { up: true }");
        assert_eq!(keys(b"\x1b_Gi=31;OK\x1b\\\x1b_Gi=31;EINVAL\x1b\\x"), "Pictures x");
        assert_eq!(keys(b"\x1b\x1b"), "esc esc");
    }

    #[test]
    fn a_paste_is_one_thing_wherever_it_is_cut() {
        let bytes = b"x\x1b[200~two\rlines \x1b[31m\x1b[201~y";
        for cut in 0..bytes.len() {
            let mut decoder = Decoder::default();
            let mut signals = decoder.feed(&bytes[..cut]);
            signals.extend(decoder.feed(&bytes[cut..]));
            assert_eq!(
                signals,
                [
                    Signal::Key(Key::char('x')),
                    Signal::Paste("two\nlines \u{1b}[31m".to_owned()),
                    Signal::Key(Key::char('y'))
                ],
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn names_of_keys() {
        for name in ["ctrl-r", "alt-enter", "shift-tab", "f2", "?", "ctrl-alt-x", "space", "pageup", "A"] {
            assert_eq!(Key::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(Key::parse("nonsense"), None);
        assert_eq!(Key::parse(""), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), cut in 0usize..200) {
            let mut decoder = Decoder::default();
            let cut = cut.min(bytes.len());
            decoder.feed(&bytes[..cut]);
            decoder.feed(&bytes[cut..]);
            decoder.settle();
            proptest::prop_assert!(!decoder.waits() || decoder.pending.len() < 300);
        }

        /// Plain text arrives letter by letter, cut anywhere.
        #[test]
        fn no_character_is_lost(text in "[a-zé日👍 ]{0,40}", cut in 0usize..160) {
            let mut decoder = Decoder::default();
            let cut = cut.min(text.len());
            let mut signals = decoder.feed(&text.as_bytes()[..cut]);
            signals.extend(decoder.feed(&text.as_bytes()[cut..]));
            let typed: String = signals.iter().filter_map(|signal| match signal {
                Signal::Key(key) => key.typed(),
                _ => None,
            }).collect();
            proptest::prop_assert_eq!(typed, text);
        }
    }
}
