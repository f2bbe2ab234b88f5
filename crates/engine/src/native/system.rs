//! Who the model is told it is.

use std::path::Path;

use extend::{Rule, Skill};

/// What the system prompt is made of.
pub(super) struct Parts<'a> {
    pub(super) cwd: &'a Path,
    /// Folders besides it that the session works in.
    pub(super) folders: &'a [String],
    /// Names of tools that are found with `tool_search`; none at all where the model can not use tools.
    pub(super) deferred: Option<Vec<&'a str>>,
    pub(super) rules: &'a [Rule],
    pub(super) skills: &'a [Skill],
    pub(super) roles: Vec<(&'a str, &'a str)>,
    pub(super) memory: Option<&'a str>,
}

/// The system prompt. It depends only on what is given when the session is opened, so it is the same at every step.
pub(super) fn system_prompt(parts: &Parts<'_>) -> String {
    let mut prompt = String::from(
        "You are Covey, a coding agent that works with a person in their project. Be brief, exact and honest. Say what \
         you found and what you did; when you do not know, say so. Write Markdown.\n",
    );
    if let Some(deferred) = &parts.deferred {
        prompt.push_str(
            "\nLook before you answer: read the files that a question is about instead of guessing. Call several tools \
             at once when they do not need each other's results. Change no more than the task asks for, keep to the style \
             around it, and check your work by running it. When a call is denied, do not try it again in another way; go \
             on without it and say so.\n",
        );
        prompt.push_str(&format!("{}\n", guard::DATA_NOTICE));
        if !deferred.is_empty() {
            prompt.push_str(&format!("More tools, found with `tool_search`: {}.\n", deferred.join(", ")));
        }
        if !parts.roles.is_empty() {
            let names: Vec<&str> = parts.roles.iter().map(|(name, _)| *name).collect();
            prompt.push_str(&format!("Roles for `task`: {}.\n", names.join(", ")));
        }
    }
    prompt.push_str(&format!("\nThe project is in `{}` on {}.\n", parts.cwd.display(), std::env::consts::OS));
    if !parts.folders.is_empty() {
        let folders: Vec<String> = parts.folders.iter().map(|folder| format!("`{folder}`")).collect();
        prompt.push_str(&format!("These folders belong to it too: {}.\n", folders.join(", ")));
    }
    for rule in parts.rules.iter().filter(|rule| rule.paths.is_empty()) {
        prompt.push_str(&format!("\n# Rules from {}\n{}\n", rule.source.display(), rule.text.trim()));
    }
    if !parts.skills.is_empty() && parts.deferred.is_some() {
        prompt.push_str("\n# Skills (read one with `load_skill` before you do what it is about)\n");
        for skill in parts.skills {
            prompt.push_str(&format!("- {}: {}\n", skill.name, skill.description));
        }
    }
    if let Some(memory) = parts.memory {
        prompt.push_str(&format!("\n# What you noted about this project\n{}\n", memory.trim()));
    }
    prompt
}
