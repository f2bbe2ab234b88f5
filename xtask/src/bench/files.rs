//! Looking through many files, beside ripgrep, and into a large one.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::measures::{CHEAP, DEAR, Group, cpu_ms, expect, peak_mb, wall_ms};
use super::report::Line;
use super::stage::Stage;
use super::turns::scripted;
use crate::run::Failure;

pub(super) const GROUPS: &[Group] = &[
    Group {
        about: "60,000 files, beside ripgrep",
        measures: &["grep_60000_times_rg", "glob_60000_times_rg"],
        run: many_files,
    },
    Group {
        about: "a file of 100 MB",
        measures: &["read_100mb_rss_growth_mb", "read_100mb_cpu_ms"],
        run: large_file,
    },
];

const FOLDERS: usize = 600;
const FILES: usize = 100;
/// Of one kind in a run, so that what the run itself costs is little of it.
const LOOKS: usize = 5;

fn many_files(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    if Command::new("rg").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        eprintln!("  skipped: there is no `rg` here to measure against");
        return Ok(vec![]);
    }
    let tree = stage.path().join("project/tree");
    make_tree(&tree)?;
    let mut lines = Vec::new();
    for Kind { measure, call, words } in KINDS {
        let calls: String = (0..LOOKS).map(|at| format!("reply\n  call: {}\n", call(at))).collect();
        let (home, hello) = scripted(stage, measure, &format!("{calls}model: All found.\nforever\n"))?;
        let hello = stage.many(CHEAP, || stage.covey(&hello, &["run", "hello"]))?;
        let used = stage.many(DEAR, || stage.covey(&home, &["run", "go"]))?;
        expect(stage, "All found.")?;
        let ours = (cpu_ms(&used).median() - cpu_ms(&hello).median()) / LOOKS as f64;
        let mut theirs = Vec::new();
        for at in 0..LOOKS {
            let mut rg = Command::new("rg");
            rg.args(words(at)).current_dir(stage.path().join("project")).stdout(Stdio::null());
            theirs.push(super::child::measure(&mut rg)?);
        }
        let rg = cpu_ms(&theirs).median();
        lines.push(
            Line::new(measure, ours / rg, "×", Some(1.3))
                .with("cpu_ms", ours)
                .with("rg_cpu_ms", rg)
                .with("wall_ms", (wall_ms(&used).median() - wall_ms(&hello).median()) / LOOKS as f64)
                .with("rg_wall_ms", wall_ms(&theirs).median())
                .with("peak_rss_mb", peak_mb(&used).median()),
        );
    }
    fs::remove_dir_all(tree)?;
    Ok(lines)
}

/// A tool beside the program that does the same.
struct Kind {
    measure: &'static str,
    call: fn(usize) -> String,
    words: fn(usize) -> Vec<String>,
}

const KINDS: [Kind; 2] = [
    Kind {
        measure: "grep_60000_times_rg",
        call: |at| format!("grep {{\"pattern\": \"needle_[0-9]+{at}\", \"path\": \"tree\"}}"),
        words: |at| ["-n", &format!("needle_[0-9]+{at}"), "tree"].map(str::to_owned).into(),
    },
    Kind {
        measure: "glob_60000_times_rg",
        call: |at| format!("glob {{\"pattern\": \"tree/**/f{}7.rs\"}}", at + 1),
        words: |at| ["--files", "-g", &format!("**/f{}7.rs", at + 1), "tree"].map(str::to_owned).into(),
    },
];

/// Source files of a few dozen lines. One line in a thousand is looked for.
fn make_tree(tree: &Path) -> Result<(), Failure> {
    for folder in 0..FOLDERS {
        let path = tree.join(format!("part{}/unit{folder}", folder / 20));
        fs::create_dir_all(&path)?;
        for file in 0..FILES {
            let mut text = String::new();
            for line in 0..40 {
                let number = (folder * FILES + file) * 40 + line;
                match number % 1000 {
                    0 => text.push_str(&format!("    let needle_{} = price(cart, {line});\n", number / 1000)),
                    _ => text.push_str(&format!("    let value_{line} = weigh(cart, {file}, {line});\n")),
                }
            }
            fs::write(path.join(format!("f{file}.rs")), text)?;
        }
    }
    Ok(())
}

fn large_file(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let file = stage.path().join("project/large.log");
    let mut out = BufWriter::new(fs::File::create(&file)?);
    for line in 0..2_000_000 {
        writeln!(out, "{line:09} a line of a log that goes on and on…")?;
    }
    out.flush()?;
    drop(out);
    let reads = [1_000_000, -20, 1_900_000].map(|offset| {
        format!("reply\n  call: read {{\"path\": \"large.log\", \"offset\": {offset}, \"limit\": 20}}\n")
    });
    let script = format!("{}model: All read.\nforever\n", reads.concat());
    let (home, hello) = scripted(stage, "large-file", &script)?;
    let hello = stage.many(CHEAP, || stage.covey(&hello, &["run", "hello"]))?;
    let used = stage.many(DEAR, || stage.covey(&home, &["run", "go"]))?;
    expect(stage, "All read.")?;
    fs::remove_file(file)?;
    let growth = peak_mb(&used).median() - peak_mb(&hello).median();
    let cpu = (cpu_ms(&used).median() - cpu_ms(&hello).median()) / reads.len() as f64;
    Ok(vec![
        Line::new("read_100mb_rss_growth_mb", growth, "MB", Some(20.0)),
        Line::new("read_100mb_cpu_ms", cpu, "ms", None).note("the middle, the end and near the end"),
    ])
}
