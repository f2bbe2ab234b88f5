//! `&amp;` and its like.

use std::borrow::Cow;

/// The ones that pages really have; others stay as they are, which a reader understands.
const NAMED: [(&str, &str); 36] = [
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ensp", " "),
    ("emsp", " "),
    ("thinsp", " "),
    ("shy", ""),
    ("zwnj", ""),
    ("mdash", "—"),
    ("ndash", "–"),
    ("hellip", "…"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("bull", "•"),
    ("middot", "·"),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("deg", "°"),
    ("times", "×"),
    ("larr", "←"),
    ("rarr", "→"),
    ("uarr", "↑"),
    ("darr", "↓"),
    ("le", "≤"),
    ("ge", "≥"),
    ("ne", "≠"),
    ("euro", "€"),
    ("para", "¶"),
];

/// Longer than any name or number there is.
const MAX_NAME: usize = 10;

pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.bytes().take(MAX_NAME).position(|byte| byte == b';');
        match end.and_then(|end| Some((meaning(&rest[..end])?, end))) {
            Some((meaning, end)) => {
                out.push_str(&meaning);
                rest = &rest[end + 1..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn meaning(name: &str) -> Option<Cow<'static, str>> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return Some(Cow::Owned(char::from_u32(code).filter(|c| !c.is_control() || *c == '\n')?.to_string()));
    }
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, meaning)| Cow::Borrowed(*meaning))
}
