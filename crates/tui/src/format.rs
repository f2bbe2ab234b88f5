//! Numbers for people: few digits, with units.

/// `340 ms`, `1.2 s`, `3 min 5 s`.
pub(crate) fn duration(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..10_000 if millis.is_multiple_of(1_000) => format!("{} s", millis / 1_000),
        1_000..10_000 => format!("{:.1} s", millis as f64 / 1_000.0),
        10_000..60_000 => format!("{} s", millis / 1_000),
        60_000..3_600_000 => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1_000),
        _ => format!("{} h {} min", millis / 3_600_000, millis % 3_600_000 / 60_000),
    }
}

/// `412`, `3.4k`, `1.2M`.
pub(crate) fn tokens(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..100_000 => format!("{:.1}k", number as f64 / 1e3),
        100_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// `$0.02`, `$0.0012`, `$12.30`.
pub(crate) fn money(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.01 { format!("${dollars:.4}") } else { format!("${dollars:.2}") }
}

/// `12 B`, `3.4 KB`, `1.2 MB`.
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} KB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

/// `just now`, `5 min ago`, `3 h ago`, then a date.
pub(crate) fn ago(then: protocol::Timestamp, now: protocol::Timestamp) -> String {
    match now.millis_since(then) / 1_000 {
        0..60 => "just now".to_owned(),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h ago", seconds / 3_600),
        _ => then.to_string().chars().take(10).collect(),
    }
}
