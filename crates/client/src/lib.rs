//! How a front end reaches an engine.
//!
//! Everything that a person sees and does goes through [`Client`]: reads, changes, and a session's events from any
//! number on. Front ends know nothing else of Covey, so the same terminal UI drives an engine in its own process or
//! one behind a socket. The in-process adapter is made where the engine is made, in `covey`.
//!
//! [`commands`] are the slash commands that all front ends share. [`serve_editor`] is for front ends that also have files
//! and terminals of their own.

mod carrier;
pub mod commands;
mod editor;
mod remote;
pub mod wire;

pub use carrier::Address;
pub use editor::{Editor, serve_editor};
pub use remote::Remote;

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use protocol::{
    Event, HostAccepted, HostAnswer, HostOffer, HostRequest, ListChange, Op, Receipt, Reply, Request,
    SessionId,
};

/// A session's events in order, without gaps: first what is in the log, then what happens.
///
/// A reader that falls behind is caught up from the log; it never slows the session. The stream ends when the session
/// is closed, or after an error.
pub type EventStream = BoxStream<'static, Result<Arc<Event>, ClientError>>;

/// The list of sessions: all of it first, then its changes. All of it again when news were missed.
pub type SessionList = BoxStream<'static, Result<ListChange, ClientError>>;

/// What an editor is to do, in the order in which it is wanted. After a reconnect, what was not answered comes again.
pub type HostRequests = BoxStream<'static, Result<HostRequest, ClientError>>;

/// A connection to an engine.
#[async_trait]
pub trait Client: Send + Sync {
    /// Asks without changing anything.
    async fn read(&self, request: Request) -> Result<Reply, ClientError>;

    /// Asks for a change. When this returns, the change is recorded.
    async fn submit(&self, op: Op) -> Result<Receipt, ClientError>;

    /// The events of `session` whose number is greater than `after`.
    async fn events(&self, session: SessionId, after: u64) -> Result<EventStream, ClientError>;

    /// The sessions there are, and what becomes of them.
    async fn sessions(&self) -> Result<SessionList, ClientError>;

    /// Offers to do what the tools of a session want done. [`serve_editor`] does the rest.
    async fn offer_host(
        &self,
        session: SessionId,
        offer: HostOffer,
    ) -> Result<(HostAccepted, HostRequests), ClientError>;

    /// Answers a request to an editor. When this returns, it will not be asked again.
    async fn answer_host(
        &self,
        session: SessionId,
        request: u64,
        answer: HostAnswer,
    ) -> Result<(), ClientError>;
}

/// What went wrong, as data, so that it reads the same through a socket.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ClientError {
    pub kind: Failure,
    pub message: String,
    pub hint: Option<String>,
}

/// What the caller can do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Ask for something that exists.
    NotFound,
    /// Another process has the session: wait, or fork it.
    Locked,
    /// Ask differently.
    Invalid,
    /// Connect a model or an agent.
    NoModel,
    /// Make room or mend the disk; what was recorded is safe.
    Storage,
    /// The engine is gone: connect again.
    Closed,
    /// Show the token of this run.
    Denied,
}

impl Failure {
    const ALL: [Self; 7] = [
        Self::NotFound,
        Self::Locked,
        Self::Invalid,
        Self::NoModel,
        Self::Storage,
        Self::Closed,
        Self::Denied,
    ];

    /// As it is written on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::Locked => "locked",
            Self::Invalid => "invalid",
            Self::NoModel => "no_model",
            Self::Storage => "storage",
            Self::Closed => "closed",
            Self::Denied => "unauthorized",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
