//! `cargo xtask load`: one server, many sessions that stream, many front ends that watch; and what an idle session costs.
//!
//! The clients are `crates/client/examples/load.rs`. This starts the scripted model and the server, counts what the
//! server used, and holds it to what was promised: no event lost or out of order, an idle session in 100 kB.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::run::{self, Failure};
use crate::scratch::Scratch;

const HELP: &str = "\
cargo xtask load [--profile fast] [--sessions 200] [--watchers 5] [--seconds 15] [--idle 400]

Prints one JSON line: what was streamed and delivered, what the server used, and what an idle session costs.
";

/// Pieces of text that a session streams in a second.
const A_SECOND: usize = 20;
const IDLE_BYTES: u64 = 100_000;

struct Wanted {
    profile: String,
    sessions: usize,
    watchers: usize,
    seconds: usize,
    idle: usize,
}

pub(crate) fn load(arguments: &[String]) -> Result<(), Failure> {
    let Some(wanted) = Wanted::parse(arguments)? else {
        print!("{HELP}");
        return Ok(());
    };
    let profile = wanted.profile.as_str();
    let cargo_profile = if profile == "debug" { "dev" } else { profile };
    run::step(
        "cargo",
        &["build", "--quiet", "--profile", cargo_profile, "--package", "covey", "--package", "testkit"],
    )?;
    run::step(
        "cargo",
        &["build", "--quiet", "--profile", cargo_profile, "--package", "client", "--example", "load"],
    )?;
    let mut scratch = Scratch::new(&run::target().join("tmp"), "load")?;
    let programs = run::target().join(profile);
    let mut model = model(&mut scratch, &programs, &wanted)?;
    let idle = idle(&mut scratch, &programs, &wanted)?;
    let streamed = stream(&mut scratch, &programs, &wanted);
    scratch.stop(&mut model);
    let mut line = streamed?;
    line["idle_session_bytes"] = json!(idle);
    line["profile"] = json!(profile);
    println!("{line}");
    if idle > IDLE_BYTES {
        return Err(Failure::new(format!("an idle session takes {idle} bytes, {IDLE_BYTES} at most")));
    }
    Ok(())
}

impl Wanted {
    /// None when help is asked for.
    fn parse(arguments: &[String]) -> Result<Option<Self>, Failure> {
        let mut wanted =
            Self { profile: "release".to_owned(), sessions: 200, watchers: 5, seconds: 15, idle: 400 };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            if matches!(word.as_str(), "--help" | "-h") {
                return Ok(None);
            }
            let value =
                words.next().ok_or_else(|| Failure::new(format!("`{word}` wants a value\n\n{HELP}")))?;
            let number = || {
                value
                    .parse::<usize>()
                    .map_err(|_| Failure::new(format!("`{value}` is not a number\n\n{HELP}")))
            };
            match word.as_str() {
                "--profile" => wanted.profile.clone_from(value),
                "--sessions" => wanted.sessions = number()?,
                "--watchers" => wanted.watchers = number()?,
                "--seconds" => wanted.seconds = number()?,
                "--idle" => wanted.idle = number()?,
                other => return Err(Failure::new(format!("unknown option `{other}`\n\n{HELP}"))),
            }
        }
        Ok(Some(wanted))
    }
}

/// The scripted model, which says a word every fiftieth of a second; its settings are in the home of the server.
fn model(scratch: &mut Scratch, programs: &Path, wanted: &Wanted) -> Result<Child, Failure> {
    let text = "word ".repeat(A_SECOND * wanted.seconds);
    let script = scratch.path().join("script");
    fs::write(
        &script,
        format!("reply\n  pace: {}\n  text: {}\nforever\n", 1000 / A_SECOND, text.trim_end()),
    )?;
    let mut command = with_files(&programs.join("covey-testkit"));
    command.args(["model-server", "--json", "--script"]).arg(&script);
    let (child, told) = scratch.start_told(&mut command)?;
    for name in ["idle", "busy"] {
        let home = scratch.path().join(name);
        fs::create_dir_all(&home)?;
        fs::write(home.join("config.toml"), told["config"].as_str().unwrap_or_default())?;
    }
    fs::create_dir_all(scratch.path().join("project/.git"))?;
    Ok(child)
}

/// What each of many sessions that are open and do nothing takes of the server's memory.
fn idle(scratch: &mut Scratch, programs: &Path, wanted: &Wanted) -> Result<u64, Failure> {
    let (mut server, told) = server(scratch, programs, "idle")?;
    let cwd = scratch.path().join("project").display().to_string();
    let made = (|| {
        // The first ones pay for what all share.
        create(&told, &cwd, 50)?;
        let before = resident(&server)?;
        create(&told, &cwd, wanted.idle)?;
        Ok((resident(&server)?).saturating_sub(before) / wanted.idle.max(1) as u64)
    })();
    scratch.stop(&mut server);
    made
}

fn stream(scratch: &mut Scratch, programs: &Path, wanted: &Wanted) -> Result<Value, Failure> {
    let (mut server, told) = server(scratch, programs, "busy")?;
    let link = format!("{}#token={}", word(&told, "url")?, word(&told, "token")?);
    let mut clients = with_files(&programs.join("examples/load"));
    clients.arg(link).arg(scratch.path().join("project"));
    clients.args([wanted.sessions.to_string(), wanted.watchers.to_string()]);
    let output = clients.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let used = (cpu_seconds(&server), resident(&server));
    scratch.stop(&mut server);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(Failure::new(format!("the clients failed ({})\n{told}", output.status)));
    }
    let mut line: Value = serde_json::from_str(&told).map_err(|error| Failure::new(error.to_string()))?;
    line["server_cpu_seconds"] = json!(used.0?);
    line["server_resident_bytes"] = json!(used.1?);
    Ok(line)
}

fn server(scratch: &mut Scratch, programs: &Path, home: &str) -> Result<(Child, Value), Failure> {
    let mut command = with_files(&programs.join("covey"));
    command.env("COVEY_HOME", scratch.path().join(home)).current_dir(scratch.path().join("project"));
    command.args(["serve", "--json", "--bind", "127.0.0.1:0"]);
    scratch.start_told(&mut command)
}

/// Two thousand sockets do not fit into what a shell allows by default.
fn with_files(program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 16384 || ulimit -n $(ulimit -Hn); exec \"$0\" \"$@\""]).arg(program);
    command
}

fn word<'a>(told: &'a Value, key: &str) -> Result<&'a str, Failure> {
    told[key].as_str().ok_or_else(|| Failure::new(format!("no `{key}` in {told}")))
}

/// Makes sessions over HTTP, on one connection.
fn create(told: &Value, cwd: &str, count: usize) -> Result<(), Failure> {
    let address = word(told, "url")?.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let token = word(told, "token")?;
    let mut stream = TcpStream::connect(&address)?;
    let body = json!({"cwd": cwd}).to_string();
    for at in 0..count {
        let last = if at + 1 == count { "close" } else { "keep-alive" };
        write!(
            stream,
            "POST /api/sessions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: {last}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut head = [0; 4096];
        let read = stream.read(&mut head)?;
        if !head[..read].starts_with(b"HTTP/1.1 201") {
            return Err(Failure::new(format!("no session: {}", String::from_utf8_lossy(&head[..read]))));
        }
    }
    Ok(())
}

/// As the system counts it now. The shell that started it became it.
fn resident(child: &Child) -> Result<u64, Failure> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes
        .map(|kilobytes| kilobytes * 1024)
        .ok_or_else(|| Failure::new("the system does not tell the memory"))
}

fn cpu_seconds(child: &Child) -> Result<f64, Failure> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    // A hundred to the second on every Linux.
    Ok((ticks(11) + ticks(12)) / 100.0)
}
