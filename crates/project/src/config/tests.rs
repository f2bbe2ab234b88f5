mod edit;
mod files;
mod layers;
mod schema;
mod values;

use std::fs;
use std::path::{Path, PathBuf};

use super::{Config, ConfigErrors, Key, LoadOptions, NobodyTrusted, Schema, Trust};
use crate::home::Home;
use crate::root::Project;

const MODES: &[&str] = &["explore", "plan", "ask", "edit", "auto", "full"];

const PROVIDER: Schema = Schema::Table(&[
    Key::choice("wire", &["openai-chat", "anthropic"]),
    Key::text("base_url").trusted().doc("where it listens"),
    Key::secret("api_key").trusted(),
    Key::map("models", &Schema::Table(&[Key::integer("context", 1, 1_000_000)])),
]);

/// What the crates of a small Covey would register.
const SECTIONS: &[&Key] = &[
    &Key::text("model"),
    &Key::text("agent"),
    &Key::tightening("mode", MODES).default("ask"),
    &Key::table(
        "router",
        &[Key::map("chains", &Schema::List(&Schema::Text)), Key::duration("timeout").default("30s")],
    ),
    &Key::map("providers", &PROVIDER),
    &Key::table(
        "limits",
        &[
            Key::number("cost"),
            Key::integer("steps", 1, 100).default("50"),
            Key::bool("network").tighten(&["false", "true"]),
        ],
    ),
    &Key::list("hooks", &Schema::Table(&[Key::text("event"), Key::text("command").trusted()])),
    &Key::new("extra", Schema::Any),
    &Key::list("deny", &Schema::Text).extend(),
];

/// A home and a project in a temporary folder.
struct Setup {
    _folder: tempfile::TempDir,
    top: PathBuf,
    home: Home,
    project: Project,
}

fn setup() -> Setup {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    fs::create_dir_all(top.join("home")).unwrap();
    fs::create_dir_all(top.join("project/.covey")).unwrap();
    let project = Project::discover(top.join("project")).unwrap();
    Setup { _folder: folder, home: Home::at(top.join("home")), project, top }
}

struct Everybody;

impl Trust for Everybody {
    fn trusts(&self, _file: &Path, _content: &[u8]) -> bool {
        true
    }
}

impl Setup {
    fn user(self, text: &str) -> Self {
        fs::write(self.home.config_file(), text).unwrap();
        self
    }

    fn project(self, text: &str) -> Self {
        fs::write(self.project.config_file(), text).unwrap();
        self
    }

    fn local(self, text: &str) -> Self {
        fs::write(self.project.local_config_file(), text).unwrap();
        self
    }

    fn load_with(
        &self,
        env: &[(&str, &str)],
        flags: &[(&str, &str)],
        trust: &dyn Trust,
    ) -> Result<Config, ConfigErrors> {
        let flags: Vec<_> = flags.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        Config::load(&LoadOptions {
            home: &self.home,
            project: Some(&self.project),
            sections: SECTIONS,
            env: &|name| env.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()),
            flags: &flags,
            trust,
        })
    }

    fn load(&self) -> Result<Config, ConfigErrors> {
        self.load_with(&[], &[], &NobodyTrusted)
    }

    /// The errors as a person sees them, with the temporary folder left out.
    fn complaints(&self) -> String {
        self.without_folder(&self.load().unwrap_err().to_string())
    }

    fn without_folder(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.top.display()), "")
    }

    /// Everything in force with its origin, a line each.
    fn shown(&self, config: &Config) -> String {
        let line = |entry: &super::Entry<'_>| format!("{} = {} ({})", entry.key, entry.shown(), entry.origin);
        self.without_folder(&config.entries().iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    fn held(&self, config: &Config) -> String {
        self.without_folder(&config.held().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }
}
