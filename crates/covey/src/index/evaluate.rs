//! `covey index eval`: how well search finds the files that this project's commits changed.

use serde_json::json;

use super::{Bar, open, stop_on_interrupt, update};
use crate::cli::{IndexFolder, SearchMode};
use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, one_line, print};

pub(super) fn evaluate(
    folder: &IndexFolder,
    commits: usize,
    mode: SearchMode,
    as_json: bool,
) -> Result<Exit, Failure> {
    let index = open(folder.folder.as_deref())?;
    let cancel = stop_on_interrupt()?;
    update(&index, &cancel)?;
    if mode != SearchMode::Lexical {
        let bar = Bar::new();
        let made = index.embed(&|step| bar.show(step), &cancel);
        bar.clear();
        made?;
    }
    let history =
        crate::block_on(async { Ok(::index::commits(index.root(), commits.saturating_mul(8)).await?) })?;
    let pairs = ::index::commit_pairs(index.root(), &history, commits);
    if pairs.is_empty() {
        return Err(Failure::new("there are no commits to measure with")
            .hint("it takes a git history of commits that change a few files each"));
    }
    let score = ::index::evaluate(&index.searcher(), &pairs, mode.into(), &cancel)?;
    if as_json {
        let line = json!({"commits": score.queries, "mrr10": score.mrr10, "recall1": score.recall1,
            "recall5": score.recall5, "recall10": score.recall10, "median_ms": score.median_ms});
        print(&format!("{line}\n"))?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let mut out = format!(
        "{} commits   MRR@10 {:.3}   recall@1 {:.2}   @5 {:.2}   @10 {:.2}   {:.1} ms a query\n",
        score.queries, score.mrr10, score.recall1, score.recall5, score.recall10, score.median_ms
    );
    for missed in &score.missed {
        out.push_str(&style.faint(&format!("  not found: {}", one_line(missed, 90))));
        out.push('\n');
    }
    print(&out)?;
    Ok(Exit::Done)
}
