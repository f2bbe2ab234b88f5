//! What a person reads when they are asked.

use guard::Action;

/// What the person reads. The exact command goes before the agent's words for it.
pub(crate) fn title(title: &str, name: &str, actions: &[Action]) -> String {
    let exact = actions.iter().find_map(|action| match action {
        Action::Shell { command, .. } => Some(command.clone()),
        Action::Program { argv, .. } => Some(argv.join(" ")),
        Action::Write { change, paths } => {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            Some(format!("{} {}", format!("{change:?}").to_lowercase(), paths.join(" ")))
        }
        _ => None,
    });
    match exact {
        Some(exact) => exact,
        None if title.is_empty() => name.to_owned(),
        None => title.to_owned(),
    }
}
