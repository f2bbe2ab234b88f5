//! What of a repository may act: nothing that the person has not accepted as it is.

mod diff;
mod items;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use items::{Item, ItemKind};

/// Which items of one project the person accepted. Kept in their own data folder, never in the repository.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
    root: PathBuf,
    lock: Lock,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Lock {
    /// For people who look at the file.
    root: String,
    items: BTreeMap<String, Accepted>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Accepted {
    kind: ItemKind,
    hash: String,
    /// RFC 3339.
    at: String,
    /// What it was, so that a change can be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// How an item stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrustState {
    Accepted,
    New,
    /// Accepted once, and not what it was.
    Changed,
}

/// Why the lock can not be written.
#[derive(Debug, thiserror::Error)]
#[error("what you trust can not be kept in `{}`", path.display())]
pub struct TrustError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl TrustStore {
    /// What was accepted in the project at `root`, kept below `data`. A lock that is not there or not understood
    /// accepts nothing.
    pub fn open(data: &Path, root: &Path) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let file = data.join("trust").join(format!("{}.json", &name.as_str()[..32]));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let lock = serde_json::from_str(&text).unwrap_or_default();
        Self { file, root, lock }
    }

    /// Everything in the project that would act.
    pub fn found(&self) -> Vec<Item> {
        items::find(&self.root)
    }

    pub fn state(&self, item: &Item) -> TrustState {
        match self.lock.items.get(&item.name) {
            Some(accepted) if accepted.hash == item.hash && accepted.kind == item.kind => {
                TrustState::Accepted
            }
            Some(_) => TrustState::Changed,
            None => TrustState::New,
        }
    }

    pub fn is_accepted(&self, item: &Item) -> bool {
        self.state(item) == TrustState::Accepted
    }

    /// Whether this very content of a file was accepted. For what is one item by itself: a rules file, a command.
    pub fn accepts_file(&self, file: &Path, content: &[u8]) -> bool {
        let Ok(relative) = file.strip_prefix(&self.root) else { return false };
        let hash = items::hash(content);
        if let Some(accepted) = self.lock.items.get(&*relative.to_string_lossy()) {
            return accepted.hash == hash;
        }
        // What lies in a folder that was accepted as one thing counts while all of that folder is as it was.
        let folders = relative.ancestors().skip(1);
        let whole = folders.filter_map(|folder| {
            let accepted = self.lock.items.get(&*folder.to_string_lossy())?;
            Some((folder, accepted)).filter(|(_, accepted)| accepted.kind == ItemKind::Skill)
        });
        whole.into_iter().any(|(folder, accepted)| {
            items::hash(&items::whole(&self.root, &self.root.join(folder))) == accepted.hash
        })
    }

    /// What is new about an item since it was accepted; all of it if it never was.
    pub fn diff(&self, item: &Item) -> String {
        let before =
            self.lock.items.get(&item.name).and_then(|accepted| accepted.text.as_deref()).unwrap_or_default();
        diff::lines(before, &item.text())
    }

    /// Accepts items as they are in `items`, not as they may be by now.
    pub fn accept(&mut self, items: &[Item]) -> Result<(), TrustError> {
        self.change(|lock| {
            for item in items {
                let text = item.text();
                let accepted = Accepted {
                    kind: item.kind,
                    hash: item.hash.clone(),
                    at: protocol::Timestamp::now().to_string(),
                    text: (text.len() <= items::MAX_KEPT).then_some(text),
                };
                lock.items.insert(item.name.clone(), accepted);
            }
        })
    }

    /// Takes trust back; answers how many items had it. Without names, from all.
    pub fn revoke(&mut self, names: Option<&[String]>) -> Result<usize, TrustError> {
        let before = self.lock.items.len();
        self.change(|lock| lock.items.retain(|name, _| names.is_some_and(|names| !names.contains(name))))?;
        Ok(before - self.lock.items.len())
    }

    /// The names of items that were accepted, whether or not they are still there.
    pub fn accepted(&self) -> Vec<String> {
        self.lock.items.keys().cloned().collect()
    }

    fn change(&mut self, change: impl FnOnce(&mut Lock)) -> Result<(), TrustError> {
        let failed = |source| TrustError { path: self.file.clone(), source };
        let folder = self.file.parent().unwrap_or(Path::new("."));
        project::create_private_dir(folder).map_err(failed)?;
        let guard = std::fs::File::create(folder.join("lock")).map_err(failed)?;
        guard.lock().map_err(failed)?;
        // Somebody else may have written meanwhile.
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let mut lock: Lock = serde_json::from_str(&text).unwrap_or_default();
        lock.root = self.root.to_string_lossy().into_owned();
        change(&mut lock);
        let text = serde_json::to_vec_pretty(&lock).map_err(|error| failed(error.into()))?;
        project::write_private_atomic(&self.file, &text).map_err(failed)?;
        self.lock = lock;
        Ok(())
    }
}

impl project::Trust for TrustStore {
    fn trusts(&self, file: &Path, content: &[u8]) -> bool {
        self.accepts_file(file, content)
    }
}
