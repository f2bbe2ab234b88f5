//! The settings of the index, and which one a folder has.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::index::{Bert, Embedder, Index, Options};
use project::{Key, Project};
use serde::Deserialize;

use super::http::{HttpEmbedder, Service};
use crate::exit::Failure;
use crate::settings::Settings;

/// A repository may not choose who reads its code: that needs the person's trust.
pub(crate) const SECTION: Key = Key::table(
    "index",
    &[
        Key::text("embedder")
            .trusted()
            .default("built-in")
            .doc("built-in, none, openai, voyage, gemini, ollama, or a folder with model.safetensors and vocab.txt"),
        Key::text("model").trusted().doc("the service's model"),
        Key::text("base_url").trusted().doc("where the service is, if not at its usual place"),
        Key::text("api_key_env").trusted().doc("the environment variable that holds its key"),
        Key::integer("dimensions", 1, 8192).trusted().doc("how long its vectors are"),
        Key::integer("max_file_kb", 1, 100_000).default("1024").doc("larger files are left out"),
    ],
);

#[derive(Debug, Default, Deserialize)]
struct IndexSettings {
    embedder: Option<String>,
    model: Option<String>,
    base_url: Option<String>,
    api_key_env: Option<String>,
    dimensions: Option<usize>,
    max_file_kb: Option<u64>,
}

/// The index of a folder that was named, else of the project that we are in.
///
/// A folder that was named is indexed as it is. Otherwise the nearest folder above that has an index is the one, up to the
/// project's root, which gets one if there is none.
pub(crate) fn open(folder: Option<&Path>) -> Result<Index, Failure> {
    let settings = Settings::load(folder, &[])?;
    let options = options(&settings)?;
    if folder.is_some() {
        return Ok(Index::new(&settings.cwd, options));
    }
    nearest(&settings.cwd, options)
}

/// As [`open`], where a folder only says where we are.
pub(crate) fn open_from(folder: Option<&Path>) -> Result<Index, Failure> {
    let settings = Settings::load(folder, &[])?;
    let options = options(&settings)?;
    nearest(&settings.cwd, options)
}

fn nearest(cwd: &Path, options: Options) -> Result<Index, Failure> {
    let project = Project::discover(cwd).map_err(|error| Failure::usage(error.to_string()))?;
    for folder in cwd.ancestors() {
        let index = Index::new(folder, options.clone());
        if folder == project.root() || index.exists() {
            return Ok(index);
        }
    }
    Ok(Index::new(project.root(), options))
}

pub(crate) fn options(settings: &Settings) -> Result<Options, Failure> {
    let chosen: IndexSettings = settings.config.get("index")?.unwrap_or_default();
    let mut options = Options::new(&settings.home);
    if let Some(kilobytes) = chosen.max_file_kb {
        options.max_file_bytes = kilobytes * 1024;
    }
    options.embedder = embedder(&chosen)?;
    Ok(options)
}

fn embedder(chosen: &IndexSettings) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let name = chosen.embedder.as_deref().unwrap_or("built-in");
    let service = match name {
        "none" => return Ok(None),
        "built-in" => return Ok(Some(Arc::new(Bert::built_in()))),
        "openai" => Service::OpenAi,
        "voyage" => Service::Voyage,
        "gemini" => Service::Gemini,
        "ollama" => Service::Ollama,
        folder if folder.contains('/') => return Ok(Some(Arc::new(Bert::from_folder(&expand(folder))?))),
        other => {
            return Err(Failure::usage(format!("there is no embedder `{other}`"))
                .hint("one of built-in, none, openai, voyage, gemini, ollama, or a folder: covey config set index.embedder built-in"));
        }
    };
    let made = HttpEmbedder::new(
        service,
        chosen.model.clone(),
        chosen.base_url.as_deref(),
        chosen.api_key_env.as_deref(),
        chosen.dimensions,
    )?;
    Ok(Some(Arc::new(made)))
}

/// `~/models/bge-small` as the shell would have it.
fn expand(folder: &str) -> PathBuf {
    match (folder.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        _ => PathBuf::from(folder),
    }
}
