//! Doors for other processes: HTTP, WebSocket and the web UI on one port, and a private Unix socket.
//!
//! Everything goes through a [`client::Client`]; this crate would compile with `engine` deleted. [`Server::run`] is the
//! port: `door` lets in or turns away, `access` knows who may, `rest` is for scripts, `socket` carries `rpc` for front
//! ends, `assets` is the web UI. [`attach`] is the same conversation over a Unix socket that only the owner can reach.
//!
//! Left to others: what a session is (`engine`), how a front end speaks to this (`client`).

mod access;
mod assets;
mod attach;
mod code_search;
mod door;
mod failure;
mod openapi;
mod preferences;
mod rest;
mod roster;
mod rpc;
mod server;
mod socket;
mod submitted;

pub use access::Token;
pub use attach::attach;
pub use code_search::{CodeHit, CodeQuery, CodeSearch, IndexReport};
pub use openapi::document as openapi;
pub use preferences::{
    KnownRule, KnownServer, Permission, PreferenceChange, Preferences, Preferred, RuleChange, ServerChange,
};
pub use server::{Options, Server};
