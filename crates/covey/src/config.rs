//! `covey config`: what is set, by whom, and how to change it.

use std::path::PathBuf;
use std::process::Command;

use project::{Origin, set_in_file, unset_in_file};
use serde_json::{Value, json};

use crate::cli::{ConfigCommand, ConfigFile};
use crate::exit::{Exit, Failure};
use crate::settings::{SECTIONS, Settings, home};
use crate::terminal::{Stream, Style, print};

pub(crate) fn config(command: ConfigCommand) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Show { json } => show(json),
        ConfigCommand::Get { key, json } => get(&key, json),
        ConfigCommand::Set { key, value, unset, file } => set(&key, value.as_deref(), unset, &file),
        ConfigCommand::Path { json } => path(json),
        ConfigCommand::Edit { file } => edit(&file),
    }
}

fn show(json: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let config = &settings.config;
    let mut out = String::new();
    if json {
        let entries: Vec<Value> = config
            .entries()
            .iter()
            .map(|entry| {
                let value = if entry.secret { json!(entry.shown()) } else { json!(entry.value) };
                json!({"key": entry.key.to_string(), "value": value, "origin": origin(entry.origin)})
            })
            .collect();
        let held: Vec<Value> = config
            .held()
            .iter()
            .map(|held| json!({"key": held.key.to_string(), "origin": origin(&held.origin), "why": held.to_string()}))
            .collect();
        out = format!("{}\n", json!({"settings": entries, "held": held}));
    } else {
        let style = Style::of(Stream::Out);
        for entry in config.entries() {
            let from = style.faint(&format!("# {}", entry.origin));
            out.push_str(&format!("{} = {}  {from}\n", entry.key, entry.shown()));
        }
        for held in config.held() {
            out.push_str(&format!("{}\n", style.warning(&format!("# not applied: {held}"))));
        }
    }
    done(&out)
}

fn get(key: &str, json: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let wanted: project::KeyPath = key.parse()?;
    let entries = settings.config.entries();
    let below: Vec<_> =
        entries.iter().filter(|entry| entry.key.parts().starts_with(wanted.parts())).collect();
    match below.as_slice() {
        [] => Err(Failure::new(format!("`{key}` is not set")).hint("see what is: covey config show")),
        [entry] if entry.key == wanted => {
            let shown = if entry.secret { Value::from(entry.shown()) } else { json!(entry.value) };
            match (json, &shown) {
                (true, _) => done(&format!(
                    "{}\n",
                    json!({"key": key, "value": shown, "origin": origin(entry.origin)})
                )),
                (false, Value::String(text)) => done(&format!("{text}\n")),
                (false, _) => done(&format!("{}\n", entry.shown())),
            }
        }
        several => {
            let lines = several.iter().map(|entry| format!("{} = {}\n", entry.key, entry.shown()));
            let object = || -> serde_json::Map<String, Value> {
                let value = |entry: &project::Entry<'_>| {
                    if entry.secret { json!(entry.shown()) } else { json!(entry.value) }
                };
                several.iter().map(|entry| (entry.key.to_string(), value(entry))).collect()
            };
            done(&if json { format!("{}\n", Value::Object(object())) } else { lines.collect() })
        }
    }
}

fn set(key: &str, value: Option<&str>, unset: bool, file: &ConfigFile) -> Result<Exit, Failure> {
    let path = chosen(file)?;
    if unset {
        return match unset_in_file(&path, key)? {
            true => done(&format!("removed `{key}` from {}\n", path.display())),
            false => Err(Failure::new(format!("`{key}` is not set in {}", path.display()))),
        };
    }
    set_in_file(&path, key, value.unwrap_or_default(), SECTIONS)?;
    done(&format!("set `{key}` in {}\n", path.display()))
}

fn path(json: bool) -> Result<Exit, Failure> {
    let files = [("user", false, false), ("project", true, false), ("local", false, true)];
    let mut paths = Vec::new();
    for (name, project, local) in files {
        paths.push((name, chosen(&ConfigFile { project, local })?));
    }
    if json {
        let object: serde_json::Map<String, Value> =
            paths.iter().map(|(name, path)| ((*name).to_owned(), json!(path))).collect();
        return done(&format!("{}\n", Value::Object(object)));
    }
    let style = Style::of(Stream::Out);
    let line = |(name, path): &(&str, PathBuf)| {
        let state = if path.exists() { String::new() } else { style.faint("  (not there)") };
        format!("{name:8} {}{state}\n", path.display())
    };
    done(&paths.iter().map(line).collect::<String>())
}

fn edit(file: &ConfigFile) -> Result<Exit, Failure> {
    let path = chosen(file)?;
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(std::env::var_os).unwrap_or_else(|| "vi".into());
    if let Some(folder) = path.parent() {
        project::create_private_dir(folder)?;
    }
    // An editor needs the terminal to itself, so it is the one child that stays in our process group.
    let mut words =
        editor.to_string_lossy().split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter();
    let program = words.next().unwrap_or_else(|| "vi".to_owned());
    let status = Command::new(&program).args(words).arg(&path).status().map_err(|error| {
        Failure::new(format!("could not start the editor `{program}`: {error}"))
            .hint("set $EDITOR to another")
    })?;
    if !status.success() {
        return Err(Failure::new(format!("the editor `{program}` ended with {status}")));
    }
    // Whatever is wrong is told now, not at the next run.
    Settings::load(None, &[])?;
    Ok(Exit::Done)
}

fn chosen(file: &ConfigFile) -> Result<PathBuf, Failure> {
    if !file.project && !file.local {
        return Ok(home()?.config_file());
    }
    let project = project::Project::discover(std::env::current_dir()?)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let path = if file.project { project.config_file() } else { project.local_config_file() };
    // A repository may come with a link in the folder's place, which leads anywhere.
    let real = path.parent().and_then(|folder| folder.canonicalize().ok());
    if let Some(real) = real.filter(|real| !real.starts_with(project.root())) {
        let message = format!("`{}` leads out of the project, to `{}`", path.display(), real.display());
        return Err(Failure::usage(message).hint("remove the link"));
    }
    Ok(path)
}

fn origin(origin: &Origin) -> Value {
    json!({
        "layer": format!("{:?}", origin.layer).to_lowercase(),
        "file": origin.file,
        "line": origin.line,
        "variable": origin.variable,
    })
}

fn done(text: &str) -> Result<Exit, Failure> {
    print(text)?;
    Ok(Exit::Done)
}
