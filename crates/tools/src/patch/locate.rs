//! Where in a file a hunk belongs.

use super::{Hunk, PatchError};
use crate::edit::lines::essence;

/// What two lines are compared by.
type Key<'a> = &'a dyn Fn(&str) -> String;

/// How alike the lines of a hunk and of the file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Exact,
    /// Apart from white space at the end, such as `\r`.
    Trailing,
    /// Apart from all white space and the spelling of quotes and dashes.
    Loose,
}

/// The file's line where the hunk starts, not before line `from`.
pub(super) fn locate(
    lines: &[&str],
    from: usize,
    hunk: &Hunk,
    number: usize,
) -> Result<(usize, Fit), PatchError> {
    let from = below_headings(lines, from, hunk, number)?;
    let old: Vec<&str> = hunk.old().map(|line| line.text.as_str()).collect();
    if old.is_empty() {
        let at = match hunk.start {
            Some(start) => start,
            None if !hunk.headings.is_empty() => from,
            None => lines.len(),
        };
        if at > lines.len() || at < from {
            let reason = format!("hunk {number} adds at line {at}; the file has {} lines", lines.len());
            return Err(PatchError::Misfit(reason));
        }
        return Ok((at, Fit::Exact));
    }
    let expected = hunk.start.map(|start| start.saturating_sub(1));
    let trailing = |line: &str| line.trim_end().to_owned();
    let ways: [(Fit, Key<'_>); 3] =
        [(Fit::Exact, &str::to_owned), (Fit::Trailing, &trailing), (Fit::Loose, &essence)];
    for (fit, key) in ways {
        let mut places = places(lines, from, &old, key);
        if hunk.at_end {
            places.retain(|at| at + old.len() == lines.len());
        }
        match places.as_slice() {
            [] => {}
            [only] => return Ok((*only, fit)),
            _ if expected.is_some_and(|expected| places.contains(&expected)) => {
                return Ok((expected.unwrap_or_default(), fit));
            }
            // A heading leads to the first place below it.
            [first, ..] if !hunk.headings.is_empty() => return Ok((*first, fit)),
            several => {
                let named: Vec<String> = several.iter().take(5).map(|at| (at + 1).to_string()).collect();
                return Err(PatchError::Misfit(format!(
                    "hunk {number} fits at {} places, lines {}; give it more lines around the change",
                    several.len(),
                    named.join(", ")
                )));
            }
        }
    }
    Err(PatchError::Misfit(mismatch(lines, from, &old, expected, number)))
}

fn below_headings(lines: &[&str], from: usize, hunk: &Hunk, number: usize) -> Result<usize, PatchError> {
    let mut from = from;
    for heading in &hunk.headings {
        let wanted = essence(heading);
        let rest = lines.iter().enumerate().skip(from);
        let mut whole = rest.clone().filter(|(_, line)| essence(line) == wanted);
        let found = whole.next().or_else(|| rest.clone().find(|(_, line)| line.contains(heading.as_str())));
        let Some((at, _)) = found else {
            return Err(PatchError::Misfit(format!("hunk {number}: there is no line `{heading}`")));
        };
        from = at + 1;
    }
    // The heading may be the first line of the hunk, too.
    let repeats = hunk
        .headings
        .last()
        .zip(hunk.old().next())
        .is_some_and(|(heading, line)| essence(heading) == essence(&line.text));
    Ok(if repeats { from - 1 } else { from })
}

fn places(lines: &[&str], from: usize, old: &[&str], key: Key<'_>) -> Vec<usize> {
    let old: Vec<String> = old.iter().map(|line| key(line)).collect();
    let real: Vec<String> = lines.iter().skip(from).map(|line| key(line)).collect();
    let fits = |window: (usize, &[String])| (window.1 == old).then_some(from + window.0);
    real.windows(old.len()).enumerate().filter_map(fits).collect()
}

/// Says where it came closest and what is there instead.
fn mismatch(lines: &[&str], from: usize, old: &[&str], expected: Option<usize>, number: usize) -> String {
    let same = |at: usize| {
        old.iter()
            .zip(&lines[at..])
            .filter(|(old, real)| !old.trim().is_empty() && essence(old) == essence(real))
            .count()
    };
    let mut best: Option<(usize, usize)> = None;
    for at in from..lines.len() {
        let count = same(at);
        if count > 0 && best.is_none_or(|(most, _)| count > most) {
            best = Some((count, at));
        }
    }
    let place = best.map(|(_, at)| at).or(expected.filter(|at| *at < lines.len()));
    let Some(at) = place else {
        return format!("hunk {number} does not fit: none of its lines is in the file");
    };
    let differs = old.iter().zip(&lines[at..]).position(|(old, real)| essence(old) != essence(real));
    let off = differs.unwrap_or(0);
    let (told, real) =
        (old.get(off).copied().unwrap_or_default(), lines.get(at + off).copied().unwrap_or_default());
    format!(
        "hunk {number} does not fit: line {} is `{}`, the patch has `{}`",
        at + off + 1,
        crate::report::cut(real.trim_end()),
        crate::report::cut(told)
    )
}
