//! Making an index and asking it: a tree of about 5 MB, and one of 60,000 files.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::measures::Group;
use super::report::{Line, Samples};
use super::stage::Stage;
use crate::run::{self, Failure};

pub(super) const GROUP: Group = Group {
    about: "an index of 5 MB, and of 60,000 files",
    measures: &[
        "index_lexical_s_per_mb",
        "search_lexical_fresh_ms",
        "search_lexical_fresh_cpu_ms",
        "index_unchanged_60000_ms",
        "index_60000_peak_rss_mb",
    ],
    run: index,
};

const SIZE: u64 = 5_000_000;
const FILES: usize = 60_000;
const RUNS: usize = 10;

fn index(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let home = stage.home("index", "http://127.0.0.1:9/v1")?;
    let small = stage.path().join("small");
    copies(&small)?;
    let small = small.to_string_lossy().into_owned();
    stage.once(stage.covey(&home, &["index", &small, "--lexical", "--json"])?)?;
    let made: Value =
        serde_json::from_str(&stage.printed()?).map_err(|error| Failure::new(error.to_string()))?;
    let number = |name: &str| made[name].as_f64().unwrap_or(f64::NAN);
    let rate = number("lexical_ms") / 1e3 / (number("bytes") / 1e6);
    let words =
        ["search", "--cwd", &small, "--mode", "lexical", "--json", "where are settings read from files"];
    let asked = stage.many(RUNS, || stage.covey(&home, &words))?;
    let millis =
        |spans: Vec<Duration>| Samples::new(spans.iter().map(|span| span.as_secs_f64() * 1e3).collect());

    let large = stage.path().join("large");
    for file in 0..FILES {
        let folder = large.join(format!("d{}", file / 100));
        if file % 100 == 0 {
            fs::create_dir_all(&folder)?;
        }
        let text =
            format!("/// Says {file}.\npub fn name_{file}(value: u32) -> u32 {{\n    value + {file}\n}}\n");
        fs::write(folder.join(format!("f{file}.rs")), text)?;
    }
    let large = large.to_string_lossy().into_owned();
    let first = stage.once(stage.covey(&home, &["index", &large, "--lexical", "--json"])?)?;
    let again = stage.many(3, || stage.covey(&home, &["index", &large, "--lexical", "--json"]))?;
    Ok(vec![
        Line::new("index_lexical_s_per_mb", rate, "s", Some(0.2)).with("mb", number("bytes") / 1e6),
        Line::median(
            "search_lexical_fresh_ms",
            &millis(asked.iter().map(|used| used.wall).collect()),
            "ms",
            Some(60.0),
        ),
        Line::median(
            "search_lexical_fresh_cpu_ms",
            &millis(asked.iter().map(|used| used.cpu).collect()),
            "ms",
            None,
        ),
        Line::median(
            "index_unchanged_60000_ms",
            &millis(again.iter().map(|used| used.wall).collect()),
            "ms",
            Some(1000.0),
        ),
        Line::new("index_60000_peak_rss_mb", first.peak as f64 / 1e6, "MB", Some(400.0)),
    ])
}

/// Our own code, several times over.
fn copies(target: &Path) -> Result<(), Failure> {
    let mut written = 0;
    for copy in 0.. {
        for folder in ["crates", "xtask"] {
            written +=
                copy_code(&run::root().join(folder), &target.join(format!("copy{copy}")).join(folder))?;
        }
        if written >= SIZE || copy > 50 {
            return Ok(());
        }
    }
    Ok(())
}

fn copy_code(from: &Path, to: &Path) -> Result<u64, Failure> {
    let mut written = 0;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            written += copy_code(&path, &target)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            fs::create_dir_all(to)?;
            written += fs::copy(&path, &target)?;
        }
    }
    Ok(written)
}
