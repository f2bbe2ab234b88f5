//! The Agent Client Protocol, in both roles, and what its words are in ours.
//!
//! A [`Peer`] is one end of a conversation: JSON-RPC, a message a line, read with patience, because the programs at the
//! other end print banners, send what is not in the protocol, and die. [`Client`] is what we are to another agent;
//! [`Call`] is what a client asks when we are the agent, and [`Editor`] what we ask of it. [`News`] goes either way.
//!
//! A conversation can be recorded ([`Record`]), held against the protocol's rules ([`Checker`]) and played ([`Replay`]).
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

mod agent;
mod editor;

mod check;
mod recording;
mod replay;

pub use agent::{Call, LoginMethod, Offered, introduction, listing, prompt_answer, session_answer};
pub use check::{Checker, Finding};
pub use client::{
    Agreed, Ask, AuthMethod, Client, Listed, McpServer, Offer, Opened, Place, PromptBlock, PromptEnd,
    TerminalAsk, permission_answer,
};
pub use convert::Takes;
pub use editor::{Editor, TerminalExit, TerminalOutput, TerminalProgram};
pub use line::{Line, Lines, MAX_LINE};
pub use message::{Id, Message, Params, RpcError};
pub use news::{News, SessionNews, ToolNews};
pub use options::{About, Choice, ConfigOption};
pub use peer::{CallError, Incoming, Odd, Peer, Tap, Way, Wire};
pub use recording::{Record, Said, Side, read_recording};
pub use replay::{Played, Replay};
