//! What can be wrong with settings.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::schema::quoted;
use super::{KeyPath, Origin};

/// One thing that is wrong with the settings, and where.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("unknown key `{key}` in {origin}")]
    UnknownKey { key: KeyPath, origin: Origin, nearest: Option<KeyPath> },
    #[error("`{key}` in {origin} should be {expected}, not {found}")]
    WrongType { key: KeyPath, origin: Origin, expected: String, found: &'static str },
    #[error("`{key}` in {origin} cannot be `{}`", value.escape_debug())]
    WrongChoice { key: KeyPath, origin: Origin, value: String, choices: &'static [&'static str] },
    #[error("`{key}` in {origin} is {value}, which is not between {min} and {max}")]
    OutOfRange { key: KeyPath, origin: Origin, value: String, min: i64, max: i64 },
    /// It passed the schema but not the struct it is read into.
    #[error("`{key}` in {origin} does not fit: {message}")]
    Unfit { key: KeyPath, origin: Origin, message: String },
    /// What was typed is no TOML value of the kind the key wants.
    #[error("`{}` is not a value for `{key}`", text.escape_debug())]
    BadValue { key: KeyPath, text: String, expected: String },
    #[error("`{}` is not a key", text.escape_debug())]
    BadKey { text: String },
    #[error("{origin} is not valid TOML: {message}")]
    Syntax { origin: Origin, message: String },
    #[error("cannot read `{}`: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: String },
    #[error("cannot write `{}`", file.display())]
    Unwritable { file: PathBuf, source: io::Error },
    /// Another process holds the lock: try again.
    #[error("`{}` is being changed by another process", file.display())]
    Busy { file: PathBuf },
}

impl ConfigError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Self::WrongChoice { choices, .. } => Some(format!("it can be {}", quoted(choices))),
            Self::BadValue { expected, .. } => Some(format!("it should be {expected}")),
            Self::BadKey { .. } => {
                Some("join parts with dots, and quote one that has dots itself: `a.\"b.c\"`".into())
            }
            Self::Busy { .. } => Some("try again in a moment".into()),
            _ => None,
        }
    }
}

/// Everything that is wrong with the settings; never empty.
#[derive(Debug)]
pub struct ConfigErrors {
    pub errors: Vec<ConfigError>,
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{error}")?;
            if let Some(hint) = error.hint() {
                write!(formatter, "\nhint: {hint}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
