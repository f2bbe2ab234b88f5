//! `covey completions`.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArguments};
use crate::exit::{Exit, Failure};
use crate::terminal::print;

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<Exit, Failure> {
    // Written in one go, so that a reader that leaves early ends us quietly.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "covey", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
