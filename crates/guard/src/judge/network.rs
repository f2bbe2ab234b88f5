//! Programs that talk to other machines.

use super::wrappers::{command_at, join};
use super::{Call, Flow, Judge};
use crate::finding::Kind;
use crate::hosts::{HostKind, host_of, is_metadata};
use crate::rules::Subject;
use crate::shell::Arg;

/// What may follow a flag of `curl` or `wget`: nothing that matters, a file that is written, or data that is sent.
enum Value {
    Nothing,
    Written,
    Sent,
    Read,
    Method,
    Address,
}

fn curl_flag(flag: &str) -> Option<Value> {
    Some(match flag {
        "-o" | "--output" | "--output-dir" | "-D" | "--dump-header" | "-c" | "--cookie-jar" | "--trace"
        | "--trace-ascii" | "--stderr" | "-O" | "--output-document" | "--output-file" | "-P"
        | "--directory-prefix" => Value::Written,
        "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-urlencode" | "--data-ascii" | "-F"
        | "--form" | "--form-string" | "--json" | "-T" | "--upload-file" | "--post-data" | "--post-file"
        | "--body-data" | "--body-file" | "--url-query" => Value::Sent,
        "-K" | "--config" | "-b" | "--cookie" | "-E" | "--cert" | "--key" | "--cacert" | "--netrc-file"
        | "-i" | "--input-file" => Value::Read,
        "-X" | "--request" | "--method" => Value::Method,
        "--url" => Value::Address,
        "-H" | "--header" | "-A" | "--user-agent" | "-u" | "--user" | "-e" | "--referer" | "-m"
        | "--max-time" | "--connect-timeout" | "--retry" | "--retry-delay" | "-w" | "--write-out" | "-r"
        | "--range" | "-x" | "--proxy" | "--resolve" | "-t" | "--tries" | "--timeout" | "-U"
        | "--max-redirs" | "--limit-rate" | "-z" | "--time-cond" | "-y" | "-Y" | "--interface"
        | "--ciphers" | "--connect-to" => Value::Nothing,
        _ => return None,
    })
}

impl Judge<'_> {
    pub(super) fn network(&mut self, call: &Call<'_>) -> Option<Flow> {
        match call.name {
            "curl" | "wget" | "aria2c" => return Some(self.download(call)),
            "http" | "https" | "httpie" | "xh" => {
                self.findings.sends = true;
                self.findings.needs.any_host = true;
                self.add(Kind::Ask, "it talks to another machine", call);
                return Some(Flow::Hidden("downloaded"));
            }
            "nc" | "ncat" | "netcat" | "socat" | "telnet" | "ftp" | "tftp" | "lftp" | "pwncat" => {
                self.findings.sends = true;
                self.findings.needs.any_host = true;
                let runs = call.args.iter().any(|arg| {
                    matches!(arg.text.as_str(), "-e" | "-c" | "--exec" | "--sh-exec")
                        || arg.text.to_ascii_lowercase().contains("exec:")
                        || arg.text.to_ascii_lowercase().contains("system:")
                });
                let fed = !matches!(call.input, Flow::Nothing | Flow::Text(_));
                let kind = if runs || fed { Kind::Block } else { Kind::Ask };
                self.add(kind, "it opens a plain connection to another machine", call);
                return Some(Flow::Hidden("downloaded"));
            }
            "ssh" | "mosh" | "autossh" | "sshpass" => self.ssh(call),
            "scp" | "sftp" | "rclone" | "s3cmd" | "gsutil" | "croc" | "magic-wormhole" | "wormhole" => {
                self.findings.sends = true;
                self.findings.needs.any_host = true;
                let looks = call.name == "gsutil"
                    && call.args.first().is_some_and(|arg| {
                        matches!(arg.text.as_str(), "ls" | "cat" | "du" | "stat" | "version")
                    });
                let deletes = call.args.first().is_some_and(|arg| {
                    matches!(
                        arg.text.as_str(),
                        "rm" | "rb" | "purge" | "delete" | "deletefile" | "del" | "sync"
                    )
                }) || call.args.iter().any(|arg| matches!(arg.text.as_str(), "rm" | "rb"));
                let local = call.operands();
                local.iter().filter(|arg| !arg.text.contains(':')).for_each(|arg| {
                    if arg.text.contains(['/', '.', '~']) {
                        self.reads(arg);
                    }
                });
                let kind = if deletes {
                    Kind::Block
                } else if looks {
                    Kind::Look
                } else {
                    Kind::Ask
                };
                self.add(
                    kind,
                    if deletes {
                        "it deletes on another machine"
                    } else {
                        "it copies to or from another machine"
                    },
                    call,
                );
            }
            "ssh-copy-id" => self.add(Kind::Block, "it lets a key in on another machine", call),
            "dig" | "nslookup" | "host" | "drill" | "ping" | "ping6" | "traceroute" | "tracepath" | "mtr"
            | "whois" | "getent" => {
                if call.args.iter().any(|arg| arg.unknown() && !arg.listed) {
                    self.findings.sends = true;
                    self.add(
                        Kind::Block,
                        "what it asks for is made from something unknown: data leaves that way",
                        call,
                    );
                } else if call.name == "getent" {
                    self.add(Kind::Look, "it looks something up", call);
                } else {
                    call.operands()
                        .iter()
                        .filter(|arg| arg.text.contains('.'))
                        .for_each(|arg| self.findings.host(&arg.text.clone()));
                    self.add(Kind::Fetch, "it asks another machine", call);
                }
            }
            "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" => {
                self.findings.sends = true;
                self.add(Kind::Ask, "it sends mail", call);
            }
            _ => return None,
        }
        Some(Flow::Data)
    }

    fn download(&mut self, call: &Call<'_>) -> Flow {
        let wget = call.name != "curl";
        let (mut addresses, mut method, mut sends, mut to_stdout): (Vec<Arg>, Option<String>, bool, bool) =
            (Vec::new(), None, false, !wget);
        let mut at = 0;
        while let Some(arg) = call.args.get(at) {
            let text = arg.text.as_str();
            at += 1;
            if !text.starts_with('-') || text == "-" {
                addresses.push(arg.clone());
                continue;
            }
            let (flag, inline) = split_flag(text, wget);
            if !wget && flag == "-O" || flag == "--remote-name" || flag == "-J" {
                to_stdout = false;
                self.add(Kind::Ask, "it saves what it downloads", call);
                continue;
            }
            let Some(kind) = curl_flag(flag) else { continue };
            let value = match inline {
                Some(value) => Arg { text: value.to_owned(), ..arg.clone() },
                None => {
                    at += 1;
                    call.args.get(at - 1).cloned().unwrap_or_default()
                }
            };
            match kind {
                Value::Nothing => {
                    if matches!(flag, "-x" | "--proxy" | "--resolve" | "--connect-to") {
                        self.add(Kind::Ask, "it is told to go another way", call);
                    }
                    self.findings.sends |= value.unknown();
                }
                Value::Written if value.text == "-" => to_stdout = true,
                Value::Written => {
                    to_stdout = false;
                    self.written.push(value.text.strip_prefix("./").unwrap_or(&value.text).to_owned());
                    self.writes(&value, "saves");
                    if !super::redirects::is_sink(&value.text) {
                        self.add(Kind::Ask, "it saves what it downloads", call);
                    }
                }
                Value::Sent => {
                    sends = true;
                    let file = match flag {
                        "-T" | "--upload-file" | "--post-file" | "--body-file" => Some(value.text.clone()),
                        _ => value
                            .text
                            .split(['@', '<'])
                            .nth(1)
                            .filter(|_| value.text.contains(['@', '<']))
                            .map(|file| file.split(';').next().unwrap_or(file).to_owned()),
                    };
                    if let Some(file) = file.filter(|file| !file.is_empty() && file != "-") {
                        let file = Arg { text: file, ..value.clone() };
                        self.reads(&file);
                        if self.spot(&file).is_none_or(|spot| !spot.inside && !spot.public) {
                            self.add(Kind::Block, "it sends a file from outside the project", call);
                        }
                    }
                }
                Value::Read => {
                    if value.text.contains(['/', '.', '~']) {
                        self.reads(&value);
                    }
                    if matches!(flag, "-K" | "--config") {
                        self.add(Kind::Ask, "it is told what to do by a file", call);
                    }
                }
                Value::Method => method = Some(value.text.to_ascii_uppercase()),
                Value::Address => addresses.push(value),
            }
        }
        if method.as_deref().is_some_and(|method| !matches!(method, "GET" | "HEAD" | "OPTIONS")) {
            sends = true;
            if method.as_deref() == Some("DELETE") {
                self.add(Kind::Block, "it deletes on another machine", call);
            }
        }
        if sends {
            self.findings.sends = true;
            self.add(Kind::Ask, "it sends data to another machine", call);
        }
        if !matches!(call.input, Flow::Nothing) && sends && !matches!(call.input, Flow::Text(_)) {
            self.add(Kind::Block, "it sends what another command printed", call);
        }
        if wget && !to_stdout {
            let spider = call.has(&["--spider"]);
            self.add(if spider { Kind::Fetch } else { Kind::Ask }, "it saves what it downloads", call);
        }
        for address in &addresses {
            self.address(address, call);
        }
        if addresses.is_empty() {
            self.add(Kind::Ask, "it names no address", call);
        }
        Flow::Hidden("downloaded")
    }

    fn address(&mut self, arg: &Arg, call: &Call<'_>) {
        if let Some(path) = arg.text.strip_prefix("file://") {
            return self.reads(&Arg::plain(path));
        }
        let known = arg.text.split(crate::UNKNOWN).next().unwrap_or_default();
        if arg.unknown() {
            self.findings.sends = true;
            self.findings.needs.any_host = true;
            let path_only = known.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
            let because = if path_only {
                "a part of the address can not be known before"
            } else {
                "the address can not be known before"
            };
            return self.add(Kind::Ask, because, call);
        }
        match host_of(&arg.text) {
            HostKind::Public(name) => {
                self.findings.host(&name);
                self.findings.add(Kind::Fetch, format!("it reads from `{name}`"), Subject::Host(name));
                self.add(Kind::Fetch, "it reads from another machine", call);
            }
            HostKind::Private(name) => {
                self.findings.host(&name);
                let kind = if is_metadata(&name) { Kind::Block } else { Kind::Ask };
                let because = if kind == Kind::Block {
                    "it asks the machine's own credentials service"
                } else {
                    "it talks to this machine or a private network"
                };
                self.add(kind, because, call);
            }
            HostKind::Unknown => {
                self.findings.needs.any_host = true;
                self.add(Kind::Ask, "the address can not be known before", call);
            }
        }
    }

    fn ssh(&mut self, call: &Call<'_>) {
        const VALUES: [&str; 20] = [
            "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p", "-Q",
            "-R", "-S", "-W", "-w",
        ];
        if call.has(&["-V"]) {
            return self.add(Kind::Look, "it shows a version", call);
        }
        self.findings.sends = true;
        self.findings.needs.any_host = true;
        for arg in call.args {
            let lower = arg.text.to_ascii_lowercase();
            if lower.contains("proxycommand")
                || lower.contains("localcommand")
                || lower.contains("knownhostscommand")
            {
                self.add(Kind::Block, "it is told to run a program here", call);
                if let Some((_, command)) = arg.text.split_once('=') {
                    self.maybe_script(command);
                }
            }
        }
        self.add(Kind::Ask, "it acts on another machine", call);
        let at = command_at(call.args, &VALUES, 1);
        let rest = &call.args[at..];
        // The other side is a shell too, and somebody's machine.
        self.maybe_run(&[Arg::plain("sh"), Arg::plain("-c"), Arg::plain(&join(rest))]);
        if let (Flow::Text(text), true) = (call.input, rest.is_empty()) {
            self.maybe_script(text);
        }
        if matches!(call.input, Flow::Data | Flow::Hidden(_)) && rest.is_empty() {
            self.add(Kind::Block, "another machine runs what a command prints", call);
        }
    }
}

/// `--flag=value`, `-ovalue` or the flag alone. The last letter of a cluster is the one that takes a value.
fn split_flag(text: &str, wget: bool) -> (&str, Option<&str>) {
    if text.starts_with("--") {
        return match text.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (text, None),
        };
    }
    if text.len() <= 2 {
        return (text, None);
    }
    // Look for the first letter that takes a value; what is behind it is the value.
    const WITH_VALUE: &str = "oDcdFTKbEXHAuemwrxtUzyY";
    let with_value = if wget { "OoPiUtT" } else { WITH_VALUE };
    for (at, c) in text.char_indices().skip(1) {
        if with_value.contains(c) {
            let flag: &'static str =
                LETTERS.iter().find(|flag| flag[1..].starts_with(c)).copied().unwrap_or("-?");
            let value = &text[at + c.len_utf8()..];
            return (flag, (!value.is_empty()).then_some(value));
        }
        if c == 'O' && !wget {
            return ("-O", None);
        }
    }
    (text, None)
}

const LETTERS: [&str; 26] = [
    "-o", "-D", "-c", "-d", "-F", "-T", "-K", "-b", "-E", "-X", "-H", "-A", "-u", "-e", "-m", "-w", "-r",
    "-x", "-t", "-U", "-z", "-y", "-Y", "-O", "-P", "-i",
];
