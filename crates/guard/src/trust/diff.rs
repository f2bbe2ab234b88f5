//! What changed, line by line.

/// Texts with more lines than this are not compared but shown.
const MOST: usize = 2000;

/// `-` for lines that went, `+` for lines that came, and three lines around them.
pub(super) fn lines(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    if old.is_empty() || old.len() > MOST || new.len() > MOST {
        return new.iter().map(|line| format!("+{line}\n")).collect();
    }
    let steps = steps(&old, &new);
    let near = |at: usize| {
        let from = at.saturating_sub(3);
        steps[from..(at + 4).min(steps.len())].iter().any(|(sign, _)| *sign != ' ')
    };
    let mut out = String::new();
    let mut skipped = false;
    for (at, (sign, line)) in steps.iter().enumerate() {
        if near(at) {
            if std::mem::take(&mut skipped) {
                out.push_str("…\n");
            }
            out.push_str(&format!("{sign}{line}\n"));
        } else {
            skipped = true;
        }
    }
    out
}

/// By the longest lines in common.
fn steps<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    let width = new.len() + 1;
    let mut common = vec![0u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut steps) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            steps.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j >= new.len()
            || (i < old.len() && common[(i + 1) * width + j] >= common[i * width + j + 1])
        {
            steps.push(('-', old[i]));
            i += 1;
        } else {
            steps.push(('+', new[j]));
            j += 1;
        }
    }
    steps
}
