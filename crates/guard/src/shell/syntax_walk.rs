//! Reaching every redirection of a command, however deep.

use super::syntax::{Change, Command, Piece, Redirect, Script, Target, Word};

pub(super) fn redirects(command: &mut Command, visit: &mut dyn FnMut(&mut Redirect)) {
    match command {
        Command::Simple(simple) => {
            for word in simple.assignments.iter_mut().flat_map(|assignment| &mut assignment.values) {
                in_word(word, visit);
            }
            simple.words.iter_mut().for_each(|word| in_word(word, visit));
            of(&mut simple.redirects, visit);
        }
        Command::Chain(parts) | Command::Pipeline(parts) | Command::Function { body: parts, .. } => {
            all(parts, visit)
        }
        Command::Group { body, redirects } => {
            all(body, visit);
            of(redirects, visit);
        }
        Command::Block { words, body, redirects } => {
            words.iter_mut().for_each(|word| in_word(word, visit));
            all(body, visit);
            of(redirects, visit);
        }
        Command::For { words, body, redirects, .. } => {
            words.iter_mut().flatten().for_each(|word| in_word(word, visit));
            all(body, visit);
            of(redirects, visit);
        }
    }
}

fn all(commands: &mut [Command], visit: &mut dyn FnMut(&mut Redirect)) {
    commands.iter_mut().for_each(|command| redirects(command, visit));
}

fn of(list: &mut [Redirect], visit: &mut dyn FnMut(&mut Redirect)) {
    for redirect in list {
        visit(redirect);
        match &mut redirect.target {
            Target::File(word) | Target::Text(word) => in_word(word, visit),
            Target::Descriptor => {}
        }
    }
}

fn in_word(word: &mut Word, visit: &mut dyn FnMut(&mut Redirect)) {
    for piece in &mut word.pieces {
        match piece {
            Piece::Text { .. } => {}
            Piece::Variable { change, .. } => match change {
                Change::None => {}
                Change::Instead(word) | Change::Other(word) => in_word(word, visit),
            },
            Piece::Output { script: Script { commands }, .. } | Piece::Process(Script { commands }) => {
                all(commands, visit);
            }
            Piece::Number(words) => words.iter_mut().for_each(|word| in_word(word, visit)),
        }
    }
}
