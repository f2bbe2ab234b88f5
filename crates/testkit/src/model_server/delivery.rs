//! Puts a reply on the socket, with everything that is to go wrong with it.

use std::io;

use bytes::Bytes;
use serde_json::Value;
use tokio::io::AsyncWriteExt;

use super::http::Connection;
use super::reply::{Delivery, Fault, Part, Reply, Split};
use super::wire::{Answer, WireFormat};

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Sent to its end: the connection serves the next request.
    Sent,
    /// Closed on purpose.
    Closed,
    /// The client went away before the answer was complete.
    Aborted,
}

/// A request that is to be answered.
pub(super) struct Asked<'a> {
    pub(super) wire: WireFormat,
    pub(super) streams: bool,
    pub(super) body: &'a Value,
    pub(super) model: &'a str,
    pub(super) number: u64,
}

const EVENTS: &str = "text/event-stream; charset=utf-8";
const BULK: usize = 32 << 10;
const FLOOD: &str = "All work and no play makes the stream a dull one. ";

pub(super) async fn deliver(
    connection: &mut Connection,
    reply: &Reply,
    asked: &Asked<'_>,
    next_call: &mut u64,
) -> Outcome {
    if !reply.wait.is_zero() && abandoned(connection, reply.wait).await {
        return Outcome::Aborted;
    }
    match send(connection, reply, asked, next_call).await {
        Ok(outcome) => outcome,
        // Whatever the system calls it, a write fails because nobody reads any more.
        Err(_) => Outcome::Aborted,
    }
}

/// Waits, and says whether the client left meanwhile.
async fn abandoned(connection: &mut Connection, wait: std::time::Duration) -> bool {
    tokio::time::timeout(wait, connection.gone()).await.is_ok()
}

async fn send(
    connection: &mut Connection,
    reply: &Reply,
    asked: &Asked<'_>,
    next_call: &mut u64,
) -> io::Result<Outcome> {
    match &reply.fault {
        Some(Fault::Status { code, retry_after, message }) => {
            let body = asked.wire.error(*code, message.as_deref().unwrap_or("scripted error")).to_string();
            let extra: Vec<_> = retry_after.iter().map(|value| ("retry-after", value.as_str())).collect();
            connection.answer(*code, "application/json", &extra, body.as_bytes()).await?;
            return Ok(Outcome::Sent);
        }
        Some(Fault::Html) => {
            let page = b"<!doctype html><html><head><title>Welcome to the login page</title></head><body></body></html>";
            connection.answer(200, "text/html; charset=utf-8", &[], page).await?;
            return Ok(Outcome::Sent);
        }
        Some(Fault::Close) => return Ok(Outcome::Closed),
        Some(Fault::Never) => {
            connection.gone().await;
            return Ok(Outcome::Aborted);
        }
        _ => {}
    }
    if let Some(Part::Raw { content_type, body }) = reply.parts.first() {
        connection.begin(content_type).await?;
        return write(connection, reply, std::slice::from_ref(body)).await;
    }

    let mut changed;
    let reply = match reply.fault {
        Some(Fault::Giant { bytes }) => {
            changed = reply.clone().then_text("x".repeat(bytes));
            changed.split = Split::Deltas(1);
            &changed
        }
        Some(Fault::Flood { .. }) => {
            changed = reply.clone().part(Part::Repeat { times: 1, text: FLOOD.to_owned() });
            &changed
        }
        _ => reply,
    };
    let answer = Answer::new(reply, asked.model, asked.number, next_call);
    if !asked.streams || reply.delivery == Delivery::Whole {
        let body = asked.wire.whole(&answer).to_string();
        connection.answer(200, "application/json", &[], body.as_bytes()).await?;
        return Ok(Outcome::Sent);
    }

    let mut frames = asked.wire.stream(&answer, asked.body);
    connection.begin(EVENTS).await?;
    match &reply.fault {
        Some(Fault::Cut { after }) => {
            frames.truncate(*after);
            write_frames(connection, reply, &frames).await?;
            return Ok(Outcome::Closed);
        }
        Some(Fault::Stall { after }) => {
            frames.truncate(*after);
            write_frames(connection, reply, &frames).await?;
            connection.gone().await;
            return Ok(Outcome::Aborted);
        }
        Some(Fault::Malformed { after }) => {
            let broken = Bytes::from_static(b"data: {\"choices\":[{\"delta\":{\"content\":\"bro\n\n");
            frames.insert((*after).min(frames.len()), broken);
        }
        Some(Fault::ErrorFrame { after, message }) => {
            frames.truncate(*after);
            frames.push(asked.wire.error_frame(message));
        }
        Some(Fault::Flood { bytes }) => return flood(connection, &frames, *bytes).await,
        _ => {}
    }
    write(connection, reply, &frames).await
}

async fn write(connection: &mut Connection, reply: &Reply, frames: &[Bytes]) -> io::Result<Outcome> {
    write_frames(connection, reply, frames).await?;
    connection.end().await?;
    Ok(Outcome::Sent)
}

async fn write_frames(connection: &mut Connection, reply: &Reply, frames: &[Bytes]) -> io::Result<()> {
    let mut scratch = Vec::with_capacity(BULK + 64);
    match reply.delivery {
        Delivery::Bulk if reply.pace.is_zero() => {
            let mut rest = frames;
            let mut parts: Vec<&[u8]> = Vec::new();
            while !rest.is_empty() {
                let mut size = 0;
                let fits = rest.iter().take_while(|frame| {
                    let first = size == 0;
                    size += frame.len();
                    first || size <= BULK
                });
                let count = fits.count();
                parts.clear();
                parts.extend(rest[..count].iter().map(|frame| frame.as_ref()));
                connection.chunk(&mut scratch, &parts).await?;
                rest = &rest[count..];
            }
        }
        Delivery::Bulk | Delivery::Frames | Delivery::Whole => {
            for frame in frames {
                if !reply.pace.is_zero() && abandoned(connection, reply.pace).await {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                connection.chunk(&mut scratch, &[frame]).await?;
            }
        }
        Delivery::Trickle => {
            for byte in frames.iter().flat_map(|frame| frame.chunks(1)) {
                connection.chunk(&mut scratch, &[byte]).await?;
                connection.writer.flush().await?;
                // Lets the reader run, so that it sees the bytes one by one.
                tokio::task::yield_now().await;
            }
        }
        Delivery::SplitUtf8 => {
            for frame in frames {
                let mut start = 0;
                for (at, byte) in frame.iter().enumerate() {
                    // The second byte of a character begins a new write.
                    let inside = byte & 0xC0 == 0x80;
                    if inside {
                        connection.chunk(&mut scratch, &[&frame[start..at]]).await?;
                        start = at;
                        tokio::task::yield_now().await;
                    }
                }
                connection.chunk(&mut scratch, &[&frame[start..]]).await?;
            }
        }
    }
    Ok(())
}

async fn flood(connection: &mut Connection, frames: &[Bytes], bytes: Option<u64>) -> io::Result<Outcome> {
    let is_text = |frame: &&Bytes| frame.windows(FLOOD.len()).any(|window| window == FLOOD.as_bytes());
    let Some(text) = frames.iter().find(is_text) else { return Ok(Outcome::Closed) };
    let mut scratch = Vec::new();
    let parts: Vec<&[u8]> = vec![text.as_ref(); BULK / text.len() + 1];
    let size = (parts.len() * text.len()) as u64;
    let mut sent = 0;
    while bytes.is_none_or(|limit| sent < limit) {
        connection.chunk(&mut scratch, &parts).await?;
        sent += size;
    }
    connection.end().await?;
    Ok(Outcome::Sent)
}
