//! One HTTP client for all: TLS, proxies, time-outs, and a check of addresses that somebody else named.
//!
//! Whoever talks HTTP asks [`client`] for the client that fits an address, and uses the HTTP types from here, so that
//! which library does the work is decided in one place. What is said over HTTP is left to the callers.

mod client;
mod error;
mod public;

pub use client::{Options, build, client, is_loopback};
pub use error::{NetError, describe, shown};
pub use public::{check_public, is_public, public_client};
pub use reqwest::{Body, Client, Error as HttpError, Method, RequestBuilder, Response, StatusCode, header};
pub use url::Url;
