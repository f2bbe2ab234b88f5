use proptest::prelude::*;

use super::*;
use crate::{ImageData, Role};

#[test]
fn an_estimate_is_of_the_right_size() {
    let ratio = TokenRatio::default();
    let english = "The quick brown fox jumps over the lazy dog. ".repeat(100);
    // 1,000 tokens by a real tokenizer, one more or less a sentence.
    assert!((800..1200).contains(&ratio.text(&english)), "{}", ratio.text(&english));
    let chinese = "你好世界".repeat(100);
    assert!((250..450).contains(&ratio.text(&chinese)), "{}", ratio.text(&chinese));
    let picture = ImageData { media_type: "image/png".to_owned(), data: "A".repeat(100_000).into() };
    let seen = ratio.message(&Message::new(Role::User, vec![Block::Image(picture)]));
    assert!((1_000..2_000).contains(&seen), "{seen}");
}

#[test]
fn a_model_teaches_its_ratio() {
    let ratio = TokenRatio::default();
    for _ in 0..30 {
        ratio.learn(1000.0, 1500);
    }
    assert!((ratio.get() - 1.5).abs() < 0.01);
    // Nonsense changes it only so far, and too little says nothing.
    ratio.learn(1000.0, u64::MAX);
    assert!(ratio.get() < 2.0);
    let before = ratio.get();
    ratio.learn(10.0, 1);
    ratio.learn(1000.0, 0);
    ratio.learn(1000.0, 10);
    assert_eq!(ratio.get(), before);
    for _ in 0..100 {
        ratio.learn(1000.0, 1_000_000);
    }
    assert!(ratio.get() <= RANGE.1);
}

#[test]
fn what_was_counted_is_not_estimated() {
    let ratio = TokenRatio::default();
    let last = Usage { input: 5_000, output: 70, ..Usage::default() };
    assert_eq!(ratio.after(&last, &[]), 5_070);
    let more = ratio.after(&last, &[Message::user("a few words more")]);
    assert!((5_071..5_090).contains(&more), "{more}");
}

proptest! {
    #[test]
    fn any_text_has_an_estimate_that_grows(text in "\\PC{0,200}", more in "\\PC{1,20}") {
        let weight = text_weight(&text);
        prop_assert!(weight.is_finite() && weight >= 0.0);
        let longer = text + &more;
        prop_assert!(text_weight(&longer) > weight);
    }
}
