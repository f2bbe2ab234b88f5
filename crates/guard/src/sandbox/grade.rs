//! How much of its promise the sandbox of this machine keeps.

use std::fmt;

use serde::Serialize;

/// By which means children are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Namespaces of our own: no other program is needed.
    Namespaces,
    /// Namespaces made by `bwrap`, which some systems allow where they forbid ours.
    Bubblewrap,
    /// Landlock and seccomp, for systems without user namespaces.
    Landlock,
    /// macOS: `sandbox-exec`.
    Seatbelt,
    /// Nothing holds them.
    None,
}

impl Backend {
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::Seatbelt => "seatbelt",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How good it is, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    None,
    /// Some of it is undone afterwards rather than prevented, or not covered.
    Partial,
    Full,
}

/// What the sandbox of this machine does and does not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grade {
    pub backend: Backend,
    pub strength: Strength,
    /// What is enforced, for a person.
    pub enforced: Vec<&'static str>,
    /// What is not, or only undone afterwards.
    pub missing: Vec<&'static str>,
    /// Whether it takes a user namespace, as it does for all but root on a system that forbids them.
    #[serde(skip)]
    pub(super) user_namespace: bool,
    /// Stronger backends that this machine does not have, and why.
    pub passed_over: Vec<(Backend, String)>,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strength = match self.strength {
            Strength::None => return write!(f, "none: commands run unconfined"),
            Strength::Partial => "partial",
            Strength::Full => "full",
        };
        write!(f, "{strength}, by {}: {}", self.backend, self.enforced.join(", "))?;
        match self.missing.is_empty() {
            true => Ok(()),
            false => write!(f, "; not: {}", self.missing.join(", ")),
        }
    }
}
