//! What a sandbox costs: processor time of one `/bin/true` inside it, minus one outside, for each backend.
//!
//! One line of JSON each, for the backends that are named or for all. `cargo xtask bench` runs this; so can you.
#![expect(unsafe_code, reason = "`getrusage` and `prctl` have no safe wrapper here")]
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for measuring")]

use std::time::Instant;

use guard::{Backend, Sandbox, SandboxLevel, SandboxNeeds, SandboxPolicy};

const ROUNDS: u32 = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // Wardens outlive what they watch. As their new parent we can count what they use.
    // SAFETY: takes numbers.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("project/.git/hooks")).unwrap();
    std::fs::write(folder.path().join("project/.git/config"), "[core]\n").unwrap();
    // As much memory of its own as Covey has with a session in a terminal (5 MB in `covey run`): forking copies its page
    // tables. What it maps of its binary is not copied.
    let mut ballast = vec![0_u8; 13 << 20];
    ballast.iter_mut().step_by(4096).for_each(|byte| *byte = 1);

    let bare = cost(&folder, None).await.unwrap();
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if wanted.is_empty() {
        println!("{{\"backend\":\"bare\",\"cpu_ms\":{:.3},\"wall_ms\":{:.3}}}", bare.0, bare.1);
    }
    for backend in [Backend::Namespaces, Backend::Bubblewrap, Backend::Landlock] {
        if wanted.is_empty() {
            // Each in a process of its own: what one leaves behind is not counted to the next.
            let again = std::env::current_exe().unwrap();
            std::process::Command::new(again).arg(backend.to_string()).status().unwrap();
        } else if wanted.contains(&backend.to_string()) {
            match cost(&folder, Some(backend)).await {
                Some((cpu, wall)) => {
                    let (cpu, wall) = (cpu - bare.0, wall - bare.1);
                    println!("{{\"backend\":\"{backend}\",\"cpu_ms\":{cpu:.3},\"wall_ms\":{wall:.3}}}");
                }
                None => println!("{{\"backend\":\"{backend}\"}}"),
            }
        }
    }
    drop(ballast);
}

/// Milliseconds for each command, of processor time and of time; none if the machine does not have the backend.
async fn cost(folder: &tempfile::TempDir, backend: Option<Backend>) -> Option<(f64, f64)> {
    let sandbox = Sandbox::new(SandboxPolicy {
        level: if backend.is_some() { SandboxLevel::Workspace } else { SandboxLevel::Off },
        roots: vec![folder.path().join("project")],
        home: std::env::var_os("HOME").map(Into::into),
        backend,
        ..SandboxPolicy::default()
    });
    if backend.is_some_and(|backend| sandbox.grade().backend != backend) {
        return None;
    }
    let once = async || {
        let mut command = project::command("/bin/true");
        command.cwd(folder.path().join("project"));
        let mut enclosed = sandbox.enclose(command, &SandboxNeeds::none()).unwrap();
        assert!(enclosed.spawn().unwrap().wait().await.unwrap().success());
        assert!(enclosed.after().is_empty());
    };
    for _ in 0..10 {
        once().await;
    }
    let (mut cpu, mut wall) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (before, start) = (used(), Instant::now());
        once().await;
        wall.push(start.elapsed().as_secs_f64() * 1000.0);
        if backend == Some(Backend::Landlock) {
            // The warden ends a moment later; waiting for it costs nothing.
            // SAFETY: collects what ended and is told nothing else.
            unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::__WALL) };
        }
        cpu.push(used() - before);
    }
    Some((median(cpu), median(wall)))
}

/// Others use this machine too: half of all rounds had fewer interruptions than this.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Processor time of this process and all that ended below it, in milliseconds.
fn used() -> f64 {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .into_iter()
        .map(|who| {
            // SAFETY: all zeroes is a valid `rusage`, which outlives the call.
            let usage = unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                libc::getrusage(who, &raw mut usage);
                usage
            };
            [usage.ru_utime, usage.ru_stime]
                .map(|time| time.tv_sec as f64 * 1e3 + time.tv_usec as f64 / 1e3)
                .iter()
                .sum::<f64>()
        })
        .sum()
}
