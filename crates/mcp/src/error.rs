//! Why a server does not answer, by what can be done about it.

use std::time::Duration;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum McpError {
    /// Mend the command or the address.
    #[error("could not start `{server}`: {why}")]
    NotStarted { server: String, why: String },
    /// Log in.
    #[error("`{server}` wants a login")]
    NeedsLogin { server: String },
    /// Wait.
    #[error("`{server}` failed {failures} times; it is tried again in {} s", wait.as_secs().max(1))]
    Resting { server: String, failures: u32, wait: Duration },
    #[error("`{server}` did not answer within {} s", limit.as_secs())]
    TimedOut { server: String, limit: Duration },
    #[error("`{server}` did not answer within {} s, nor to anything else; it was ended, and the next call starts it again", limit.as_secs())]
    Hung { server: String, limit: Duration },
    #[error("`{server}` ended in the middle of a call{said}")]
    Gone { server: String, said: String },
    /// Look at what changed, and accept it.
    #[error(
        "`{server}` changed its tool `{tool}` since you accepted it; it is held until you look: covey mcp accept {server}"
    )]
    Held { server: String, tool: String },
    #[error("`{server}` has no `{name}`")]
    Unknown { server: String, name: String },
    /// What the server says is wrong with the request.
    #[error("{0}")]
    Refused(String),
}

impl McpError {
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotStarted { server, .. } => {
                format!(
                    "try it: covey mcp test {server}; a server that needs the network says so with `network = true`"
                )
            }
            Self::NeedsLogin { server } => format!("covey mcp login {server}"),
            Self::Held { server, .. } => format!("covey mcp accept {server}"),
            Self::TimedOut { .. } => "give it longer with `timeout = SECONDS`".to_owned(),
            _ => return None,
        })
    }
}
