//! Models in order of preference, under one name, and what they are for.

use serde::{Deserialize, Serialize};

/// A chain as `[router.chains]` has it: `["a/x", ["b/y", "c/z"]]`.
///
/// The place is the priority. Names in a list of their own are equals: among them the one that failed less in the last
/// minute is asked first, then the one that answers sooner, then the cheaper one, then the one that stands first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Chain {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a model as `PROVIDER/MODEL`, or a list of such")]
enum Step {
    One(String),
    Equals(Vec<String>),
}

impl Chain {
    /// The names of one priority after the other, the first first.
    pub fn steps(&self) -> impl Iterator<Item = &[String]> {
        self.steps.iter().map(|step| match step {
            Step::One(name) => std::slice::from_ref(name),
            Step::Equals(names) => names.as_slice(),
        })
    }

    /// Every name with its priority, from 0.
    pub fn ranked(&self) -> impl Iterator<Item = (usize, &str)> {
        self.steps().enumerate().flat_map(|(rank, names)| names.iter().map(move |name| (rank, name.as_str())))
    }
}

impl From<Vec<String>> for Chain {
    fn from(names: Vec<String>) -> Self {
        Self { steps: names.into_iter().map(Step::One).collect() }
    }
}

/// For people: `a/x → b/y or c/z`.
impl std::fmt::Display for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps: Vec<String> = self.steps().map(|names| names.join(" or ")).collect();
        f.write_str(&steps.join(" → "))
    }
}

/// What a model is asked for. A chain of the same name serves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The work itself.
    Main,
    /// Easy things that should be quick and cheap.
    Small,
    /// Thinking before anything is done.
    Plan,
    /// A name for a session.
    Title,
    /// What is left of a history that became too long.
    Summary,
}

impl Purpose {
    pub const ALL: [Self; 5] = [Self::Main, Self::Small, Self::Plan, Self::Title, Self::Summary];

    /// Its name, which is that of its chain.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Small => "small",
            Self::Plan => "plan",
            Self::Title => "title",
            Self::Summary => "summary",
        }
    }

    /// The chains that may serve it, the best first. What serves everything else comes after them.
    pub(crate) fn chains(self) -> &'static [&'static str] {
        match self {
            Self::Main => &["main"],
            Self::Small => &["small"],
            Self::Plan => &["plan"],
            // A title is an easy thing. A summary is not: all that comes after builds on it.
            Self::Title => &["title", "small"],
            Self::Summary => &["summary"],
        }
    }
}
