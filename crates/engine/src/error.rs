//! What an engine can not do, named by what can be done about it.

use protocol::SessionId;
use sessions::StoreError;

use crate::session::{OpFailure, StreamFailure};

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Ask for a session that exists, or wait for the one who holds it.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Ask differently.
    #[error("{message}")]
    Refused { message: String, hint: Option<String> },
    /// Name one that is known.
    #[error("{message}")]
    NoAgent { message: String, hint: Option<String> },
    /// Connect a model.
    #[error("{message}")]
    NoModel { message: String, hint: Option<String> },
    /// Make room; what was recorded is safe.
    #[error("{message}")]
    Storage { message: String, hint: Option<String> },
    #[error("session `{0}` was closed")]
    Closed(SessionId),
}

impl EngineError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::NoAgent { hint, .. } => {
                hint.clone().or_else(|| Some("the built-in agent is `native`".to_owned()))
            }
            Self::Refused { hint, .. } | Self::NoModel { hint, .. } | Self::Storage { hint, .. } => {
                hint.clone()
            }
            Self::Closed(_) => None,
        }
    }

    pub(crate) fn from_op(session: &SessionId, failure: OpFailure) -> Self {
        match failure {
            OpFailure::Refused(refusal) => Self::Refused { message: refusal.to_string(), hint: None },
            OpFailure::Storage(failure) => Self::Storage { message: failure.message, hint: failure.hint },
            OpFailure::Closed => Self::Closed(session.clone()),
        }
    }
}

impl From<StreamFailure> for EngineError {
    fn from(failure: StreamFailure) -> Self {
        match failure {
            StreamFailure::Storage(failure) => Self::Storage { message: failure.message, hint: failure.hint },
            StreamFailure::Read(error) => Self::Store(error),
        }
    }
}
