//! A private socket, so that a second `covey` can join the sessions that this one has.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use client::Client;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::settings::Settings;

/// The longest path that a socket can have, with room to spare.
const LONGEST: usize = 100;

/// A socket that nobody answers yet. It is named in the locks of the sessions that this process opens.
pub(crate) struct Door {
    listener: UnixListener,
    path: PathBuf,
}

/// A socket that is answered. It is gone when this is dropped.
pub(crate) struct Open {
    _task: AbortOnDropHandle<()>,
    path: PathBuf,
}

impl Door {
    /// Makes the socket and says in the settings where it is. Without one everything works, for this process alone.
    pub(crate) fn make(settings: &mut Settings) -> Option<Self> {
        let folder = settings.home.data_dir().join("run");
        project::create_private_dir(&folder).ok()?;
        let path = folder.join(format!("{}.sock", std::process::id()));
        if path.as_os_str().len() > LONGEST {
            return None;
        }
        // Left by a process that had our number before.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).ok()?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).ok()?;
        settings.socket = Some(path.clone());
        Some(Self { listener, path })
    }

    /// Answers whoever comes, through this client.
    pub(crate) fn open(self, settings: &Settings, client: Arc<dyn Client>) -> Open {
        let cwd = settings.cwd.to_string_lossy().into_owned();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let serve = server::attach(self.listener, client, cwd, version, CancellationToken::new());
        let task = tokio::spawn(async move {
            // Without randomness there is no socket; the sessions work all the same.
            let _ = serve.await;
        });
        Open { _task: AbortOnDropHandle::new(task), path: self.path }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
