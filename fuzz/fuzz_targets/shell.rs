//! No text breaks the reading of commands, takes long, or becomes less grave by what is appended to it.
#![no_main]

use guard::{Action, Guard, GuardOptions, GuardSettings, Level, Request};
use libfuzzer_sys::fuzz_target;
use project::Roots;
use protocol::Mode;

fn level(guard: &Guard, command: &str) -> Level {
    let actions = [Action::Shell { command: command.to_owned(), cwd: guard.root().to_owned() }];
    guard.judge(&Request { tool: "shell", actions: &actions, mode: Mode::Auto, attended: true }).level
}

fuzz_target!(|input: &str| {
    let Ok(roots) = Roots::new([std::env::temp_dir()]) else { return };
    let settings = GuardSettings::default();
    let guard = Guard::new(GuardOptions { settings, roots, home: None, user_home: "/home/me".into(), session: None });
    let alone = level(&guard, input);
    if input.len() < 8000 {
        assert!(level(&guard, &format!("{input}\nls")) >= alone.min(Level::Caution));
        assert_eq!(level(&guard, &format!("rm -rf /\n{input}")).max(Level::Caution), Level::Blocked);
    }
});
