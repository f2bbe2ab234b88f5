//! The Agent Client Protocol, as its client, and what its words are in ours.
//!
//! A [`Peer`] is one end of a conversation: JSON-RPC, a message a line, read with patience, because the programs at the
//! other end print banners, send what is not in the protocol, and die. [`Client`] is what we are to another agent,
//! and what the agent says there is turned into our words.
//!
//! The types of the protocol come from its authors' schema crate and do not leave this one: everybody else sees
//! `protocol`. Which programs there are, how they are started and what they may do, is left to `agents`.

mod line;
mod message;
mod peer;

mod convert;

mod client;
mod news;
mod options;

pub use client::{
    Agreed, Ask, AuthMethod, Client, Listed, McpServer, Offer, Opened, Place, PromptBlock, PromptEnd,
    TerminalAsk, permission_answer,
};
pub use convert::Takes;
pub use line::{Line, Lines, MAX_LINE};
pub use message::{Id, Message, Params, RpcError};
pub use news::{News, SessionNews, ToolNews};
pub use options::{About, Choice, ConfigOption};
pub use peer::{CallError, Incoming, Odd, Peer, Tap, Way, Wire};
