//! Where accounts are kept between runs.

mod file;
#[cfg(feature = "keyring")]
mod keyring;

pub use file::FileStore;
#[cfg(feature = "keyring")]
pub use keyring::KeyringStore;

use std::any::Any;
use std::sync::Arc;

use crate::{AuthError, Book, Notice};

/// Somewhere to keep a [`Book`]. The file is one; the system's keyring is another, in builds that have the
/// feature `keyring`.
///
/// Its methods block: they are short, except that [`SecretStore::change`] may wait for another process.
pub trait SecretStore: Send + Sync {
    /// What is there, which is an empty book at first. Takes no lock: a reader sees a whole book, old or new.
    fn read(&self) -> Result<(Book, Vec<Notice>), AuthError>;

    /// Reads, changes and writes as one step that no other process comes between. Nothing is written when `change`
    /// returns false.
    fn change(
        &self,
        on_damage: OnDamage,
        change: &mut dyn FnMut(&mut Book) -> bool,
    ) -> Result<Vec<Notice>, AuthError>;

    /// Tries to be the only one, among all processes, that does what `name` says. `None` while another one is.
    fn try_lock(&self, name: &str) -> Result<Option<StoreLock>, AuthError>;
}

impl<S: SecretStore + ?Sized> SecretStore for Arc<S> {
    fn read(&self) -> Result<(Book, Vec<Notice>), AuthError> {
        (**self).read()
    }

    fn change(
        &self,
        on_damage: OnDamage,
        change: &mut dyn FnMut(&mut Book) -> bool,
    ) -> Result<Vec<Notice>, AuthError> {
        (**self).change(on_damage, change)
    }

    fn try_lock(&self, name: &str) -> Result<Option<StoreLock>, AuthError> {
        (**self).try_lock(name)
    }
}

/// What to do when what is there can not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDamage {
    /// Change nothing.
    Refuse,
    /// Keep it under another name and begin anew: for a login, where the person is present and wants to go on.
    SetAside,
}

/// Held as long as it lives.
pub struct StoreLock {
    _guard: Box<dyn Any + Send>,
}

impl StoreLock {
    /// `guard` is whatever lets go when it is dropped.
    pub fn new(guard: impl Any + Send) -> Self {
        Self { _guard: Box::new(guard) }
    }
}
