//! Measuring search on a project's own history: a commit's subject should find the files that it changed.

use std::path::Path;
use std::time::Instant;

use crate::cancel::Cancel;
use crate::error::IndexError;
use crate::rules::Part;
use crate::search::{Mode, SearchOptions, Searcher};

/// A question and the files that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    pub query: String,
    pub files: Vec<String>,
}

/// How well it went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Score {
    pub queries: usize,
    /// The mean of one over the rank of the first right file, up to ten.
    pub mrr10: f64,
    pub recall1: f64,
    pub recall5: f64,
    pub recall10: f64,
    pub median_ms: f64,
    /// A few questions whose files were not among the first ten.
    pub missed: Vec<String>,
}

/// A commit: what it says and which files it touched, relative to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    pub subject: String,
    pub files: Vec<String>,
}

/// The newest commits of a project, without merges.
pub async fn commits(root: &Path, limit: usize) -> Result<Vec<Commit>, IndexError> {
    let mut command = project::command("git");
    // A repository's own settings must not start programs.
    command.cwd(root).args([
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "--no-pager",
        "log",
    ]);
    command.args([
        "--no-merges",
        "--name-only",
        "--relative",
        "--diff-filter=AM",
        "--no-ext-diff",
        "--no-textconv",
    ]);
    command.args(["-z", "--format=%x01%s%x02"]).arg(format!("-n{limit}"));
    command.stdout(project::Stream::Piped);
    let git = |what: String| IndexError::Git { what };
    let child = command.spawn().map_err(|error| git(error.to_string()))?;
    let output = child.output(64 << 20).await.map_err(|error| git(error.to_string()))?;
    if !output.status.success() {
        return Err(git("there is no history here".to_owned()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let commits = text.split('\u{1}').filter_map(|commit| {
        let (subject, files) = commit.split_once('\u{2}')?;
        let files = files.split('\0').map(|file| file.trim_matches('\n')).filter(|file| !file.is_empty());
        Some(Commit { subject: subject.to_owned(), files: files.map(str::to_owned).collect() })
    });
    Ok(commits.collect())
}

/// Pairs to measure with: commits that change one to five files of code which are still there, with subjects that say
/// something.
pub fn commit_pairs(root: &Path, commits: &[Commit], limit: usize) -> Vec<Pair> {
    let mut seen = std::collections::HashSet::new();
    // What several commits say is not about any of them.
    let told_once = commits.iter().filter(|commit| seen.insert(commit.subject.as_str()));
    let pairs = told_once.filter_map(|commit| {
        let there = commit.files.iter().filter(|file| is_code(file) && root.join(file).is_file());
        let files: Vec<String> = there.cloned().collect();
        let words = commit.subject.split_whitespace().count();
        ((1..=5).contains(&files.len()) && words >= 3).then(|| Pair { query: commit.subject.clone(), files })
    });
    pairs.take(limit).collect()
}

fn is_code(path: &str) -> bool {
    let language = crate::language::Language::detect(path, "");
    Part::of(path) == Part::Code
        && !language.is_data()
        && !language.is_prose()
        && language != crate::Language::Other
}

/// Asks every question. Its commits are in the past and the files are of today, so this compares settings, not projects.
pub fn evaluate(
    searcher: &Searcher,
    pairs: &[Pair],
    mode: Mode,
    cancel: &Cancel,
) -> Result<Score, IndexError> {
    let mut score = Score::default();
    let mut times = Vec::new();
    for pair in pairs {
        if cancel.is_cancelled() {
            return Err(IndexError::Cancelled);
        }
        let started = Instant::now();
        let found =
            searcher.search(&pair.query, &SearchOptions { limit: 30, mode, ..SearchOptions::default() })?;
        times.push(started.elapsed().as_secs_f64() * 1e3);
        let mut files: Vec<&str> = Vec::new();
        for hit in &found.hits {
            if !files.contains(&hit.file.as_str()) {
                files.push(&hit.file);
            }
        }
        files.truncate(10);
        let right = |file: &&str| pair.files.iter().any(|wanted| wanted == file);
        let recall = |count: usize| {
            files.iter().take(count).filter(|file| right(file)).count() as f64 / pair.files.len() as f64
        };
        score.queries += 1;
        match files.iter().position(right) {
            Some(at) => score.mrr10 += 1.0 / (at + 1) as f64,
            None if score.missed.len() < 5 => score.missed.push(pair.query.clone()),
            None => {}
        }
        score.recall1 += recall(1);
        score.recall5 += recall(5);
        score.recall10 += recall(10);
    }
    let count = score.queries.max(1) as f64;
    for sum in [&mut score.mrr10, &mut score.recall1, &mut score.recall5, &mut score.recall10] {
        *sum /= count;
    }
    times.sort_by(f64::total_cmp);
    score.median_ms = times.get(times.len() / 2).copied().unwrap_or(0.0);
    Ok(score)
}
