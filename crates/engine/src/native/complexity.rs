//! Whether a prompt is easy, by its looks. A guess, so it is off unless somebody asks for it.

use protocol::Content;

/// Longer prompts are taken to be about something.
const SHORT: usize = 160;
/// Words that ask for work rather than an answer.
const WORK: &[&str] = &[
    "build",
    "change",
    "debug",
    "design",
    "fix",
    "implement",
    "migrate",
    "plan",
    "prove",
    "refactor",
    "rewrite",
    "test",
    "why",
];

/// Short, one line, no pictures or files, and no word that asks for work.
pub(super) fn is_simple(prompt: &[Content]) -> bool {
    let [Content::Text { text }] = prompt else { return false };
    let text = text.trim();
    let plain = text.chars().count() <= SHORT && !text.contains(['\n', '`', '@', '{']);
    let works = || {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| WORK.iter().any(|work| word.eq_ignore_ascii_case(work)))
    };
    plain && !works()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_questions_are_simple_and_work_is_not() {
        let simple = |text: &str| is_simple(&[Content::text(text)]);
        assert!(simple("what is the capital of France?"));
        assert!(simple("say hello"));
        assert!(!simple("fix the cart"));
        assert!(!simple("Why is it slow?"));
        assert!(!simple("explain `apply`"));
        assert!(!simple(&"word ".repeat(60)));
        assert!(!is_simple(&[]));
    }
}
