//! `covey doctor`: is this machine ready?

use std::fs;
use std::path::Path;

use guard::{SandboxLevel, Strength};
use protocol::ModelRef;
use serde_json::{Value, json};

use crate::block_on;
use crate::cli::DoctorArguments;
use crate::discover::discover;
use crate::exit::{Exit, Failure};
use crate::settings::{Settings, home};
use crate::terminal::{Stream, Style, print};

/// One thing that was looked at.
struct Check {
    name: &'static str,
    state: State,
    text: String,
    hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Good,
    Warning,
    Bad,
}

pub(crate) fn doctor(arguments: &DoctorArguments) -> Result<Exit, Failure> {
    let mut checks = vec![version(), storage()?];
    match Settings::load(None, &[]) {
        Ok(settings) => {
            checks.push(settings_check(&settings));
            checks.push(sandbox(&settings)?);
            checks.push(block_on(model(&settings))?);
        }
        Err(failure) => checks.push(Check {
            name: "settings",
            state: State::Bad,
            text: failure.message,
            hint: failure.hint,
        }),
    }
    checks.push(sessions()?);
    if arguments.json {
        let list: Vec<Value> = checks.iter().map(Check::json).collect();
        print(&format!("{}\n", json!({"checks": list})))?;
    } else {
        print(&checks.iter().map(Check::text).collect::<String>())?;
    }
    let worst_is_bad = checks.iter().any(|check| check.state == State::Bad);
    Ok(if worst_is_bad { Exit::Failed } else { Exit::Done })
}

fn version() -> Check {
    let text =
        format!("covey {} on {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    Check { name: "program", state: State::Good, text, hint: None }
}

fn storage() -> Result<Check, Failure> {
    let home = home()?;
    let name = "storage";
    let folder = home.data_dir();
    let probe = folder.join(".doctor");
    let tried = project::create_private_dir(folder)
        .and_then(|()| project::write_private_atomic(&probe, b"ok"))
        .and_then(|()| fs::remove_file(&probe));
    Ok(match tried {
        Ok(()) if is_open_to_others(folder) => Check {
            name,
            state: State::Warning,
            text: format!("{} can be read by others", folder.display()),
            hint: Some(format!("chmod 700 {}", folder.display())),
        },
        Ok(()) => {
            Check { name, state: State::Good, text: format!("{} is writable", folder.display()), hint: None }
        }
        Err(error) => Check {
            name,
            state: State::Bad,
            text: format!("can not write to {}: {error}", folder.display()),
            hint: Some("make it writable, or set COVEY_HOME to another folder".to_owned()),
        },
    })
}

fn is_open_to_others(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

fn settings_check(settings: &Settings) -> Check {
    let held = settings.config.held();
    let name = "settings";
    match held.first() {
        None => {
            let file = settings.home.config_file();
            let text = match file.exists() {
                true => format!("{} is in order", file.display()),
                false => "nothing is set; the defaults are used".to_owned(),
            };
            Check { name, state: State::Good, text, hint: None }
        }
        Some(first) => Check {
            name,
            state: State::Warning,
            text: format!("{} settings of this project are not applied, such as {first}", held.len()),
            hint: Some("a project's files can not choose models or loosen the mode by themselves".to_owned()),
        },
    }
}

fn sandbox(settings: &Settings) -> Result<Check, Failure> {
    let sandbox = settings.sandbox()?;
    let (level, grade) = (sandbox.policy().level, sandbox.grade());
    let text = format!("level {level}; {grade}");
    let install = || Some("install bubblewrap, or allow user namespaces, for more".to_owned());
    let (state, hint) = match (level, grade.strength) {
        (SandboxLevel::Off, _) => {
            (State::Warning, Some("covey config set sandbox.level workspace".to_owned()))
        }
        (_, Strength::None) => (State::Bad, install()),
        (_, Strength::Partial) => (State::Warning, install()),
        (_, Strength::Full) => (State::Good, None),
    };
    Ok(Check { name: "sandbox", state, text, hint })
}

async fn model(settings: &Settings) -> Result<Check, Failure> {
    let name = "model";
    let catalogue = settings.catalogue()?;
    if let Some(model) = settings.model()? {
        return Ok(match catalogue.resolve(model.as_str()) {
            Ok(found) => good_model(found.id(), "chosen in your settings"),
            Err(error) => {
                Check { name, state: State::Bad, text: error.to_string(), hint: Some(error.hint()) }
            }
        });
    }
    Ok(match discover(&catalogue, &settings.configured_providers()).await {
        Some(found) => good_model(&found.model, &format!("found by {}", found.because)),
        None => Check {
            name,
            state: State::Bad,
            text: "no model is connected".to_owned(),
            hint: Some("covey run \"hello\" shows the three quickest ways to get one".to_owned()),
        },
    })
}

fn good_model(model: &ModelRef, because: &str) -> Check {
    Check { name: "model", state: State::Good, text: format!("{model}, {because}"), hint: None }
}

fn sessions() -> Result<Check, Failure> {
    let store = sessions::Store::new(home()?.sessions_dir());
    let (state, text) = match store.ids() {
        Ok(ids) => (State::Good, format!("{} sessions in {}", ids.len(), store.root().display())),
        Err(error) => (State::Bad, error.to_string()),
    };
    Ok(Check { name: "sessions", state, text, hint: None })
}

impl Check {
    fn json(&self) -> Value {
        let state = match self.state {
            State::Good => "good",
            State::Warning => "warning",
            State::Bad => "bad",
        };
        json!({"name": self.name, "state": state, "text": self.text, "hint": self.hint})
    }

    fn text(&self) -> String {
        let style = Style::of(Stream::Out);
        let sign = match self.state {
            State::Good => style.good("✓"),
            State::Warning => style.warning("⚠"),
            State::Bad => style.danger("✗"),
        };
        let hint = self.hint.as_ref().map(|hint| format!("  {:9} {} {hint}\n", "", style.accent("hint:")));
        format!("{sign} {:9} {}\n{}", self.name, self.text, hint.unwrap_or_default())
    }
}
