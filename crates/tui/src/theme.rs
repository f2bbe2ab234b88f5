//! Which colour a meaning has.

use std::fmt::Write;

use crate::text::{Ground, Ink, Style};

/// A way to look. [`Theme::Terminal`] uses the sixteen colours that the person's terminal defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark or light, as the terminal's background is; the terminal's own colours until it says.
    #[default]
    Auto,
    Terminal,
    Dark,
    Light,
    Contrast,
    /// No colour at all, only weight.
    Plain,
}

impl Theme {
    pub const ALL: [Theme; 6] =
        [Self::Auto, Self::Terminal, Self::Dark, Self::Light, Self::Contrast, Self::Plain];
    pub const NAMES: &'static [&'static str] = &["auto", "terminal", "dark", "light", "contrast", "plain"];

    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }

    /// The one to use on a background of this colour.
    pub(crate) fn on_background(self, red: u8, green: u8, blue: u8) -> Self {
        let light = u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114 > 128_000;
        match self {
            Self::Auto if light => Self::Light,
            Self::Auto => Self::Dark,
            chosen => chosen,
        }
    }

    /// The escape sequence that sets `style`, whatever was set before.
    pub(crate) fn sgr(self, style: Style, out: &mut String) {
        if style == Style::default() {
            out.push_str("\x1b[m");
            return;
        }
        out.push_str("\x1b[0");
        let mut put = |code: &str| {
            let _ = write!(out, ";{code}");
        };
        if style.bold {
            put("1");
        }
        if style.italic {
            put("3");
        }
        if style.underline {
            put("4");
        }
        if style.strike {
            put("9");
        }
        if let Ink::Picture(number) = style.ink {
            put(&format!("38;5;{number}"));
        }
        let ink = match self {
            Self::Auto | Self::Terminal => terminal_ink(style.ink),
            Self::Dark => dark_ink(style.ink),
            Self::Light => light_ink(style.ink),
            Self::Contrast => contrast_ink(style.ink),
            Self::Plain => plain_ink(style.ink),
        };
        if !ink.is_empty() {
            put(ink);
        }
        let ground = match self {
            Self::Auto | Self::Terminal | Self::Contrast => terminal_ground(style.ground),
            Self::Dark => dark_ground(style.ground),
            Self::Light => light_ground(style.ground),
            Self::Plain => plain_ground(style.ground),
        };
        if !ground.is_empty() {
            put(ground);
        }
        out.push('m');
    }
}

/// Agents after the sixth share colours.
const AGENTS: usize = 6;

fn terminal_ink(ink: Ink) -> &'static str {
    match ink {
        Ink::Text | Ink::Soft | Ink::Function | Ink::Picture(_) => "",
        Ink::Faint | Ink::Line | Ink::Comment => "90",
        Ink::Accent | Ink::Code => "36",
        Ink::Warning | Ink::Number => "33",
        Ink::Danger => "31",
        Ink::Good | Ink::Literal => "32",
        Ink::Thought | Ink::Keyword => "35",
        Ink::Type => "34",
        Ink::Agent(number) => ["36", "35", "34", "33", "32", "31"][number as usize % AGENTS],
    }
}

fn dark_ink(ink: Ink) -> &'static str {
    match ink {
        Ink::Text | Ink::Picture(_) => "",
        Ink::Soft => "38;5;250",
        Ink::Faint => "38;5;244",
        Ink::Line => "38;5;239",
        Ink::Accent => "38;5;79",
        Ink::Warning => "38;5;215",
        Ink::Danger => "38;5;203",
        Ink::Good => "38;5;114",
        Ink::Thought => "38;5;140",
        Ink::Code => "38;5;152",
        Ink::Keyword => "38;5;176",
        Ink::Literal => "38;5;150",
        Ink::Comment => "38;5;243",
        Ink::Number => "38;5;180",
        Ink::Type => "38;5;110",
        Ink::Function => "38;5;153",
        Ink::Agent(number) => {
            ["38;5;79", "38;5;176", "38;5;111", "38;5;215", "38;5;150", "38;5;210"][number as usize % AGENTS]
        }
    }
}

fn light_ink(ink: Ink) -> &'static str {
    match ink {
        Ink::Text | Ink::Picture(_) => "",
        Ink::Soft => "38;5;238",
        Ink::Faint => "38;5;243",
        Ink::Line => "38;5;250",
        Ink::Accent => "38;5;30",
        Ink::Warning => "38;5;130",
        Ink::Danger => "38;5;160",
        Ink::Good => "38;5;28",
        Ink::Thought => "38;5;97",
        Ink::Code => "38;5;24",
        Ink::Keyword => "38;5;90",
        Ink::Literal => "38;5;22",
        Ink::Comment => "38;5;243",
        Ink::Number => "38;5;94",
        Ink::Type => "38;5;25",
        Ink::Function => "38;5;18",
        Ink::Agent(number) => {
            ["38;5;30", "38;5;90", "38;5;25", "38;5;130", "38;5;28", "38;5;124"][number as usize % AGENTS]
        }
    }
}

fn contrast_ink(ink: Ink) -> &'static str {
    match ink {
        Ink::Text | Ink::Soft | Ink::Faint | Ink::Line | Ink::Code | Ink::Function | Ink::Comment => "",
        Ink::Picture(_) => "",
        Ink::Accent | Ink::Type => "96",
        Ink::Warning | Ink::Number => "93",
        Ink::Danger => "91",
        Ink::Good | Ink::Literal => "92",
        Ink::Thought | Ink::Keyword => "95",
        Ink::Agent(number) => ["96", "95", "94", "93", "92", "91"][number as usize % AGENTS],
    }
}

fn plain_ink(ink: Ink) -> &'static str {
    match ink {
        Ink::Faint | Ink::Line | Ink::Comment => "2",
        Ink::Danger | Ink::Warning => "1",
        _ => "",
    }
}

fn terminal_ground(ground: Ground) -> &'static str {
    match ground {
        Ground::None | Ground::Added | Ground::Removed => "",
        Ground::AddedWord | Ground::RemovedWord | Ground::Selected => "7",
        Ground::Match => "4",
    }
}

fn dark_ground(ground: Ground) -> &'static str {
    match ground {
        Ground::None => "",
        Ground::Added => "48;5;22",
        Ground::AddedWord => "48;5;28",
        Ground::Removed => "48;5;52",
        Ground::RemovedWord => "48;5;88",
        Ground::Selected => "48;5;237",
        Ground::Match => "48;5;58",
    }
}

fn light_ground(ground: Ground) -> &'static str {
    match ground {
        Ground::None => "",
        Ground::Added => "48;5;194",
        Ground::AddedWord => "48;5;157",
        Ground::Removed => "48;5;224",
        Ground::RemovedWord => "48;5;217",
        Ground::Selected => "48;5;254",
        Ground::Match => "48;5;229",
    }
}

fn plain_ground(ground: Ground) -> &'static str {
    match ground {
        Ground::Selected | Ground::AddedWord | Ground::RemovedWord => "7",
        Ground::Match => "4",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings_become_colours() {
        let sgr = |theme: Theme, style: Style| {
            let mut out = String::new();
            theme.sgr(style, &mut out);
            out.replace('\x1b', "^")
        };
        assert_eq!(sgr(Theme::Dark, Style::default()), "^[m");
        assert_eq!(sgr(Theme::Terminal, Style::new(Ink::Accent).bold()), "^[0;1;36m");
        assert_eq!(sgr(Theme::Plain, Style::new(Ink::Accent)), "^[0m");
        assert_eq!(sgr(Theme::Dark, Style::new(Ink::Text).on(Ground::Added)), "^[0;48;5;22m");
        assert_eq!(Theme::Auto.on_background(255, 255, 250), Theme::Light);
        assert_eq!(Theme::Contrast.on_background(0, 0, 0), Theme::Contrast);
        assert_eq!(Theme::named("light"), Some(Theme::Light));
    }
}
