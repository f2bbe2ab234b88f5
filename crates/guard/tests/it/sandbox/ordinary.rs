//! Work that must go on as if there were no walls.

use std::path::{Path, PathBuf};

use guard::{Backend, Sandbox, SandboxLauncher, SandboxNeeds, SandboxPolicy};
use project::{Exit, Host, LocalHost, Program, Roots, Streams, Task, TerminalSize};

use super::stage::{PYTHON, Stage};

with_each_backend! {
    the_project_is_writable
    commits_work
    temporary_files_last_for_the_session
    python_works
    node_works
    cargo_builds_and_tests
    programs_below_the_home_folder_run
    local_servers_can_be_tested
    a_project_in_the_temporary_folder_works
    many_commands_run_at_once
    a_host_runs_its_programs_inside
    a_terminal_is_one_inside
}

async fn the_project_is_writable(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage.run("echo more >> a.txt && mkdir -p x/y && mv a.txt x/y/b.txt && chmod +x x/y/b.txt && ln x/y/b.txt sub/linked && rm -rf sub/none").await;
    assert!(ran.ok, "{}", ran.text);
    assert_eq!(stage.read("project/x/y/b.txt"), "hellomore\n", "{}", ran.text);
    assert!(ran.reverted.is_empty(), "{:?}", ran.reverted);
}

async fn commits_work(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "printf '.env*\\n' > .gitignore && git add -A && git commit -qm one && git switch -qc other && echo x > b && git add b &&
            git commit -qm two && git switch -q - && git merge -q other && git status -s && git log --oneline | wc -l && git stash list &&
            git worktree list && git gc -q && git tag v1 && git rebase -q other",
        )
        .await;
    assert!(ran.ok && ran.text.lines().any(|line| line == "2"), "{}", ran.text);
    assert!(ran.reverted.is_empty(), "{:?}", ran.reverted);
}

async fn temporary_files_last_for_the_session(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage.run("f=$(mktemp) && echo kept > $TMPDIR/kept && rm $f").await;
    assert!(ran.ok, "{}", ran.text);
    assert_eq!(stage.run("cat $TMPDIR/kept").await.text, "kept\n");
}

async fn python_works(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let script = "
import concurrent.futures, hashlib, os, sqlite3, subprocess, tempfile, threading
assert subprocess.check_output(['echo', 'x']) == b'x\\n'
with tempfile.TemporaryDirectory() as d: open(os.path.join(d, 'f'), 'w').write('x')
sqlite3.connect('x.db').execute('create table t (a)')
t = threading.Thread(target=lambda: None); t.start(); t.join()
with concurrent.futures.ProcessPoolExecutor(2) as pool: print(sum(pool.map(abs, [-1, -2])))
";
    let ran = stage.run(&format!("{PYTHON} - <<'E'\n{script}\nE")).await;
    assert_eq!(ran.text.trim(), "3");
}

/// The first of these that is a program.
fn installed(paths: &[&str]) -> Option<PathBuf> {
    paths.iter().map(PathBuf::from).find(|path| path.is_file())
}

async fn node_works(backend: Backend) {
    let Some(node) = installed(&["/usr/bin/node", "/usr/local/bin/node"]) else {
        println!("skipped: no node");
        return;
    };
    let Some(stage) = Stage::new(backend) else { return };
    let script = "const {execFileSync, fork} = require('child_process'); const {Worker} = require('worker_threads');
        require('fs').writeFileSync('n.txt', execFileSync('echo', ['x']));
        new Worker('require(\"worker_threads\").parentPort.postMessage(1)', {eval: true}).on('message', m => console.log('worker', m));";
    std::fs::write(stage.path("project/s.js"), script).unwrap();
    std::fs::write(stage.path("project/package.json"), r#"{"name":"x","scripts":{"test":"node s.js"}}"#)
        .unwrap();
    let folder = node.parent().unwrap().display().to_string();
    let ran = stage
        .run(&format!("export PATH={folder}:/usr/bin:/bin; node s.js && npm test --offline --silent"))
        .await;
    assert!(ran.ok && ran.text.matches("worker 1").count() == 2, "{}", ran.text);
}

/// With the person's own toolchain, which is below their home folder.
async fn cargo_builds_and_tests(backend: Backend) {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap();
    let cargo = std::env::var_os("CARGO").map_or(home.join(".cargo/bin/cargo"), PathBuf::from);
    if !cargo.is_file() {
        println!("skipped: no cargo");
        return;
    }
    let Some(stage) = Stage::with(backend, |policy| policy.home = Some(home.clone())) else { return };
    std::fs::create_dir_all(stage.path("project/src")).unwrap();
    std::fs::write(
        stage.path("project/Cargo.toml"),
        "[package]\nname = \"x\"\nedition = \"2024\"\n[workspace]\n",
    )
    .unwrap();
    std::fs::write(stage.path("project/src/lib.rs"), "#[test]\nfn adds() { assert_eq!(1 + 1, 2); }\n")
        .unwrap();
    let script =
        format!("export HOME={}; {} test --offline 2>&1 | tail -n 8", home.display(), cargo.display());
    let ran = stage.run(&script).await;
    assert!(ran.text.contains("1 passed"), "{}", ran.text);
}

async fn programs_below_the_home_folder_run(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    std::fs::write(stage.path("home/.local/bin/mine"), "#!/bin/sh\necho ran\n").unwrap();
    let ran = stage.run("chmod +x $HOME/.local/bin/mine 2>/dev/null; sh $HOME/.local/bin/mine").await;
    assert_eq!(ran.text.trim(), "ran");
}

async fn local_servers_can_be_tested(backend: Backend) {
    if backend == Backend::Landlock {
        return; // Sockets cannot be told apart by whom they lead to.
    }
    let Some(stage) = Stage::new(backend) else { return };
    let script = "
import socket, threading
s = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: s.accept()[0].send(b'hi')).start()
print(socket.create_connection(s.getsockname()).recv(2).decode())
u = socket.socket(socket.AF_UNIX); u.bind('own.sock'); u.listen()
socket.socket(socket.AF_UNIX).connect('own.sock'); print('own')
";
    let ran = stage.run(&format!("{PYTHON} - <<'E'\n{script}\nE")).await;
    assert_eq!(ran.text, "hi\nown\n");
}

async fn a_project_in_the_temporary_folder_works(backend: Backend) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "hello").unwrap();
    let policy = SandboxPolicy {
        roots: vec![folder.path().to_owned()],
        backend: Some(backend),
        ..SandboxPolicy::default()
    };
    let sandbox = Sandbox::new(policy);
    if sandbox.grade().backend != backend {
        return;
    }
    let mut command = project::command("/bin/sh");
    command.args(["-c", "cat a.txt > b.txt && pwd > c.txt"]).cwd(folder.path());
    let status =
        sandbox.enclose(command, &SandboxNeeds::none()).unwrap().spawn().unwrap().wait().await.unwrap();
    assert!(status.success(), "{status:?}");
    assert_eq!(std::fs::read_to_string(folder.path().join("b.txt")).unwrap(), "hello");
}

async fn many_commands_run_at_once(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let runs = (0..8).map(|number| {
        let stage = &stage;
        async move {
            stage.run(&format!("sleep 0.05; echo {number} > n{number}; git status -s > /dev/null")).await
        }
    });
    let mut all = Vec::new();
    for run in runs {
        all.push(Box::pin(run));
    }
    // Polled in turn, they overlap.
    let all = join(all).await;
    assert!(all.iter().all(|ran| ran.ok), "{:?}", all.iter().map(|ran| &ran.text).collect::<Vec<_>>());
}

async fn join<F: Future + Unpin>(mut futures: Vec<F>) -> Vec<F::Output> {
    let mut done = Vec::new();
    std::future::poll_fn(|context| {
        futures.retain_mut(|future| match std::pin::Pin::new(future).poll(context) {
            std::task::Poll::Ready(output) => {
                done.push(output);
                false
            }
            std::task::Poll::Pending => true,
        });
        if futures.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done
}

async fn a_terminal_is_one_inside(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let pattern = stage.again(|policy| policy.roots = Vec::new()).sandbox;
    let launcher = SandboxLauncher::new(pattern, |_| {});
    let root = stage.path("project").canonicalize().unwrap();
    let host = LocalHost::new(Roots::new([&root]).unwrap()).launched_by(std::sync::Arc::new(launcher));
    let script = format!(
        "test -t 0 && test -t 1 && stty size && : > /dev/tty && echo own; cat {}; setsid -f sleep 1000; echo $?; exit 4",
        stage.path("home/.netrc").display()
    );
    let size = TerminalSize { columns: 90, rows: 20 };
    let streams = Streams::Terminal(size);
    let task = Task { program: Program::Shell(script), cwd: root.clone(), env: Vec::new(), streams };
    let mut running = host.start(task).await.unwrap();
    let mut text = Vec::new();
    while let Some(piece) = running.output().await {
        text.extend(piece);
    }
    let text = String::from_utf8_lossy(&text).replace('\r', "");
    assert_eq!(running.exit().await, Exit::Code(4), "{text}");
    assert!(text.contains("20 90\nown\n") && text.ends_with("0\n"), "{text}");
    assert!(!text.contains(super::stage::CANARY));
}

async fn a_host_runs_its_programs_inside(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = told.clone();
    let pattern = stage.again(|policy| policy.roots = Vec::new()).sandbox;
    let launcher =
        SandboxLauncher::new(pattern, move |reverted| heard.lock().unwrap().push(reverted.path.clone()));
    let root = stage.path("project").canonicalize().unwrap();
    let host = LocalHost::new(Roots::new([&root]).unwrap()).launched_by(std::sync::Arc::new(launcher));
    let script =
        format!("cat {}; echo x > .git/commondir; echo in > in.txt", stage.path("home/.netrc").display());
    let task =
        Task { program: Program::Shell(script), cwd: root.clone(), env: Vec::new(), streams: Streams::Out };
    let mut running = host.start(task).await.unwrap();
    let mut text = Vec::new();
    while let Some(piece) = running.output().await {
        text.extend(piece);
    }
    assert_eq!(running.exit().await, Exit::Code(0));
    assert!(!String::from_utf8_lossy(&text).contains(super::stage::CANARY));
    assert_eq!(stage.read("project/in.txt"), "in\n");
    assert_eq!(*told.lock().unwrap(), [root.join(".git/commondir")]);
    assert!(!Path::new(&root.join(".git/commondir")).exists());
}
