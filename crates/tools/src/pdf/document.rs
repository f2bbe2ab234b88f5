//! The objects of a file, and its pages.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use super::object::{Dict, Lexer, Object};

const MAX_OBJECTS: usize = 200_000;
const MAX_DEPTH: usize = 40;
/// What one stream may become, and all of them together.
const MAX_STREAM: u64 = 16 << 20;
const MAX_DECODED: u64 = 64 << 20;

/// What is at a number.
#[derive(Debug, Clone)]
struct Entry<'a> {
    object: Object,
    /// As it is in the file.
    stream: Option<&'a [u8]>,
}

pub(super) struct Document<'a> {
    entries: BTreeMap<u32, Entry<'a>>,
    /// Of every trailer there is, the last one first.
    trailers: Vec<Dict>,
    /// How many bytes of streams may still be looked into: a stream may be referred to any number of times.
    budget: Cell<u64>,
    nothing: Dict,
}

/// A page, with what it has from those above it.
pub(super) struct Page<'b> {
    pub(super) contents: Vec<&'b Object>,
    pub(super) resources: &'b Dict,
    /// They are somewhere that is not in the file.
    pub(super) lacks_resources: bool,
}

impl<'a> Document<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let mut document = Self {
            entries: BTreeMap::new(),
            trailers: vec![],
            budget: Cell::new(MAX_DECODED),
            nothing: Dict::new(),
        };
        let mut at = 0;
        while let Some(found) = find_any(bytes, at) {
            at = match found {
                Found::Object(number, start) => document.take(bytes, number, start),
                Found::Trailer(start) => {
                    let mut lexer = Lexer::new(bytes, start);
                    if let Some(Object::Dict(trailer)) = lexer.next() {
                        document.trailers.insert(0, trailer);
                    }
                    lexer.at.max(start)
                }
            };
            if document.entries.len() >= MAX_OBJECTS {
                break;
            }
        }
        document.unpack();
        document
    }

    /// Takes in the object that begins after `obj`; answers where it ends.
    fn take(&mut self, bytes: &'a [u8], number: u32, start: usize) -> usize {
        let mut lexer = Lexer::new(bytes, start);
        let Some(object) = lexer.next() else { return lexer.at.max(start) };
        let mut end = lexer.at;
        let mut stream = None;
        if let Some(dict) = object.dict() {
            lexer.skip_blank();
            if bytes[lexer.at..].starts_with(b"stream") {
                let mut from = lexer.at + 6;
                from += usize::from(bytes.get(from) == Some(&b'\r'));
                from += usize::from(bytes.get(from) == Some(&b'\n'));
                let told = dict.get("Length").and_then(Object::number).map(|length| length as usize);
                let to = told
                    .and_then(|length| from.checked_add(length))
                    .filter(|to| bytes.get(*to..).is_some_and(ends_stream))
                    .or_else(|| find(bytes, b"endstream", from))
                    .unwrap_or(bytes.len());
                stream = bytes.get(from..to);
                end = to;
            }
            if dict.get("Type").and_then(Object::name) == Some("XRef") {
                self.trailers.insert(0, dict.clone());
            }
        }
        self.entries.insert(number, Entry { object, stream });
        end.max(start)
    }

    /// Takes in the objects that lie in streams. What stands in the file itself goes before them.
    fn unpack(&mut self) {
        let is_packed = |entry: &Entry<'_>| {
            entry.object.dict().and_then(|dict| dict.get("Type")).and_then(Object::name) == Some("ObjStm")
        };
        let packed: Vec<Entry<'a>> =
            self.entries.values().filter(|entry| is_packed(entry)).cloned().collect();
        for entry in packed {
            let Some(dict) = entry.object.dict() else { continue };
            let count = |name: &str| dict.get(name).and_then(Object::number).map(|number| number as usize);
            let (Some(number), Some(first)) = (count("N"), count("First")) else { continue };
            let bytes = self.decoded(&entry);
            let mut head = Lexer::new(&bytes, 0);
            // Objects that lie in each other would be read over and over.
            let mut left = bytes.len().saturating_mul(4);
            for _ in 0..number.min(MAX_OBJECTS) {
                let (Some(Object::Number(id)), Some(Object::Number(offset))) = (head.next(), head.next())
                else {
                    break;
                };
                let at = first.saturating_add(offset as usize);
                if at >= bytes.len() || self.entries.len() >= MAX_OBJECTS || left == 0 {
                    continue;
                }
                let mut lexer = Lexer::new(&bytes, at);
                let object = lexer.next();
                left = left.saturating_sub(lexer.at - at);
                if let Some(object) = object {
                    self.entries.entry(id as u32).or_insert(Entry { object, stream: None });
                }
            }
        }
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.trailers.iter().any(|trailer| trailer.contains_key("Encrypt"))
    }

    /// What a reference leads to; anything else is itself.
    pub(super) fn resolve<'b>(&'b self, object: &'b Object) -> &'b Object {
        let mut object = object;
        for _ in 0..MAX_DEPTH {
            let Object::Reference(number) = object else { return object };
            match self.entries.get(number) {
                Some(entry) => object = &entry.object,
                None => return &Object::Null,
            }
        }
        &Object::Null
    }

    /// A field of a dictionary, wherever it lies.
    pub(super) fn field<'b>(&'b self, dict: &'b Dict, name: &str) -> &'b Object {
        dict.get(name).map_or(&Object::Null, |object| self.resolve(object))
    }

    /// The dictionary and the decoded bytes of a stream that is referred to.
    pub(super) fn stream(&self, object: &Object) -> Option<(&Dict, Vec<u8>)> {
        let Object::Reference(number) = object else { return None };
        let entry = self.entries.get(number)?;
        entry.stream?;
        Some((entry.object.dict()?, self.decoded(entry)))
    }

    /// Empty when it is packed in a way that text is not.
    fn decoded(&self, entry: &Entry<'_>) -> Vec<u8> {
        let (Some(dict), Some(raw)) = (entry.object.dict(), entry.stream) else { return vec![] };
        let filter = self.field(dict, "Filter");
        let filters: Vec<&str> = match filter {
            Object::Name(name) => vec![name],
            Object::Array(names) => names.iter().filter_map(|name| self.resolve(name).name()).collect(),
            _ => vec![],
        };
        if !self.spend(raw.len()) {
            return vec![];
        }
        let mut bytes = raw.to_vec();
        for filter in filters.into_iter().take(4) {
            bytes = match filter {
                "FlateDecode" | "Fl" => self.inflate(&bytes),
                "ASCIIHexDecode" | "AHx" => from_hex(&bytes),
                "ASCII85Decode" | "A85" => from_base85(&bytes),
                _ => return vec![],
            };
        }
        bytes
    }

    fn inflate(&self, bytes: &[u8]) -> Vec<u8> {
        let room = self.budget.get().min(MAX_STREAM);
        let mut out = Vec::new();
        // One that breaks off has said something until then.
        let _ = flate2::read::ZlibDecoder::new(bytes).take(room).read_to_end(&mut out);
        self.spend(out.len());
        out
    }

    /// False when there is nothing left.
    fn spend(&self, bytes: usize) -> bool {
        let left = self.budget.get().checked_sub(bytes as u64);
        self.budget.set(left.unwrap_or(0));
        left.is_some()
    }

    pub(super) fn pages(&self, most: usize) -> Vec<Page<'_>> {
        let roots = self.trailers.iter().filter_map(|trailer| self.field(trailer, "Root").dict());
        let mut pages = Vec::new();
        for root in roots {
            if let Some(tree) = root.get("Pages") {
                self.walk(tree, &self.nothing, 0, most, &mut BTreeSet::new(), &mut pages);
            }
            if !pages.is_empty() {
                return pages;
            }
        }
        // Without a way to them, in the order of their numbers.
        let is_page = |dict: &&Dict| self.field(dict, "Type").name() == Some("Page");
        let found = self.entries.values().filter_map(|entry| entry.object.dict()).filter(is_page);
        found.take(most).map(|dict| self.page(dict, &self.nothing)).collect()
    }

    fn walk<'b>(
        &'b self,
        node: &'b Object,
        above: &'b Dict,
        depth: usize,
        most: usize,
        seen: &mut BTreeSet<u32>,
        pages: &mut Vec<Page<'b>>,
    ) {
        if let Object::Reference(number) = node
            && !seen.insert(*number)
        {
            return;
        }
        let Some(dict) = self.resolve(node).dict() else { return };
        if depth > MAX_DEPTH || pages.len() >= most {
            return;
        }
        match self.field(dict, "Kids").array() {
            Some(kids) => {
                let own = self.field(dict, "Resources").dict().unwrap_or(above);
                for kid in kids {
                    self.walk(kid, own, depth + 1, most, seen, pages);
                }
            }
            None => pages.push(self.page(dict, above)),
        }
    }

    fn page<'b>(&'b self, dict: &'b Dict, above: &'b Dict) -> Page<'b> {
        let contents = match dict.get("Contents") {
            Some(one) => match self.resolve(one) {
                Object::Array(parts) => parts.iter().collect(),
                _ => vec![one],
            },
            None => vec![],
        };
        let mut lacks_resources = self.lacks(dict, "Resources");
        let own = self.field(dict, "Resources").dict().or((!above.is_empty()).then_some(above));
        let resources = own.unwrap_or_else(|| {
            // Nobody led here, so whoever is above is asked.
            let mut node = dict;
            for _ in 0..MAX_DEPTH {
                lacks_resources |= self.lacks(node, "Parent");
                let Some(parent) = self.field(node, "Parent").dict() else { break };
                lacks_resources |= self.lacks(parent, "Resources");
                if let Some(found) = self.field(parent, "Resources").dict() {
                    return found;
                }
                node = parent;
            }
            above
        });
        Page { contents, resources, lacks_resources }
    }

    /// Whether a dictionary refers to something that is not in the file.
    pub(super) fn lacks(&self, dict: &Dict, name: &str) -> bool {
        dict.get(name).is_some_and(|object| {
            matches!(object, Object::Reference(_)) && matches!(self.resolve(object), Object::Null)
        })
    }
}

enum Found {
    /// Its number, and where it begins.
    Object(u32, usize),
    Trailer(usize),
}

/// The next `5 0 obj` or `trailer`.
fn find_any(bytes: &[u8], mut at: usize) -> Option<Found> {
    loop {
        let next = bytes.get(at..)?.iter().position(|byte| matches!(byte, b'o' | b't'))? + at;
        let rest = &bytes[next..];
        if rest.starts_with(b"trailer") {
            return Some(Found::Trailer(next + 7));
        }
        if rest.starts_with(b"obj")
            && let Some(number) = number_before(&bytes[..next])
        {
            return Some(Found::Object(number, next + 3));
        }
        at = next + 1;
    }
}

/// The first of the two numbers that stand at the end.
fn number_before(bytes: &[u8]) -> Option<u32> {
    let tail = &bytes[bytes.len().saturating_sub(24)..];
    let tail: String = tail.iter().map(|byte| char::from(*byte)).collect();
    let mut words = tail.trim_end().rsplit([' ', '\r', '\n', '\t']).filter(|word| !word.is_empty());
    let (generation, number) = (words.next()?, words.next()?);
    generation.parse::<u32>().ok()?;
    // Of a number that something stands right before, the digits at its end.
    let digits = number.len() - number.bytes().rev().take_while(u8::is_ascii_digit).count();
    number.get(digits..)?.parse().ok()
}

fn ends_stream(rest: &[u8]) -> bool {
    let start = rest.iter().take(4).position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    rest[start..].starts_with(b"endstream")
}

fn find(bytes: &[u8], what: &[u8], from: usize) -> Option<usize> {
    let found = bytes.get(from..)?.windows(what.len()).position(|window| window == what)?;
    Some(from + found)
}

fn from_hex(bytes: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = bytes
        .iter()
        .take_while(|byte| **byte != b'>')
        .filter_map(|byte| char::from(*byte).to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

fn from_base85(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut group: Vec<u32> = Vec::new();
    let mut put = |group: &[u32]| {
        let value =
            (0..5).fold(0_u64, |value, at| value * 85 + u64::from(group.get(at).copied().unwrap_or(84)));
        let word = (value as u32).to_be_bytes();
        out.extend_from_slice(&word[..group.len().saturating_sub(1)]);
    };
    for byte in bytes {
        match byte {
            b'~' => break,
            b'z' if group.is_empty() => put(&[0; 5]),
            b'!'..=b'u' => {
                group.push(u32::from(byte - b'!'));
                if group.len() == 5 {
                    put(&group);
                    group.clear();
                }
            }
            _ => {}
        }
    }
    if group.len() > 1 {
        put(&group);
    }
    out
}
