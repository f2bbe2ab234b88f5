//! The machine, as the terminal UI asks for it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use base64::Engine as _;
use client::{ClientError, Failure};
use project::{Stream, command, run_in_foreground, set_in_file};
use protocol::{Image, SessionId, Source};
use tui::{Outside, Report};

use crate::run::read_image;
use crate::settings::{SECTIONS, Settings};

/// No report and no picture is larger.
const MAX_OUTPUT: usize = 32 << 20;

pub(super) struct World {
    cwd: PathBuf,
    root: PathBuf,
    config_file: PathBuf,
    data_dir: PathBuf,
    config_dir: PathBuf,
}

impl World {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            cwd: settings.cwd.clone(),
            root: settings.root.clone(),
            config_file: settings.home.config_file(),
            data_dir: settings.home.data_dir().to_owned(),
            config_dir: settings.home.config_dir().to_owned(),
        }
    }

    /// What one of our own commands prints.
    async fn own(&self, arguments: &[&str]) -> Result<String, ClientError> {
        let failed =
            |error: &dyn std::fmt::Display| invalid(format!("`covey {}`: {error}", arguments.join(" ")));
        let program = std::env::current_exe().map_err(|error| failed(&error))?;
        let mut child = command(program);
        child.args(arguments).cwd(&self.cwd).env("NO_COLOR", "1").stdout(Stream::Piped).stderr(Stream::Piped);
        let child = child.spawn().map_err(|error| failed(&error))?;
        let output = child.output(MAX_OUTPUT).await.map_err(|error| failed(&error))?;
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Ok(format!("```\n{}\n```", text.trim_end()))
    }

    fn memory(&self) -> String {
        let exists = |path: PathBuf| path.exists().then(|| format!("- `{}`", path.display()));
        let rules = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".covey/rules", ".cursorrules"];
        let read: Vec<String> = rules
            .iter()
            .map(|name| self.root.join(name))
            .chain([self.config_dir.join("AGENTS.md"), self.config_dir.join("rules")])
            .filter_map(exists)
            .collect();
        let mut text = String::from("### Read before every conversation\n\n");
        text.push_str(if read.is_empty() { "nothing; `/init` writes AGENTS.md" } else { "" });
        text.push_str(&read.join("\n"));
        text.push_str("\n\n### Remembered between sessions\n\n");
        let memory = self.data_dir.join("memory");
        let kept = fs::read_dir(&memory).map(|entries| entries.flatten().count()).unwrap_or_default();
        text.push_str(&match kept {
            0 => "nothing yet; the agent notes what it is told to remember".to_owned(),
            _ => format!("- `{}`", memory.display()),
        });
        text
    }

    async fn bug(&self, session: Option<&SessionId>) -> String {
        let of = |name: &str| std::env::var(name).unwrap_or_else(|_| "not set".to_owned());
        let session = session.map_or("none".to_owned(), ToString::to_string);
        let doctor = self.own(&["doctor"]).await.unwrap_or_default();
        format!(
            "### What to tell us\n\nWhat you did, what you expected, what happened; and this:\n\n\
             - covey {} on {} {}\n- terminal: TERM={} TERM_PROGRAM={}\n- session: {session} \
             (`covey session export {session} --format json` writes it down; read it before you send it)\n\n{doctor}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            of("TERM"),
            of("TERM_PROGRAM"),
        )
    }
}

#[async_trait]
impl Outside for World {
    fn edit(&self, text: &str) -> io::Result<String> {
        let file = self.data_dir.join("tui").join(format!("prompt-{}.md", std::process::id()));
        project::create_private_dir(file.parent().unwrap_or(&self.data_dir))?;
        let mut handle =
            fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&file)?;
        handle.write_all(text.as_bytes())?;
        drop(handle);
        let editor = ["VISUAL", "EDITOR"].iter().find_map(std::env::var_os).unwrap_or_else(|| "vi".into());
        // People put arguments into the variable: `code --wait`.
        let words = editor.to_string_lossy().split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::NotFound)?;
        let status = run_in_foreground(program, arguments.iter().chain([&OsString::from(&file)]))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", program.display())));
        let edited = status.and_then(|status| match status.success() {
            true => fs::read_to_string(&file),
            false => Err(io::Error::other(format!("{} ended with {status}", program.display()))),
        });
        // What was written is in the composer now.
        let _ = fs::remove_file(&file);
        edited
    }

    async fn branch(&self) -> Option<String> {
        let branch = super::branch::checked_out(&self.root)?;
        let mut git = command("git");
        git.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]);
        git.args(["status", "--porcelain", "--untracked-files=no", "--ignore-submodules"]);
        git.cwd(&self.root).stdout(Stream::Piped);
        let output = git.spawn().ok()?.output(1 << 20).await.ok()?;
        Some(if output.stdout.is_empty() { branch } else { format!("{branch}*") })
    }

    async fn image(&self, path: &Path) -> Result<Image, String> {
        let path = self.cwd.join(path);
        let read = tokio::task::spawn_blocking(move || read_image(&path)).await;
        read.map_err(|error| error.to_string())?.map_err(|failure| failure.message)
    }

    async fn clipboard_image(&self) -> Result<Image, String> {
        let ways: [(&str, &[&str]); 3] = [
            ("wl-paste", &["--no-newline", "--type", "image/png"]),
            ("xclip", &["-selection", "clipboard", "-t", "image/png", "-o"]),
            ("pngpaste", &["-"]),
        ];
        for (program, arguments) in ways {
            let mut child = command(program);
            child.args(arguments).stdout(Stream::Piped);
            let Ok(child) = child.spawn() else { continue };
            let Ok(output) = child.output(MAX_OUTPUT).await else { continue };
            if output.stdout.starts_with(b"\x89PNG") {
                let data = base64::engine::general_purpose::STANDARD.encode(&output.stdout);
                let name = Some("clipboard.png".to_owned());
                return Ok(Image { media_type: "image/png".to_owned(), name, source: Source::Data(data) });
            }
        }
        Err("no picture is in the clipboard".to_owned())
    }

    async fn copy(&self, text: &str) -> bool {
        let ways: [(&str, &[&str]); 3] =
            [("wl-copy", &[]), ("xclip", &["-selection", "clipboard", "-in"]), ("pbcopy", &[])];
        for (program, arguments) in ways {
            let mut child = command(program);
            child.args(arguments).stdin(Stream::Piped);
            let Ok(mut child) = child.spawn() else { continue };
            if let Some(mut stdin) = child.stdin.take() {
                use tokio::io::AsyncWriteExt;
                if stdin.write_all(text.as_bytes()).await.is_err() {
                    continue;
                }
            }
            return child.wait().await.is_ok_and(|status| status.success());
        }
        false
    }

    async fn notify(&self, title: &str, body: &str) {
        let mut child = command("notify-send");
        child.args(["--app-name=covey", "--", title, body]);
        if let Ok(mut child) = child.spawn() {
            // Whether anybody saw it is not known anyway.
            let _ = child.wait().await;
        }
    }

    async fn report(&self, report: Report, session: Option<&SessionId>) -> Result<String, ClientError> {
        match report {
            Report::Permissions => self.own(&["guard", "rules"]).await,
            Report::Settings => {
                let shown = self.own(&["config", "show"]).await?;
                Ok(format!("`{}`\n\n{shown}", self.config_file.display()))
            }
            Report::Doctor => self.own(&["doctor"]).await,
            Report::Mcp => self.own(&["mcp", "list"]).await,
            Report::Memory => Ok(self.memory()),
            Report::Bug => Ok(self.bug(session).await),
        }
    }

    async fn write(&self, path: &Path, text: &str) -> Result<String, String> {
        let path = self.cwd.join(path);
        if path.exists() {
            return Err(format!("`{}` exists already; name another file", path.display()));
        }
        let mut file = fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .open(&path)
            .map_err(|error| format!("`{}`: {error}", path.display()))?;
        file.write_all(text.as_bytes()).map_err(|error| format!("`{}`: {error}", path.display()))?;
        Ok(path.display().to_string())
    }

    async fn keep_setting(&self, key: &str, value: &str) -> Result<(), String> {
        set_in_file(&self.config_file, &format!("tui.{key}"), value, SECTIONS)
            .map_err(|error| error.to_string())
    }
}

fn invalid(message: String) -> ClientError {
    ClientError { kind: Failure::Invalid, message, hint: None }
}

/// A folder as people write it.
pub(super) fn place(path: &Path) -> String {
    let home = std::env::home_dir().filter(|home| home.parent().is_some());
    match home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
