//! How an index is, and doing without it.

use serde_json::json;

use super::open;
use crate::cli::IndexFolder;
use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, ago, count, plain, print};

pub(super) fn status(folder: &IndexFolder, as_json: bool) -> Result<Exit, Failure> {
    let index = open(folder.folder.as_deref())?;
    let Some(status) = index.status()? else {
        if as_json {
            print(&format!("{}\n", json!({"root": index.root(), "indexed": false})))?;
        } else {
            print(&format!("`{}` is not indexed\n", plain(&index.root().display().to_string())))?;
        }
        return Ok(Exit::Done);
    };
    if as_json {
        let line = json!({
            "root": index.root(), "indexed": true, "files": status.files, "chunks": status.chunks,
            "blocks": status.blocks, "passages": status.passages, "vectors": status.vectors, "model": status.model, "bytes": status.bytes,
            "checked_ms": status.checked_ms, "skipped": status.skipped, "folder": status.folder,
            "busy": status.busy, "damaged": status.damaged,
        });
        print(&format!("{line}\n"))?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let checked = protocol::Timestamp::from_millis(status.checked_ms);
    let vectors = match &status.model {
        Some(model) => {
            let share = 100.0 * f64::from(status.vectors) / f64::from(status.passages.max(1));
            format!(
                "{} of {} by {model} ({share:.0} %)",
                count(status.vectors.into()),
                count(status.passages.into())
            )
        }
        None => "none wanted".to_owned(),
    };
    let skipped: Vec<String> = status.skipped.iter().map(|(why, number)| format!("{number} {why}")).collect();
    let rows = [
        ("project", plain(&index.root().display().to_string()).into_owned()),
        ("files", count(status.files.into())),
        ("left out", if skipped.is_empty() { "nothing".to_owned() } else { skipped.join(", ") }),
        (
            "pieces",
            format!(
                "{}, and {} blocks of long ones",
                count(status.chunks.into()),
                count(status.blocks.into())
            ),
        ),
        ("vectors", vectors),
        ("size", format!("{:.1} MB", status.bytes as f64 / 1e6)),
        ("checked", ago(checked, protocol::Timestamp::now())),
    ];
    let mut out = String::new();
    for (name, value) in rows {
        out.push_str(&format!("{}  {value}\n", style.faint(&format!("{name:8}"))));
    }
    if status.busy {
        out.push_str(&format!("{}\n", style.warning("another covey is writing it now")));
    }
    if status.damaged {
        out.push_str(&format!(
            "{}\n",
            style.warning("a part of it is damaged; `covey index` makes it again")
        ));
    }
    print(&out)?;
    Ok(Exit::Done)
}

pub(super) fn clear(folder: &IndexFolder, as_json: bool) -> Result<Exit, Failure> {
    let index = open(folder.folder.as_deref())?;
    let cleared = index.clear()?;
    if as_json {
        print(&format!("{}\n", json!({"root": index.root(), "cleared": cleared})))?;
    } else if cleared {
        print(&format!("the index of `{}` is gone\n", plain(&index.root().display().to_string())))?;
    } else {
        print("there was no index\n")?;
    }
    Ok(Exit::Done)
}
