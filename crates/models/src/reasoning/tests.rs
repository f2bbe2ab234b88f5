use super::*;

const ALL: [Effort; 5] = [Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::Max];

#[test]
fn the_nearest_word_that_a_model_knows_is_used() {
    let words = |known: &[&str]| {
        let reasoning = Reasoning {
            efforts: known.iter().map(|word| (*word).to_owned()).collect(),
            ..Reasoning::default()
        };
        ALL.map(|effort| reasoning.word(effort, &["none", "low", "medium", "high"]).to_owned()).join(" ")
    };
    assert_eq!(words(&[]), "none low medium high high");
    assert_eq!(words(&["minimal", "low", "medium", "high"]), "minimal low medium high high");
    assert_eq!(words(&["low", "high"]), "low low high high high");
    assert_eq!(words(&["low", "medium", "high", "xhigh"]), "low low medium high xhigh");
}

#[test]
fn a_budget_stays_in_what_a_model_can() {
    let tokens =
        |budget| ALL.map(|effort| Reasoning { budget, ..Reasoning::default() }.budget(effort, (0, 24_576)));
    assert_eq!(tokens(None), [0, 4_096, 10_240, 20_480, 24_576]);
    assert_eq!(tokens(Some((128, 8_000))), [128, 4_096, 8_000, 8_000, 8_000]);
    // Nonsense does no harm.
    assert_eq!(tokens(Some((10, 1)))[0], 1);
}
