//! A project, a home folder with secrets in it, and commands that run inside the sandbox.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use guard::{Backend, Enclosed, Reverted, Sandbox, SandboxLevel, SandboxNeeds, SandboxPolicy};
use tempfile::TempDir;

/// What must never be seen in the output of anything.
pub(in crate::sandbox) const CANARY: &str = "canary-6e1f0c";

/// Not the person's own, which may be below a home folder that this stage hides.
pub(in crate::sandbox) const PYTHON: &str = "/usr/bin/python3";

pub(in crate::sandbox) struct Stage {
    folder: Arc<TempDir>,
    pub(in crate::sandbox) sandbox: Sandbox,
}

pub(in crate::sandbox) struct Ran {
    pub(in crate::sandbox) ok: bool,
    pub(in crate::sandbox) status: std::process::ExitStatus,
    /// Both streams.
    pub(in crate::sandbox) text: String,
    pub(in crate::sandbox) reverted: Vec<Reverted>,
}

impl Stage {
    /// None, with the reason printed, if this machine does not have the backend.
    pub(in crate::sandbox) fn new(backend: Backend) -> Option<Self> {
        Self::with(backend, |_| {})
    }

    pub(in crate::sandbox) fn with(
        backend: Backend,
        change: impl FnOnce(&mut SandboxPolicy),
    ) -> Option<Self> {
        let folder = place();
        let root = folder.path();
        for path in [
            "home/.ssh",
            "home/.config/gh",
            "home/.aws",
            "home/.local/bin",
            "home/bin",
            "covey",
            "project/sub",
        ] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        for path in [
            "home/.ssh/id_ed25519",
            "home/.config/gh/hosts.yml",
            "home/.aws/credentials",
            "home/.netrc",
            "home/.npmrc",
            "covey/auth.json",
            "project/.env",
            "project/sub/.env.local",
            "outside-secret",
        ] {
            fs::write(root.join(path), CANARY).unwrap();
        }
        fs::write(root.join("home/notes.txt"), "plain").unwrap();
        fs::write(root.join("project/a.txt"), "hello").unwrap();
        git(&root.join("project"), &["init", "--quiet", "."]);
        git(&root.join("project"), &["config", "user.email", "a@example.org"]);
        git(&root.join("project"), &["config", "user.name", "a"]);
        let mut policy = SandboxPolicy {
            level: SandboxLevel::Workspace,
            roots: vec![root.join("project")],
            home: Some(root.join("home")),
            own: vec![root.join("covey")],
            hidden: vec![root.join("outside-secret")],
            backend: Some(backend),
            ..SandboxPolicy::default()
        };
        change(&mut policy);
        let sandbox = Sandbox::new(policy);
        if sandbox.grade().backend != backend {
            println!("skipped: this machine has no {backend}: {:?}", sandbox.grade().passed_over);
            return None;
        }
        Some(Self { folder: Arc::new(folder), sandbox })
    }

    /// The same folders under another policy.
    pub(in crate::sandbox) fn again(&self, change: impl FnOnce(&mut SandboxPolicy)) -> Self {
        let mut policy = self.sandbox.policy().clone();
        change(&mut policy);
        Self { folder: Arc::clone(&self.folder), sandbox: Sandbox::new(policy) }
    }

    pub(in crate::sandbox) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(in crate::sandbox) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub(in crate::sandbox) fn enclose(&self, script: &str, needs: &SandboxNeeds) -> Enclosed {
        self.enclose_in(&self.path("project"), script, needs)
    }

    fn enclose_in(&self, folder: &Path, script: &str, needs: &SandboxNeeds) -> Enclosed {
        let mut command = project::command("/bin/bash");
        // What scripts know of the machine outside.
        command.args(["-c", script]).cwd(folder);
        command.env("HOME", self.path("home")).env("STAGE", self.folder.path());
        command.env("OUTER", std::process::id().to_string());
        command.stdout(project::Stream::Piped).stderr(project::Stream::Piped);
        self.sandbox.enclose(command, needs).unwrap()
    }

    /// Runs a script in the project folder. It knows `$STAGE`, where home and project are, and `$OUTER`, us.
    pub(in crate::sandbox) async fn run(&self, script: &str) -> Ran {
        self.run_with(script, &SandboxNeeds::none()).await
    }

    pub(in crate::sandbox) async fn run_with(&self, script: &str, needs: &SandboxNeeds) -> Ran {
        Self::finish(self.enclose(script, needs)).await
    }

    pub(in crate::sandbox) async fn run_in(&self, folder: &Path, script: &str) -> Ran {
        Self::finish(self.enclose_in(folder, script, &SandboxNeeds::none())).await
    }

    pub(in crate::sandbox) async fn finish(mut enclosed: Enclosed) -> Ran {
        let child = enclosed.spawn().unwrap();
        let output =
            tokio::time::timeout(Duration::from_secs(120), child.output(1 << 20)).await.unwrap().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains(CANARY), "a secret came out: {text}");
        Ran { ok: output.status.success(), status: output.status, text, reverted: enclosed.after() }
    }
}

pub(in crate::sandbox) fn git(folder: &Path, arguments: &[&str]) {
    let status = std::process::Command::new("git").args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success());
}

/// Where the stage is built: not in a folder for scratch, which children do not see, even when the checkout is in one.
fn place() -> TempDir {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let is_scratch = ["/tmp", "/var/tmp", "/run"].iter().any(|scratch| target.starts_with(scratch));
    let others = ["/srv", "/opt"].into_iter().map(PathBuf::from).chain(std::env::home_dir());
    let mut places = Some(target).filter(|_| !is_scratch).into_iter().chain(others);
    places.find_map(|place| TempDir::new_in(place).ok()).unwrap()
}
