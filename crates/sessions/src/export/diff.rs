//! A change to a file as lines, with a little around it.

const CONTEXT: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Same,
    Removed,
    Added,
}

impl Side {
    pub(super) fn sign(self) -> char {
        match self {
            Self::Same => ' ',
            Self::Removed => '-',
            Self::Added => '+',
        }
    }
}

/// What changed, between the lines that both begin and end with. One block: exports show a change, they do not apply
/// it.
pub(super) fn lines<'a>(old: &'a str, new: &'a str) -> Vec<(Side, &'a str)> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let shared = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - shared;
    let ending = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let same = |lines: &[&'a str]| lines.iter().map(|line| (Side::Same, *line)).collect::<Vec<_>>();

    let mut out = same(&old[shared.saturating_sub(CONTEXT)..shared]);
    out.extend(old[shared..old.len() - ending].iter().map(|line| (Side::Removed, *line)));
    out.extend(new[shared..new.len() - ending].iter().map(|line| (Side::Added, *line)));
    out.extend(same(&old[old.len() - ending..(old.len() - ending + CONTEXT).min(old.len())]));
    out
}
