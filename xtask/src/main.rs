//! The project's chores, so that two commands do everything on a fresh machine: `cargo xtask try`, `cargo xtask test`.
//!
//! Nearly free of dependencies, because it is built before anything can happen.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of chores talks to its terminal")]

mod bench;
mod checks;
mod codegen;
mod fuzz_api;
mod graph;
mod load;
mod paint;
mod parts;
mod real;
mod run;
mod scratch;
mod tests;
mod try_it;
mod web;

use std::process::ExitCode;

use run::Failure;

const HELP: &str = "\
cargo xtask COMMAND

  try              build Covey and have a first conversation; needs no account
  test [ARGS]      install what the tests need and run all of them
  ci               check without running tests: format, lints, generated code, dependencies, docs
  build            build the binary; --release for one to keep
  real [NAME…]     install the real agents of other makers and play with them; claude, codex, gemini, copilot, sdk
  bench [NAME]     measure the release binary; one JSON line per measure
  fuzz-api         hold the REST API to its OpenAPI document with a fuzzer
  load             many sessions and many front ends on one server; see its --help
  codegen          write the TypeScript types; --check only compares
  graph            print which crate uses which; --write records it
  model-server     run the scripted model server; see its --help
";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let result = match command.as_str() {
        "try" => try_it::try_it(&rest),
        "test" => tests::test(&rest),
        "ci" => checks::ci(),
        "build" => build(&rest),
        "bench" => bench::bench(&rest),
        "fuzz-api" => fuzz_api::fuzz_api(&rest),
        "load" => load::load(&rest),
        "real" => real::real(&rest),
        "codegen" => codegen::codegen(&rest),
        "graph" => graph::print(&rest),
        "model-server" => model_server(&rest),
        bench::FLOOR => bench::floor(&rest),
        scratch::JANITOR => scratch::janitor(&rest),
        "" | "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(())
        }
        other => Err(Failure::new(format!("unknown command `{other}`\n\n{HELP}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn build(arguments: &[String]) -> Result<(), Failure> {
    web::build()?;
    let profile = if arguments.iter().any(|a| a == "--release") { "release" } else { "fast" };
    run::step("cargo", &["build", "--package", "covey", "--profile", profile])?;
    println!("built {}", run::target().join(profile).join("covey").display());
    Ok(())
}

fn model_server(arguments: &[String]) -> Result<(), Failure> {
    let mut cargo =
        vec!["run", "--quiet", "--package", "testkit", "--bin", "covey-testkit", "--", "model-server"];
    cargo.extend(arguments.iter().map(String::as_str));
    run::step("cargo", &cargo)
}
