//! The list under the composer: commands after a slash; files, sub-agents and names in the code after an at sign; folders
//! after a command that wants one.

use client::commands::{CommandId, parse, suggest};
use protocol::{Mention, MentionKind, Request};

use super::{App, Effect, Ticket};
use crate::bindings::Action;
use crate::keys::{Code, Key};

/// Rows of the list.
pub(super) const SHOWN: usize = 8;
const MAX_MENTIONS: u32 = 50;
const MAX_FOLDERS: u32 = 50;

pub(super) struct Popup {
    pub(super) kind: Kind,
    /// Where in the text the word begins, with its sign.
    pub(super) start: usize,
    pub(super) word: String,
    pub(super) items: Vec<Item>,
    pub(super) selected: usize,
    /// The person moved in it, so that Enter takes what is selected.
    moved: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Command,
    Mention,
    Folder,
}

pub(super) struct Item {
    pub(super) insert: String,
    pub(super) label: String,
    pub(super) help: String,
    /// What kind of thing it is, where there are several.
    pub(super) sign: &'static str,
    /// It wants something after it.
    wants_more: bool,
}

impl App {
    /// After each change: is there something to complete?
    pub(super) fn refresh_popup(&mut self, effects: &mut Vec<Effect>) {
        let text = self.composer.buffer.text();
        let before = &text[..self.composer.buffer.caret()];
        if let Some(typed) = before.strip_prefix('/').filter(|typed| !typed.contains(char::is_whitespace)) {
            if !std::mem::replace(&mut self.commands_asked, true)
                && let Some(session) = self.session().cloned()
            {
                effects.push(Effect::Read(Request::Commands { session }, Ticket::Commands));
            }
            let typed = typed.to_owned();
            self.command_popup(&typed);
            return;
        }
        if let Some((command, start)) = folder_wanted(before) {
            let fragment = before[start..].to_owned();
            self.folder_popup(command, start, fragment, effects);
            return;
        }
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        match before[start..].strip_prefix('@') {
            Some(fragment) => {
                let (fragment, word) = (fragment.to_owned(), before[start..].to_owned());
                let keep =
                    self.popup.take().filter(|popup| popup.kind == Kind::Mention && popup.start == start);
                let items = keep.map(|popup| popup.items).unwrap_or_default();
                self.popup =
                    Some(Popup { kind: Kind::Mention, start, word, items, selected: 0, moved: false });
                self.with_session(effects, move |session| {
                    let request = Request::Mentions {
                        session: session.clone(),
                        fragment: fragment.clone(),
                        limit: MAX_MENTIONS,
                    };
                    Effect::Read(request, Ticket::Mentions(fragment))
                });
            }
            None => self.popup = None,
        }
    }

    pub(super) fn command_popup(&mut self, typed: &str) {
        let items: Vec<Item> = suggest(typed, &self.commands)
            .into_iter()
            .map(|command| Item {
                insert: format!("/{}", command.name),
                label: format!(
                    "/{}{}",
                    command.name,
                    command.hint.as_deref().map(|hint| format!(" {hint}")).unwrap_or_default()
                ),
                help: command.help,
                sign: "",
                wants_more: command.hint.as_deref().is_some_and(|hint| !hint.starts_with('[')),
            })
            .collect();
        let word = format!("/{typed}");
        self.popup = (!items.is_empty()).then_some(Popup {
            kind: Kind::Command,
            start: 0,
            word,
            items,
            selected: 0,
            moved: false,
        });
    }

    fn folder_popup(
        &mut self,
        command: CommandId,
        start: usize,
        fragment: String,
        effects: &mut Vec<Effect>,
    ) {
        let keep = self.popup.take().filter(|popup| popup.kind == Kind::Folder && popup.start == start);
        let items = keep.map(|popup| popup.items).unwrap_or_default();
        let word = fragment.clone();
        self.popup = Some(Popup { kind: Kind::Folder, start, word, items, selected: 0, moved: false });
        if command == CommandId::RemoveDir {
            let fits = |folder: &&String| folder.starts_with(&fragment) && **folder != fragment;
            let found = self.current_folders().iter().filter(fits).cloned().collect();
            return self.folders_found(&fragment, found);
        }
        self.with_session(effects, move |session| {
            let (session, limit) = (session.clone(), MAX_FOLDERS);
            let request = Request::CompleteFolder { session, fragment: fragment.clone(), limit };
            Effect::Read(request, Ticket::Folders(fragment))
        });
    }

    pub(super) fn folders_found(&mut self, fragment: &str, found: Vec<String>) {
        let Some(popup) = self.popup.as_mut().filter(|popup| popup.kind == Kind::Folder) else { return };
        if popup.word != fragment {
            return;
        }
        let item = |folder: String| Item {
            insert: folder.clone(),
            label: folder,
            help: String::new(),
            sign: "▸ ",
            wants_more: true,
        };
        popup.items = found.into_iter().map(item).collect();
        popup.selected = 0;
    }

    pub(super) fn mentions_found(&mut self, fragment: &str, found: Vec<Mention>) {
        let Some(popup) = self.popup.as_mut().filter(|popup| popup.kind == Kind::Mention) else { return };
        // An answer to what was typed before is of no use any more.
        if popup.word.strip_prefix('@') != Some(fragment) {
            return;
        }
        let item = |mention: Mention| Item {
            insert: match mention.name.contains(char::is_whitespace) {
                true => format!("@\"{}\"", mention.name),
                false => format!("@{}", mention.name),
            },
            sign: match mention.kind {
                MentionKind::Path if mention.name.ends_with('/') => "▸ ",
                MentionKind::Path => "  ",
                MentionKind::Symbol => "ƒ ",
                MentionKind::Agent => "● ",
            },
            label: mention.name,
            help: mention.detail,
            wants_more: false,
        };
        popup.items = found.into_iter().map(item).collect();
        popup.selected = 0;
    }

    /// Whether the key was for the list.
    pub(super) fn popup_key(&mut self, key: Key, action: Option<Action>, effects: &mut Vec<Effect>) -> bool {
        let Some(popup) = &mut self.popup else { return false };
        if popup.items.is_empty() {
            return false;
        }
        let count = popup.items.len();
        match (key.code, action) {
            (Code::Esc, _) => self.popup = None,
            (Code::Up, _) | (_, Some(Action::Up)) => {
                popup.selected = (popup.selected + count - 1) % count;
                popup.moved = true;
            }
            (Code::Down, _) | (_, Some(Action::Down)) => {
                popup.selected = (popup.selected + 1) % count;
                popup.moved = true;
            }
            (Code::Tab, _) if !key.shift => self.take_completion(false, effects),
            (Code::Enter, _) if Self::is_plain_enter(key) => match popup.kind {
                Kind::Mention => self.take_completion(false, effects),
                Kind::Folder if popup.moved => self.take_completion(false, effects),
                // What was typed is what is meant.
                Kind::Folder => {
                    self.popup = None;
                    return false;
                }
                Kind::Command => {
                    // What was typed in full is sent as it is.
                    let exact =
                        client::commands::find(popup.word.trim_start_matches('/')).is_some() && !popup.moved;
                    if exact {
                        self.popup = None;
                        return false;
                    }
                    self.take_completion(true, effects);
                }
            },
            _ => return false,
        }
        true
    }

    fn take_completion(&mut self, send: bool, effects: &mut Vec<Effect>) {
        let Some(popup) = self.popup.take() else { return };
        let Some(item) = popup.items.get(popup.selected) else { return };
        let end = popup.start + popup.word.len();
        let folder = popup.kind != Kind::Command && item.insert.ends_with('/');
        let space = if folder || popup.kind == Kind::Folder { "" } else { " " };
        self.composer.buffer.splice(popup.start, end, &format!("{}{space}", item.insert));
        if folder {
            self.composer.touched = true;
        } else if send && !item.wants_more {
            let key = Key::plain(Code::Enter);
            self.signal(crate::keys::Signal::Key(key), effects);
        }
        self.draft_due = true;
    }
}

/// The command that wants a folder, and where the folder begins, if that is what is being typed.
fn folder_wanted(before: &str) -> Option<(CommandId, usize)> {
    let (command, _) = parse(before)?;
    let space = before.find(char::is_whitespace)?;
    let start = before.len() - before[space..].trim_start().len();
    matches!(command.id, CommandId::AddDir | CommandId::RemoveDir).then_some((command.id, start))
}
