//! How much a model thinks: one setting, and each vendor's own words for it.

pub use protocol::Effort;
use serde::Deserialize;

/// What a model's vendor calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningKind {
    /// A word: OpenAI's effort, Anthropic's adaptive thinking.
    Effort,
    /// A number of tokens: Claude up to 4.5, Gemini 2.5.
    Budget,
    /// A word again: Gemini from 3 on.
    Level,
    /// On or off.
    Switch,
    /// It can not be set.
    None,
}

/// How the thinking of a model is set. What is not known follows from its wire.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reasoning {
    pub kind: Option<ReasoningKind>,
    /// The words that the model knows, from least to most; for effort and level.
    pub efforts: Vec<String>,
    /// The fewest and the most tokens that it can think; for a budget.
    pub budget: Option<(u32, u32)>,
}

impl Reasoning {
    /// The word that the model knows which is nearest; the higher of two.
    pub(crate) fn word<'a>(&'a self, effort: Effort, usual: &'a [&'a str]) -> &'a str {
        let known: Vec<&str> = if self.efforts.is_empty() {
            usual.to_vec()
        } else {
            self.efforts.iter().map(String::as_str).collect()
        };
        let wanted = effort as i32;
        let nearest = known.iter().rev().min_by_key(|word| (rank(word) - wanted).abs());
        nearest.copied().unwrap_or("medium")
    }

    /// Tokens to think with.
    pub(crate) fn budget(&self, effort: Effort, usual: (u32, u32)) -> u32 {
        let (least, most) = self.budget.unwrap_or(usual);
        let wanted = match effort {
            Effort::None => 0,
            Effort::Low => 4_096,
            Effort::Medium => 10_240,
            Effort::High => 20_480,
            Effort::Max => most,
        };
        wanted.clamp(least.min(most), most)
    }
}

fn rank(word: &str) -> i32 {
    match word {
        "none" | "minimal" | "off" => 0,
        "low" => 1,
        "medium" => 2,
        "high" => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests;
