//! Which agents run, for a person to see: each process of ours keeps a small file of those that it started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use project::{ProcessInfo, process_tree};
use protocol::{AgentId, Timestamp};
use serde::{Deserialize, Serialize};

/// One that had nothing to do for this long is idle.
const IDLE: u64 = 60_000;

/// How an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It is there and was needed a moment ago.
    Active,
    /// It works on a prompt, or what it started does.
    Busy,
    /// Nobody needed it for a while; it ends when that lasts.
    Idle,
    ShuttingDown,
}

impl AgentState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Busy => "busy",
            Self::Idle => "idle",
            Self::ShuttingDown => "shutting down",
        }
    }
}

/// An agent that runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunningAgent {
    pub agent: AgentId,
    pub pid: u32,
    /// The Covey that it runs for.
    pub covey: u32,
    pub cwd: PathBuf,
    pub started: Timestamp,
    pub state: AgentState,
    /// Since when it is so.
    pub since: Timestamp,
}

/// The agents of this process.
#[derive(Default)]
pub struct Roll {
    file: Option<PathBuf>,
    agents: Mutex<BTreeMap<u32, RunningAgent>>,
    /// Processes that belong to an agent itself, by its own: what comes later it started for its work.
    own: Mutex<BTreeMap<u32, BTreeSet<u32>>>,
}

/// An agent under which something computes that it started for its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Building {
    pub agent: AgentId,
    /// What computes, by name.
    pub what: Vec<String>,
}

impl Roll {
    /// Kept in a folder of ours that only the person can read.
    pub fn in_folder(folder: &Path) -> Arc<Self> {
        let file = folder.join(format!("agents-{}.json", std::process::id()));
        Arc::new(Self { file: Some(file), ..Self::default() })
    }

    /// What was written down, by all processes that still run, with how each is now.
    pub fn read(folder: &Path) -> Vec<(RunningAgent, Vec<ProcessInfo>)> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let files = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("agents-"));
        let mut running = Vec::new();
        for file in files {
            let text = std::fs::read(file.path()).unwrap_or_default();
            let agents: Vec<RunningAgent> = serde_json::from_slice(&text).unwrap_or_default();
            for agent in agents {
                // A file that was left behind names processes that are not there, or not that one's.
                let ours = process_tree(agent.covey).iter().any(|process| process.pid == agent.pid);
                let tree = process_tree(agent.pid);
                if ours && !tree.is_empty() {
                    running.push((agent, tree));
                }
            }
        }
        let now = Timestamp::now();
        for (agent, _) in &mut running {
            if agent.state == AgentState::Active && now.millis_since(agent.since) > IDLE {
                agent.state = AgentState::Idle;
            }
        }
        running.sort_by_key(|(agent, _)| (agent.started, agent.pid));
        running
    }

    /// An agent has started. It is on the roll until the answer is dropped.
    pub(crate) fn enter(self: &Arc<Self>, agent: &AgentId, pid: u32, cwd: &Path) -> Arc<OnRoll> {
        let now = Timestamp::now();
        let running = RunningAgent {
            agent: agent.clone(),
            pid,
            covey: std::process::id(),
            cwd: cwd.to_owned(),
            started: now,
            state: AgentState::Active,
            since: now,
        };
        self.lock().insert(pid, running);
        self.write();
        Arc::new(OnRoll { roll: self.clone(), pid, working: Mutex::new(0) })
    }

    /// What still computes under agents of this process, though nobody waits for it: builds in the background.
    pub async fn builds(&self) -> Vec<Building> {
        let agents: Vec<RunningAgent> = self.lock().values().cloned().collect();
        let late: Vec<(AgentId, Vec<ProcessInfo>)> =
            agents.into_iter().map(|agent| (agent.agent, self.late(agent.pid))).collect();
        // Most agents leave nothing behind; then nobody is kept waiting for the answer.
        if late.iter().all(|(_, processes)| processes.is_empty()) {
            return vec![];
        }
        tokio::time::sleep(LOOK).await;
        let building = late.into_iter().filter_map(|(agent, before)| {
            let grown = |process: &&ProcessInfo| {
                let now = process_tree(process.pid).first().map(|now| now.cpu).unwrap_or_default();
                now.saturating_sub(process.cpu) > LOOK / 10
            };
            let what: Vec<String> = before.iter().filter(grown).map(|process| process.name.clone()).collect();
            (!what.is_empty()).then_some(Building { agent, what })
        });
        building.collect()
    }

    /// The processes that an agent started for its work.
    fn late(&self, pid: u32) -> Vec<ProcessInfo> {
        let own =
            self.own.lock().unwrap_or_else(PoisonError::into_inner).get(&pid).cloned().unwrap_or_default();
        process_tree(pid).into_iter().skip(1).filter(|process| !own.contains(&process.pid)).collect()
    }

    fn set(&self, pid: u32, state: AgentState) {
        let changed = match self.lock().get_mut(&pid) {
            Some(agent) if agent.state != state => {
                (agent.state, agent.since) = (state, Timestamp::now());
                true
            }
            _ => false,
        };
        if changed {
            self.write();
        }
    }

    /// A roll that can not be written is only not seen.
    fn write(&self) {
        let Some(file) = &self.file else { return };
        let agents: Vec<RunningAgent> = self.lock().values().cloned().collect();
        if agents.is_empty() {
            let _ = std::fs::remove_file(file);
            return;
        }
        if let Some(folder) = file.parent() {
            let _ = project::create_private_dir(folder);
        }
        if let Ok(text) = serde_json::to_vec(&agents) {
            let _ = project::write_private_atomic(file, &text);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, RunningAgent>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One agent's place on the roll.
pub(crate) struct OnRoll {
    roll: Arc<Roll>,
    pid: u32,
    /// Prompts that it works on; one process may serve several sessions.
    working: Mutex<u32>,
}

/// An agent works as long as one of these is held.
pub(crate) struct Working(Arc<OnRoll>);

impl OnRoll {
    pub(crate) fn work(self: &Arc<Self>) -> Working {
        *self.working.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.roll.set(self.pid, AgentState::Busy);
        Working(self.clone())
    }

    /// It is ready for work: the processes that it has now are its own.
    pub(crate) fn is_ready(&self) {
        let own = process_tree(self.pid).iter().map(|process| process.pid).collect();
        self.roll.own.lock().unwrap_or_else(PoisonError::into_inner).insert(self.pid, own);
    }

    /// Whether something that it started computes, though nobody asked it anything: a build in the background.
    pub(crate) async fn is_building(&self) -> bool {
        let spent = |late: &[ProcessInfo]| -> Duration { late.iter().map(|process| process.cpu).sum() };
        let before = self.roll.late(self.pid);
        if before.is_empty() {
            return false;
        }
        tokio::time::sleep(LOOK).await;
        spent(&self.roll.late(self.pid)).saturating_sub(spent(&before)) > LOOK / 10
    }

    pub(crate) fn leaves(&self) {
        self.roll.set(self.pid, AgentState::ShuttingDown);
    }
}

/// How long is looked whether something computes.
const LOOK: Duration = Duration::from_secs(1);

impl Drop for Working {
    fn drop(&mut self) {
        let mut working = self.0.working.lock().unwrap_or_else(PoisonError::into_inner);
        *working -= 1;
        if *working == 0 {
            self.0.roll.set(self.0.pid, AgentState::Active);
        }
    }
}

impl Drop for OnRoll {
    fn drop(&mut self) {
        self.roll.lock().remove(&self.pid);
        self.roll.own.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.pid);
        self.roll.write();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_seen_as_long_as_it_is_held() {
        let folder = std::env::temp_dir().join(format!("covey-roll-{}", std::process::id()));
        let roll = Roll::in_folder(&folder);
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let place = roll.enter(&AgentId::new("fake"), child.id(), Path::new("/p"));
        let state = || Roll::read(&folder).first().map(|(agent, _)| agent.state);
        assert_eq!(state(), Some(AgentState::Active));
        let (one, two) = (place.work(), place.work());
        drop(one);
        assert_eq!(state(), Some(AgentState::Busy));
        drop(two);
        assert_eq!(state(), Some(AgentState::Active));
        drop(place);
        assert_eq!(state(), None);
        child.kill().unwrap();
        child.wait().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn what_computes_is_a_build_unless_it_was_there_from_the_start() {
        let roll = Arc::new(Roll::default());
        let mut agent = std::process::Command::new("sh")
            .args(["-c", "while :; do :; done & echo ready; read line; kill $!"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 5];
        std::io::Read::read_exact(agent.stdout.as_mut().unwrap(), &mut ready).unwrap();
        let place = roll.enter(&AgentId::new("fake"), agent.id(), Path::new("/p"));
        let builds = roll.builds().await;
        assert_eq!(builds, [Building { agent: AgentId::new("fake"), what: vec!["sh".to_owned()] }]);
        assert!(place.is_building().await);
        // A process of its own may compute as it likes.
        place.is_ready();
        assert_eq!(roll.builds().await, []);
        std::io::Write::write_all(agent.stdin.as_mut().unwrap(), b"\n").unwrap();
        agent.wait().unwrap();
    }
}
