//! A [`Client`] to an engine in this process and, for sessions that another process has, to that one.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use client::{Address, Client, ClientError, EventStream, Failure, HostRequests, Remote, SessionList};
use engine::{Engine, EngineError};
use futures::StreamExt;
use protocol::{HostAccepted, HostAnswer, HostOffer, Op, Receipt, Reply, Request, SessionId};
use sessions::StoreError;
use tokio::sync::Mutex;

pub(crate) struct InProcess {
    engine: Engine,
    /// Other processes that have sessions, by where they are reached.
    others: Mutex<HashMap<PathBuf, Remote>>,
}

#[async_trait]
impl Client for InProcess {
    async fn read(&self, request: Request) -> Result<Reply, ClientError> {
        match self.engine.read(request.clone()).await {
            Err(EngineError::Store(StoreError::Locked { session, holder })) => {
                let locked =
                    client_error(EngineError::Store(StoreError::Locked { session: session.clone(), holder }));
                self.owner_of(&session).await.ok_or(locked)?.read(request).await
            }
            result => result.map_err(client_error),
        }
    }

    async fn submit(&self, op: Op) -> Result<Receipt, ClientError> {
        match self.engine.submit(op.clone()).await {
            Err(EngineError::Store(StoreError::Locked { session, holder })) => {
                let locked =
                    client_error(EngineError::Store(StoreError::Locked { session: session.clone(), holder }));
                self.owner_of(&session).await.ok_or(locked)?.submit(op).await
            }
            result => result.map_err(client_error),
        }
    }

    async fn events(&self, session: SessionId, after: u64) -> Result<EventStream, ClientError> {
        match self.engine.events(session.clone(), after).await {
            Ok(events) => Ok(events.map(|event| event.map_err(client_error)).boxed()),
            Err(error @ EngineError::Store(StoreError::Locked { .. })) => {
                self.owner_of(&session).await.ok_or(client_error(error))?.events(session, after).await
            }
            Err(error) => Err(client_error(error)),
        }
    }

    async fn sessions(&self) -> Result<SessionList, ClientError> {
        Ok(self.engine.sessions().map(|change| change.map_err(client_error)).boxed())
    }

    async fn offer_host(
        &self,
        session: SessionId,
        offer: HostOffer,
    ) -> Result<(HostAccepted, HostRequests), ClientError> {
        match self.engine.offer_host(session.clone(), offer.clone()).await {
            Ok((accepted, requests)) => Ok((accepted, requests.map(Ok).boxed())),
            Err(error @ EngineError::Store(StoreError::Locked { .. })) => {
                self.owner_of(&session).await.ok_or(client_error(error))?.offer_host(session, offer).await
            }
            Err(error) => Err(client_error(error)),
        }
    }

    async fn answer_host(
        &self,
        session: SessionId,
        request: u64,
        answer: HostAnswer,
    ) -> Result<(), ClientError> {
        match self.engine.answer_host(session.clone(), request, answer.clone()).await {
            Err(error @ EngineError::Store(StoreError::Locked { .. })) => {
                let owner = self.owner_of(&session).await.ok_or(client_error(error))?;
                owner.answer_host(session, request, answer).await
            }
            result => result.map_err(client_error),
        }
    }
}

impl InProcess {
    pub(crate) fn new(engine: Engine) -> Arc<Self> {
        Arc::new(Self { engine, others: Mutex::default() })
    }

    /// The process that has a session, where it lets others attach.
    async fn owner_of(&self, session: &SessionId) -> Option<Remote> {
        let socket = self.engine.reached_at(session)?;
        let mut others = self.others.lock().await;
        if let Some(known) = others.get(&socket).filter(|known| known.is_connected()) {
            return Some(known.clone());
        }
        let remote = Remote::connect(Address::Socket(socket.clone())).await.ok()?;
        others.insert(socket, remote.clone());
        Some(remote)
    }
}

pub(crate) fn client_error(error: EngineError) -> ClientError {
    let kind = match &error {
        EngineError::Store(StoreError::NotFound(_)) => Failure::NotFound,
        EngineError::Store(StoreError::Locked { .. }) => Failure::Locked,
        EngineError::Store(StoreError::NoSuchEvent { .. }) => Failure::Invalid,
        EngineError::Store(_) | EngineError::Storage { .. } => Failure::Storage,
        EngineError::Refused { .. } | EngineError::NoAgent { .. } => Failure::Invalid,
        EngineError::NoModel { .. } => Failure::NoModel,
        EngineError::Closed(_) => Failure::Closed,
    };
    let hint = error.hint();
    ClientError { kind, message: crate::exit::Failure::from_error(&error).message, hint }
}
