//! Which key does what. Everything can be bound otherwise in the settings: `tui.keys.submit = ["ctrl-enter"]`.

use std::collections::HashMap;

use crate::keys::Key;

macro_rules! actions {
    ($( $section:literal { $( $action:ident $name:literal [$($key:literal)*] => $help:literal, )* } )*) => {
        /// Something a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Action {
            $($( $action, )*)*
        }

        /// Every action by section: its name in the settings, its keys, what it does.
        pub(crate) const SECTIONS: &[(&str, &[Entry])] = &[$(
            ($section, &[$( Entry { action: Action::$action, name: $name, keys: &[$($key),*], help: $help }, )*]),
        )*];
    };
}

pub(crate) struct Entry {
    pub(crate) action: Action,
    pub(crate) name: &'static str,
    keys: &'static [&'static str],
    pub(crate) help: &'static str,
}

actions! {
    "Conversation" {
        Submit "submit" ["enter"] => "send; while the agent works, queue",
        Newline "newline" ["alt-enter" "shift-enter" "ctrl-j"] => "new line",
        Stop "stop" ["esc"] => "stop the agent; twice: go back to an earlier prompt",
        Cancel "cancel" ["ctrl-c"] => "clear the line, stop the agent; twice: leave",
        Leave "leave" ["ctrl-d"] => "leave, when nothing is written",
        CycleMode "cycle_mode" ["shift-tab"] => "next mode",
        Model "model" ["alt-m" "alt-p"] => "choose a model",
        Sessions "sessions" ["alt-s"] => "choose a session",
        Transcript "transcript" ["ctrl-o"] => "the whole conversation, with everything open",
        Thinking "thinking" ["alt-t"] => "show what the model thinks, or fold it",
        Plan "plan" ["ctrl-t"] => "show the plan, or hide it",
        Help "help" ["f1"] => "these keys; also ? when nothing is written",
        Redraw "redraw" ["ctrl-l"] => "draw the screen anew",
        Suspend "suspend" ["ctrl-z"] => "back to the shell for a while; `fg` returns",
    }
    "Writing" {
        Complete "complete" ["tab"] => "complete; open a folded paste",
        Editor "editor" ["ctrl-g" "ctrl-x"] => "write in your editor",
        PasteImage "paste_image" ["ctrl-v" "alt-v"] => "attach the picture in the clipboard",
        HistorySearch "history_search" ["ctrl-r"] => "search earlier prompts",
        Up "up" ["up" "ctrl-p"] => "up; earlier prompts",
        Down "down" ["down" "ctrl-n"] => "down; later prompts",
        Left "left" ["left" "ctrl-b"] => "left",
        Right "right" ["right" "ctrl-f"] => "right",
        WordLeft "word_left" ["alt-b" "ctrl-left" "alt-left"] => "a word left",
        WordRight "word_right" ["alt-f" "ctrl-right" "alt-right"] => "a word right",
        LineStart "line_start" ["home" "ctrl-a"] => "to the start of the line",
        LineEnd "line_end" ["end" "ctrl-e"] => "to the end of the line",
        Start "start" ["ctrl-home" "alt-<"] => "to the start",
        End "end" ["ctrl-end" "alt->"] => "to the end",
        DeleteBack "delete_back" ["backspace" "shift-backspace" "ctrl-h"] => "delete the character before",
        Delete "delete" ["delete"] => "delete the character after",
        DeleteWordBack "delete_word_back" ["ctrl-w" "alt-backspace" "ctrl-backspace"] => "cut the word before",
        DeleteWord "delete_word" ["alt-d" "ctrl-delete"] => "cut the word after",
        CutToEnd "cut_to_end" ["ctrl-k"] => "cut to the end of the line",
        CutToStart "cut_to_start" ["ctrl-u"] => "cut to the start of the line",
        Yank "yank" ["ctrl-y"] => "put back what was cut",
        Undo "undo" ["ctrl-_" "alt-z"] => "take the last change back",
        Redo "redo" ["alt-_" "alt-y"] => "make it again",
    }
    "Reading" {
        PageUp "page_up" ["pageup"] => "a page up",
        PageDown "page_down" ["pagedown"] => "a page down",
    }
}

/// The keys in force.
pub(crate) struct Bindings {
    keys: HashMap<Key, Action>,
}

impl Bindings {
    /// The usual ones, and what the settings say instead. An error names what was not understood.
    pub(crate) fn new<'a>(changed: impl IntoIterator<Item = (&'a str, Vec<String>)>) -> Result<Self, String> {
        let mut by_action: HashMap<Action, Vec<Key>> = entries()
            .map(|entry| (entry.action, entry.keys.iter().filter_map(|key| Key::parse(key)).collect()))
            .collect();
        for (name, keys) in changed {
            let entry = entries().find(|entry| entry.name == name).ok_or_else(|| {
                let known: Vec<&str> = entries().map(|entry| entry.name).collect();
                format!("`{name}` is nothing that a key can do; there are: {}", known.join(", "))
            })?;
            let parsed =
                keys.iter().map(|key| Key::parse(key).ok_or_else(|| format!("`{key}` is not a key")));
            let parsed = parsed.collect::<Result<Vec<Key>, String>>()?;
            // A key does one thing: who had it before lets go of it.
            for others in by_action.values_mut() {
                others.retain(|key| !parsed.contains(key));
            }
            by_action.insert(entry.action, parsed);
        }
        let keys =
            by_action.into_iter().flat_map(|(action, keys)| keys.into_iter().map(move |key| (key, action)));
        Ok(Self { keys: keys.collect() })
    }

    pub(crate) fn action(&self, key: Key) -> Option<Action> {
        self.keys.get(&key).copied()
    }

    /// The keys of an action, the shortest name first.
    pub(crate) fn keys(&self, action: Action) -> Vec<String> {
        let mut keys: Vec<String> =
            self.keys.iter().filter(|(_, bound)| **bound == action).map(|(key, _)| key.to_string()).collect();
        keys.sort_by_key(|key| (key.len(), key.clone()));
        keys
    }
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    SECTIONS.iter().flat_map(|(_, entries)| entries.iter())
}

/// The names that the settings know.
pub fn key_names() -> Vec<&'static str> {
    entries().map(|entry| entry.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_and_each_does_one_thing() {
        let mut seen = std::collections::HashMap::new();
        for entry in entries() {
            for key in entry.keys {
                let parsed = Key::parse(key).unwrap_or_else(|| panic!("{key}"));
                assert_eq!(seen.insert(parsed, entry.name), None, "{key}");
            }
        }
        let bindings =
            Bindings::new([("submit", vec!["ctrl-s".to_owned()]), ("newline", vec!["enter".to_owned()])])
                .unwrap();
        assert_eq!(bindings.action(Key::parse("enter").unwrap()), Some(Action::Newline));
        assert_eq!(bindings.keys(Action::Submit), ["ctrl-s"]);
        assert!(Bindings::new([("submitt", vec![])]).is_err());
        assert!(Bindings::new([("submit", vec!["hyper-x".to_owned()])]).is_err());
    }
}
