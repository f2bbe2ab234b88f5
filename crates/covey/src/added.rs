//! Folders that are named on the command line for a session to work in besides its own.

use std::path::{Path, PathBuf};

use client::Client;
use protocol::{Op, Reply, Request, SessionId};

use crate::exit::Failure;

/// Adds them to a session that is there. Those that it has already stay.
pub(crate) async fn add_folders(
    client: &dyn Client,
    session: &SessionId,
    added: &[PathBuf],
) -> Result<(), Failure> {
    if added.is_empty() {
        return Ok(());
    }
    let mut folders = match client.read(Request::Session { session: session.clone() }).await? {
        Reply::Session(view) => view.folders,
        _ => vec![],
    };
    folders.extend(added.iter().map(|added| as_typed(added)));
    client.submit(Op::SetFolders { session: session.clone(), folders }).await?;
    Ok(())
}

/// From where Covey was started on, which need not be where the session works. What is not there is refused by name where
/// it would be used.
pub(crate) fn as_typed(added: &Path) -> String {
    let real = added.canonicalize().or_else(|_| std::path::absolute(added));
    real.as_deref().unwrap_or(added).to_string_lossy().into_owned()
}
