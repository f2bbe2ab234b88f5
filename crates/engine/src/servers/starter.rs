//! Starting the program of a server, in the sandbox.

use std::sync::Arc;

use mcp::{Pipes, ServerConfig, Starter};
use project::{Grants, Launcher, Roots, Stream, command};

/// Starts programs with the project and what they said that they need.
pub struct HostStarter {
    pub launcher: Arc<dyn Launcher>,
    pub roots: Roots,
}

impl Starter for HostStarter {
    fn start(&self, config: &ServerConfig) -> Result<Pipes, String> {
        let Some(program) = &config.command else { return Err("it has no command".to_owned()) };
        let mut program = command(program);
        program.args(&config.args).envs(&config.env).cwd(self.roots.main());
        program.stdin(Stream::Piped).stdout(Stream::Piped).stderr(Stream::Piped);
        let grants =
            Grants { reads: config.reads.clone(), writes: config.writes.clone(), network: config.network };
        let mut child =
            self.launcher.launch(program, &self.roots, &grants).map_err(|error| error.to_string())?;
        let gone = || "it has no pipes".to_owned();
        Ok(Pipes {
            input: Box::new(child.stdin.take().ok_or_else(gone)?),
            output: Box::new(child.stdout.take().ok_or_else(gone)?),
            complaints: Box::new(child.stderr.take().ok_or_else(gone)?),
            process: Box::new(child),
        })
    }
}
