//! What the measures share: the programs, a home and a project in a scratch folder, and servers.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::child::{self, Used};
use super::floor::FLOOR;
use crate::run::{self, Failure};
use crate::scratch::Scratch;

pub(super) struct Stage {
    profile: String,
    scratch: Scratch,
    servers: Vec<Child>,
}

/// A `COVEY_HOME` with settings for one model.
pub(super) struct Home(PathBuf);

impl Stage {
    pub(super) fn new(profile: &str) -> Result<Self, Failure> {
        // Beside the build, on a disk: the system's temporary folder may be in memory, and a gigabyte is written.
        let scratch = Scratch::new(&run::target().join("tmp"), "bench")?;
        fs::create_dir(scratch.path().join("project"))?;
        let lines = (1..=200).map(|line| format!("line {line} of a file to read\n"));
        fs::write(scratch.path().join("project/a.txt"), lines.collect::<String>())?;
        Ok(Self { profile: profile.to_owned(), scratch, servers: Vec::new() })
    }

    pub(super) fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// A program of the profile that is measured.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        run::target().join(&self.profile).join(name)
    }

    /// Builds and runs an example that prepares something.
    pub(super) fn example(&self, package: &str, name: &str, words: &[&str]) -> Result<(), Failure> {
        let build = ["build", "--quiet", "--package", package, "--example", name, "--profile", &self.profile];
        run::step("cargo", &build)?;
        let program = self.program(&format!("examples/{name}"));
        run::step_command({
            let mut command = Command::new(program);
            command.args(words).stdout(Stdio::null());
            command
        })
    }

    pub(super) fn home(&self, name: &str, base_url: &str) -> Result<Home, Failure> {
        let home = self.path().join(name);
        fs::create_dir_all(&home)?;
        let settings = format!(
            "model = \"testkit/scripted\"\n\n[providers.testkit]\nwire = \"openai-chat\"\nbase_url = \"{base_url}\"\n\n\
             [providers.testkit.models.scripted]\ncontext = 200000\n"
        );
        fs::write(home.join("config.toml"), settings)?;
        Ok(Home(home))
    }

    /// Starts the scripted model server; it ends with the bench. Answers where its API begins.
    pub(super) fn server(&mut self, words: &[&str]) -> Result<String, Failure> {
        let mut command = Command::new(self.program("covey-testkit"));
        command.args(["model-server", "--json"]).args(words).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut server = self.scratch.start(&mut command)?;
        let output = server.stdout.take().ok_or_else(|| Failure::new("the model server has no output"))?;
        self.servers.push(server);
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        let said = serde_json::from_str::<Value>(&line).ok();
        let base_url = said.as_ref().and_then(|said| said["base_url"].as_str());
        base_url.map(str::to_owned).ok_or_else(|| Failure::new("the model server did not say where it is"))
    }

    /// The command that is measured, in the project and with nothing of the person's own.
    pub(super) fn covey(&self, home: &Home, words: &[&str]) -> Result<Command, Failure> {
        let mut command = Command::new(self.program("covey"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("COVEY_"))
        {
            command.env_remove(name);
        }
        command.env("COVEY_HOME", &home.0).args(words);
        self.aside(command)
    }

    pub(super) fn floor(&self, base_url: &str, body: &Path, turns: usize) -> Result<Command, Failure> {
        let mut command = Command::new(self.program("xtask"));
        command.arg(FLOOR).arg(base_url).arg(body).arg(turns.to_string());
        self.aside(command)
    }

    /// Output goes to files: nobody has to read it meanwhile, and it can be looked at.
    fn aside(&self, mut command: Command) -> Result<Command, Failure> {
        command.current_dir(self.path().join("project")).stdin(Stdio::null());
        command.stdout(File::create(self.path().join("out"))?).stderr(File::create(self.path().join("err"))?);
        Ok(command)
    }

    /// Runs it; what it said belongs to the error when it fails.
    pub(super) fn once(&self, mut command: Command) -> Result<Used, Failure> {
        child::measure(&mut command).map_err(|failure| {
            let said = fs::read_to_string(self.path().join("err")).unwrap_or_default();
            Failure::new(format!("{failure}\n{}", said.trim_end()))
        })
    }

    /// What the last command printed.
    pub(super) fn printed(&self) -> Result<String, Failure> {
        Ok(fs::read_to_string(self.path().join("out"))?)
    }

    /// Runs a command several times, after one time that does not count.
    pub(super) fn many(
        &self,
        runs: usize,
        command: impl Fn() -> Result<Command, Failure>,
    ) -> Result<Vec<Used>, Failure> {
        self.once(command()?)?;
        (0..runs).map(|_| self.once(command()?)).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for server in &mut self.servers {
            self.scratch.stop(server);
        }
    }
}
