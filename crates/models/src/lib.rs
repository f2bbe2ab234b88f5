//! Talking to models: one block-and-event interface over the formats that providers speak.
//!
//! A [`Catalogue`] turns a name into a [`Model`]; a [`Request`] of [`Message`]s goes in and a stream of
//! [`ModelEvent`]s comes out, which [`Answer`] adds up to a message again. Providers are data (`providers/`), formats
//! are modules (`wire/`), and what vendors' JSON looks like is known nowhere else. Every model that the catalogue hands
//! out tries again by itself ([`Router`]) and says so. To stop a call, drop its stream.
//!
//! Left to others: keys beyond the environment (`auth`), what is asked and what is done with the answer (`engine`).
//! Start reading at `model.rs`, then `call.rs`.

mod message;
mod reasoning;
mod request;
mod schema;

mod event;
mod model;

mod error;
mod random;

mod account;
mod call;
mod retry;
mod router;
mod sse;
mod tokens;
mod wire;

mod catalogue;
mod chain;
mod provider;

pub use auth::Secret;
pub use call::{AnswerLimits, Timeouts};
pub use catalogue::{
    Catalogue, Chosen, FRESH_MS, ListError, ListedModel, Listing, Listings, LocalServer, PROBE_TIMEOUT,
    ResolveError, probe_local,
};
pub use chain::{Chain, Purpose};
pub use error::{CallError, Waiting};
pub use event::{Answer, BlockKind, Ending, ModelEvent, Replay, StopReason};
pub use message::{Block, ImageData, Message, Role, ToolCall, ToolResult};
pub use model::{Capabilities, EventStream, Model, ModelInfo, PriceStep, Prices, Tier};
pub use provider::{ModelConfig, PriceConfig, ProviderConfig, StepConfig, TimeoutConfig};
pub use reasoning::{Effort, Reasoning, ReasoningKind};
pub use request::{OutputSchema, Request, ToolSet, ToolSpec};
pub use retry::RetryPolicy;
pub use router::{Blame, Breaker, Condition, Health, Route, RouteStatus, Router};
pub use sse::{FRAME_LIMIT, Frame, SseDecoder, SseError};
pub use tokens::TokenRatio;
pub use wire::{QuirkConfig, Quirks, Wire, decode_recorded, decode_whole};
