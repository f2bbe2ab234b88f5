//! One HTTP client for all: TLS, proxies, time-outs.
//!
//! Whoever talks HTTP asks [`client`] for the client that fits an address, and uses the HTTP types from here, so that
//! which library does the work is decided in one place. What is said over HTTP is left to the callers.

mod client;
mod error;

pub use client::{Options, build, client, is_loopback};
pub use error::{NetError, describe, shown};
pub use reqwest::{Body, Client, Error as HttpError, Method, RequestBuilder, Response, StatusCode, header};
pub use url::Url;
