//! A [`Client`] to an engine in this process.

use std::sync::Arc;

use async_trait::async_trait;
use client::{Client, ClientError, EventStream, Failure};
use engine::{Engine, EngineError};
use futures::StreamExt;
use protocol::{Op, Receipt, Reply, Request, SessionId};
use sessions::StoreError;

pub(crate) struct InProcess(pub(crate) Engine);

#[async_trait]
impl Client for InProcess {
    async fn read(&self, request: Request) -> Result<Reply, ClientError> {
        self.0.read(request).await.map_err(client_error)
    }

    async fn submit(&self, op: Op) -> Result<Receipt, ClientError> {
        self.0.submit(op).await.map_err(client_error)
    }

    async fn events(&self, session: SessionId, after: u64) -> Result<EventStream, ClientError> {
        let events = self.0.events(session, after).await.map_err(client_error)?;
        Ok(events.map(|event| event.map_err(client_error)).boxed())
    }
}

impl InProcess {
    pub(crate) fn new(engine: Engine) -> Arc<Self> {
        Arc::new(Self(engine))
    }
}

fn client_error(error: EngineError) -> ClientError {
    let kind = match &error {
        EngineError::Store(StoreError::NotFound(_)) => Failure::NotFound,
        EngineError::Store(StoreError::Locked { .. }) => Failure::Locked,
        EngineError::Store(_) | EngineError::Storage { .. } => Failure::Storage,
        EngineError::Refused { .. } | EngineError::NoAgent(_) => Failure::Invalid,
        EngineError::NoModel { .. } => Failure::NoModel,
        EngineError::Closed(_) => Failure::Closed,
    };
    let hint = error.hint();
    ClientError { kind, message: crate::exit::Failure::from_error(&error).message, hint }
}

/// The same for commands that hold the engine itself.
pub(crate) fn failure(error: EngineError) -> crate::exit::Failure {
    client_error(error).into()
}
