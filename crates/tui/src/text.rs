//! Text as it stands on the screen: what it says, how wide that is, and what it means.
//!
//! A [`Style`] names meanings, not colours: the theme turns them into colours when a row is written, so nothing that
//! was laid out once has to be laid out again for another theme.

mod clean;
mod line;
mod width;
mod wrap;

pub(crate) use clean::{plain, plain_line};
pub(crate) use line::{Ground, Ink, Line, Span, Style};
pub(crate) use width::{fit, fit_start, graphemes, width};
pub(crate) use wrap::{Indent, wrap};
