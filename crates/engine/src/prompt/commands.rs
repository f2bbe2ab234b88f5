//! Commands that people added: a prompt, or a skill, that is run by its name.

use extend::{CommandText, Skill};
use protocol::{AgentCommand, CommandOrigin, CommandSummary, Resource};

/// Commands that come with Covey: name, what it does, what the agent is asked. A person's own of the same name counts.
const BUILT_IN: &[(&str, &str, &str)] = &[("init", "write AGENTS.md from what the project is", INIT)];

const INIT: &str = "\
Look at this project and write AGENTS.md in its root, for coding agents that will work here. If there is one already, \
improve it and keep what is right. Say, in at most 60 short lines: what the project is; how to build, run, test and \
lint it, with the exact commands, also for a single test; where things are; the conventions that the code follows and \
a newcomer would break; what to be careful with. Check each command and path against the files before you write it \
down. Leave out what every programmer knows.";

/// What can be run by name in one project.
pub(crate) struct Commands {
    pub(crate) commands: Vec<CommandText>,
    pub(crate) skills: Vec<Skill>,
    /// The person's own folder: what lies elsewhere is the project's.
    pub(crate) person: Option<std::path::PathBuf>,
}

/// The name and the arguments of a prompt that begins like a command.
pub(crate) fn named(prompt: &str) -> Option<(&str, &str)> {
    let rest = prompt.strip_prefix('/')?;
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (name, arguments) = rest.split_at(end);
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name, arguments.trim()))
}

impl Commands {
    /// What the command says, as it goes along with the prompt that named it. None for a name that nobody added: the
    /// agent may know it.
    pub(super) fn spelled_out(&self, name: &str, arguments: &str) -> Option<Resource> {
        if let Some(command) = self.commands.iter().find(|command| command.name == name) {
            return Some(instructions(format!("command:{name}"), command.prompt(arguments)));
        }
        if let Some((.., text)) = BUILT_IN.iter().find(|(known, ..)| *known == name) {
            let text = format!("{text}\n{arguments}");
            return Some(instructions(format!("command:{name}"), text.trim_end().to_owned()));
        }
        let skill = self.skills.iter().find(|skill| skill.name == name)?;
        Some(instructions(format!("skill:{name}"), skill.text().ok()?))
    }

    /// All of them, and what the session's agent says that it understands.
    pub(crate) fn summaries(&self, agent: &[AgentCommand]) -> Vec<CommandSummary> {
        let origin = |path: &std::path::Path| match &self.person {
            Some(person) if path.starts_with(person) => CommandOrigin::Person,
            _ => CommandOrigin::Project,
        };
        let commands = self.commands.iter().map(|command| CommandSummary {
            name: command.name.clone(),
            description: command.description.clone(),
            hint: command.argument_hint.clone(),
            origin: origin(&command.path),
        });
        let known = |name: &str| self.commands.iter().any(|command| command.name == name);
        let skills = self.skills.iter().filter(|skill| !known(&skill.name)).map(|skill| CommandSummary {
            name: skill.name.clone(),
            description: skill.description.clone(),
            hint: None,
            origin: CommandOrigin::Skill,
        });
        let of_agent = agent.iter().filter(|command| !known(&command.name)).map(|command| CommandSummary {
            name: command.name.clone(),
            description: command.description.clone(),
            hint: command.hint.clone(),
            origin: CommandOrigin::Agent,
        });
        let own = BUILT_IN.iter().filter(|(name, ..)| !known(name)).map(|(name, description, _)| {
            let (name, description) = ((*name).to_owned(), (*description).to_owned());
            CommandSummary { name, description, hint: None, origin: CommandOrigin::Covey }
        });
        commands.chain(own).chain(skills).chain(of_agent).collect()
    }
}

fn instructions(uri: String, text: String) -> Resource {
    Resource { uri, media_type: Some("text/markdown".to_owned()), text: Some(text), blob: None }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn only_a_name_after_a_slash_is_a_command() {
        assert_eq!(named("/fix the cart\nnow"), Some(("fix", "the cart\nnow")));
        assert_eq!(named("/db:migrate"), Some(("db:migrate", "")));
        for prompt in ["", "/", "/ x", "fix", " /fix", "/usr/bin is full", "//x", "/?"] {
            assert_eq!(named(prompt), None, "{prompt:?}");
        }
    }
}
