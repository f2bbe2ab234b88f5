//! A home, a project and a model, and `covey` among them.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;
use testkit::{ModelServer, Script};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

/// No command of these tests takes longer than this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct World {
    pub(crate) server: ModelServer,
    pub(crate) home: PathBuf,
    pub(crate) project: PathBuf,
    _folder: tempfile::TempDir,
}

/// What a finished `covey` left.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    /// With the scripted model configured.
    pub(crate) async fn new(script: &str) -> Self {
        let world = Self::bare(script).await;
        let quick = "\n[providers.testkit.timeouts]\nfirst_byte = 30\n";
        world.configure(&format!("{}{quick}", world.server.config()));
        world
    }

    /// With nothing configured.
    pub(crate) async fn bare(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (home, project) = (root.join("home"), root.join("project"));
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(project.join(".git")).unwrap();
        let server = ModelServer::start(script.parse::<Script>().unwrap()).await.unwrap();
        Self { server, home, project, _folder: folder }
    }

    pub(crate) fn configure(&self, text: &str) {
        std::fs::write(self.home.join("config.toml"), text).unwrap();
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.project.join(path), text).unwrap();
    }

    /// `covey` with these arguments, in the project, with nothing of this machine's environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_covey"));
        command.args(arguments).current_dir(&self.project).env_clear();
        command.env("COVEY_HOME", &self.home).env("PATH", "/usr/bin:/bin").env("HOME", &self.home);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    pub(crate) async fn covey(&self, arguments: &[&str]) -> Done {
        finish(self.command(arguments).spawn().unwrap()).await
    }

    pub(crate) async fn covey_with_stdin(&self, arguments: &[&str], input: &[u8]) -> Done {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input).await.unwrap();
        drop(stdin);
        finish(child).await
    }

    /// Runs a prompt and answers the result line.
    pub(crate) async fn result(&self, arguments: &[&str]) -> (Done, Value) {
        let done = self.covey(&[&["run", "--json"], arguments].concat()).await;
        let last = done.out.lines().last().unwrap_or_else(|| panic!("no result line: {done:?}"));
        let result: Value = serde_json::from_str(last).unwrap();
        assert_eq!(result["type"], "result");
        (done, result)
    }

    pub(crate) fn sessions(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.home.join("sessions")) else { return vec![] };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

impl Done {
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn types(&self) -> Vec<String> {
        self.lines().iter().map(|line| line["type"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) async fn finish(child: Child) -> Done {
    finish_within(child, PATIENCE).await
}

pub(crate) async fn finish_within(child: Child, patience: Duration) -> Done {
    let output =
        tokio::time::timeout(patience, child.wait_with_output()).await.expect("covey hangs").unwrap();
    Done {
        code: code(output.status),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

fn code(status: ExitStatus) -> Option<i32> {
    status.code()
}

/// Sends a signal to a running `covey`.
pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(child.id().unwrap() as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}
