//! Where the person's own files live.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// The person's folders: what belongs to them rather than to a project.
///
/// `COVEY_HOME` moves everything under one folder, which is what tests, containers and a second identity want.
/// Otherwise configuration, data and caches go where the platform keeps such things, so backups and cleaners
/// treat each as they should. Nothing is created until something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    config: PathBuf,
    data: PathBuf,
    cache: PathBuf,
}

/// Why there is no [`Home`].
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// Neither `COVEY_HOME` nor `HOME` says where to go.
    #[error("there is no home folder: neither `COVEY_HOME` nor `HOME` is set")]
    Unset,
    /// A relative `COVEY_HOME` needs a current folder, and that is gone.
    #[error("`COVEY_HOME` is relative and the current folder cannot be read")]
    NoCurrentFolder { source: std::io::Error },
}

impl HomeError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<String> {
        Some("set `COVEY_HOME` to a folder of your own, as an absolute path".into())
    }
}

impl Home {
    /// As the environment of this process says.
    pub fn from_env() -> Result<Self, HomeError> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Everything under `directory`, as `COVEY_HOME` does.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self { cache: directory.join("cache"), config: directory.clone(), data: directory }
    }

    /// As [`from_env`](Self::from_env), with the variables from elsewhere.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, HomeError> {
        // Set but empty means unset, for these variables and by the XDG specification.
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(home) = set("COVEY_HOME") {
            let home = std::path::absolute(home).map_err(|source| HomeError::NoCurrentFolder { source })?;
            return Ok(Self::at(home));
        }
        let person = set("HOME").filter(|home| home.is_absolute());
        let folder = |name, usual: &str| {
            // The specification has relative values ignored.
            let given = set(name).filter(|path| path.is_absolute());
            let base = given.or_else(|| person.as_ref().map(|home| home.join(usual)));
            base.map(|base| base.join("covey")).ok_or(HomeError::Unset)
        };
        Ok(Self {
            config: folder("XDG_CONFIG_HOME", ".config")?,
            data: folder("XDG_DATA_HOME", ".local/share")?,
            cache: folder("XDG_CACHE_HOME", ".cache")?,
        })
    }

    /// What the person wrote: settings, personas, skills, rules.
    pub fn config_dir(&self) -> &Path {
        &self.config
    }

    /// The person's settings.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// What Covey keeps: sessions, trust, audit, keys.
    pub fn data_dir(&self) -> &Path {
        &self.data
    }

    /// One folder for each session.
    pub fn sessions_dir(&self) -> PathBuf {
        self.data.join("sessions")
    }

    /// What can be deleted at any time.
    pub fn cache_dir(&self) -> &Path {
        &self.cache
    }
}
