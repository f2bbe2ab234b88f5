//! OAuth, as far as a program on a person's machine needs it: in a browser with PKCE, with a code for another device,
//! and renewing. What differs between vendors is data.

mod browser;
mod config;
mod device;
mod endpoint;
mod login;
mod loopback;
mod pkce;
mod token;

pub use config::{Answer, OAuthConfig, Redirect, github, openrouter};
pub use login::{Login, Person, Step, Timing};
pub use token::Grant;
pub(crate) use token::refresh;
