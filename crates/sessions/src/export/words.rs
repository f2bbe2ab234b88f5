//! Numbers and outcomes in words, the same in every format.

use protocol::{
    PermissionAnswer, PermissionOutcome, Stop, StopCause, Timestamp, ToolCall, ToolStatus, TurnEnd, Usage,
};

pub(super) fn sign(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Completed => "✓",
        ToolStatus::Failed => "✗",
        ToolStatus::Pending | ToolStatus::InProgress => "●",
    }
}

/// A call's title, without the tool's name where it begins with it: the name stands before it.
pub(super) fn after_name(call: &ToolCall) -> &str {
    call.title.strip_prefix(call.name.as_str()).map_or(call.title.as_str(), str::trim_start)
}

pub(super) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{:.1} s", millis as f64 / 1000.0),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000),
    }
}

pub(super) fn turns(count: u32) -> String {
    if count == 1 { "1 turn".to_owned() } else { format!("{count} turns") }
}

pub(super) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} tokens"),
        1_000..1_000_000 => format!("{:.1}k tokens", count as f64 / 1e3),
        _ => format!("{:.1}M tokens", count as f64 / 1e6),
    }
}

/// `12.3k tokens in, 1.2k tokens out, $0.04`; empty when nothing was spent.
pub(super) fn usage(usage: &Usage) -> String {
    if usage.is_empty() {
        return String::new();
    }
    let cost = usage.cost_usd.map(|cost| format!(", ${cost:.2}")).unwrap_or_default();
    format!("{} in, {} out{cost}", tokens(usage.input), tokens(usage.output))
}

/// `done · 3.2 s · 12.3k tokens in, …`.
pub(super) fn turn_end(end: &TurnEnd) -> String {
    let cause = end.cause.map(|cause| format!(" ({})", because(cause))).unwrap_or_default();
    let stop = match end.stop {
        Stop::Done => "done",
        Stop::Cancelled => "cancelled",
        Stop::Denied => "done, but something was denied",
        Stop::Limit => "stopped by a limit",
        Stop::Error => "failed",
    };
    let parts = [format!("{stop}{cause}"), duration(end.duration_ms), usage(&end.usage)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn because(cause: StopCause) -> &'static str {
    match cause {
        StopCause::Refused => "the model declined",
        StopCause::OutputLimit => "output limit",
        StopCause::Stalled => "going round in circles",
        StopCause::MaxSteps => "step limit",
        StopCause::Timeout => "time limit",
        StopCause::Budget => "budget",
        StopCause::Unreachable => "nothing could be reached",
        StopCause::Storage => "the log could not be written",
        StopCause::Interrupted => "interrupted",
    }
}

pub(super) fn answer(answer: Option<&PermissionAnswer>) -> &'static str {
    match answer.map(|answer| answer.outcome) {
        Some(PermissionOutcome::Approved) => "allowed",
        Some(PermissionOutcome::Denied) => "denied",
        Some(PermissionOutcome::Cancelled) => "withdrawn",
        None => "not answered",
    }
}

/// `2026-01-25 14:30` in UTC.
pub(super) fn moment(ts: Timestamp) -> String {
    let text = ts.to_string();
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time}"),
        _ => text,
    }
}
