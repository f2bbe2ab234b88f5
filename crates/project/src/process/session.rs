//! The processes of a session, which may be in many groups.

use rustix::process::{Pid, Signal, kill_process};

/// What is told to die may have forked just before; after so many looks it is not an accident any more.
const LOOKS: usize = 8;

/// Kills every process of the session that `leader` began. The leader must not be reaped yet: its number names the session.
/// Only Linux tells who that is; elsewhere they hear of it when their terminal is gone.
pub(super) fn kill(leader: Pid) {
    for _ in 0..LOOKS {
        let members = members(leader);
        if members.is_empty() {
            return;
        }
        for member in members {
            // One that is gone by now is what we are after.
            kill_process(member, Signal::KILL).ok();
        }
    }
}

/// Those that still run, without the leader.
fn members(leader: Pid) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return vec![] };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let pids = pids.filter_map(Pid::from_raw).filter(|pid| *pid != leader);
    pids.filter(|pid| is_member(*pid, leader).unwrap_or(false)).collect()
}

fn is_member(pid: Pid, leader: Pid) -> Option<bool> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).ok()?;
    // The name is in brackets and may hold anything, brackets too.
    let mut fields = stat.get(stat.rfind(')')? + 2..)?.split(' ');
    let state = fields.next()?;
    let session: i32 = fields.nth(2)?.parse().ok()?;
    Some(!matches!(state, "Z" | "X") && session == leader.as_raw_pid())
}
