//! The small process that starts others, and what its commands share.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::path::PathBuf;

use guard::{Backend, Sandbox, SandboxPolicy};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use tokio::process::Child;

use crate::world::{World, finish, signal};

/// Two commands, of which the first waits at a gate.
const GATED: &str = "
    reply
      call: shell {\"command\": \"cat gate\"}
    reply
      call: shell {\"command\": \"echo after\"}
    model: Done.
    ";

#[tokio::test]
async fn one_that_is_lost_is_replaced() {
    let world = World::new(GATED).await;
    let gate = Gate::new(&world);
    let covey = world.command(&["run", "--json", "--mode", "full", "go"]).spawn().unwrap();
    let mut gate = gate.reached().await;
    for starter in starters(&covey) {
        kill_process(starter, Signal::KILL).unwrap();
    }
    // The command that runs is no child of a starter's.
    gate.write_all(b"let through").unwrap();
    drop(gate);
    let done = finish(covey).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(world.server.request(1).await.text().contains("let through"));
    assert!(world.server.request(2).await.text().contains("after"));
}

#[tokio::test]
async fn it_ends_when_covey_is_killed() {
    let world = World::new(GATED).await;
    let gate = Gate::new(&world);
    let mut covey = world.command(&["run", "--mode", "full", "go"]).spawn().unwrap();
    let _gate = gate.reached().await;
    let family: Vec<_> =
        starters(&covey).into_iter().map(|pid| pidfd_open(pid, PidfdFlags::empty()).unwrap()).collect();
    assert!(!family.is_empty());
    signal(&covey, Signal::KILL);
    covey.wait().await.unwrap();
    for process in family {
        // A pidfd can be read once its process ended.
        let ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&MINUTE)).unwrap();
        assert_eq!(ended, 1, "it outlived covey");
    }
}

#[tokio::test]
async fn commands_of_a_session_reach_each_other_and_nobody_else() {
    let sandbox = Sandbox::new(SandboxPolicy::default());
    if sandbox.grade().backend != Backend::Namespaces {
        return;
    }
    let serve = "import socket; s = socket.create_server(('127.0.0.1', 8000)); open('ready', 'w'); \
                 s.accept()[0].sendall(b'from the job')";
    let world = World::new(&format!(
        "
        reply
          call: shell {{\"command\": \"python3 -c \\\"{serve}\\\"\", \"background\": true}}
        reply
          call: shell {{\"command\": \"until [ -e ready ]; do :; done; cat < /dev/tcp/127.0.0.1/8000\"}}
        reply
          call: shell {{\"command\": \"cat < /dev/tcp/127.0.0.1/$(cat port)\"}}
        model: Done.
        "
    ))
    .await;
    let outside = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    world.write("port", outside.local_addr().unwrap().port().to_string());
    let done = world.covey(&["run", "--mode", "full", "go"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = world.server.request(2).await;
    assert!(told.text().contains("from the job"), "{}", told.text());
    let told = world.server.request(3).await;
    assert!(told.text().contains("Connection refused"), "{}", told.text());
}

/// A file that is deleted takes what was mounted on it along, and the next file may have its number.
#[tokio::test]
async fn a_secret_that_is_replaced_between_two_commands_stays_hidden() {
    let world = World::new(
        "
        reply
          call: shell {\"command\": \"cat .env gate\"}
        reply
          call: shell {\"command\": \"cat .env; echo looked\"}
        model: Done.
        ",
    )
    .await;
    world.write(".env", "TOKEN=the-first-secret");
    let gate = Gate::new(&world);
    let covey = world.command(&["run", "--json", "--mode", "full", "go"]).spawn().unwrap();
    let mut gate = gate.reached().await;
    std::fs::remove_file(world.project.join(".env")).unwrap();
    world.write(".env", "TOKEN=the-next-secret");
    gate.write_all(b"let through").unwrap();
    drop(gate);
    let done = finish(covey).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = world.server.request(2).await;
    assert!(told.text().contains("looked") && told.text().contains("let through"), "{}", told.text());
    assert!(!told.text().contains("-secret"), "{}", told.text());
}

/// The process that Covey waits for is not the program, and cannot end as that did.
#[tokio::test]
async fn a_program_that_is_killed_is_told_as_such() {
    let world = World::new(
        "
        reply
          call: shell {\"command\": \"kill -SEGV $$\"}
        reply
          call: shell {\"command\": \"exit 77\"}
        model: Done.
        ",
    )
    .await;
    let done = world.covey(&["run", "--mode", "full", "go"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    let told = world.server.request(1).await;
    assert!(told.text().contains("signal 11"), "{}", told.text());
    let told = world.server.request(2).await;
    assert!(told.text().contains("77"), "{}", told.text());
}

const MINUTE: rustix::event::Timespec = rustix::event::Timespec { tv_sec: 60, tv_nsec: 0 };

/// A pipe with a name, at which a command waits.
struct Gate(PathBuf);

impl Gate {
    fn new(world: &World) -> Self {
        let path = world.project.join("gate");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        Self(path)
    }

    /// Open once somebody reads from it.
    async fn reached(self) -> std::fs::File {
        let open = move || std::fs::OpenOptions::new().write(true).open(self.0);
        tokio::task::spawn_blocking(open).await.unwrap().unwrap()
    }
}

/// The first one, and those in places further in.
fn starters(covey: &Child) -> Vec<Pid> {
    let covey = Pid::from_raw(covey.id().unwrap().cast_signed()).unwrap();
    let is_starter = |pid: &Pid| {
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
        words.starts_with(b"covey-starter\0")
    };
    // Not what looks after a command, which is a copy of a starter.
    children(covey).into_iter().filter(|pid| is_starter(pid) && children(*pid).is_empty()).collect()
}

fn children(parent: Pid) -> Vec<Pid> {
    let parent = parent.as_raw_pid().cast_unsigned();
    let tree = project::process_tree(parent);
    let ours = tree.iter().filter(|process| process.parent == parent);
    ours.map(|process| Pid::from_raw(process.pid.cast_signed()).unwrap()).collect()
}
