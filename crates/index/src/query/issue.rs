//! What an issue says beside what it is about: the words of a template, and the machine that somebody has.

/// What templates say to the author of an issue.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        match after.split_once("-->") {
            Some((_, after)) => rest = after,
            // Some never close it; then only its line goes.
            None => rest = after.split_once('\n').map_or("", |(_, after)| after),
        }
    }
    out.push_str(rest);
    if out.trim().is_empty() { text.to_owned() } else { out }
}

/// Sections of this kind name versions and machines. They fit the code that prints such reports better than any other.
const ABOUT_MACHINES: &[&str] = &[
    "version",
    "environment",
    "system",
    "platform",
    "checklist",
    "operating",
    "installed",
    "diagnostic",
    "are you using",
    "did you install",
];

/// The lines that speak of the matter: the title, and all but headings and sections about machines.
pub(super) fn telling<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut about_machines = false;
    let mut kept: Vec<&str> = lines.first().copied().into_iter().collect();
    for line in lines.iter().skip(1) {
        if is_heading(line) {
            let line = line.to_ascii_lowercase();
            about_machines = ABOUT_MACHINES.iter().any(|word| line.contains(word));
        } else if !about_machines {
            kept.push(line);
        }
    }
    kept
}

/// `## Expected`, `**Expected:**`, `**Expected**:`
fn is_heading(line: &str) -> bool {
    let hashes = line.trim_start_matches('#');
    let bold = line.trim_end_matches(':').strip_prefix("**").and_then(|rest| rest.strip_suffix("**"));
    (hashes.len() < line.len() && hashes.starts_with(' '))
        || bold.is_some_and(|inner| !inner.is_empty() && !inner.contains("**"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_and_machines_are_left_out() {
        let issue = "Paging breaks\n## What happened\nIt stops.\n**Version:**\n1.2 on Linux\n**Expected**\nIt goes on.\n\
            **both** are **bold**\n#include <stdio.h>";
        let lines: Vec<&str> = issue.lines().collect();
        let want =
            ["Paging breaks", "It stops.", "It goes on.", "**both** are **bold**", "#include <stdio.h>"];
        assert_eq!(telling(&lines), want);
        // A title stays, whatever it looks like.
        assert_eq!(telling(&["## Version"]), ["## Version"]);
        assert!(telling(&[]).is_empty());
    }
}
