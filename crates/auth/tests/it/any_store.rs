//! What every store promises, whatever it is made of.

use std::sync::{Arc, Mutex};

use auth::{
    Account, AuthError, Book, Credentials, FileStore, Notice, OnDamage, ReadError, Secret, SecretStore,
    StoreLock, Timestamp,
};

use crate::support::*;

/// Runs the whole suite. `open` comes back to the same place each time; `break_it` puts bytes there from outside.
async fn conforms<S: SecretStore + 'static>(open: impl Fn() -> S, break_it: impl Fn(&[u8])) {
    let put = |book: &mut Book, label: &str| {
        book.put("p", Account::key(label, Secret::new(format!("sk-{label}")), Timestamp::now()));
    };
    let count = |store: &S| store.read().unwrap().0.accounts("p").len();

    let store = open();
    assert_eq!(count(&store), 0, "empty at first");
    store
        .change(OnDamage::Refuse, &mut |book| {
            put(book, "dropped");
            false
        })
        .unwrap();
    assert_eq!(count(&store), 0, "not written unless asked to");
    store
        .change(OnDamage::Refuse, &mut |book| {
            put(book, "kept");
            true
        })
        .unwrap();
    assert_eq!(count(&open()), 1, "another one sees it");

    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (open, put) = (open(), &put);
            scope.spawn(move || {
                for number in 0..10 {
                    open.change(OnDamage::Refuse, &mut |book| {
                        put(book, &format!("{thread}-{number}"));
                        true
                    })
                    .unwrap();
                }
            });
        }
    });
    assert_eq!(count(&store), 41, "no change is lost among many");

    let lock = store.try_lock("renew").unwrap();
    assert!(lock.is_some());
    assert!(open().try_lock("renew").unwrap().is_none(), "one at a time");
    assert!(open().try_lock("another").unwrap().is_some());
    drop(lock);
    assert!(open().try_lock("renew").unwrap().is_some());

    let credentials = Credentials::new(open(), |_| None);
    credentials.logout("p", None).await.unwrap();
    let label = credentials.add_key("p", Some("work"), &Secret::new("sk-of-work")).await.unwrap();
    assert_eq!(account(Credentials::new(open(), |_| None).resolve("p", &no_key()).await), label);

    break_it(b"sk-of-work, and not JSON");
    let error = store.read().unwrap_err();
    assert!(matches!(error, AuthError::StoreDamaged { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("sk-of-work"));
    let refused = store.change(OnDamage::Refuse, &mut |_| true).unwrap_err();
    assert!(matches!(refused, AuthError::StoreDamaged { .. }), "{refused:?}");
    let notices = store
        .change(OnDamage::SetAside, &mut |book| {
            put(book, "anew");
            true
        })
        .unwrap();
    assert!(matches!(notices[..], [Notice::SetAside { .. }]), "{notices:?}");
    assert_eq!(count(&open()), 1);

    break_it(br#"{"v":99}"#);
    for on_damage in [OnDamage::Refuse, OnDamage::SetAside] {
        let error = open().change(on_damage, &mut |_| true).unwrap_err();
        assert!(
            matches!(error, AuthError::StoreNewer { version: 99, .. }),
            "a newer one is not ours to replace: {error:?}"
        );
    }
}

#[tokio::test]
async fn the_file_conforms() {
    let home = Home::new();
    conforms(|| home.store(), |bytes| std::fs::write(home.path(), bytes).unwrap()).await;
}

/// The smallest store there can be, to see that the suite asks for nothing but what the trait says.
#[derive(Clone)]
struct Memory {
    text: Arc<Mutex<Option<Vec<u8>>>>,
    locks: FileStore,
}

impl Memory {
    fn load(text: Option<&[u8]>) -> Result<Book, AuthError> {
        let Some(text) = text else { return Ok(Book::default()) };
        Book::from_store(std::str::from_utf8(text).unwrap()).map_err(|error| match error {
            ReadError::Damaged { what } => AuthError::StoreDamaged { path: "memory".into(), what },
            ReadError::Newer { version } => AuthError::StoreNewer { path: "memory".into(), version },
        })
    }
}

impl SecretStore for Memory {
    fn read(&self) -> Result<(Book, Vec<Notice>), AuthError> {
        Ok((Self::load(self.text.lock().unwrap().as_deref())?, vec![]))
    }

    fn change(
        &self,
        on_damage: OnDamage,
        change: &mut dyn FnMut(&mut Book) -> bool,
    ) -> Result<Vec<Notice>, AuthError> {
        let mut text = self.text.lock().unwrap();
        let mut notices = vec![];
        let mut book = match Self::load(text.as_deref()) {
            Err(AuthError::StoreDamaged { path, .. }) if on_damage == OnDamage::SetAside => {
                notices.push(Notice::SetAside { from: path.clone(), to: path });
                Book::default()
            }
            book => book?,
        };
        if change(&mut book) {
            *text = Some(book.to_store().into_bytes());
        }
        Ok(notices)
    }

    fn try_lock(&self, name: &str) -> Result<Option<StoreLock>, AuthError> {
        self.locks.try_lock(name)
    }
}

#[tokio::test]
async fn a_store_in_memory_conforms() {
    let home = Home::new();
    let memory = Memory { text: Arc::default(), locks: home.store() };
    conforms(|| memory.clone(), |bytes| *memory.text.lock().unwrap() = Some(bytes.to_vec())).await;
}

#[cfg(feature = "keyring")]
mod keyring {
    use auth::KeyringStore;
    use keyring_core::{CredentialStore, Error, mock};

    use super::*;

    #[tokio::test]
    async fn the_keyring_conforms() {
        let home = Home::new();
        let mock: Arc<CredentialStore> = mock::Store::new().unwrap();
        let entry = mock.build("covey", "accounts", None).unwrap();
        conforms(|| KeyringStore::with(mock.clone(), home.path()), |bytes| entry.set_secret(bytes).unwrap())
            .await;
        // What was damaged is kept beside it, and nothing of it is in a file.
        let aside = mock.build("covey", "accounts, damaged", None).unwrap();
        assert!(aside.get_secret().unwrap().starts_with(b"sk-of-work"));
        for file in std::fs::read_dir(home.path().parent().unwrap()).unwrap() {
            assert_eq!(file.unwrap().metadata().unwrap().len(), 0);
        }
    }

    #[tokio::test]
    async fn a_keyring_that_fails_is_told_without_what_it_holds() {
        let home = Home::new();
        let mock: Arc<CredentialStore> = mock::Store::new().unwrap();
        let store = KeyringStore::with(mock.clone(), home.path());
        store.change(OnDamage::Refuse, &mut |_| true).unwrap();
        let entry = mock.build("covey", "accounts", None).unwrap();
        let cred: &mock::Cred = entry.as_any().downcast_ref().unwrap();
        for (error, words) in [
            (Error::NoStorageAccess("locked".into()), "it is locked, or there is none: locked"),
            (Error::BadEncoding(b"sk-canary".to_vec()), "it holds something else"),
            (Error::TooLong("secret".into(), 2560), "it takes no more than 2560 bytes"),
        ] {
            cred.set_error(error);
            let told = store.read().unwrap_err();
            assert_eq!(told.to_string(), format!("could not use the system's keyring: {words}"));
            assert!(!format!("{told:?}").contains("canary"));
            assert!(told.hint().contains("auth.store file"));
        }
        assert!(store.read().is_ok());
    }
}
