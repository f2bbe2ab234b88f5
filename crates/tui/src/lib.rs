//! The terminal front end.
//!
//! [`run`] takes a [`Client`](client::Client) and the terminal and returns when the person leaves. Inside, deciding is
//! apart from doing: `app` is plain state with `update` (an input in, effects out) and `draw` (rows out); `run` is the
//! loop that feeds it; `paint` brings rows onto the screen with as few bytes as will do; `terminal` takes the
//! terminal and gives it back whatever happens. `transcript` turns events into rows, `composer` is where prompts are
//! written. Start reading in `app`.
//!
//! Finished rows belong to the terminal's scrollback; only the live tail is drawn again.
//!
//! Left to others: what a session is and does (`engine`, behind the client), and everything that touches the machine
//! besides the terminal ([`Outside`], made in `covey`).

mod app;
mod bindings;
mod composer;
mod dialog;
mod diff;
mod format;
mod highlight;
mod keep;
mod keys;
mod markdown;
mod outside;
mod paint;
mod picture;
mod run;
mod terminal;
mod text;
mod theme;
mod transcript;

pub use bindings::key_names;
pub use outside::{Outside, Report};
pub use run::{Left, Options, TuiError, run};
pub use theme::Theme;
