//! How much an agent is to think, in its own words.

use acp::{Choice, ConfigOption};
use protocol::{AgentId, Effort, NoticeLevel, Update};

use crate::catalogue::Known;
use crate::narrator::notice;

/// What agents call it, the best word first. Where there are fewer steps than ours the nearest is taken; one that can
/// only be switched on or off is switched.
fn words(effort: Effort) -> &'static [&'static str] {
    match effort {
        Effort::None => &["none", "off", "disabled", "false", "minimal", "low"],
        Effort::Low => &["low", "minimal", "on", "enabled", "true"],
        Effort::Medium => &["medium", "normal", "on", "enabled", "true"],
        Effort::High => &["high", "on", "enabled", "true"],
        Effort::Max => &["max", "maximum", "xhigh", "high", "on", "enabled", "true"],
    }
}

/// The choice that comes nearest.
pub(crate) fn choice<'a>(option: &'a ConfigOption, effort: Effort, known: &Known) -> Option<&'a Choice> {
    let own = known.thinking(effort).into_iter();
    own.chain(words(effort).iter().copied()).find_map(|word| option.choice(word))
}

/// What a person is told who wanted it of an agent that has no such thing.
pub(crate) fn not_offered(id: &AgentId, effort: Effort) -> Update {
    let text = format!("`{id}` thinks as it likes: there is no way to tell it `{}`", effort.as_str());
    notice(NoticeLevel::Info, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentConfig, Catalogue};

    fn chosen(choices: &[&str]) -> Vec<Option<String>> {
        let config = AgentConfig { acp: vec!["x".to_owned()], ..AgentConfig::default() };
        let catalogue = Catalogue::new([("mine".to_owned(), config)].into()).unwrap();
        let known = catalogue.get(&AgentId::new("mine")).unwrap();
        let choices = choices.iter().map(|value| Choice { value: (*value).to_owned(), name: String::new() });
        let option = ConfigOption {
            id: "thinking".to_owned(),
            name: "Thinking".to_owned(),
            about: acp::About::Thinking,
            current: String::new(),
            choices: choices.collect(),
            switch: false,
        };
        let all = [Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::Max];
        all.map(|effort| choice(&option, effort, known).map(|choice| choice.value.clone())).to_vec()
    }

    #[test]
    fn the_nearest_word_is_taken() {
        let words = |words: [&str; 5]| words.map(|word| Some(word.to_owned())).to_vec();
        // OpenClaw, Kimi, Codex.
        let all = ["off", "minimal", "low", "medium", "high", "adaptive"];
        assert_eq!(chosen(&all), words(["off", "low", "medium", "high", "high"]));
        assert_eq!(chosen(&["off", "on"]), words(["off", "on", "on", "on", "on"]));
        assert_eq!(
            chosen(&["low", "medium", "high", "xhigh"]),
            words(["low", "low", "medium", "high", "xhigh"])
        );
        assert_eq!(chosen(&["brief"]), vec![None; 5]);
    }
}
