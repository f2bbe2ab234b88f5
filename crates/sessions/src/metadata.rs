//! `metadata.json`: what a list shows of a session, kept so that a list reads no log.

use std::io;
use std::path::Path;

use protocol::{SessionSummary, SessionView};
use serde::{Deserialize, Serialize};

use crate::files;
use crate::record;

const MAX_METADATA: u64 = 1 << 20;

/// A summary, and the length of the log that it is of: another length means that it lags behind.
#[derive(Debug, Serialize)]
pub(crate) struct Metadata {
    #[serde(flatten)]
    pub(crate) summary: SessionSummary,
    pub(crate) log_bytes: u64,
}

impl Metadata {
    pub(crate) fn load(dir: &Path) -> io::Result<Self> {
        let bytes = files::read_small(&dir.join("metadata.json"), MAX_METADATA)?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "damaged");
        let body =
            bytes.strip_suffix(b"\n").and_then(|line| record::unseal(line).ok()).ok_or_else(damaged)?;
        // Twice over is faster than once with `flatten`, which keeps every field aside first.
        #[derive(Deserialize)]
        struct Length {
            log_bytes: u64,
        }
        let json = [body, b"}"].concat();
        let Length { log_bytes } = serde_json::from_slice(&json)?;
        Ok(Self { summary: serde_json::from_slice(&json)?, log_bytes })
    }

    pub(crate) fn save(&self, dir: &Path) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(self)?;
        record::seal(&mut bytes, 0);
        files::replace(&dir.join("metadata.json"), &bytes)
    }
}

/// What a list shows of a session in this state.
pub fn summary(view: &SessionView) -> SessionSummary {
    SessionSummary {
        session: view.session.clone(),
        title: view.title.clone(),
        cwd: view.cwd.clone(),
        agent: view.agent.clone(),
        model: view.model.clone(),
        created: view.created,
        updated: view.updated,
        seq: view.seq,
        turns: view.turns,
        usage: view.usage,
        status: view.status,
        marks: view.marks,
    }
}
