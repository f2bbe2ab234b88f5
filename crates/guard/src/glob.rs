//! Patterns with stars, for words and for paths.

/// Whether `text` fits `pattern`, in which `*` stands for any run of characters and `?` for one.
pub(crate) fn word(pattern: &str, text: &str) -> bool {
    matches(pattern.as_bytes(), text.as_bytes(), false)
}

/// As [`word`], for paths: `*` and `?` stay within one part, `**` crosses them, `**/` may be nothing.
pub(crate) fn path(pattern: &str, text: &str) -> bool {
    if let Some(folder) = pattern.strip_suffix("/**")
        && matches(folder.as_bytes(), text.as_bytes(), true)
    {
        return true;
    }
    matches(pattern.as_bytes(), text.as_bytes(), true)
}

/// A shell pattern with its `[…]` widened to stars, so that it matches at least what the shell's would.
pub(crate) fn widened(pattern: &str) -> String {
    let mut wide = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        wide.push_str(before);
        wide.push('*');
        rest = after.split_once(']').map_or("", |(_, behind)| behind);
    }
    wide + rest
}

/// Greedy with one place to go back to for each kind of star, so that no pattern takes exponential time.
fn matches(pattern: &[u8], text: &[u8], parts: bool) -> bool {
    let (mut at, mut on) = (0, 0);
    // Where to resume: pattern position after the star, text position it has eaten up to.
    let mut star: Option<(usize, usize)> = None;
    let mut double: Option<(usize, usize)> = None;
    loop {
        match pattern.get(at) {
            Some(b'*') if parts && pattern.get(at + 1) == Some(&b'*') => {
                at += 2;
                if pattern.get(at) == Some(&b'/') {
                    at += 1;
                }
                (double, star) = (Some((at, on)), None);
                continue;
            }
            Some(b'*') => {
                at += 1;
                star = Some((at, on));
                continue;
            }
            Some(b'?') if on < text.len() && !(parts && text[on] == b'/') => {
                (at, on) = (at + 1, on + 1);
                continue;
            }
            Some(wanted) if text.get(on) == Some(wanted) => {
                (at, on) = (at + 1, on + 1);
                continue;
            }
            None if on == text.len() => return true,
            _ => {}
        }
        if let Some((resume, eaten)) = star
            && eaten < text.len()
            && !(parts && text[eaten] == b'/')
        {
            star = Some((resume, eaten + 1));
            (at, on) = (resume, eaten + 1);
        } else if let Some((resume, eaten)) = double
            && eaten < text.len()
        {
            double = Some((resume, eaten + 1));
            (at, on, star) = (resume, eaten + 1, None);
        } else {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_in_words_and_paths() {
        assert!(word("test*", "test:unit") && word("*", "") && word("a*c", "a/b/c"));
        assert!(!word("test", "test:unit") && !word("a?c", "ac"));
        assert!(path("src/**", "src/a/b.rs") && path("src/**", "src") && path("**/*.rs", "main.rs"));
        assert!(path("src/*.rs", "src/a.rs") && !path("src/*.rs", "src/a/b.rs"));
        assert!(path("**/test/*", "a/b/test/c") && !path("src/**", "srcs/a"));
        assert!(path("a/**/z/*.c", "a/b/z/c/z/d.c"));
        assert!(!word(&"*a".repeat(40), &"b".repeat(4000)));
    }
}
