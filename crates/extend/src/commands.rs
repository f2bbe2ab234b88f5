//! Commands of the person's own: a prompt with a name.

use std::path::PathBuf;

use crate::FrontMatter;
use crate::shelf::{Shelf, Shelved, stem};

/// A prompt that is run by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandText {
    pub name: String,
    pub description: String,
    /// What to write after it: `[issue]`.
    pub argument_hint: Option<String>,
    pub path: PathBuf,
    text: String,
}

impl CommandText {
    /// The prompt, with what was written after the command in its place: `$ARGUMENTS` for all of it, `$1` to `$9` for its
    /// words. Where the text has neither, it comes at the end.
    pub fn prompt(&self, arguments: &str) -> String {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let mut prompt = String::with_capacity(self.text.len() + arguments.len());
        let mut used = false;
        let mut rest = self.text.as_str();
        while let Some(at) = rest.find('$') {
            prompt.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix("ARGUMENTS") {
                prompt.push_str(arguments);
                (rest, used) = (after, true);
            } else if let Some(digit @ b'1'..=b'9') = rest.bytes().next() {
                prompt.push_str(words.get(usize::from(digit - b'1')).copied().unwrap_or_default());
                (rest, used) = (&rest[1..], true);
            } else {
                prompt.push('$');
            }
        }
        prompt.push_str(rest);
        if !used && !arguments.trim().is_empty() {
            prompt.push_str(&format!("\n\n{}", arguments.trim()));
        }
        prompt
    }
}

impl Shelf<'_> {
    /// Every command that may be used. The first of a name counts.
    pub fn commands(&self) -> Shelved<CommandText> {
        let mut shelved = Shelved::default();
        let mut commands: Vec<CommandText> = Vec::new();
        for path in self.files("commands", &[".covey/commands", ".claude/commands"]) {
            let Some(text) = self.read(&path, &mut shelved) else { continue };
            let (front, body) = FrontMatter::split(&text);
            let name = stem(&path);
            if commands.iter().any(|known| known.name == name) {
                continue;
            }
            commands.push(CommandText {
                name,
                description: front.text("description").unwrap_or_default().to_owned(),
                argument_hint: front.text("argument_hint").map(str::to_owned),
                text: body.to_owned(),
                path,
            });
        }
        shelved.items = commands;
        shelved
    }
}

#[cfg(test)]
mod tests {
    use super::CommandText;

    fn prompt(text: &str, arguments: &str) -> String {
        let command = CommandText {
            name: String::new(),
            description: String::new(),
            argument_hint: None,
            path: Default::default(),
            text: text.to_owned(),
        };
        command.prompt(arguments)
    }

    #[test]
    fn arguments_go_where_the_text_wants_them() {
        assert_eq!(prompt("fix $ARGUMENTS now", "the cart"), "fix the cart now");
        assert_eq!(prompt("$2 before $1, costs $5 and $HOME", "a b"), "b before a, costs  and $HOME");
        assert_eq!(prompt("review", "src/"), "review\n\nsrc/");
        assert_eq!(prompt("review $", ""), "review $");
        // What is filled in is not looked through again.
        assert_eq!(prompt("say $ARGUMENTS", "$1 $ARGUMENTS"), "say $1 $ARGUMENTS");
    }
}
