//! `covey acp-proxy`: what an editor and an agent say to each other, recorded, checked, and played again.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ::acp::{Checker, Finding, Line, Lines, Played, Record, Replay, Side, read_recording};
use clap::{Args, Subcommand, ValueEnum};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};

use crate::exit::{Exit, Failure};
use crate::settings::home;
use crate::terminal::{plain, print, tell, tell_warning};

/// Between asking a program to end and ending it.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct ProxyArguments {
    #[command(subcommand)]
    command: Option<ProxyCommand>,
    /// Where it is recorded; in Covey's own folder without it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Say on stderr which rules of the protocol are broken, as it happens
    #[arg(long)]
    check: bool,
    /// The agent's command
    #[arg(last = true, required = true)]
    program: Vec<String>,
}

#[derive(Subcommand)]
enum ProxyCommand {
    /// Play one side of a recording, to a command or on stdin and stdout
    Replay {
        file: PathBuf,
        /// Whose part is played
        #[arg(long = "as", value_name = "SIDE", default_value = "agent")]
        side: Part,
        /// With the pauses that there were
        #[arg(long)]
        timed: bool,
        /// The other side's command
        #[arg(last = true)]
        program: Vec<String>,
    },
    /// Say which rules of the protocol a recording breaks
    Check {
        file: PathBuf,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Part {
    Agent,
    Client,
}

pub(crate) fn acp_proxy(arguments: ProxyArguments) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("could not start: {error}")))?;
    let result = match arguments.command {
        Some(ProxyCommand::Check { file, json }) => return check(&file, json),
        Some(ProxyCommand::Replay { file, side, timed, program }) => {
            runtime.block_on(replay(&file, side, timed, &program))
        }
        None => runtime.block_on(pass_on(&arguments.program, arguments.record, arguments.check)),
    };
    // A read of standard input can not be called off, and nobody waits for it.
    runtime.shutdown_background();
    result
}

fn read(file: &Path) -> Result<Vec<Record>, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("can not read `{}`: {error}", file.display())))?;
    read_recording(&text).map_err(|why| {
        Failure::usage(format!("`{}` is no recording: {why}", file.display()))
            .hint("make one: covey acp-proxy --record FILE -- COMMAND")
    })
}

fn check(file: &Path, json: bool) -> Result<Exit, Failure> {
    let records = read(file)?;
    let mut checker = Checker::default();
    let mut found: Vec<(Option<usize>, Finding)> = Vec::new();
    for (at, record) in records.iter().enumerate() {
        found.extend(checker.see(record).into_iter().map(|finding| (Some(at + 1), finding)));
    }
    found.extend(checker.end().into_iter().map(|finding| (None, finding)));
    for (line, Finding { by, text }) in &found {
        if json {
            let value = serde_json::json!({"line": line, "by": by.as_str(), "broke": text});
            print(&format!("{value}\n"))?;
        } else {
            let place = line.map_or_else(|| "end".to_owned(), |line| format!("line {line}"));
            print(&format!("{place}: the {}: {}\n", by.as_str(), plain(text)))?;
        }
    }
    if !json {
        print(&format!("{} messages, {} broken rules\n", records.len(), found.len()))?;
    }
    Ok(if found.is_empty() { Exit::Done } else { Exit::Failed })
}

async fn replay(file: &Path, side: Part, timed: bool, program: &[String]) -> Result<Exit, Failure> {
    let records = read(file)?;
    let side = match side {
        Part::Agent => Side::Agent,
        Part::Client => Side::Client,
    };
    let instead = if side == Side::Client { moved(&records) } else { vec![] };
    let play = Replay { side, records, timed, instead };
    let played = if program.is_empty() {
        play.play(tokio::io::stdin(), tokio::io::stdout()).await?
    } else {
        let (mut child, stdin, stdout) = start(program)?;
        let played = play.play(stdout, stdin).await?;
        child.terminate(GRACE).await?;
        played
    };
    match played {
        Played::Whole => Ok(Exit::Done),
        Played::Left { waiting_for } => {
            Err(Failure::new(format!("the other side left while `{waiting_for}` was waited for")))
        }
    }
}

/// A folder that was recorded elsewhere is this one now.
fn moved(records: &[Record]) -> Vec<(String, String)> {
    let cwd = |record: &Record| match &record.said {
        ::acp::Said::Message(message) => message.pointer("/params/cwd")?.as_str().map(str::to_owned),
        ::acp::Said::Noise(_) => None,
    };
    let here = std::env::current_dir().map(|here| here.to_string_lossy().into_owned());
    match (records.iter().find_map(cwd), here) {
        (Some(there), Ok(here)) if !Path::new(&there).is_dir() => vec![(there, here)],
        _ => vec![],
    }
}

/// Hears both directions.
struct Witness {
    file: std::fs::File,
    checker: Option<Checker>,
    started: Instant,
    failed: bool,
}

impl Witness {
    fn hear(&mut self, by: Side, line: &[u8]) {
        let record =
            Record::new(by, u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX), line);
        if let Err(error) = writeln!(self.file, "{}", record.to_line())
            && !std::mem::replace(&mut self.failed, true)
        {
            tell_warning(&format!("it can not be recorded any more: {error}"));
        }
        let found = self.checker.as_mut().map(|checker| checker.see(&record)).unwrap_or_default();
        found.iter().for_each(complain);
    }
}

fn complain(finding: &Finding) {
    tell_warning(&format!("the {}: {}", finding.by.as_str(), plain(&finding.text)));
}

async fn pass_on(program: &[String], file: Option<PathBuf>, check: bool) -> Result<Exit, Failure> {
    let path = match file {
        Some(file) => file,
        None => {
            let folder = home()?.data_dir().join("wire");
            project::create_private_dir(&folder)?;
            let now = protocol::Timestamp::now().to_string().replace(':', "");
            folder.join(format!("{now}-{}.jsonl", std::process::id()))
        }
    };
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&path)
        .map_err(|error| Failure::usage(format!("can not write `{}`: {error}", path.display())))?;
    let witness =
        Witness { file, checker: check.then(Checker::default), started: Instant::now(), failed: false };
    let witness = Arc::new(Mutex::new(witness));
    let (mut child, to_agent, from_agent) = start(program)?;
    tell(&format!("recording to {}\n", path.display()));
    let there = tokio::spawn(copy(tokio::io::stdin(), to_agent, Side::Client, witness.clone()));
    let back = tokio::spawn(copy(from_agent, tokio::io::stdout(), Side::Agent, witness.clone()));
    // The agent ends when its input does, or by itself; what it said last is still passed on.
    let _ = back.await;
    there.abort();
    let status = child.terminate(GRACE).await?;
    let left = witness.lock().unwrap_or_else(PoisonError::into_inner).checker.as_mut().map(Checker::end);
    left.unwrap_or_default().iter().for_each(complain);
    Ok(if status.code().is_some_and(|code| code != 0) { Exit::Failed } else { Exit::Done })
}

/// Starts a program to talk to. It is the person's, as if they had started it.
fn start(program: &[String]) -> Result<(project::Child, ChildStdin, ChildStdout), Failure> {
    let Some((name, arguments)) = program.split_first() else {
        return Err(Failure::usage("no command is named").hint("covey acp-proxy -- COMMAND"));
    };
    let mut command = project::command(name);
    command.args(arguments).cwd(std::env::current_dir()?);
    command.stdin(project::Stream::Piped).stdout(project::Stream::Piped).stderr(project::Stream::Ours);
    let mut child =
        command.spawn().map_err(|error| Failure::new(format!("`{name}` could not be started: {error}")))?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(stdin), Some(stdout)) => Ok((child, stdin, stdout)),
        _ => Err(Failure::new(format!("`{name}` has no pipes"))),
    }
}

/// Line by line, so that what is recorded is what was passed on.
async fn copy<R, W>(reader: R, mut writer: W, by: Side, witness: Arc<Mutex<Witness>>) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = Lines::new(reader);
    while let Some(line) = lines.next().await? {
        match line {
            Line::Whole(mut line) => {
                witness.lock().unwrap_or_else(PoisonError::into_inner).hear(by, &line);
                line.push(b'\n');
                writer.write_all(&line).await?;
                writer.flush().await?;
            }
            Line::TooLong { bytes } => {
                tell_warning(&format!("a line of {bytes} bytes by the {} was not passed on", by.as_str()));
            }
        }
    }
    writer.shutdown().await
}
