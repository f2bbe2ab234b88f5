//! The floor: a bare program that makes the calls Covey makes, with hand-written HTTP and no JSON parser, and prints the
//! answers; on demand with a shell command after each. What Covey needs beyond this is Covey's.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Command;

use crate::run::Failure;

/// The word that starts this program as the floor.
pub(crate) const FLOOR: &str = "bench-floor";
/// About what a command and what it printed add to the next request.
const GROWTH: usize = 300;

pub(crate) fn floor(arguments: &[String]) -> Result<(), Failure> {
    let (url, body, turns) = match arguments {
        [url, body] => (url, body, 0),
        [url, body, turns] => (url, body, turns.parse().map_err(|_| usage())?),
        _ => return Err(usage()),
    };
    let rest = url.strip_prefix("http://").unwrap_or(url);
    let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut body = fs::read(body)?;
    let mut connection = BufReader::with_capacity(64 * 1024, TcpStream::connect(address)?);
    for turn in 0..=turns {
        let mut request = format!(
            "POST /{path}/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(&body);
        connection.get_mut().write_all(&request)?;
        let mut line = Vec::new();
        // The head, to its empty line.
        while connection.read_until(b'\n', &mut line)? > 2 {
            line.clear();
        }
        print_answer(&mut connection)?;
        if turn < turns {
            Command::new("/bin/bash").arg("-c").arg(format!("echo {turn}")).output()?;
            body.resize(body.len() + GROWTH, b' ');
        }
    }
    Ok(())
}

fn usage() -> Failure {
    Failure::new("usage: xtask bench-floor URL BODY-FILE [TURNS]")
}

/// Chunks of server-sent events in, text out.
fn print_answer(reader: &mut impl BufRead) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let (mut size, mut chunk, mut pending) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        size.clear();
        reader.read_until(b'\n', &mut size)?;
        let digits = String::from_utf8_lossy(&size);
        let length = usize::from_str_radix(digits.trim(), 16)
            .map_err(|_| Failure::new(format!("`{}` is not the size of a chunk", digits.trim())))?;
        if length == 0 {
            // The line that ends the last chunk.
            reader.read_until(b'\n', &mut size)?;
            out.write_all(b"\n")?;
            return Ok(());
        }
        chunk.resize(length + 2, 0);
        reader.read_exact(&mut chunk)?;
        pending.extend_from_slice(&chunk[..length]);
        let whole = pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for line in pending[..whole].split(|byte| *byte == b'\n') {
            if let Some(text) = content(line) {
                out.write_all(text)?;
            }
        }
        out.flush()?;
        pending.drain(..whole);
    }
}

/// What stands in `"content":"…"`, escapes and all.
fn content(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"content\":\"";
    let at = line.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let end = line[at..].iter().position(|byte| *byte == b'"')?;
    Some(&line[at..at + end])
}
