//! Scripts: replies written so that a person can read what the model will do.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;

use super::reply::{Delivery, Fault, Part, Reply, Split, Tokens};

/// The replies of a scripted model, in the order in which requests get them.
///
/// ```text
/// # a comment is a line of its own, or follows a value that is not free text
/// model: Hello there.              a reply of one text, in one line
/// reply                            a reply with everything that one can have
///   think: Let me look.
///   text: "two\nlines"             a value in double quotes is a JSON string
///   call: read {"path": "a.txt"}
///   repeat: 20000 "word "          equal deltas, made once, sent in bulk
///   usage: input=10 output=5 cache_read=3 cache_write=1 reasoning=2
///   stop: length                   the wire's own word
///   chunk: 4                       characters a delta; `deltas: 10` for so many in all; by words without either
///   wait: 20                       milliseconds before the answer
///   pace: 5                        milliseconds before each frame
///   writes: frames                 or bulk, trickle, split-utf8, whole
///   fault: cut after=3             in frames; the other faults are below
/// models: small, large             what the list of models names
/// forever                          begin again when all replies were given
/// ```
///
/// Faults: a status (`429 retry-after=0`, `500`, `401 message="no"`), `html`, `close`, `never`, `cut after=N`,
/// `stall after=N`, `malformed after=N`, `error after=N message="…"`, `giant mb=N`, `flood` or `flood mb=N`, and the
/// ways to write `trickle` and `split-utf8`.
///
/// When the script is at its end, the model answers `You said: …` with the last text of the user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    pub replies: Vec<Reply>,
    pub forever: bool,
    /// Names for the list of models; empty names one, `scripted`.
    pub models: Vec<String>,
}

/// A line of a script that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    pub line: usize,
    pub what: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the script: {}", self.line, self.what)
    }
}

impl std::error::Error for ScriptError {}

impl From<Reply> for Script {
    fn from(reply: Reply) -> Self {
        vec![reply].into()
    }
}

impl From<Vec<Reply>> for Script {
    fn from(replies: Vec<Reply>) -> Self {
        Self { replies, ..Self::default() }
    }
}

impl<const N: usize> From<[Reply; N]> for Script {
    fn from(replies: [Reply; N]) -> Self {
        Vec::from(replies).into()
    }
}

impl Script {
    /// Begins again when all replies were given.
    pub fn forever(mut self) -> Self {
        self.forever = true;
        self
    }
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let mut script = Self::default();
        // Whether a `reply` line is open, so that its settings have something to belong to.
        let mut open = false;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            script.line(line, &mut open).map_err(|what| ScriptError { line: number + 1, what })?;
        }
        if script.forever && script.replies.is_empty() {
            return Err(ScriptError {
                line: text.lines().count(),
                what: "`forever` needs a reply".to_owned(),
            });
        }
        Ok(script)
    }
}

impl Script {
    fn line(&mut self, line: &str, open: &mut bool) -> Result<(), String> {
        match without_comment(line) {
            "reply" => {
                *open = true;
                self.replies.push(Reply::new());
                return Ok(());
            }
            "forever" => {
                *open = false;
                self.forever = true;
                return Ok(());
            }
            _ => {}
        }
        let (key, value) = line.split_once(':').ok_or_else(|| format!("`{line}` is not `key: value`"))?;
        let (key, value) = (key.trim(), value.trim());
        match key {
            "model" => {
                *open = false;
                self.replies.push(Reply::text(free_text(value)?));
                Ok(())
            }
            "models" => {
                *open = false;
                self.models = without_comment(value).split(',').map(|name| name.trim().to_owned()).collect();
                Ok(())
            }
            _ => match self.replies.last_mut() {
                Some(reply) if *open => setting(reply, key, value),
                _ => Err(format!("`{key}` belongs below a `reply` line")),
            },
        }
    }
}

fn setting(reply: &mut Reply, key: &str, value: &str) -> Result<(), String> {
    let plain = without_comment(value);
    match key {
        "think" => reply.parts.push(Part::Think(free_text(value)?)),
        "text" => reply.parts.push(Part::Text(free_text(value)?)),
        "call" => {
            let (name, arguments) = value.split_once(char::is_whitespace).unwrap_or((value, "{}"));
            let arguments: Value = serde_json::from_str(arguments)
                .map_err(|error| format!("the arguments of `{name}`: {error}"))?;
            reply.parts.push(Part::Call { name: name.to_owned(), arguments, id: None });
        }
        "repeat" => {
            let (times, text) =
                value.split_once(char::is_whitespace).ok_or("`repeat` wants `COUNT \"text\"`")?;
            reply.parts.push(Part::Repeat { times: number(times)?, text: free_text(text.trim())? });
            reply.delivery = Delivery::Bulk;
        }
        "usage" => reply.usage = tokens(plain)?,
        "stop" => reply.stop = Some(plain.to_owned()),
        "chunk" => reply.split = Split::Chars(number(plain)?),
        "deltas" => reply.split = Split::Deltas(number(plain)?),
        "wait" => reply.wait = Duration::from_millis(number(plain)?),
        "pace" => reply.pace = Duration::from_millis(number(plain)?),
        "writes" => reply.delivery = delivery(plain)?,
        // A message in quotes may hold a `#`, so this one looks for its own comment.
        "fault" => fault(reply, value)?,
        _ => {
            return Err(format!(
                "`{key}` is not one of think, text, call, repeat, usage, stop, chunk, deltas, wait, pace, writes, fault"
            ));
        }
    }
    Ok(())
}

fn fault(reply: &mut Reply, value: &str) -> Result<(), String> {
    let mut after = None;
    let mut megabytes = None;
    let mut retry_after = None;
    let mut message = None;
    let (name, mut rest) = split_word(value);
    while !rest.is_empty() && !rest.starts_with('#') {
        let (key, tail) = rest.split_once('=').ok_or_else(|| format!("`{rest}` is not `key=value`"))?;
        let (word, tail) = if tail.starts_with('"') {
            let mut stream = serde_json::Deserializer::from_str(tail).into_iter::<String>();
            let text = stream.next().transpose().ok().flatten().ok_or("a text in quotes does not end")?;
            (text, tail[stream.byte_offset()..].trim_start())
        } else {
            let (word, tail) = split_word(tail);
            (word.to_owned(), tail)
        };
        match key.trim() {
            "after" => after = Some(number(&word)?),
            "mb" => megabytes = Some(number(&word)?),
            "retry-after" => retry_after = Some(word),
            "message" => message = Some(word),
            other => return Err(format!("`{other}` is not one of after, mb, retry-after, message")),
        }
        rest = tail;
    }
    let after = after.unwrap_or(1);
    reply.fault = Some(match name {
        "html" => Fault::Html,
        "close" => Fault::Close,
        "never" => Fault::Never,
        "cut" => Fault::Cut { after },
        "stall" => Fault::Stall { after },
        "malformed" => Fault::Malformed { after },
        "error" => {
            Fault::ErrorFrame { after, message: message.unwrap_or_else(|| "scripted error".to_owned()) }
        }
        "giant" => Fault::Giant { bytes: megabytes.unwrap_or(32) << 20 },
        "flood" => Fault::Flood { bytes: megabytes.map(|count| (count as u64) << 20) },
        "trickle" | "split-utf8" => {
            reply.delivery = delivery(name)?;
            return Ok(());
        }
        _ => match name.parse() {
            Ok(code @ 100..=599) => Fault::Status { code, retry_after, message },
            _ => {
                return Err(format!(
                    "`{name}` is not a status, html, close, never, cut, stall, malformed, error, giant, flood, trickle or split-utf8"
                ));
            }
        },
    });
    Ok(())
}

fn delivery(name: &str) -> Result<Delivery, String> {
    match name {
        "frames" => Ok(Delivery::Frames),
        "bulk" => Ok(Delivery::Bulk),
        "trickle" => Ok(Delivery::Trickle),
        "split-utf8" => Ok(Delivery::SplitUtf8),
        "whole" => Ok(Delivery::Whole),
        _ => Err(format!("`{name}` is not one of frames, bulk, trickle, split-utf8, whole")),
    }
}

fn tokens(text: &str) -> Result<Tokens, String> {
    let mut tokens = Tokens::default();
    for pair in text.split_whitespace() {
        let (key, value) = pair.split_once('=').ok_or_else(|| format!("`{pair}` is not `key=value`"))?;
        let field = match key {
            "input" => &mut tokens.input,
            "output" => &mut tokens.output,
            "cache_read" => &mut tokens.cache_read,
            "cache_write" => &mut tokens.cache_write,
            "reasoning" => &mut tokens.reasoning,
            _ => {
                return Err(format!(
                    "`{key}` is not one of input, output, cache_read, cache_write, reasoning"
                ));
            }
        };
        *field = number(value)?;
    }
    Ok(tokens)
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// Free text is taken as it stands, comments and all; in double quotes it is a JSON string.
fn free_text(value: &str) -> Result<String, String> {
    if value.starts_with('"') {
        return serde_json::from_str(value).map_err(|error| format!("{value} is not a JSON string: {error}"));
    }
    Ok(value.to_owned())
}

fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

fn without_comment(text: &str) -> &str {
    text.split_once(" #").map_or(text, |(before, _)| before).trim()
}

#[cfg(test)]
mod tests;
