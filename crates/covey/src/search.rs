//! `covey search`: code by words and by meaning.

mod output;
mod queries;

use std::time::{Duration, Instant};

use ::index::{Cancel, Fusion, Index, IndexError, Language, Level, Mode, SearchOptions, Step};

use crate::cli::{SearchArguments, SearchFusion, SearchLevel, SearchMode};
use crate::exit::{Exit, Failure};
use crate::index::{Bar, open_from, stop_on_interrupt, update};
use crate::terminal::{plain, tell, tell_warning};

/// How long a search may make vectors for what changed before it answers by what there is.
const A_MOMENT: Duration = Duration::from_secs(3);

impl From<SearchMode> for Mode {
    fn from(mode: SearchMode) -> Self {
        match mode {
            SearchMode::Hybrid => Self::Hybrid,
            SearchMode::Lexical => Self::Lexical,
            SearchMode::Dense => Self::Dense,
        }
    }
}

pub(crate) fn search(arguments: &SearchArguments) -> Result<Exit, Failure> {
    let options = options(arguments)?;
    let index = open_from(arguments.cwd.as_deref())?;
    refresh(&index, options.mode)?;
    let searcher = index.searcher();
    match (&arguments.queries, &arguments.query) {
        (Some(file), _) => queries::answer(&searcher, file, &options)?,
        (None, Some(query)) => {
            let started = Instant::now();
            let found = searcher.search(query, &options)?;
            if arguments.json {
                output::json(&found, arguments.explain)?;
            } else {
                output::text(&searcher, &found, arguments.explain, started.elapsed())?;
            }
        }
        (None, None) => return Err(Failure::usage("there is nothing to search for")),
    }
    Ok(Exit::Done)
}

fn options(arguments: &SearchArguments) -> Result<SearchOptions, Failure> {
    let mut languages = Vec::new();
    for name in &arguments.lang {
        languages.push(Language::by_name(name).ok_or_else(|| {
            let all: Vec<&str> = Language::ALL.iter().map(|language| language.name()).collect();
            Failure::usage(format!("there is no language `{}`", plain(name)))
                .hint(format!("one of {}", all.join(", ")))
        })?);
    }
    Ok(SearchOptions {
        limit: usize::from(arguments.limit),
        mode: arguments.mode.into(),
        fusion: match arguments.fusion {
            SearchFusion::Sum => Fusion::Sum,
            SearchFusion::Rrf => Fusion::Rrf,
        },
        languages,
        paths: arguments.path.clone(),
        level: arguments.level.map(|level| match level {
            SearchLevel::File => Level::File,
            SearchLevel::Symbol => Level::Symbol,
            SearchLevel::Block => Level::Block,
        }),
    })
}

/// Brings the index up to date before it is asked: all of the words, and as many vectors as a moment allows.
fn refresh(index: &Index, mode: Mode) -> Result<(), Failure> {
    let first = !index.exists();
    let cancel = stop_on_interrupt()?;
    if first {
        tell(&format!(
            "`{}` is not indexed yet; indexing it first\n",
            plain(&index.root().display().to_string())
        ));
        update(index, &cancel)?;
    } else {
        match index.update(::index::IfBusy::Refuse, &|_| {}, &cancel) {
            Ok(updated) if updated.repaired => {
                tell_warning("a part of the index was damaged and was made again")
            }
            // What another process has done so far is enough to answer.
            Ok(_) | Err(IndexError::Busy { .. }) => {}
            Err(error @ IndexError::Cancelled) => return Err(error.into()),
            Err(error) => {
                tell_warning(&format!("the index is as it was: {}", Failure::from_error(&error).message))
            }
        }
    }
    if mode == Mode::Lexical || index.model().is_none() {
        return Ok(());
    }
    let bar = Bar::new();
    let deadline = Instant::now() + A_MOMENT;
    let in_time = Cancel::default();
    let show = |step: Step| {
        if cancel.is_cancelled() || (mode != Mode::Dense && Instant::now() > deadline) {
            in_time.cancel();
        }
        bar.show(step);
    };
    let made = index.embed(&show, &in_time);
    bar.clear();
    match made {
        Ok(_) => Ok(()),
        Err(IndexError::Cancelled) if !cancel.is_cancelled() => {
            tell("vectors are not all made yet, so words count for more; to make them: covey index\n");
            Ok(())
        }
        Err(error @ IndexError::Cancelled) => Err(error.into()),
        Err(error) if mode == Mode::Dense => Err(error.into()),
        Err(error) => {
            tell_warning(&Failure::from_error(&error).message);
            Ok(())
        }
    }
}
