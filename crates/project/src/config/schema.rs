//! What may be in a config file, as data that other crates write as constants.

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schema {
    Text,
    /// Text that is masked wherever settings are shown.
    Secret,
    /// One of these words.
    Choice(&'static [&'static str]),
    Bool,
    /// A whole number, both bounds included.
    Integer {
        min: i64,
        max: i64,
    },
    /// Any number.
    Number,
    /// A time span such as `30s` or `1h30m`; read it as a [`HumanDuration`](super::HumanDuration).
    Duration,
    List(&'static Schema),
    /// A table with known keys.
    Table(&'static [Key]),
    /// A table with names the person chooses, each holding the same.
    Map(&'static Schema),
    /// Anything: for what is passed on to a program of someone else's.
    Any,
}

/// Who may set a key. It covers everything below the key too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach {
    Anyone,
    /// Only the person, or a project file they trusted: whatever names a command, an environment, an address
    /// or a variable that holds a key.
    Trusted,
    /// The choices from tightest to loosest. A project file that is not trusted may only move towards the
    /// front of what is already in force.
    Tighten(&'static [&'static str]),
    /// For lists of what is forbidden: a project file that is not trusted adds to the list in force, where it
    /// would otherwise replace it.
    Extend,
}

/// A key and what is below it. A section is a key at the top of the file.
///
/// ```
/// use project::{Key, Schema};
///
/// const PROVIDER: Schema = Schema::Table(&[
///     Key::choice("wire", &["openai-chat", "anthropic"]).doc("the format the provider speaks"),
///     Key::text("base_url").trusted().doc("where it listens"),
///     Key::map("models", &Schema::Table(&[Key::integer("context", 1, 10_000_000)])),
/// ]);
/// pub const PROVIDERS: Key = Key::map("providers", &PROVIDER).doc("where models are served");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Key {
    pub name: &'static str,
    pub schema: Schema,
    pub reach: Reach,
    /// As it would be typed after `covey config set KEY`.
    pub default: Option<&'static str>,
    /// One line for people.
    pub doc: &'static str,
}

impl Key {
    pub const fn new(name: &'static str, schema: Schema) -> Self {
        Self { name, schema, reach: Reach::Anyone, default: None, doc: "" }
    }

    pub const fn text(name: &'static str) -> Self {
        Self::new(name, Schema::Text)
    }

    pub const fn secret(name: &'static str) -> Self {
        Self::new(name, Schema::Secret)
    }

    pub const fn choice(name: &'static str, choices: &'static [&'static str]) -> Self {
        Self::new(name, Schema::Choice(choices))
    }

    /// A choice whose words are ordered from tightest to loosest, and that an untrusted file may only tighten.
    pub const fn tightening(name: &'static str, choices: &'static [&'static str]) -> Self {
        Self { reach: Reach::Tighten(choices), ..Self::new(name, Schema::Choice(choices)) }
    }

    pub const fn bool(name: &'static str) -> Self {
        Self::new(name, Schema::Bool)
    }

    pub const fn integer(name: &'static str, min: i64, max: i64) -> Self {
        Self::new(name, Schema::Integer { min, max })
    }

    pub const fn number(name: &'static str) -> Self {
        Self::new(name, Schema::Number)
    }

    pub const fn duration(name: &'static str) -> Self {
        Self::new(name, Schema::Duration)
    }

    pub const fn list(name: &'static str, of: &'static Schema) -> Self {
        Self::new(name, Schema::List(of))
    }

    pub const fn table(name: &'static str, keys: &'static [Key]) -> Self {
        Self::new(name, Schema::Table(keys))
    }

    pub const fn map(name: &'static str, of: &'static Schema) -> Self {
        Self::new(name, Schema::Map(of))
    }

    /// See [`Reach::Trusted`].
    pub const fn trusted(self) -> Self {
        Self { reach: Reach::Trusted, ..self }
    }

    /// See [`Reach::Tighten`]. For a [`Schema::Bool`] the words are `true` and `false`.
    pub const fn tighten(self, order: &'static [&'static str]) -> Self {
        Self { reach: Reach::Tighten(order), ..self }
    }

    /// See [`Reach::Extend`].
    pub const fn extend(self) -> Self {
        Self { reach: Reach::Extend, ..self }
    }

    /// The value when nobody says otherwise. Has no meaning below a map, whose names are not known.
    pub const fn default(self, text: &'static str) -> Self {
        Self { default: Some(text), ..self }
    }

    pub const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }
}

impl Schema {
    /// What to call it in an error.
    pub(super) fn expected(&self) -> String {
        match self {
            Self::Text | Self::Secret => "text".into(),
            Self::Choice(choices) => format!("one of {}", quoted(choices)),
            Self::Bool => "`true` or `false`".into(),
            Self::Integer { .. } => "a whole number".into(),
            Self::Number => "a number".into(),
            Self::Duration => "a time span such as `30s`".into(),
            Self::List(_) => "a list".into(),
            Self::Table(_) | Self::Map(_) => "a table".into(),
            Self::Any => "a value".into(),
        }
    }

    /// Whether what a person types for it is meant as text, quotes or not.
    pub(super) fn wants_text(&self) -> bool {
        matches!(self, Self::Text | Self::Secret | Self::Choice(_) | Self::Duration)
    }

    pub(super) fn holds_secret(&self) -> bool {
        match self {
            Self::Secret => true,
            Self::List(of) | Self::Map(of) => of.holds_secret(),
            Self::Table(keys) => keys.iter().any(|key| key.schema.holds_secret()),
            _ => false,
        }
    }
}

pub(super) fn quoted(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}
