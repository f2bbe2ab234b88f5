//! Answers that are read from disk. Synchronous: they run where blocking is allowed.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use base64::Engine as _;
use protocol::{AgentId, BlobRef, ExportFormat, ModelRef, SearchHit, SearchHitKind, Timestamp, UsageRow};
use sessions::{Blobs, Format, Hit, HitKind, Reader, Search, Store, UsageLog};

use crate::EngineError;

/// No page of events is longer.
pub(super) const MAX_PAGE: usize = 1000;
/// The largest blob that goes to a front end in one piece.
const MAX_BLOB: u64 = 32 << 20;
const MAX_HITS: usize = 200;
const DAY_MS: i64 = 86_400_000;

pub(super) fn search(
    store: &Store,
    database: &Path,
    query: &str,
    limit: u32,
) -> Result<Vec<SearchHit>, EngineError> {
    let failed =
        |error: sessions::SearchError| EngineError::Storage { message: error.to_string(), hint: None };
    let mut search = Search::open(database).map_err(failed)?;
    search.update(store, &mut |_| ControlFlow::Continue(())).map_err(failed)?;
    let hits = search.search(query, (limit as usize).min(MAX_HITS)).map_err(failed)?;
    Ok(hits.into_iter().map(hit).collect())
}

fn hit(hit: Hit) -> SearchHit {
    let mut snippet = Vec::new();
    let mut at = 0;
    for mark in &hit.marks {
        snippet.push(hit.snippet.get(at..mark.start).unwrap_or_default().to_owned());
        snippet.push(hit.snippet.get(mark.clone()).unwrap_or_default().to_owned());
        at = mark.end;
    }
    snippet.push(hit.snippet.get(at..).unwrap_or_default().to_owned());
    let kind = match hit.kind {
        HitKind::Prompt => SearchHitKind::Prompt,
        HitKind::Answer => SearchHitKind::Answer,
        HitKind::ToolCall => SearchHitKind::ToolCall,
    };
    SearchHit { session: hit.session, title: hit.title, seq: hit.seq, ts: hit.ts, kind, snippet }
}

pub(super) fn export(reader: &mut Reader, format: ExportFormat) -> Result<String, EngineError> {
    let format = match format {
        ExportFormat::Markdown => Format::Markdown,
        ExportFormat::Html => Format::Html,
        ExportFormat::Json => Format::Json,
    };
    let failed = |message: String| EngineError::Storage { message, hint: None };
    let mut out = Vec::new();
    sessions::export(reader, format, &mut out).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(out).map_err(|error| failed(error.to_string()))
}

pub(super) fn blob(blobs: &Blobs, blob: &BlobRef) -> Result<String, EngineError> {
    let bytes = blobs.get(blob, MAX_BLOB).map_err(|error| EngineError::Refused {
        message: format!("blob `{}` can not be had: {error}", blob.hash),
        hint: None,
    })?;
    Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
}

pub(super) fn usage(log: Option<&UsageLog>, days: u32, now: Timestamp) -> Result<Vec<UsageRow>, EngineError> {
    let Some(log) = log else { return Ok(vec![]) };
    let since = now.as_millis() / DAY_MS - i64::from(days.clamp(1, 3660)) + 1;
    let mut rows: BTreeMap<(String, AgentId, Option<ModelRef>), UsageRow> = BTreeMap::new();
    let read = log.read(|entry| {
        if entry.ts.as_millis() / DAY_MS < since {
            return;
        }
        let day = entry.ts.to_string().chars().take(10).collect::<String>();
        let key = (day.clone(), entry.agent.clone(), entry.model.clone());
        let row = rows.entry(key).or_insert_with(|| UsageRow {
            day,
            agent: entry.agent.clone(),
            model: entry.model.clone(),
            calls: 0,
            usage: Default::default(),
        });
        row.calls += 1;
        row.usage += entry.usage;
    });
    match read {
        // Torn lines are passed over.
        Ok(_) => Ok(rows.into_values().collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(vec![]),
        Err(error) => {
            Err(EngineError::Storage { message: format!("usage can not be read: {error}"), hint: None })
        }
    }
}
