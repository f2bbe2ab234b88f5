//! A process and all it started, as the system counts them. Only Linux tells; elsewhere there is nothing to see.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// One process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    pub pid: u32,
    pub parent: u32,
    pub name: String,
    /// Memory that is really in use, in bytes.
    pub memory: u64,
    pub started: SystemTime,
    /// What it has computed so far.
    pub cpu: Duration,
}

/// Ticks in a second, as `/proc` counts; the same on every Linux there is.
const TICKS: u64 = 100;
const PAGE: u64 = 4096;

/// The process and what it started, the process first. Empty when it is gone.
pub fn process_tree(root: u32) -> Vec<ProcessInfo> {
    let booted = booted();
    let children = Children::new();
    let (mut tree, mut waiting, mut seen) = (Vec::new(), vec![root], HashSet::new());
    while let Some(pid) = waiting.pop() {
        // A number that is used anew can make no circle.
        if seen.insert(pid)
            && let Some(process) = read(pid, booted)
        {
            waiting.extend(children.of(pid));
            tree.push(process);
        }
    }
    if let Some((_, rest)) = tree.split_first_mut() {
        rest.sort_by_key(|process: &ProcessInfo| process.pid);
    }
    tree
}

/// Who started whom.
enum Children {
    /// Each process tells: nobody else has to be asked.
    Told,
    /// A kernel that does not tell; known from all parents.
    Known(HashMap<u32, Vec<u32>>),
}

impl Children {
    fn new() -> Self {
        if Path::new("/proc/thread-self/children").exists() { Self::Told } else { Self::known() }
    }

    fn known() -> Self {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for process in numbers_in("/proc").filter_map(|pid| read(pid, SystemTime::UNIX_EPOCH)) {
            children.entry(process.parent).or_default().push(process.pid);
        }
        Self::Known(children)
    }

    fn of(&self, pid: u32) -> Vec<u32> {
        if let Self::Known(children) = self {
            return children.get(&pid).cloned().unwrap_or_default();
        }
        let threads = format!("/proc/{pid}/task");
        let mut children = Vec::new();
        for thread in numbers_in(&threads) {
            let told = std::fs::read_to_string(format!("{threads}/{thread}/children")).unwrap_or_default();
            children.extend(told.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
        children
    }
}

/// Entries of a folder that are numbers.
fn numbers_in(folder: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn read(pid: u32, booted: SystemTime) -> Option<ProcessInfo> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may hold anything, brackets too.
    let (start, end) = (stat.find('(')?, stat.rfind(')')?);
    let fields: Vec<&str> = stat.get(end + 2..)?.split(' ').collect();
    let number = |at: usize| fields.get(at)?.trim().parse::<u64>().ok();
    let ticks = |count: u64| Duration::from_millis(count * 1000 / TICKS);
    Some(ProcessInfo {
        pid,
        parent: u32::try_from(number(1)?).ok()?,
        name: stat[start + 1..end].to_owned(),
        memory: number(21)? * PAGE,
        started: booted + ticks(number(19)?),
        cpu: ticks(number(11)? + number(12)?),
    })
}

/// When the system was started. Asked once: it takes the kernel a while to count what else that file holds.
fn booted() -> SystemTime {
    static BOOTED: OnceLock<SystemTime> = OnceLock::new();
    *BOOTED.get_or_init(|| {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let seconds = stat.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok());
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.unwrap_or(0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_and_what_it_started_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let said = dir.path().join("said");
        std::fs::write(&said, "there").unwrap();
        // `tail` says what the file holds and stays: once that is read, it is no longer the shell that started it.
        let mut child = Command::new("sh")
            .args(["-c", "tail -f \"$1\" & wait", "sh"])
            .arg(&said)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 5]).unwrap();
        let tree = process_tree(child.id());
        let Children::Known(known) = Children::known() else { unreachable!("it was asked for") };
        for process in &tree {
            assert!(Children::new().of(process.pid).iter().all(|child| known[&process.pid].contains(child)));
        }
        let names: Vec<&str> = tree.iter().map(|process| process.name.as_str()).collect();
        assert_eq!((tree[0].pid, tree[0].parent), (child.id(), std::process::id()));
        assert!(names.contains(&"tail"), "{names:?}");
        assert!(tree[0].memory > 0 && tree[0].started > SystemTime::UNIX_EPOCH);
        for process in tree.iter().skip(1) {
            let _ = Command::new("kill").arg(process.pid.to_string()).status();
        }
        child.wait().unwrap();
        assert_eq!(process_tree(child.id()), []);
    }
}
