//! How many columns text takes. A grapheme is the unit: an emoji of five code points is one thing, two columns wide.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of `text`, which holds no line break.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { graphemes(text).map(|(_, columns)| columns).sum() }
}

/// Each grapheme with its columns.
pub(crate) fn graphemes(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.graphemes(true).map(|grapheme| (grapheme, grapheme_width(grapheme)))
}

fn grapheme_width(grapheme: &str) -> usize {
    match grapheme.as_bytes() {
        [_] => 1,
        _ => grapheme.width().min(2),
    }
}

/// As much of the beginning as fits in `columns`, with an ellipsis if that is not all.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for (grapheme, wide) in graphemes(text) {
        if used + wide + 1 > columns {
            break;
        }
        out.push_str(grapheme);
        used += wide;
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// As much of the end as fits: for paths, whose end says more.
pub(crate) fn fit_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = Vec::new();
    let mut used = 0;
    for (grapheme, wide) in graphemes(text).collect::<Vec<_>>().into_iter().rev() {
        if used + wide + 1 > columns {
            break;
        }
        kept.push(grapheme);
        used += wide;
    }
    let dots = if columns > 0 { "…" } else { "" };
    std::iter::once(dots).chain(kept.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_joined_and_combining_characters() {
        assert_eq!(width("日本語"), 6);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(width("👩‍👩‍👧‍👦"), 2);
        assert_eq!(width("שלום"), 4);
        assert_eq!(width("한글"), 4);
        assert_eq!(fit("日本語テキスト", 7), "日本語…");
        assert_eq!(fit("日本語テキスト", 6), "日本…");
        assert_eq!(fit_start("src/very/long/path.rs", 10), "…g/path.rs");
        assert_eq!(fit("abc", 0), "");
    }
}
