//! Finding secrets in text that is about to leave, and masking them.

use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// Masks secrets: what looks like a key, what stands behind a word such as `password`, and values that are known.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    known: Vec<String>,
}

/// What a key of some maker starts with, how long it is at least, and what to call it.
const SHAPES: [(&str, usize, &str); 44] = [
    ("sk-ant-", 20, "anthropic key"),
    ("sk-proj-", 20, "openai key"),
    ("sk-or-", 20, "openrouter key"),
    ("sk-", 24, "api key"),
    ("sk_live_", 16, "stripe key"),
    ("sk_test_", 16, "stripe key"),
    ("rk_live_", 16, "stripe key"),
    ("pk_live_", 16, "stripe key"),
    ("whsec_", 16, "stripe secret"),
    ("ghp_", 30, "github token"),
    ("gho_", 30, "github token"),
    ("ghu_", 30, "github token"),
    ("ghs_", 30, "github token"),
    ("ghr_", 30, "github token"),
    ("github_pat_", 30, "github token"),
    ("glpat-", 20, "gitlab token"),
    ("gldt-", 20, "gitlab token"),
    ("xoxb-", 20, "slack token"),
    ("xoxp-", 20, "slack token"),
    ("xoxa-", 20, "slack token"),
    ("xoxr-", 20, "slack token"),
    ("xoxs-", 20, "slack token"),
    ("xapp-", 20, "slack token"),
    ("AKIA", 20, "aws key"),
    ("ASIA", 20, "aws key"),
    ("AIza", 35, "google key"),
    ("ya29.", 20, "google token"),
    ("GOCSPX-", 20, "google secret"),
    ("npm_", 30, "npm token"),
    ("pypi-", 30, "pypi token"),
    ("SG.", 40, "sendgrid key"),
    ("hf_", 30, "hugging face token"),
    ("dop_v1_", 30, "digitalocean token"),
    ("shpat_", 30, "shopify token"),
    ("shpss_", 30, "shopify token"),
    ("gsk_", 30, "groq key"),
    ("xai-", 30, "xai key"),
    ("r8_", 30, "replicate token"),
    ("lin_api_", 30, "linear key"),
    ("dckr_pat_", 20, "docker token"),
    ("AGE-SECRET-KEY-", 30, "age key"),
    ("EAAC", 40, "facebook token"),
    ("eyJ", 40, "token"),
    ("tskey-", 20, "tailscale key"),
];

/// Words that announce a secret.
const WORDS: [&str; 17] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "accesskey",
    "private_key",
    "client_secret",
    "credential",
    "authorization",
    "bearer",
    "auth",
];

/// How far before a value such a word may stand.
const NEAR: usize = 24;

impl Redactor {
    /// Also masks these, wherever they stand. Short ones are left out: they would match by chance.
    pub fn new(known: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = known.into_iter().filter(|value| value.trim().len() >= 8).collect();
        // Longer ones first, so that no part of one is left over.
        known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        known.dedup();
        Self { known }
    }

    /// The text with every secret masked. Doing it again changes nothing.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for value in &self.known {
            if text.contains(value.as_str()) {
                text = Cow::Owned(text.replace(value.as_str(), "[redacted: known secret]"));
            }
        }
        // A mask names what it hides, and such a word may announce what stands behind it.
        while let Some(masked) = shapes(&text) {
            text = Cow::Owned(masked);
        }
        text
    }
}

/// A value is made of these.
fn in_value(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-./+=~:".contains(&byte)
}

fn shapes(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut masked: Option<String> = None;
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b'-'
            && text[at..].starts_with("-----BEGIN ")
            && let Some(end) = private_key(&text[at..])
        {
            mask(&mut masked, text, &mut copied, at, at + end, "private key");
            at += end;
            continue;
        }
        if !in_value(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && in_value(bytes[at]) {
            at += 1;
        }
        for (from, to, name) in secrets_in(text, start, at) {
            mask(&mut masked, text, &mut copied, from, to, name);
        }
    }
    masked.map(|mut masked| {
        masked.push_str(&text[copied..]);
        masked
    })
}

fn mask(masked: &mut Option<String>, text: &str, copied: &mut usize, from: usize, to: usize, name: &str) {
    if from < *copied {
        return;
    }
    let out = masked.get_or_insert_default();
    out.push_str(&text[*copied..from]);
    out.push_str("[redacted: ");
    out.push_str(name);
    out.push(']');
    *copied = to;
}

/// The secrets in one run of value characters.
fn secrets_in(text: &str, start: usize, end: usize) -> Vec<(usize, usize, &'static str)> {
    let run = &text[start..end];
    let mut found = Vec::new();
    // Keys may stand behind a `=`, `:` or `/` of the same run.
    let mut from = start;
    for part in run.split(['=', ':', '/']) {
        let to = from + part.len();
        if part.len() >= 16
            && let Some((_, _, name)) = SHAPES.iter().find(|(prefix, length, _)| {
                part.starts_with(prefix) && part.len() >= *length && looks_made(part, prefix)
            })
        {
            found.push((from, to, *name));
        }
        from = to + 1;
    }
    if !found.is_empty() {
        return found;
    }
    if let Some((user, host)) = url_password(text, start, end) {
        return vec![(user, host, "password in an address")];
    }
    // `KEY=value` and `key: value`.
    let sign = run.find(['=', ':']);
    let value_from = sign.map_or(start, |sign| start + sign + 1);
    // Most words are no secret by themselves, and that is quickly told.
    if text[end..].starts_with('(') || !is_random(&text[value_from..end]) {
        return found;
    }
    let announced = match sign {
        Some(sign) => announces(&run[..sign]),
        None => announces_before(text, start),
    };
    if announced {
        found.push((value_from, end, "secret"));
    }
    found
}

/// Random enough to be made by a machine; an example in the documentation is not.
fn looks_made(part: &str, prefix: &str) -> bool {
    let rest = &part[prefix.len()..];
    if prefix == "eyJ" {
        return part.matches('.').count() >= 2 || entropy(rest) > 4.0;
    }
    if prefix.len() == 4
        && prefix.bytes().all(|byte| byte.is_ascii_uppercase())
        && matches!(prefix, "AKIA" | "ASIA")
    {
        return part.len() == 20
            && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    }
    entropy(rest) > 2.8
}

fn announces(name: &str) -> bool {
    let name = name.trim_end_matches(['"', '\'', ' ']).to_ascii_lowercase();
    WORDS.iter().any(|word| {
        name.ends_with(word)
            || name.contains(word) && name.len() < 48 && !name.contains("tokens") && !name.contains("author")
    })
}

/// Whether a word stands before this place, with nothing but signs in between: `"password": "`, `Bearer `.
fn announces_before(text: &str, start: usize) -> bool {
    let mut from = start.saturating_sub(NEAR + 8);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text[from..start].trim_end_matches(|c: char| " \t\"'`:=>".contains(c));
    // Something must join them; a blank alone joins only after `Bearer` and its like.
    let joint = &text[from + before.len()..start];
    let joined = joint.contains([':', '='])
        || before.to_ascii_lowercase().ends_with("bearer")
        || before.to_ascii_lowercase().ends_with("basic");
    let word: String = before
        .chars()
        .rev()
        .take_while(|c| c.is_ascii_alphanumeric() || "_-".contains(*c))
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    joined && announces(&word) || before.to_ascii_lowercase().ends_with("bearer") && !joint.is_empty()
}

fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    value.len() >= 8
        && digits > 0
        && letters > 0
        && entropy(value) >= 2.75
        && !value.starts_with("process.env")
        && !value.starts_with("./")
        && !value.contains("://")
}

/// Bits for each character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = text.len().max(1) as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// `://user:PASSWORD@host`; the run ends at the `@`.
fn url_password(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    if !text[end..].starts_with('@') {
        return None;
    }
    let run = &text[start..end];
    let user = start + run.find("://")? + 3;
    let colon = user + text[user..end].find(':')?;
    (end > colon + 1).then_some((colon + 1, end))
}

/// How long a private key is, from its first line to its last.
fn private_key(text: &str) -> Option<usize> {
    // Only so far: a text may repeat the beginning of a key for ever.
    let first = text.as_bytes().iter().take(80).take_while(|byte| **byte != b'\n').count();
    if !String::from_utf8_lossy(&text.as_bytes()[..first]).contains("PRIVATE KEY") {
        return None;
    }
    match text.find("-----END ") {
        Some(end) => Some(end + text[end..].lines().next().map_or(0, str::len)),
        // Cut off: all that is left of it.
        None => Some(text.len()),
    }
}
