//! The system's keyring: what encrypts secrets with the person's login, where there is one.
//!
//! All accounts are one entry, in the form that the file has, because keyrings can not change several entries in one
//! step. They can not lock either, so the locks are the files that the [`FileStore`] has.

use std::path::PathBuf;
use std::sync::Arc;

use keyring_core::{CredentialStore, Error as KeyringError};

use super::{FileStore, OnDamage, SecretStore, StoreLock};
use crate::account::ReadError;
use crate::{AuthError, Book, Notice};

/// The name under which the entry is found in the system's own program for such things.
const SERVICE: &str = "covey";
const USER: &str = "accounts";

/// The store that is the system's keyring.
pub struct KeyringStore {
    keyring: Arc<CredentialStore>,
    /// Beside this file are the locks. It is never written itself.
    locks: FileStore,
}

impl KeyringStore {
    /// The keyring of this system. `path` names the file that would be used without it; locks are files beside it.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, AuthError> {
        let path = path.into();
        let keyring = apart(system_keyring).map_err(|error| failed(&error))?;
        Ok(Self::with(keyring, path))
    }

    /// Another keyring: any that the library knows.
    pub fn with(keyring: Arc<CredentialStore>, path: impl Into<PathBuf>) -> Self {
        Self { keyring, locks: FileStore::new(path) }
    }

    fn get(&self) -> Result<Option<Vec<u8>>, AuthError> {
        let keyring = self.keyring.clone();
        match apart(move || keyring.build(SERVICE, USER, None)?.get_secret()) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(KeyringError::NoEntry) => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    fn set(&self, user: &'static str, bytes: Vec<u8>) -> Result<(), AuthError> {
        let keyring = self.keyring.clone();
        apart(move || keyring.build(SERVICE, user, None)?.set_secret(&bytes)).map_err(|error| failed(&error))
    }

    fn load(&self) -> Result<Book, AuthError> {
        let Some(bytes) = self.get()? else { return Ok(Book::default()) };
        let damaged = |what: &str| AuthError::StoreDamaged { path: place(USER), what: what.to_owned() };
        let text = String::from_utf8(bytes).map_err(|_| damaged("it is not UTF-8"))?;
        Book::from_store(&text).map_err(|error| match error {
            ReadError::Damaged { what } => AuthError::StoreDamaged { path: place(USER), what },
            ReadError::Newer { version } => AuthError::StoreNewer { path: place(USER), version },
        })
    }

    /// Keeps what can not be read as another entry.
    fn set_aside(&self) -> Result<Notice, AuthError> {
        const DAMAGED: &str = "accounts, damaged";
        if let Some(bytes) = self.get()? {
            self.set(DAMAGED, bytes)?;
        }
        Ok(Notice::SetAside { from: place(USER), to: place(DAMAGED) })
    }
}

impl SecretStore for KeyringStore {
    fn read(&self) -> Result<(Book, Vec<Notice>), AuthError> {
        Ok((self.load()?, Vec::new()))
    }

    fn change(
        &self,
        on_damage: OnDamage,
        change: &mut dyn FnMut(&mut Book) -> bool,
    ) -> Result<Vec<Notice>, AuthError> {
        let _lock = self.locks.write_lock()?;
        let (mut book, damaged) = match self.load() {
            Ok(book) => (book, false),
            Err(AuthError::StoreDamaged { .. }) if on_damage == OnDamage::SetAside => (Book::default(), true),
            Err(error) => return Err(error),
        };
        let mut notices = Vec::new();
        if change(&mut book) {
            if damaged {
                notices.push(self.set_aside()?);
            }
            self.set(USER, book.to_store().into_bytes())?;
        }
        Ok(notices)
    }

    fn try_lock(&self, name: &str) -> Result<Option<StoreLock>, AuthError> {
        self.locks.try_lock(name)
    }
}

/// How an entry is named to a person.
fn place(user: &str) -> PathBuf {
    PathBuf::from(format!("keyring: {SERVICE}, {user}"))
}

/// On a thread of its own: the library waits for the system's bus with a runtime of its own, which is not allowed on a
/// thread that has one.
fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, KeyringError> + Send + 'static,
) -> Result<T, KeyringError> {
    std::thread::spawn(work)
        .join()
        .unwrap_or_else(|_| Err(KeyringError::Invalid("keyring".into(), "it panicked".into())))
}

/// In our words: the library's hold what was stored, in some cases.
fn failed(error: &KeyringError) -> AuthError {
    let what = match error {
        KeyringError::NoStorageAccess(cause) => format!("it is locked, or there is none: {cause}"),
        KeyringError::PlatformFailure(cause) => cause.to_string(),
        KeyringError::BadEncoding(_) | KeyringError::BadDataFormat(..) => {
            "it holds something else".to_owned()
        }
        KeyringError::TooLong(_, limit) => format!("it takes no more than {limit} bytes"),
        KeyringError::Ambiguous(_) => "it has several entries of this name".to_owned(),
        KeyringError::NotSupportedByStore(what) | KeyringError::BadStoreFormat(what) => what.clone(),
        _ => "it does not work".to_owned(),
    };
    AuthError::KeyringFailed { what }
}

#[cfg(target_os = "linux")]
fn system_keyring() -> Result<Arc<CredentialStore>, KeyringError> {
    let keyring: Arc<CredentialStore> = zbus_secret_service_keyring_store::Store::new()?;
    Ok(keyring)
}

#[cfg(not(target_os = "linux"))]
fn system_keyring() -> Result<Arc<CredentialStore>, KeyringError> {
    Err(KeyringError::NotSupportedByStore("this program knows only the keyring of Linux so far".to_owned()))
}
