//! A folder and processes that are gone when a chore is over, however it ends.
//!
//! A destructor does not run after Ctrl-C or kill -9, so the cleaning is done by a second process, the janitor. It
//! waits at the other end of a pipe that the system closes with us, whatever we died of.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{self, DirBuilder};
use std::io::{BufRead, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::run::Failure;

/// The word that starts this program as a janitor.
pub(crate) const JANITOR: &str = "janitor";

/// A folder for the length of a chore, and the processes that end with it.
pub(crate) struct Scratch {
    path: PathBuf,
    janitor: Child,
    orders: Option<ChildStdin>,
}

impl Scratch {
    /// A new folder below `parent`, for this person only.
    pub(crate) fn new(parent: &Path, name: &str) -> Result<Self, Failure> {
        fs::create_dir_all(parent)?;
        let name = format!("{name}-{}", std::process::id());
        let mut path = parent.join(&name);
        let mut again = 1;
        // The number of a process that ended long ago may be ours today, and its folder may have been left.
        while let Err(error) = DirBuilder::new().mode(0o700).create(&path) {
            if error.kind() != ErrorKind::AlreadyExists || again > 100 {
                return Err(Failure::new(format!("could not make `{}`: {error}", path.display())));
            }
            again += 1;
            path = parent.join(format!("{name}-{again}"));
        }
        let mut janitor = Command::new(std::env::current_exe()?)
            .arg(JANITOR)
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C goes to the terminal's group; the janitor has work to do then.
            .process_group(0)
            .spawn()?;
        let orders = janitor.stdin.take();
        Ok(Self { path, janitor, orders })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Has one more folder removed with this one.
    pub(crate) fn remove_too(&mut self, folder: &Path) {
        self.order("folder", folder.display());
    }

    /// Starts a process in a group of its own, which does not outlive this chore.
    pub(crate) fn start(&mut self, command: &mut Command) -> std::io::Result<Child> {
        let child = command.process_group(0).spawn()?;
        self.order("group", child.id());
        Ok(child)
    }

    /// Starts one that says in a line of JSON how it is reached.
    pub(crate) fn start_told(&mut self, command: &mut Command) -> Result<(Child, Value), Failure> {
        let mut child = self.start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let output = child.stdout.take().ok_or_else(|| Failure::new("it has no output"))?;
        let mut line = String::new();
        std::io::BufReader::new(output).read_line(&mut line)?;
        let told =
            serde_json::from_str(&line).map_err(|_| Failure::new(format!("it said `{}`", line.trim())))?;
        Ok((child, told))
    }

    /// Starts a process that hears Ctrl-C itself and ends in good order; the janitor only helps if it does not.
    pub(crate) fn start_in_front(&mut self, command: &mut Command) -> std::io::Result<Child> {
        let child = command.spawn()?;
        self.order("process", child.id());
        Ok(child)
    }

    /// Call this once a process is gone: its number may soon be another's.
    pub(crate) fn forget(&mut self, child: &Child) {
        self.order("forget", child.id());
    }

    /// Ends a process of [`start`](Self::start) with its group.
    pub(crate) fn stop(&mut self, child: &mut Child) {
        signal("KILL", &format!("-{}", child.id()));
        // It was killed or had ended before; either way it is collected here.
        let _ = child.wait();
        self.forget(child);
    }

    fn order(&mut self, verb: &str, what: impl Display) {
        if let Some(orders) = &mut self.orders {
            // A janitor that somebody killed leaves us with our own ways to clean up.
            let _ = writeln!(orders, "{verb} {what}");
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.janitor.wait();
        // Nothing is left of it unless the janitor was killed.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The janitor: notes what there is until the pipe closes, then ends and removes all of it.
pub(crate) fn janitor(arguments: &[String]) -> Result<(), Failure> {
    let folder = arguments.first().ok_or_else(|| Failure::new("a janitor needs a folder"))?;
    let mut folders = vec![PathBuf::from(folder)];
    let (mut groups, mut processes) = (BTreeSet::new(), BTreeSet::new());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let Some((verb, what)) = line.split_once(' ') else { continue };
        let id = what.parse::<u32>().ok();
        match (verb, id) {
            ("folder", _) => folders.push(PathBuf::from(what)),
            ("group", Some(id)) => drop(groups.insert(id)),
            ("process", Some(id)) => drop(processes.insert(id)),
            (_, Some(id)) => drop((groups.remove(&id), processes.remove(&id))),
            (_, None) => {}
        }
    }
    for group in &groups {
        signal("KILL", &format!("-{group}"));
    }
    for process in &processes {
        let process = process.to_string();
        // It had its own Ctrl-C and is writing its last lines; or we were killed, and nobody told it.
        if !gone(&process, Duration::from_millis(1000)) {
            signal("TERM", &process);
            if !gone(&process, Duration::from_millis(2000)) {
                signal("KILL", &process);
            }
        }
    }
    for folder in &folders {
        // What was killed a moment ago may still have written a file in between.
        for _ in 0..20 {
            if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
    Ok(())
}

fn gone(process: &str, patience: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(50);
    let mut left = patience;
    while signal("0", process) {
        if left.is_zero() {
            return false;
        }
        thread::sleep(STEP);
        left = left.saturating_sub(STEP);
    }
    true
}

/// Through the shell, which has `kill` built in everywhere; the standard library can only kill its own children.
pub(crate) fn signal(name: &str, target: &str) -> bool {
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill -s \"$0\" -- \"$1\"", name, target]);
    kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    kill.status().is_ok_and(|status| status.success())
}
