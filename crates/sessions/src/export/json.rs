//! Events as JSON, each as it was recorded: nothing is parsed and written again.

use std::io::Write;
use std::sync::Arc;

use super::ExportError;
use crate::error::StoreError;
use crate::lines::Lines;
use crate::metadata::summary;
use crate::reader::Reader;
use crate::record::{self, DamageKind};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Session,
    Events,
}

pub(super) fn write(reader: &mut Reader, shape: Shape, out: &mut dyn Write) -> Result<(), ExportError> {
    if shape == Shape::Session {
        let summary = serde_json::to_string(&summary(&reader.view()?)).map_err(std::io::Error::from)?;
        write!(out, "{{\"session\":{summary},\n\"events\":")?;
    }
    let mut damaged = Vec::new();
    let mut lines = Lines::new(Arc::clone(reader.log()), 0);
    let mut before = "[\n";
    while let Some(line) = lines.next().map_err(StoreError::io("read", reader.dir()))? {
        match line.text.ok_or(DamageKind::TooLong).and_then(record::unseal) {
            Ok(body) => {
                out.write_all(before.as_bytes())?;
                out.write_all(body)?;
                out.write_all(b"}")?;
                before = ",\n";
            }
            Err(why) => damaged.push((line.offset, line.bytes, why.to_string())),
        }
        // A log that is nothing but damage must not fill the memory.
        damaged.truncate(1000);
    }
    out.write_all(if before == "[\n" { b"[]" } else { b"\n]" })?;
    if shape == Shape::Session {
        if !damaged.is_empty() {
            let list: Vec<_> = damaged
                .iter()
                .map(|(offset, bytes, why)| serde_json::json!({"offset": offset, "bytes": bytes, "why": why}))
                .collect();
            write!(out, ",\n\"damaged\":{}", serde_json::Value::Array(list))?;
        }
        out.write_all(b"}")?;
    }
    Ok(out.write_all(b"\n")?)
}
