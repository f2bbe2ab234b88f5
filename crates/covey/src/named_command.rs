//! An agent that a person names by its command: `--agent 'my-agent --acp'`.
//!
//! Only a command line can name one. A name in a session or in a repository's settings never starts anything that the
//! person's own settings do not know.

use crate::exit::Failure;

/// What is started, and what it is called from then on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedCommand {
    pub(crate) name: String,
    pub(crate) words: Vec<String>,
}

impl NamedCommand {
    /// None for the name of an agent: a command has a path or arguments.
    pub(crate) fn read(text: &str) -> Result<Option<Self>, Failure> {
        if !text.contains(['/', ' ', '\t']) {
            return Ok(None);
        }
        let words = split(text)
            .ok_or_else(|| Failure::usage(format!("a quote in the command `{text}` is not closed")))?;
        let Some(program) = words.first() else { return Ok(None) };
        let name = program.rsplit('/').next().unwrap_or(program);
        // What is known by that name is something else: another program, or other arguments.
        Ok(Some(Self { name: format!("{name}-command"), words }))
    }
}

/// Words as a shell has them, with quotes and without anything else.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        end if end == letter => break,
                        inside => word.push(inside),
                    }
                }
            }
            letter if letter.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_a_path_or_arguments() {
        let words = |text: &str| NamedCommand::read(text).unwrap().map(|named| named.words.join("|"));
        assert_eq!(words("codex"), None);
        assert_eq!(words("  "), None);
        assert_eq!(words("my-agent --acp"), Some("my-agent|--acp".to_owned()));
        assert_eq!(words("/opt/a 'b c' \"d\"e ''"), Some("/opt/a|b c|de|".to_owned()));
        assert!(NamedCommand::read("a 'b").is_err());
        assert_eq!(NamedCommand::read("/opt/a/agent").unwrap().unwrap().name, "agent-command");
    }
}
