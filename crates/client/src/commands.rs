//! The slash commands that every front end has.
//!
//! One table, so that `/model` means the same in the terminal, the browser and an editor. What people and agents add
//! comes from [`protocol::Request::Commands`] and is listed after these; a name that is here is never theirs.

use protocol::CommandSummary;

/// A command that a front end carries out itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    pub id: CommandId,
    /// What is typed after the slash.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub section: Section,
    /// What it does, in a few words.
    pub help: &'static str,
    /// What may follow it: `[NAME]` may be left out.
    pub hint: Option<&'static str>,
    /// Whether it makes sense while a turn is running.
    pub while_busy: bool,
}

/// How commands are grouped where they are listed, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    Session,
    Context,
    Agent,
    Project,
    Look,
    Help,
}

impl Section {
    pub const ALL: [Section; 6] =
        [Self::Session, Self::Context, Self::Agent, Self::Project, Self::Look, Self::Help];

    pub fn title(self) -> &'static str {
        match self {
            Self::Session => "Session",
            Self::Context => "Context",
            Self::Agent => "Agent and model",
            Self::Project => "Project",
            Self::Look => "Look",
            Self::Help => "Help",
        }
    }
}

macro_rules! commands {
    ($( $section:ident $id:ident $name:literal $(or $($alias:literal)+)? $([$hint:literal])? $(; $when:ident)? => $help:literal, )*) => {
        /// Which command it is: front ends match on this, so a new one is noticed everywhere.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum CommandId {
            $($id),*
        }

        /// Every command, section by section.
        pub const COMMANDS: &[Command] = &[$(
            Command {
                id: CommandId::$id,
                name: $name,
                aliases: &[$($($alias),+)?],
                section: Section::$section,
                help: $help,
                hint: commands!(@hint $($hint)?),
                while_busy: commands!(@when $($when)?),
            }
        ),*];
    };
    (@hint) => { None };
    (@hint $hint:literal) => { Some($hint) };
    (@when) => { false };
    (@when busy) => { true };
}

commands! {
    Session New "new" or "clear" => "start a new session here",
    Session Resume "resume" or "sessions" "continue" ["[WORDS]"] => "open another session",
    Session Rename "rename" or "title" ["TITLE"]; busy => "name this session",
    Session Fork "fork" or "branch" => "go on in a copy and leave this one as it is",
    Session Rewind "rewind" or "back" => "go back to an earlier prompt, with the files or without",
    Session Undo "undo" ["[turn, step, all]"] => "take back what was done to files",
    Session Redo "redo" => "do again what was taken back",
    Session Diff "diff" or "changes" ["[FILE]"]; busy => "what this session changed",
    Session Export "export" or "save" ["[FILE]"]; busy => "write the conversation to a file",
    Session Copy "copy" or "yank"; busy => "copy the last answer",
    Session Quit "quit" or "exit" "q"; busy => "leave; the session is kept",
    Context Context "context" or "ctx"; busy => "what fills the window",
    Context Compact "compact" or "summarize" ["[WHAT TO KEEP]"] => "summarise earlier turns now",
    Context Uncompact "uncompact" => "have the whole conversation in the window again",
    Context Pin "pin" ["FILE or message:ID"] => "keep something in the window",
    Context Unpin "unpin" ["NAME"] => "let it go",
    Context Memory "memory"; busy => "what is remembered between sessions, and the rules that are read",
    Context Cost "cost" or "usage"; busy => "what this session spent",
    Agent Agent "agent" or "agents" ["[NAME]"] => "who answers",
    Agent Model "model" or "models" ["[PROVIDER/MODEL]"] => "which model answers",
    Agent Mode "mode" or "permission-mode" ["[explore, plan, ask, edit, auto, full]"]; busy => "how much happens without asking",
    Agent Thinking "thinking" or "think" "effort" ["[none, low, medium, high, max, default, show, hide]"]; busy => "how much the model thinks, and whether it is shown",
    Agent Tools "tools"; busy => "what the agent can do",
    Agent Mcp "mcp"; busy => "tools of other programs",
    Agent Permissions "permissions" or "allow" "rules"; busy => "what is allowed, asked and denied, and why",
    Project Init "init" ["[WHAT ELSE]"] => "write AGENTS.md from what the project is",
    Project AddDir "add-dir" ["[DIR]"] => "work in another folder too, or see which there are",
    Project RemoveDir "remove-dir" ["DIR"] => "no longer work in a folder that was added",
    Project Shell "shell" or "!" ["COMMAND"] => "run a command and show the agent what it printed",
    Project Editor "editor" or "edit"; busy => "write the prompt in your editor",
    Look Theme "theme" or "colors" ["[auto, terminal, dark, light, contrast, plain]"]; busy => "the colours",
    Look Vim "vim"; busy => "Vim's keys, on or off",
    Look Screen "fullscreen" or "screen"; busy => "use the whole screen, or the terminal's scrollback",
    Look Settings "settings" or "config"; busy => "where settings are and what they say",
    Help Help "help" or "commands" "h"; busy => "these commands",
    Help Keys "keys" or "keybindings" "shortcuts"; busy => "the keys",
    Help Status "status"; busy => "who answers, where, and how it goes",
    Help Doctor "doctor"; busy => "check this machine",
    Help Bug "bug" or "feedback"; busy => "what to tell us when something is wrong",
}

/// The command that `name` names, without its slash.
pub fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name || command.aliases.contains(&name))
}

/// What was typed, taken apart: a command that front ends know, and what follows it.
///
/// None for text that is no command of theirs: it is sent as it is, and the engine knows the rest.
pub fn parse(text: &str) -> Option<(&'static Command, &str)> {
    let typed = text.strip_prefix('/')?;
    let end = typed.find(char::is_whitespace).unwrap_or(typed.len());
    let (name, rest) = typed.split_at(end);
    find(name).map(|command| (command, rest.trim()))
}

/// A command as lists show it, whoever it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub name: String,
    pub help: String,
    pub hint: Option<String>,
    /// The front end's own; none for one that is sent as a prompt.
    pub id: Option<CommandId>,
}

/// The commands whose name, alias or description fits what was typed after the slash, the best first.
pub fn suggest(typed: &str, added: &[CommandSummary]) -> Vec<Suggestion> {
    let typed = typed.to_lowercase();
    let rank = |name: &str, aliases: &[&str], help: &str| {
        let alias = |fits: &dyn Fn(&str) -> bool| aliases.iter().any(|alias| fits(alias));
        if name == typed {
            Some(0)
        } else if name.starts_with(&typed) {
            Some(1)
        } else if alias(&|alias| alias.starts_with(&typed)) {
            Some(2)
        } else if name.contains(&typed) {
            Some(3)
        } else if typed.len() > 2 && help.to_lowercase().contains(&typed) {
            Some(4)
        } else {
            None
        }
    };
    let own = COMMANDS.iter().filter_map(|command| {
        let suggestion = Suggestion {
            name: command.name.to_owned(),
            help: command.help.to_owned(),
            hint: command.hint.map(str::to_owned),
            id: Some(command.id),
        };
        Some((rank(command.name, command.aliases, command.help)?, suggestion))
    });
    let theirs = added.iter().filter(|added| find(&added.name).is_none()).filter_map(|added| {
        let suggestion = Suggestion {
            name: added.name.clone(),
            help: added.description.clone(),
            hint: added.hint.clone(),
            id: None,
        };
        Some((rank(&added.name.to_lowercase(), &[], &added.description)?, suggestion))
    });
    let mut found: Vec<(u8, Suggestion)> = own.chain(theirs).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, suggestion)| suggestion).collect()
}

/// The table for the browser, written by `cargo xtask codegen`.
pub fn typescript() -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let mut module = String::from(
        "// Generated from crates/client by `cargo xtask codegen`. Do not edit.\n\n\
         /** The slash commands that every front end has. */\nexport const COMMANDS = [\n",
    );
    for command in COMMANDS {
        let aliases: Vec<String> = command.aliases.iter().map(|alias| text(alias)).collect();
        let hint = command.hint.map(|hint| format!(", hint: {}", text(hint))).unwrap_or_default();
        module.push_str(&format!(
            "  {{ name: {}, aliases: [{}], section: {}, help: {}{hint}, whileBusy: {} }},\n",
            text(command.name),
            aliases.join(", "),
            text(command.section.title()),
            text(command.help),
            command.while_busy
        ));
    }
    module.push_str("] as const;\n\nexport type CommandName = (typeof COMMANDS)[number][\"name\"];\n");
    module
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::CommandOrigin;

    #[test]
    fn names_are_unique_and_sections_stay_together() {
        let mut names: Vec<&str> = COMMANDS
            .iter()
            .flat_map(|command| command.aliases.iter().copied().chain([command.name]))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(COMMANDS.is_sorted_by_key(|command| command.section));
    }

    #[test]
    fn the_table_for_the_browser_is_fresh() {
        let path = "packages/protocol/src/generated/commands.ts";
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let committed = std::fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(committed == typescript(), "{path} is stale; run `cargo xtask codegen`");
    }

    #[test]
    fn typed_text_is_taken_apart() {
        assert_eq!(
            parse("/model  local/small ").map(|(c, rest)| (c.name, rest)),
            Some(("model", "local/small"))
        );
        assert_eq!(parse("/clear").map(|(c, _)| c.id), Some(CommandId::New));
        assert_eq!(parse("/usr/bin/env"), None);
        assert_eq!(parse("model"), None);
    }

    #[test]
    fn the_best_fit_comes_first_and_added_ones_never_hide_ours() {
        let added = |name: &str| CommandSummary {
            name: name.to_owned(),
            description: "review the diff".to_owned(),
            hint: None,
            origin: CommandOrigin::Project,
        };
        let names = |typed: &str| -> Vec<String> {
            suggest(typed, &[added("review"), added("undo")]).into_iter().map(|s| s.name).collect()
        };
        assert_eq!(names("undo"), ["undo"]);
        assert_eq!(names("re")[..4], ["resume", "rename", "rewind", "redo"]);
        assert!(names("re").contains(&"review".to_owned()));
        assert_eq!(names("clear"), ["new"]);
        assert_eq!(names("").len(), COMMANDS.len() + 1);
    }
}
