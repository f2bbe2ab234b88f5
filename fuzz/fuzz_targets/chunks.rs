//! However a file is made, it is cut: every line belongs to one piece, and every piece lies within the file.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 20] = [
    "a.rs", "a.py", "a.js", "a.ts", "a.tsx", "a.go", "a.java", "a.c", "a.cpp", "a.cs", "a.rb", "a.php",
    "a.sh", "a.html", "a.css", "a.json", "a.toml", "a.yaml", "a.md", "a",
];

fuzz_target!(|input: &[u8]| {
    let Some((which, bytes)) = input.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    let outline = index::outline(NAMES[usize::from(*which) % NAMES.len()], &text);
    let lines = text.lines().count();
    assert_eq!(outline.owners.len(), lines);
    assert!(outline.owners.iter().all(|owner| (*owner as usize) < outline.chunks.len()));
    for chunk in &outline.chunks {
        assert!(
            chunk.start_line >= 1
                && chunk.start_line <= chunk.end_line
                && chunk.end_line as usize <= lines.max(1)
        );
    }
});
