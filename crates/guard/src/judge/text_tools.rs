//! `sed` and `awk`: small languages that can write files and start programs.

use super::{Call, Flow, Judge, code};
use crate::finding::Kind;
use crate::shell::Arg;

impl Judge<'_> {
    pub(super) fn text_tool(&mut self, call: &Call<'_>) -> Option<Flow> {
        match call.name {
            "sed" | "gsed" | "ssed" => self.sed(call),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(call),
            _ => return None,
        }
        Some(call.input.picked().joined(&Flow::Data))
    }

    fn sed(&mut self, call: &Call<'_>) {
        let in_place = call.args.iter().any(|arg| {
            let text = arg.text.as_str();
            text.starts_with("--in-place")
                || (text.starts_with('-')
                    && !text.starts_with("--")
                    && letters_before_value(text, "efls").contains('i'))
        });
        let mut scripts: Vec<&Arg> = Vec::new();
        let mut files: Vec<&Arg> = Vec::new();
        let mut at = 0;
        while let Some(arg) = call.args.get(at) {
            let text = arg.text.as_str();
            at += 1;
            match text {
                "-e" | "--expression" => {
                    scripts.extend(call.args.get(at));
                    at += 1;
                }
                "-f" | "--file" => {
                    if let Some(file) = call.args.get(at) {
                        self.reads(file);
                        self.add(Kind::Ask, "it runs an editing script", call);
                    }
                    scripts.extend(call.args.get(at));
                    at += 1;
                }
                "-l" | "--line-length" => at += 1,
                _ if text.starts_with("--expression=") || text.starts_with("-e") && text.len() > 2 => {
                    scripts.push(arg)
                }
                _ if !text.starts_with("--")
                    && text.starts_with('-')
                    && text.ends_with('e')
                    && text.len() > 2 =>
                {
                    scripts.extend(call.args.get(at));
                    at += 1;
                }
                _ if text.starts_with('-') && text.len() > 1 => {}
                _ => files.push(arg),
            }
        }
        if scripts.is_empty() && !files.is_empty() {
            scripts.push(files.remove(0));
        }
        for script in &scripts {
            let text = script.text.trim_start_matches("--expression=").trim_start_matches("-e");
            if script.unknown() && !script.quoted {
                self.add(Kind::Ask, "what it does can not be known before", call);
            }
            match sed_does(text) {
                Does::Nothing => {}
                Does::Writes => self.add(Kind::Ask, "its script writes files", call),
                Does::Runs => self.add(Kind::Block, "its script runs commands", call),
            }
        }
        for file in files {
            if in_place { self.writes(file, "edits") } else { self.reads(file) }
        }
        let kind = if in_place { Kind::Ask } else { Kind::Look };
        self.add(kind, if in_place { "it edits files in place" } else { "it prints text, edited" }, call);
    }

    fn awk(&mut self, call: &Call<'_>) {
        let mut at = 0;
        let mut script: Option<&Arg> = None;
        while let Some(arg) = call.args.get(at) {
            let text = arg.text.as_str();
            at += 1;
            match text {
                "-F" | "-v" | "--field-separator" | "--assign" => at += 1,
                "-f" | "--file" | "-E" | "--exec" => {
                    self.add(Kind::Ask, "it runs a script from a file", call);
                    if let Some(file) = call.args.get(at) {
                        self.reads(file);
                    }
                    script = script.or(call.args.get(at));
                    at += 1;
                }
                "-i" | "--include" | "-l" | "--load" => {
                    self.add(Kind::Ask, "it loads an extension, or edits in place", call);
                    at += 1;
                }
                "--" => {}
                _ if text.starts_with('-') && text.len() > 1 => {}
                _ if script.is_none() => script = Some(arg),
                _ if text.split_once('=').is_some_and(|(name, _)| {
                    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                }) => {}
                _ => self.reads(arg),
            }
        }
        let text = script.map(|arg| arg.text.as_str()).unwrap_or_default();
        if script.is_some_and(|arg| arg.unknown() && !arg.quoted) {
            self.add(Kind::Ask, "what it does can not be known before", call);
        }
        self.add(Kind::Look, "it prints text, edited", call);
        match awk_does(text) {
            Does::Nothing => {}
            Does::Writes => self.add(Kind::Ask, "its script writes files", call),
            Does::Runs => {
                code::strings(text).iter().for_each(|string| self.maybe_script(string));
                self.add(Kind::Block, "its script runs commands", call);
            }
        }
    }
}

enum Does {
    Nothing,
    Writes,
    Runs,
}

/// The letters of a cluster up to one that takes the rest as its value.
fn letters_before_value<'t>(cluster: &'t str, with_value: &str) -> &'t str {
    let end = cluster.find(|c| with_value.contains(c)).unwrap_or(cluster.len());
    &cluster[..end]
}

fn sed_does(script: &str) -> Does {
    let mut does = Does::Nothing;
    let bytes = script.as_bytes();
    let mut at = 0;
    let skip_to = |mut at: usize, end: u8| {
        while at < bytes.len() && bytes[at] != end {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        at + 1
    };
    while at < bytes.len() {
        match bytes[at] {
            b'/' => at = skip_to(at + 1, b'/'),
            b'\\' => {
                let end = bytes.get(at + 1).copied().unwrap_or(b'/');
                at = skip_to(at + 2, end);
            }
            b's' | b'y' => {
                let (command, end) = (bytes[at], bytes.get(at + 1).copied().unwrap_or(b'/'));
                at = skip_to(skip_to(at + 2, end), end);
                while at < bytes.len() && !matches!(bytes[at], b';' | b'\n' | b'}') {
                    match bytes[at] {
                        b'e' if command == b's' => return Does::Runs,
                        b'w' if command == b's' => {
                            does = Does::Writes;
                            at = skip_to(at, b'\n');
                        }
                        _ => at += 1,
                    }
                }
            }
            b'e' => return Does::Runs,
            b'w' | b'W' => {
                does = Does::Writes;
                at = skip_to(at, b'\n');
            }
            b'r' | b'R' => {
                // Reads a file whose name is the rest of the line.
                does = Does::Writes;
                at = skip_to(at, b'\n');
            }
            // Text up to the end of the line, or a label.
            b'a' | b'i' | b'c' | b':' | b'b' | b't' | b'T' | b'#' => {
                let end = if matches!(bytes[at], b'b' | b't' | b'T' | b':') { b';' } else { b'\n' };
                at = skip_to(at, end);
            }
            _ => at += 1,
        }
    }
    does
}

/// Looks past strings and regular expressions at what is left of an awk program.
fn awk_does(script: &str) -> Does {
    let bytes = script.as_bytes();
    let mut does = Does::Nothing;
    let (mut at, mut printing, mut depth) = (0, false, 0usize);
    let mut before = b' ';
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            // A slash starts a pattern unless a value stands before it.
            b'/' if !(before.is_ascii_alphanumeric() || matches!(before, b')' | b']' | b'_' | b'$')) => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'/' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'|' if bytes.get(at + 1) == Some(&b'|') => at += 1,
            b'|' => return Does::Runs,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b';' | b'}' | b'\n' | b'{' => printing = false,
            b'>' if printing && depth == 0 => does = Does::Writes,
            _ if script.is_char_boundary(at) => {
                let rest = &script[at..];
                let fresh = !(before.is_ascii_alphanumeric() || before == b'_');
                if fresh && (rest.starts_with("system") || rest.starts_with("getline")) {
                    if rest.starts_with("system") {
                        return Does::Runs;
                    }
                } else if fresh && rest.starts_with("print") {
                    printing = true;
                }
            }
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        } else if !printing {
            before = b' ';
        }
        at += 1;
    }
    does
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sed_scripts() {
        for script in [
            "1,5p",
            "s/a/b/g",
            "/re w x/d",
            "s/w/e/",
            "$!d",
            "/^fn/,/^}/p",
            "s|/usr|/opt|",
            "10q",
            "y/abc/xyz/",
            "s/a;w b/c/",
        ] {
            assert!(matches!(sed_does(script), Does::Nothing), "{script}");
        }
        for script in ["s/a/b/e", "1e rm x", "e", "s/x/y/ge"] {
            assert!(matches!(sed_does(script), Does::Runs), "{script}");
        }
        for script in ["w out", "s/a/b/w out", "1,3w /etc/passwd", "r /etc/shadow"] {
            assert!(matches!(sed_does(script), Does::Writes), "{script}");
        }
    }

    #[test]
    fn awk_scripts() {
        for script in [
            "{print $1}",
            "$3 > 100 {print $1}",
            "/a|b/ {print}",
            "{ if ($3 > 5) print $0 }",
            "BEGIN{FS=\"|\"} {print $2}",
            "{print ($3 > 5)}",
            "NR>1 && NR<10",
            "{s+=$1} END {print s/NR}",
        ] {
            assert!(matches!(awk_does(script), Does::Nothing), "{script}");
        }
        for script in ["BEGIN{system(\"rm -rf /\")}", "{print | \"sh\"}", "{\"date\" | getline d}"] {
            assert!(matches!(awk_does(script), Does::Runs), "{script}");
        }
        assert!(matches!(awk_does("{print $1 > \"out\"}"), Does::Writes));
    }
}
