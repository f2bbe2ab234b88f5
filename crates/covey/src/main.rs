//! `covey`: the command line, the wiring, the exit codes. The only crate that knows all the others.

mod acp;
mod acp_proxy;
mod added;
mod agents;
mod attach;
mod cli;
mod completions;
mod config;
mod confirm;
mod discover;
mod doctor;
mod exit;
mod in_process;
mod index;
mod inside;
mod leave;
mod login;
mod models;
mod named_command;
mod permissions;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod relocations;
mod remote;
mod run;
mod search;
mod serve;
mod servers;
mod session;
mod settings;
mod stats;
mod talk;
mod terminal;
mod tools;
mod web;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use cli::{Cli, Command};
use exit::{Exit, Failure};

fn main() -> ExitCode {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    relocations::let_go();
    #[cfg(target_os = "linux")]
    project::may_be_starter(&guard::Outside);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers; anything else is wrong usage. Printing can only fail when nobody reads.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() };
        }
    };
    let result = match cli.command {
        None if terminal::has_person() => talk::talk(&cli.talk),
        None => {
            let _ = Cli::command().print_help();
            Ok(Exit::Usage)
        }
        Some(Command::Run(arguments)) => run::run(*arguments),
        Some(Command::Serve(arguments)) => serve::serve(&arguments),
        Some(Command::Acp(arguments)) => acp::acp(&arguments),
        Some(Command::AcpProxy(arguments)) => acp_proxy::acp_proxy(arguments),
        Some(Command::Inside(arguments)) => inside::inside(arguments),
        Some(Command::Session(arguments)) => session::session(arguments.command),
        Some(Command::Search(arguments)) => search::search(&arguments),
        Some(Command::Index(arguments)) => index::index(&arguments),
        Some(Command::Models(arguments)) => models::models(&arguments),
        Some(Command::Agents(arguments)) => agents::agents(arguments),
        Some(Command::Tools(arguments)) => tools::tools(&arguments),
        Some(Command::Mcp(arguments)) => servers::mcp(arguments.command),
        Some(Command::Auth(arguments)) => login::auth(arguments.command),
        Some(Command::Guard(arguments)) => permissions::guard(arguments.command),
        Some(Command::Config(arguments)) => config::config(arguments.command),
        Some(Command::Stats(arguments)) => stats::stats(&arguments),
        Some(Command::Doctor(arguments)) => doctor::doctor(&arguments),
        Some(Command::Completions(arguments)) => completions::completions(&arguments),
    };
    #[cfg(target_os = "linux")]
    project::dismiss_starter();
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            failure.report();
            failure.exit.into()
        }
    }
}

/// Commands that wait for something run on one thread: it starts fast and is all that one person's work needs.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::new(format!("could not start: {error}")))?.block_on(work)
}
