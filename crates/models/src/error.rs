//! Why a call failed, named by what can be done next.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

/// A call that gave no answer, or only a part of one.
///
/// The messages are the provider's own words, bounded, without control characters and without the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("`{provider}` is rate limiting us: {message}")]
    RateLimited { provider: String, retry_after: Option<Duration>, message: String },
    #[error("`{provider}` can not answer now: {message}")]
    Overloaded { provider: String, retry_after: Option<Duration>, message: String },
    #[error("`{provider}` wants to be paid: {message}")]
    OutOfCredit { provider: String, message: String },
    #[error("the prompt is too long for `{provider}`{}: {message}", Limit(*limit))]
    TooLong { provider: String, limit: Option<u32>, message: String },
    #[error("`{provider}` does not accept our credentials: {message}")]
    BadCredential { provider: String, message: String },
    #[error("`{provider}` refused to answer: {message}")]
    Refused { provider: String, message: String },
    #[error("could not reach `{provider}` at {address}: {what}")]
    Unreachable { provider: String, address: String, what: String },
    #[error("the answer of `{provider}` broke off: {what}")]
    BrokenStream { provider: String, what: String },
    #[error("`{provider}` at {address} does not speak this API: {what}")]
    NotThisApi { provider: String, address: String, what: String },
    #[error("`{provider}` says our request is wrong (status {status}): {message}")]
    CallerMistake { provider: String, status: u16, message: String },
    #[error("`{provider}` took too long: {waiting} did not come within {} s", limit.as_secs_f32())]
    TimedOut { provider: String, waiting: Waiting, limit: Duration },
    #[error("`{provider}` sent more than {limit} bytes")]
    TooLarge { provider: String, limit: usize },
}

/// What was waited for in vain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    Connection,
    FirstByte,
    NextChunk,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connection => "a connection",
            Self::FirstByte => "the first byte of the answer",
            Self::NextChunk => "more of the answer",
        })
    }
}

struct Limit(Option<u32>);

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |limit| write!(f, " ({limit} tokens)"))
    }
}

impl CallError {
    /// The same error in other words. For taking our secrets out of what providers quote.
    pub(crate) fn reword(mut self, reword: impl Fn(String) -> String) -> Self {
        let words = match &mut self {
            Self::RateLimited { message, .. }
            | Self::Overloaded { message, .. }
            | Self::OutOfCredit { message, .. }
            | Self::TooLong { message, .. }
            | Self::BadCredential { message, .. }
            | Self::Refused { message, .. }
            | Self::CallerMistake { message, .. } => message,
            Self::Unreachable { what, .. }
            | Self::BrokenStream { what, .. }
            | Self::NotThisApi { what, .. } => what,
            Self::TimedOut { .. } | Self::TooLarge { .. } => return self,
        };
        *words = reword(std::mem::take(words));
        self
    }

    pub fn provider(&self) -> &str {
        match self {
            Self::RateLimited { provider, .. }
            | Self::Overloaded { provider, .. }
            | Self::OutOfCredit { provider, .. }
            | Self::TooLong { provider, .. }
            | Self::BadCredential { provider, .. }
            | Self::Refused { provider, .. }
            | Self::Unreachable { provider, .. }
            | Self::BrokenStream { provider, .. }
            | Self::NotThisApi { provider, .. }
            | Self::CallerMistake { provider, .. }
            | Self::TimedOut { provider, .. }
            | Self::TooLarge { provider, .. } => provider,
        }
    }

    /// Whether the same request may succeed a little later.
    pub fn is_retryable(&self) -> bool {
        self.patience() > 0
    }

    /// How often it is worth trying again at most. A server that is not there seldom appears within seconds, and each
    /// time-out has already cost the person its whole length.
    pub(crate) fn patience(&self) -> u32 {
        match self {
            Self::RateLimited { .. } | Self::Overloaded { .. } | Self::BrokenStream { .. } => u32::MAX,
            Self::Unreachable { .. } => 2,
            Self::TimedOut { .. } => 1,
            _ => 0,
        }
    }

    /// How long the provider asked us to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "wait, or choose another model",
            Self::Overloaded { .. } => "try again in a while, or choose another model",
            Self::OutOfCredit { .. } => "add credit to the account, or choose another provider",
            Self::TooLong { .. } => "compact the session, or choose a model with a larger context",
            Self::BadCredential { .. } => "check the provider's key",
            Self::Refused { .. } => "say it differently, or choose another model",
            Self::Unreachable { what, .. } if what.contains("certificate") => {
                "check the host in base_url: what answers there can not prove that it is this host"
            }
            Self::Unreachable { .. } => "check that the server runs, its base_url, and the network",
            Self::BrokenStream { .. } => {
                "try again; if it stays, the server or a proxy before it is at fault"
            }
            Self::NotThisApi { .. } => "check base_url and wire of the provider; most base_urls end in /v1",
            Self::CallerMistake { .. } => "check the model's name and the provider's settings",
            Self::TimedOut { .. } => "try again, or raise the provider's timeouts in config.toml",
            Self::TooLarge { .. } => "the server does not behave; choose another",
        }
    }
}

/// What a provider said in an error body.
#[derive(Debug, Default)]
struct Complaint {
    message: String,
    /// Type, code and status words, in one string to search.
    words: String,
    context: Option<u32>,
    retry_after: Option<Duration>,
}

impl Complaint {
    fn read(body: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(body).ok()?;
        // Gemini puts its error into an array, Mistral has no `error` around it.
        let json = json.get(0).unwrap_or(&json);
        let error = json.get("error").unwrap_or(json);
        if let Some(text) = error.as_str() {
            return Some(Self { message: clean(text), ..Self::default() });
        }
        let message = ["message", "detail", "msg"].iter().find_map(|key| error.get(key)?.as_str());
        let words = ["type", "code", "status"].iter().filter_map(|key| error.get(key)?.as_str());
        // Gemini puts what is wrong with a key, and how long to wait, into a list of details.
        let details = || error.get("details").and_then(Value::as_array).into_iter().flatten();
        let reasons = details().filter_map(|detail| detail.get("reason")?.as_str());
        let words: Vec<_> = words.chain(reasons).collect();
        let delay = details().find_map(|detail| detail.get("retryDelay")?.as_str()).and_then(delay);
        if message.is_none() && words.is_empty() {
            return None;
        }
        let message = clean(message.unwrap_or(&words.join(" ")));
        let retry_after = delay.or_else(|| delay_in(&message));
        let context = error.get("n_ctx").and_then(Value::as_u64).and_then(|limit| u32::try_from(limit).ok());
        Some(Self { message, words: words.join(" ").to_ascii_lowercase(), context, retry_after })
    }
}

/// Names the error that a status (`None` inside a stream) and an error body are.
pub(crate) fn classify(
    provider: &str,
    address: &str,
    status: Option<u16>,
    retry_after: Option<Duration>,
    body: &str,
) -> CallError {
    let provider = provider.to_owned();
    // Inside a stream that began well, gateways put the status into the error itself.
    let status = status.or_else(|| status_in(body));
    let complaint = Complaint::read(body);
    let is_json = complaint.is_some();
    let Complaint { message, words, context, retry_after: asked } = complaint.unwrap_or_else(|| Complaint {
        message: if looks_like_html(body) { html_title(body) } else { clean(body) },
        ..Complaint::default()
    });
    let retry_after = retry_after.or(asked);
    let long = retry_after.filter(|wait| *wait >= LONG_WAIT);
    let message = match (message.is_empty(), status) {
        (true, Some(status)) => format!("status {status}"),
        (true, None) => "an error without a message".to_owned(),
        _ => message,
    };
    // Nobody waits for that long, so a person has to know.
    let message = match long {
        Some(wait) if wait >= LONGEST_WAIT => {
            format!("{message} (it asks us to wait {} or longer)", span(wait))
        }
        Some(wait) => format!("{message} (it asks us to wait {})", span(wait)),
        None => message,
    };
    let lower = message.to_ascii_lowercase();
    let says = |parts: &[&str]| parts.iter().any(|part| lower.contains(part) || words.contains(part));

    if says(&TOO_LONG) || status == Some(413) {
        let limit = context.or_else(|| limit_in(&lower));
        return CallError::TooLong { provider, limit, message };
    }
    if says(&["insufficient_quota", "insufficient balance", "credit balance", "billing"])
        || status == Some(402)
    {
        return CallError::OutOfCredit { provider, message };
    }
    if says(&["content_filter", "content_policy", "content management policy"]) {
        return CallError::Refused { provider, message };
    }
    if says(&["api_key_invalid", "api key not valid", "api key expired"]) {
        return CallError::BadCredential { provider, message };
    }
    match status {
        Some(401 | 403) => CallError::BadCredential { provider, message },
        Some(429) => CallError::RateLimited { provider, retry_after, message },
        Some(404 | 405) if !is_json => {
            CallError::NotThisApi { provider, address: address.to_owned(), what: message }
        }
        Some(408 | 409 | 425 | 500..) => CallError::Overloaded { provider, retry_after, message },
        Some(300..=399) => {
            let what = format!("it redirects (status {})", status.unwrap_or_default());
            CallError::NotThisApi { provider, address: address.to_owned(), what }
        }
        Some(status) => CallError::CallerMistake { provider, status, message },
        None if says(&["rate_limit", "rate limit", "resource_exhausted"]) => {
            CallError::RateLimited { provider, retry_after, message }
        }
        None if says(&[
            "authentication",
            "invalid_api_key",
            "unauthenticated",
            "permission_error",
            "permission_denied",
        ]) =>
        {
            CallError::BadCredential { provider, message }
        }
        None if says(&["invalid_request", "invalid_argument", "invalid_prompt", "not_found"]) => {
            CallError::CallerMistake { provider, status: 200, message }
        }
        None => CallError::Overloaded { provider, retry_after, message },
    }
}

/// More than this is not waited for, and shown.
const LONG_WAIT: Duration = Duration::from_secs(60);

/// No wait is taken to be longer than this.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

const TOO_LONG: [&str; 11] = [
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context size",
    "prompt is too long",
    "context window",
    "token count exceeds",
    "input token count",
    "exceed context limit",
    "request_too_large",
    "input is too long",
];

/// The largest number that the message calls a limit of tokens: `maximum context length is 8192 tokens`.
fn limit_in(message: &str) -> Option<u32> {
    let after = ["maximum context length is ", "maximum number of tokens allowed (", "> ", "context size ("];
    after.iter().find_map(|words| {
        let (_, rest) = message.split_once(words)?;
        let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
        digits.replace(',', "").parse().ok()
    })
}

/// `34.07s`, as protocol buffers write it.
fn delay(text: &str) -> Option<Duration> {
    wait_of(text.strip_suffix('s')?.parse::<f64>().ok()?)
}

/// `Please try again in 11.054s.`, also in milliseconds, and with minutes before them.
fn delay_in(message: &str) -> Option<Duration> {
    let (_, rest) = message.split_once("try again in ")?;
    let word = rest.split_whitespace().next()?.trim_end_matches(['.', ',']);
    let (minutes, word) = match word.split_once('m') {
        Some((minutes, rest)) if !rest.starts_with('s') && minutes.parse::<u32>().is_ok() => {
            (minutes.parse::<u32>().unwrap_or_default(), rest)
        }
        _ => (0, word),
    };
    let seconds = match word.strip_suffix("ms") {
        Some(milliseconds) => milliseconds.parse::<f64>().ok()? / 1000.0,
        None => word.strip_suffix('s')?.parse::<f64>().ok()?,
    };
    wait_of(seconds + f64::from(minutes) * 60.0)
}

/// A wait of so many seconds. A number that no provider can mean is the longest, not none: to ask again at once would be
/// the opposite of what was asked for.
pub(crate) fn wait_of(seconds: f64) -> Option<Duration> {
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    Duration::try_from_secs_f64(seconds.min(LONGEST_WAIT.as_secs_f64())).ok()
}

/// A time for people: `340 ms`, `27 s`, `12 min`, `3 h`. Rounded up, so that nobody comes too early.
pub(crate) fn span(time: Duration) -> String {
    match time.as_millis() {
        ms @ ..1_000 => format!("{ms} ms"),
        ms @ ..120_000 => format!("{} s", ms.div_ceil(1_000)),
        ms @ ..7_200_000 => format!("{} min", ms.div_ceil(60_000)),
        ms => format!("{} h", ms.div_ceil(3_600_000)),
    }
}

pub(crate) fn looks_like_html(body: &str) -> bool {
    let start: String = body.trim_start().chars().take(15).collect::<String>().to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html")
}

/// Says which page it is, because that tells a person what stands in between.
pub(crate) fn html_title(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let end = start + lower[start..].find("</title>")?;
        Some(clean(&body[start + "<title>".len()..end]))
    });
    match title {
        Some(title) if !title.is_empty() => format!("it sent an HTML page, `{title}`"),
        _ => "it sent an HTML page".to_owned(),
    }
}

/// Someone else's words, safe to print: one line, no control characters, bounded.
pub(crate) fn clean(text: &str) -> String {
    const MOST: usize = 600;
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut clean = String::new();
    for word in words {
        if !clean.is_empty() {
            clean.push(' ');
        }
        clean.push_str(word);
        if clean.len() > MOST {
            clean.truncate(clean.floor_char_boundary(MOST));
            clean.push('…');
            break;
        }
    }
    clean
}

/// The status that an error names as its code, if that is one.
fn status_in(body: &str) -> Option<u16> {
    let body: Value = serde_json::from_str(body).ok()?;
    let body = body.get(0).unwrap_or(&body);
    let error = body.get("error").or_else(|| body.get("response")?.get("error")).unwrap_or(body);
    let code = ["code", "status"].iter().find_map(|field| error.get(field)?.as_u64());
    code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code))
}

#[cfg(test)]
mod tests;
