//! `cargo xtask bench`: the built binary against the scripted model server, one line of JSON for each measure.
//!
//! CPU time and memory are what the system counted for the process, so they hold on a busy machine; wall times do not,
//! and come with their minimum. A missed target is told and does not fail the bench.

mod agents;
mod catcher;
mod child;
mod files;
mod floor;
mod index;
mod measures;
mod report;
mod sandbox;
mod screen;
mod stage;
mod turns;

pub(crate) use floor::{FLOOR, floor};

use measures::groups;
use stage::Stage;

use crate::run::{self, Failure};

const HELP: &str = "\
cargo xtask bench [--profile fast] [NAME…]

Prints one JSON line for each measure whose name contains one of the NAMEs, or for all of them.
  --profile fast   what `cargo xtask try` builds, for a quick look; release otherwise
";

pub(crate) fn bench(arguments: &[String]) -> Result<(), Failure> {
    let mut profile = "release".to_owned();
    let mut names = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--profile" => {
                profile = words.next().cloned().ok_or_else(|| Failure::new("`--profile` wants a value"))?;
            }
            "--help" | "-h" => {
                let all = groups().flat_map(|group| group.measures).copied().collect::<Vec<_>>();
                println!("{HELP}\nmeasures: {}", all.join(", "));
                return Ok(());
            }
            option if option.starts_with('-') => {
                return Err(Failure::new(format!("unknown option `{option}`\n\n{HELP}")));
            }
            name => names.push(name.to_owned()),
        }
    }
    let wanted = |measure: &str| names.is_empty() || names.iter().any(|name| measure.contains(name.as_str()));
    for name in &names {
        if !groups().flat_map(|group| group.measures).any(|measure| measure.contains(name.as_str())) {
            return Err(Failure::new(format!(
                "no measure has `{name}` in its name\nhint: cargo xtask bench --help"
            )));
        }
    }
    let packages = ["--package", "covey", "--package", "testkit", "--package", "xtask"];
    run::step("cargo", &[&["build", "--quiet", "--profile", &profile], &packages[..]].concat())?;
    let mut stage = Stage::new(&profile)?;
    for group in groups() {
        if group.measures.iter().any(|measure| wanted(measure)) {
            eprintln!("› {}", group.about);
            for line in (group.run)(&mut stage)? {
                if wanted(line.measure()) {
                    line.print();
                }
            }
        }
    }
    Ok(())
}
