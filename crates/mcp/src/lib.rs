//! Model Context Protocol, both roles: other servers' tools look local, ours are offered to others.
//!
//! - [`ServerConfig`] says how a server is reached: a program on pipes, or an address.
//! - [`Server`] is one of them: started when it is first needed, restarted with growing pauses, and held to what its tools
//!   were when the person first had them ([`Agreement`]).
//! - [`Login`] gets a token from a server behind an address.
//! - [`serve`] offers tools of ours to whoever speaks the protocol on two pipes.
//!
//! The protocol itself is the official SDK's, and none of its types leave this crate. Left to others: starting programs
//! ([`Starter`]), asking the person ([`Person`]), what a tool may do (`guard`), what servers there are (`covey`, `engine`).
//! Start reading at `server.rs`.

mod agreement;
mod config;
mod content;
mod error;
mod handler;
mod login;
mod serve;
mod server;

pub use agreement::{Agreement, Difference, ToolInfo};
pub use config::{BadConfig, ServerConfig, servers_in_json};
pub use content::{Outcome, PromptInfo, ResourceInfo};
pub use error::McpError;
pub use handler::{Person, Sample};
pub use login::{Login, Tokens};
pub use serve::{Offered, Offers, serve};
pub use server::{Pipes, Server, Starter};

/// The name by which a model calls a tool of a server.
pub fn tool_name(server: &str, tool: &str) -> String {
    let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-', "_");
    let mut name = format!("mcp__{}__{}", plain(server), plain(tool));
    // Providers refuse longer ones.
    name.truncate(64);
    name
}
