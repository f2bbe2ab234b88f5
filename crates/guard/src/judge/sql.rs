//! Databases: what a statement does.

use super::wrappers::value_of;
use super::{Call, Flow, Judge};
use crate::finding::Kind;
use crate::shell::Arg;

impl Judge<'_> {
    pub(super) fn database(&mut self, call: &Call<'_>) -> Option<Flow> {
        let statements: Vec<Arg> = match call.name {
            "sqlite3" | "sqlite" | "duckdb" => {
                let operands: Vec<Arg> =
                    self.operands_behind(call, &["-cmd", "-separator", "-init", "-nullvalue", "-newline"]);
                if let Some(file) = operands.first() {
                    self.reads(file);
                }
                operands.into_iter().skip(1).chain(value_of(call.args, &["-cmd", "-c"]).cloned()).collect()
            }
            "psql" | "cockroach" => valued(call, &["-c", "--command", "-e", "--execute"]),
            "mysql" | "mariadb" | "clickhouse-client" | "clickhouse" => {
                valued(call, &["-e", "--execute", "-q", "--query"])
            }
            "sqlcmd" | "cqlsh" => valued(call, &["-Q", "-q", "-e", "--execute"]),
            "bq" => call.operands().into_iter().skip(1).cloned().collect(),
            "mongosh" | "mongo" => {
                self.findings.needs.any_host = true;
                self.add(Kind::Ask, "it talks to a database", call);
                for text in valued(call, &["--eval"]) {
                    let grave =
                        ["drop", "delete", "remove(", "shutdown"].iter().any(|word| text.text.contains(word));
                    if grave {
                        self.add(Kind::Block, "it deletes from a database", call);
                    }
                    self.code(&text.text);
                }
                return Some(Flow::Data);
            }
            "redis-cli" | "valkey-cli" | "memcached-tool" => {
                self.redis(call);
                return Some(Flow::Data);
            }
            "pg_dump" | "pg_dumpall" | "mysqldump" => {
                if let Some(file) = value_of(call.args, &["-f", "--file", "-r", "--result-file"]) {
                    self.writes(file, "overwrites");
                }
                self.findings.needs.any_host = true;
                self.add(Kind::Ask, "it copies a database out", call);
                return Some(Flow::Data);
            }
            "dropdb" | "dropuser" | "pg_restore" | "mysqladmin" => {
                let look = call.name == "mysqladmin"
                    && call.args.iter().any(|arg| {
                        matches!(arg.text.as_str(), "status" | "ping" | "version" | "processlist")
                    });
                self.add(
                    if look { Kind::Look } else { Kind::Block },
                    "it drops or overwrites a database",
                    call,
                );
                return Some(Flow::Data);
            }
            _ => return None,
        };
        if call.name != "sqlite3" && call.name != "sqlite" && call.name != "duckdb" {
            self.findings.needs.any_host = true;
        }
        let mut seen = false;
        for statement in &statements {
            seen = true;
            self.statement(&statement.text, call);
        }
        if call.has(&["-l", "--list", "--version", "-version"]) {
            self.add(Kind::Look, "it lists", call);
            seen = true;
        }
        if let Some(file) = value_of(call.args, &["-f", "--file", "-i"]).filter(|_| call.name != "bq") {
            self.reads(file);
            self.add(Kind::Ask, "it runs statements from a file", call);
            seen = true;
        }
        match call.input {
            Flow::Text(text) => {
                self.statement(text, call);
                seen = true;
            }
            Flow::File | Flow::Data | Flow::Hidden(_) | Flow::Listed => {
                self.add(Kind::Ask, "it runs statements that come in", call);
                seen = true;
            }
            Flow::Nothing => {}
        }
        if !seen {
            self.add(Kind::Ask, "it opens a database to talk to", call);
        }
        Some(Flow::Data)
    }

    fn operands_behind(&self, call: &Call<'_>, values: &[&str]) -> Vec<Arg> {
        let (mut found, mut skip) = (Vec::new(), false);
        for arg in call.args {
            if skip {
                skip = false;
            } else if arg.text.starts_with('-') && arg.text.len() > 1 {
                skip = values.contains(&arg.text.as_str());
            } else {
                found.push(arg.clone());
            }
        }
        found
    }

    fn statement(&mut self, text: &str, call: &Call<'_>) {
        let plain = without_strings(text);
        let upper = plain.to_ascii_uppercase();
        if text.contains(crate::UNKNOWN) {
            self.add(Kind::Ask, "a part of the statement can not be known before", call);
        }
        const RUNS: [&str; 9] = [
            "\\!",
            ".SHELL",
            ".SYSTEM",
            "PROGRAM",
            "XP_CMDSHELL",
            "LOAD_EXTENSION",
            ".LOAD",
            "SYS_EXEC",
            "LO_EXPORT",
        ];
        if RUNS.iter().any(|word| upper.contains(word)) {
            self.add(Kind::Block, "the statement runs programs", call);
        }
        const FILES: [&str; 12] = [
            "PG_READ_FILE",
            "PG_LS_DIR",
            "LO_IMPORT",
            "DBLINK",
            "READFILE",
            "WRITEFILE",
            "OUTFILE",
            "DUMPFILE",
            "LOAD_FILE",
            "PG_TERMINATE",
            "\\COPY",
            "ATTACH",
        ];
        if FILES.iter().any(|word| upper.contains(word)) {
            self.add(Kind::Ask, "the statement reaches outside the database", call);
        }
        for part in upper.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (kind, because) = gravity(part);
            self.add(kind, because, call);
        }
    }

    fn redis(&mut self, call: &Call<'_>) {
        let words: Vec<String> = self
            .operands_behind(call, &["-h", "-p", "-a", "-n", "-u", "--user", "--pass", "-s", "-r", "-i"])
            .iter()
            .map(|arg| arg.text.to_ascii_lowercase())
            .collect();
        self.findings.needs.any_host = true;
        let kind = match words.first().map(String::as_str) {
            Some(
                "get" | "mget" | "keys" | "scan" | "info" | "ping" | "ttl" | "type" | "exists" | "dbsize"
                | "hgetall" | "hget" | "lrange" | "llen" | "smembers" | "zrange" | "strlen" | "hkeys"
                | "hlen" | "scard" | "memory" | "time" | "lastsave",
            ) => Kind::Look,
            Some(
                "flushall" | "flushdb" | "del" | "unlink" | "shutdown" | "config" | "eval" | "script"
                | "debug" | "swapdb" | "replicaof" | "slaveof" | "module",
            ) => Kind::Block,
            _ => Kind::Ask,
        };
        self.add(
            kind,
            if kind == Kind::Look { "it reads from a database" } else { "it changes a database" },
            call,
        );
    }
}

fn valued(call: &Call<'_>, flags: &[&str]) -> Vec<Arg> {
    let mut found = Vec::new();
    for (at, arg) in call.args.iter().enumerate() {
        if flags.contains(&arg.text.as_str()) {
            found.extend(call.args.get(at + 1).cloned());
        } else if let Some((flag, value)) = arg.text.split_once('=')
            && flags.contains(&flag)
        {
            found.push(Arg { text: value.to_owned(), ..arg.clone() });
        } else if let Some(flag) = flags
            .iter()
            .find(|flag| flag.len() == 2 && arg.text.starts_with(**flag) && !arg.text.starts_with("--"))
        {
            found.push(Arg { text: arg.text[flag.len()..].to_owned(), ..arg.clone() });
        }
    }
    found
}

/// Comments and what is between quotes is no statement.
fn without_strings(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("--") {
            rest = rest.find('\n').map_or("", |at| &rest[at..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |at| &rest[at + 2..]);
            out.push(' ');
        } else if c == '\'' {
            let end = rest[1..].find('\'').map_or(rest.len(), |at| at + 2);
            out.push_str("''");
            rest = &rest[end..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn gravity(part: &str) -> (Kind, &'static str) {
    let words: Vec<&str> = part
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '\\' || c == '.' || c == '?'))
        .filter(|word| !word.is_empty())
        .collect();
    let has = |word: &str| words.contains(&word);
    let changes = [
        "INSERT", "UPDATE", "CREATE", "ALTER", "REPLACE", "MERGE", "COPY", "VACUUM", "REINDEX", "CALL", "DO",
        "SET", "INTO", "LOCK", "REFRESH",
    ];
    if has("DROP") || has("TRUNCATE") || has("DELETE") || has("GRANT") || has("REVOKE") || has("SHUTDOWN") {
        return (Kind::Block, "the statement deletes from a database");
    }
    if has("UPDATE") && !has("WHERE") && !has("SELECT") {
        return (Kind::Block, "the statement changes every row");
    }
    match words.first().copied() {
        Some("SELECT" | "WITH" | "VALUES" | "TABLE") if !changes.iter().any(|word| has(word)) => {
            (Kind::Look, "the statement only reads")
        }
        Some("EXPLAIN") if !has("ANALYZE") || !changes.iter().any(|word| has(word)) => {
            (Kind::Look, "the statement only reads")
        }
        Some("SHOW" | "DESCRIBE" | "DESC" | "USE") => (Kind::Look, "the statement only reads"),
        Some("PRAGMA") if !part.contains('=') => (Kind::Look, "the statement only reads"),
        Some(
            ".TABLES" | ".SCHEMA" | ".INDEXES" | ".INDICES" | ".HEADERS" | ".HEADER" | ".MODE" | ".DATABASES"
            | ".DUMP" | ".WIDTH" | ".FULLSCHEMA" | ".HELP" | ".EXIT" | ".QUIT" | ".TIMEOUT" | ".NULLVALUE"
            | ".DBINFO" | ".STATS",
        ) => (Kind::Look, "the statement only reads"),
        Some(word)
            if word.starts_with("\\D")
                || matches!(
                    word,
                    "\\L"
                        | "\\L+"
                        | "\\Z"
                        | "\\CONNINFO"
                        | "\\X"
                        | "\\TIMING"
                        | "\\ENCODING"
                        | "\\PSET"
                        | "\\Q"
                        | "\\SF"
                        | "\\SV"
                ) =>
        {
            (Kind::Look, "the statement only reads")
        }
        _ => (Kind::Ask, "the statement changes a database"),
    }
}
