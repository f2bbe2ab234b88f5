//! `covey session show` and `export`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use sessions::{Format, Store};

use super::one_session;
use crate::cli::ExportFormat;
use crate::exit::{Exit, Failure};
use crate::session::replay::Screen;

pub(super) fn show(store: &Store, query: &str, last: Option<usize>, json: bool) -> Result<Exit, Failure> {
    let session = one_session(store, query)?;
    let mut reader = store.reader(&session)?;
    let mut screen = Screen::new(json);
    match last {
        Some(count) => {
            for record in reader.last(count)? {
                screen.record(&record)?;
            }
        }
        None => {
            for record in reader.iter(0)? {
                screen.record(&record?)?;
            }
        }
    }
    screen.finish()?;
    Ok(Exit::Done)
}

pub(super) fn export(
    store: &Store,
    query: &str,
    format: ExportFormat,
    output: Option<&Path>,
    json: bool,
) -> Result<Exit, Failure> {
    let session = one_session(store, query)?;
    let format = match format {
        _ if json => Format::Json,
        ExportFormat::Markdown => Format::Markdown,
        ExportFormat::Html => Format::Html,
        ExportFormat::Json => Format::Json,
    };
    let mut reader = store.reader(&session)?;
    let mut out: Box<dyn Write> = match output {
        Some(path) => Box::new(BufWriter::new(private_file(path)?)),
        None => Box::new(BufWriter::new(std::io::stdout().lock())),
    };
    sessions::export(&mut reader, format, &mut out).map_err(|error| Failure::from_error(&error))?;
    out.flush()?;
    Ok(Exit::Done)
}

/// A conversation is nobody else's business until its owner says so.
fn private_file(path: &Path) -> Result<File, Failure> {
    use std::os::unix::fs::OpenOptionsExt;
    let open = File::options().write(true).create(true).truncate(true).mode(0o600).open(path);
    open.map_err(|error| Failure::usage(format!("could not write `{}`: {error}", path.display())))
}
