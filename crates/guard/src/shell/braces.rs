//! `{a,b}` and `{1..3}`, which make several words of one.

/// A word's smallest parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Atom {
    Character(char, bool),
    /// The piece with this number, which is no text.
    Hole(usize),
}

/// More than this is taken for a trick; the rest of the words is left out and the caller told.
const MOST: usize = 256;

/// The words that braces make, and whether they are all of them.
pub(super) fn expand(atoms: &[Atom]) -> (Vec<Vec<Atom>>, bool) {
    let mut words = Vec::new();
    let whole = into(atoms, Vec::new(), &mut words, 0);
    (words, whole)
}

/// Expands `atoms` behind `head`. Answers whether nothing was left out.
fn into(atoms: &[Atom], head: Vec<Atom>, words: &mut Vec<Vec<Atom>>, depth: usize) -> bool {
    if words.len() >= MOST {
        return false;
    }
    if depth > 64 {
        // As it stands: what is left out is said.
        words.push([head, atoms.to_vec()].concat());
        return false;
    }
    for (at, atom) in atoms.iter().enumerate() {
        if !is(atom, '{') {
            continue;
        }
        let Some((parts, behind)) = parts(&atoms[at + 1..]) else { continue };
        let mut whole = true;
        for part in parts {
            // A part may hold braces of its own, and so may what follows.
            let mut inner = Vec::new();
            whole &= into(&part, Vec::new(), &mut inner, depth + 1);
            for text in inner {
                let mut start = head.clone();
                start.extend_from_slice(&atoms[..at]);
                start.extend(text);
                whole &= into(behind, start, words, depth + 1);
            }
        }
        return whole;
    }
    let mut word = head;
    word.extend_from_slice(atoms);
    words.push(word);
    true
}

fn is(atom: &Atom, wanted: char) -> bool {
    matches!(atom, Atom::Character(c, false) if *c == wanted)
}

/// The parts between braces, from behind the opening one, and what is behind the closing one.
fn parts(atoms: &[Atom]) -> Option<(Vec<Vec<Atom>>, &[Atom])> {
    let mut depth = 0;
    let (mut parts, mut part, mut commas) = (Vec::new(), Vec::new(), 0);
    for (at, atom) in atoms.iter().enumerate() {
        if is(atom, '{') {
            depth += 1;
        } else if is(atom, '}') && depth > 0 {
            depth -= 1;
        } else if is(atom, '}') {
            parts.push(part);
            return match commas {
                0 => Some((range(&parts[0])?, &atoms[at + 1..])),
                _ => Some((parts, &atoms[at + 1..])),
            };
        } else if is(atom, ',') && depth == 0 {
            commas += 1;
            parts.push(std::mem::take(&mut part));
            continue;
        }
        part.push(*atom);
    }
    None
}

/// `1..3`, `a..e`, `1..9..2`.
fn range(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let text: String = atoms
        .iter()
        .map(|atom| match atom {
            Atom::Character(c, false) => Some(*c),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let ends: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match ends.as_slice() {
        [first, last] => (*first, *last, 1),
        [first, last, step] => (*first, *last, step.parse::<i64>().ok()?.unsigned_abs().max(1)),
        _ => return None,
    };
    let number = |text: &str| text.parse::<i64>().ok();
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    };
    let (from, to, letters) = match (number(first), number(last), letter(first), letter(last)) {
        (Some(from), Some(to), ..) => (from, to, false),
        (_, _, Some(from), Some(to)) => (from, to, true),
        _ => return None,
    };
    let count = usize::try_from(from.abs_diff(to) / step).ok()?.min(MOST);
    let values = (0..=count).map(|at| {
        let offset = i64::try_from(at).unwrap_or(0) * i64::try_from(step).unwrap_or(1);
        if from <= to { from + offset } else { from - offset }
    });
    let text = |value: i64| match u8::try_from(value) {
        Ok(byte) if letters => char::from(byte).to_string(),
        _ => value.to_string(),
    };
    Some(values.map(|value| text(value).chars().map(|c| Atom::Character(c, false)).collect()).collect())
}
