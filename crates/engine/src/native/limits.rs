//! When the window is too full.

use std::str::FromStr;

use models::ModelInfo;

/// For a model of unknown size.
pub(super) const DEFAULT_CONTEXT: u32 = 32_768;
/// Kept free for the answer, if the model does not say how long one may be.
const DEFAULT_RESERVE: u32 = 4_096;

/// The two stages at which the conversation is cut back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextLimits {
    /// Old results are cut.
    pub soft: Share,
    /// Old turns are summarised.
    pub full: Share,
}

impl Default for ContextLimits {
    fn default() -> Self {
        Self { soft: Share::Part(0.60), full: Share::Part(0.85) }
    }
}

/// A part of the window, after what is kept free for the answer, or a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    Part(f64),
    Tokens(u64),
}

impl Share {
    /// Whether it is the larger of two, as far as that can be told without a model.
    pub fn is_beyond(self, other: Self) -> bool {
        match (self, other) {
            (Self::Part(one), Self::Part(other)) => one > other,
            (Self::Tokens(one), Self::Tokens(other)) => one > other,
            _ => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a share such as `60%` nor a number of tokens")]
pub struct NotAShare(String);

impl FromStr for Share {
    type Err = NotAShare;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || NotAShare(text.to_owned());
        match text.trim().strip_suffix('%') {
            Some(number) => match number.trim().parse::<f64>() {
                Ok(percent) if (1.0..=100.0).contains(&percent) => Ok(Self::Part(percent / 100.0)),
                _ => Err(wrong()),
            },
            None => match text.trim().replace('_', "").parse() {
                Ok(tokens @ 1..) => Ok(Self::Tokens(tokens)),
                _ => Err(wrong()),
            },
        }
    }
}

/// What a model's window leaves for the conversation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Room {
    pub(super) window: u32,
    pub(super) reserve: u32,
    pub(super) soft: u64,
    pub(super) full: u64,
}

impl Room {
    pub(super) fn of(model: &ModelInfo, limits: &ContextLimits) -> Self {
        let window = model.context.unwrap_or(DEFAULT_CONTEXT);
        // An answer as long as the model could give would leave nothing of a small window.
        let reserve = model.max_output.unwrap_or(DEFAULT_RESERVE).min(window / 4);
        let usable = window - reserve;
        let tokens = |share: Share| match share {
            Share::Part(part) => (f64::from(usable) * part) as u64,
            Share::Tokens(tokens) => tokens.min(u64::from(usable)),
        };
        Self { window, reserve, soft: tokens(limits.soft), full: tokens(limits.full) }
    }

    /// How much of the newest part stays as it is when the rest is summarised.
    pub(super) fn kept(&self) -> u64 {
        self.full / 3
    }
}
