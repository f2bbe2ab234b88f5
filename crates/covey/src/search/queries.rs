//! Many queries from a file, a line of answer each.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use ::index::{SearchOptions, Searcher};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::terminal::print;

#[derive(Deserialize)]
struct Line {
    /// Whatever it is, it comes back as it was.
    id: Value,
    query: String,
}

pub(super) fn answer(searcher: &Searcher, file: &Path, options: &SearchOptions) -> Result<(), Failure> {
    let input: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        let open = std::fs::File::open(file);
        Box::new(
            open.map_err(|error| Failure::usage(format!("could not read `{}`: {error}", file.display())))?,
        )
    };
    for (at, line) in BufReader::new(input).lines().enumerate() {
        let wrong = |what: String| {
            Failure::usage(format!("line {} of `{}` {what}", at + 1, file.display()))
                .hint("a line each: {\"id\": \"1\", \"query\": \"where is the router\"}")
        };
        let line = line.map_err(|error| wrong(format!("can not be read: {error}")))?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line =
            serde_json::from_str(&line).map_err(|error| wrong(format!("is not a query: {error}")))?;
        let found = searcher.search(&line.query, options)?;
        print(&format!("{}\n", json!({"id": line.id, "results": found.hits})))?;
    }
    Ok(())
}
