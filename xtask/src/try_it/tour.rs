//! The scripted tour: real commands and real output, with a model that says what a script tells it to.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::covey::Covey;
use super::{program, talk};
use crate::paint::{accent, faint, strong, warning};
use crate::run::Failure;
use crate::scratch::Scratch;

const SCRIPT: &str = r#"
models: actor
reply
  text: I will look at what is here first.
  call: list_dir {"path": "."}
  chunk: 6
  pace: 15
reply
  call: read {"path": "src/cart.rs"}
  call: read {"path": "README.md"}
reply
  text: "`total` in `src/cart.rs` adds up the prices, in cents as the README says, and takes the coupon off once (line 9). It can not go below zero: `saturating_sub` sees to that."
  chunk: 6
  pace: 15
reply
  call: read {"path": "../private/salaries.txt"}
reply
  text: I was not allowed to read `../private/salaries.txt`, so I left it alone.
  chunk: 6
  pace: 15
"#;

const FILES: &[(&str, &str)] = &[
    ("shop/README.md", "# Shop\n\nA cart with coupons. All prices are in cents.\n"),
    (
        "shop/src/cart.rs",
        "/// What is in a cart.\npub struct Cart {\n    pub prices: Vec<u64>,\n    pub coupon: u64,\n}\n\nimpl Cart {\n    \
         pub fn total(&self) -> u64 {\n        self.prices.iter().sum::<u64>().saturating_sub(self.coupon)\n    }\n}\n",
    ),
    ("private/salaries.txt", "nobody's business\n"),
];

pub(super) fn tour(scratch: &mut Scratch, attended: bool) -> Result<(), Failure> {
    println!("\n{}", strong("The tour"));
    println!(
        "{}",
        warning("From here on the model is scripted: an actor with lines to say, not a real model.")
    );
    println!(
        "Covey is real: the commands below run on a small project in a scratch folder, and this is their output."
    );
    let folder = scratch.path().join("tour");
    for (name, text) in FILES {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        fs::write(&file, text)?;
    }
    let mut actor = start_actor(scratch, &folder)?;
    let covey = Covey { home: folder.join("home"), folder: folder.join("shop"), keeps_environment: false };
    let result = Tour { covey, scratch, attended, number: 0 }.walk();
    scratch.stop(&mut actor);
    match result {
        Err(Stop::Left) => Ok(()),
        Err(Stop::Failed(failure)) => Err(failure),
        Ok(()) => Ok(()),
    }
}

/// Starts the scripted model server and makes it the model of the tour's settings.
fn start_actor(scratch: &mut Scratch, folder: &Path) -> Result<Child, Failure> {
    let script = folder.join("script.txt");
    fs::write(&script, SCRIPT)?;
    let mut command = Command::new(program("covey-testkit"));
    command.args(["model-server", "--json", "--script"]).arg(&script);
    let mut actor = scratch.start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let output =
        actor.stdout.take().ok_or_else(|| Failure::new("the scripted model server has no output"))?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let said: Value = serde_json::from_str(&line).map_err(|error| {
        Failure::new(format!("the scripted model server said `{}`: {error}", line.trim()))
    })?;
    fs::create_dir_all(folder.join("home"))?;
    fs::write(folder.join("home/config.toml"), said["config"].as_str().unwrap_or_default())?;
    Ok(actor)
}

/// Why a tour ends before its end.
enum Stop {
    /// The person has seen enough.
    Left,
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

struct Tour<'a> {
    covey: Covey,
    scratch: &'a mut Scratch,
    attended: bool,
    number: usize,
}

impl Tour<'_> {
    fn walk(mut self) -> Result<(), Stop> {
        self.stop("Tools", "The agent looks into the project by itself: it lists a folder and reads files.")?;
        self.run(&["run", "how does the cart handle coupons?"])?;
        println!("\nEverything is recorded, also what the tools did:");
        self.run(&["session", "show", "coupons"])?;

        self.stop(
            "Permission",
            "A file outside the project needs a person's consent. `covey run` never asks, so it is denied.",
        )?;
        self.run(&["run", "what do my colleagues earn? see ../private/salaries.txt"])?;

        self.stop(
            "Sessions",
            "They can be listed, searched and played again, named by words of their title.",
        )?;
        self.run(&["session", "list"])?;
        self.run(&["session", "search", "saturating_sub"])?;
        self.run(&["session", "replay", "salaries", "--speed", "2"])?;

        self.stop(
            "Export and verify",
            "A session becomes Markdown, HTML or JSON. Each record has a checksum.",
        )?;
        self.run(&["session", "export", "salaries"])?;
        self.run(&["session", "verify"])?;
        Ok(())
    }

    /// Says what comes next, and lets a person read what was before.
    fn stop(&mut self, title: &str, about: &str) -> Result<(), Stop> {
        if self.attended && self.number > 0 {
            let line = talk::prompt(&faint("\nEnter goes on, q ends the tour "));
            if line.is_none_or(|line| line.starts_with('q')) {
                return Err(Stop::Left);
            }
        }
        self.number += 1;
        println!("\n{}", strong(&format!("{}. {title}", self.number)));
        println!("{about}");
        Ok(())
    }

    /// Shows a command and what it prints.
    fn run(&mut self, words: &[&str]) -> Result<(), Stop> {
        let shown: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        println!("\n{} covey {}", accent("$"), shown.join(" "));
        let mut child = self.scratch.start_in_front(&mut self.covey.command(words))?;
        let status = child.wait()?;
        self.scratch.forget(&child);
        match status.code() {
            Some(0) => {}
            Some(3) => println!("{}", faint("exit code 3: something was denied for want of a person")),
            _ => return Err(Failure::new(format!("`covey {}` failed ({status})", shown.join(" "))).into()),
        }
        Ok(())
    }
}

fn quoted(word: &str) -> String {
    if word.contains([' ', '?', '*']) { format!("\"{word}\"") } else { word.to_owned() }
}
