//! `covey inside`: a command within the walls, in somebody else's terminal. Not for people.

use std::sync::Arc;

use clap::Args;
use guard::SandboxLauncher;
use project::{Grants, Launcher, Roots, Stream, command};
use tokio::signal::unix::{SignalKind, signal};

use crate::block_on;
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::tell_warning;

#[derive(Args)]
pub(crate) struct InsideArguments {
    /// A folder of the project
    #[arg(long = "root", required = true)]
    roots: Vec<std::path::PathBuf>,
    /// What may be read beside it
    #[arg(long)]
    read: Vec<std::path::PathBuf>,
    /// What may be written beside it
    #[arg(long)]
    write: Vec<std::path::PathBuf>,
    /// Whether the network may be used
    #[arg(long)]
    network: bool,
    /// For the shell
    line: String,
}

/// The command line that runs `line` within the walls that a local host would put around it, and what it needs to know.
pub(crate) fn walled(
    roots: &Roots,
    grants: &Grants,
    line: &str,
) -> (String, Vec<String>, Vec<(String, String)>) {
    let program = std::env::current_exe().unwrap_or_else(|_| "covey".into());
    let mut args = vec!["inside".to_owned()];
    let mut add = |flag: &str, path: &std::path::Path| {
        args.push(flag.to_owned());
        args.push(path.to_string_lossy().into_owned());
    };
    // What was granted is among the roots too.
    let granted = |root: &std::path::Path| grants.reads.iter().chain(&grants.writes).any(|path| path == root);
    for root in roots.iter().filter(|root| *root == roots.main() || !granted(root)) {
        add("--root", root);
    }
    grants.reads.iter().for_each(|path| add("--read", path));
    grants.writes.iter().for_each(|path| add("--write", path));
    if grants.network {
        args.push("--network".to_owned());
    }
    args.extend(["--".to_owned(), line.to_owned()]);
    // The editor's terminal need not have our environment.
    let home = std::env::var("COVEY_HOME").ok().map(|home| ("COVEY_HOME".to_owned(), home));
    (program.to_string_lossy().into_owned(), args, home.into_iter().collect())
}

pub(crate) fn inside(arguments: InsideArguments) -> Result<Exit, Failure> {
    let code = block_on(run(arguments))?;
    std::process::exit(code);
}

async fn run(arguments: InsideArguments) -> Result<i32, Failure> {
    let settings = Settings::load(arguments.roots.first().map(std::path::PathBuf::as_path), &[])?;
    let launcher = SandboxLauncher::new(settings.sandbox()?, |reverted| tell_warning(&reverted.to_string()));
    let launcher: Arc<dyn Launcher> = Arc::new(launcher);
    let roots = Roots::new(arguments.roots).map_err(|error| Failure::usage(error.to_string()))?;
    let grants = Grants { reads: arguments.read, writes: arguments.write, network: arguments.network };
    let shell = if std::path::Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    let mut line = command(shell);
    line.arg("-c").arg(&arguments.line).cwd(std::env::current_dir()?);
    line.stdout(Stream::Ours).stderr(Stream::Ours);
    let mut child =
        launcher.launch(line, &roots, &grants).map_err(|error| Failure::new(error.to_string()))?;
    let (mut terminate, mut interrupt, mut hangup) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?);
    let status = tokio::select! {
        status = child.wait() => status?,
        // All that it started ends with it.
        _ = terminate.recv() => child.terminate(crate::inside::GRACE).await?,
        _ = interrupt.recv() => child.terminate(crate::inside::GRACE).await?,
        _ = hangup.recv() => child.terminate(crate::inside::GRACE).await?,
    };
    use std::os::unix::process::ExitStatusExt;
    Ok(status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1))
}

const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
