use std::io::Write;

use super::*;

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn forwards(file: File) -> Vec<(u64, u64)> {
    let mut lines = Lines::new(Arc::new(file), 0);
    let mut found = Vec::new();
    while let Some(line) = lines.next().unwrap() {
        found.push((line.offset, line.offset + line.bytes));
    }
    found
}

fn backwards(file: &File, end: u64) -> Vec<(u64, u64)> {
    let mut lines = BackLines::new(file, end);
    let mut found = Vec::new();
    while let Some((range, whole)) = lines.next().unwrap() {
        if whole {
            found.push((range.start, range.end));
        }
    }
    found.reverse();
    found
}

#[test]
fn both_ways_find_the_same_lines() {
    let long = vec![b'x'; 700_000];
    for parts in [vec![&b""[..]], vec![b"a"], vec![b"", b"b", b""], vec![&long, b"c", &long, &long]] {
        for tail in [&b""[..], b"unfinished"] {
            let mut bytes = parts.join(&b"\n"[..]);
            bytes.push(b'\n');
            bytes.extend_from_slice(tail);
            let there = forwards(file(&bytes));
            assert_eq!(there.len(), parts.len());
            assert_eq!(there, backwards(&file(&bytes), bytes.len() as u64));
        }
    }
}

#[test]
fn a_line_of_fifty_megabytes_is_passed_over_in_little_memory() {
    let mut log = tempfile::tempfile().unwrap();
    log.write_all(b"first\n").unwrap();
    for _ in 0..50 {
        log.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    log.write_all(b"\nlast\n").unwrap();
    let mut lines = Lines::new(Arc::new(log), 0);
    assert_eq!(lines.next().unwrap().unwrap().text, Some(&b"first"[..]));
    let long = lines.next().unwrap().unwrap();
    assert_eq!((long.bytes, long.text), ((50 << 20) + 1, None));
    assert_eq!(lines.next().unwrap().unwrap().text, Some(&b"last"[..]));
    assert!(lines.next().unwrap().is_none());
    assert!(lines.buffer.capacity() <= 20 << 20);
}

#[test]
fn an_unfinished_line_is_given_out_once_it_is_finished() {
    let log = file(b"one\ntw");
    let mut lines = Lines::new(Arc::new(log.try_clone().unwrap()), 0);
    assert_eq!(lines.next().unwrap().unwrap().text, Some(&b"one"[..]));
    assert!(lines.next().unwrap().is_none());
    // Cut back and written anew in between, as after a write that failed half-way.
    log.set_len(4).unwrap();
    crate::files::write_at(&log, b"TWO\n", 4).unwrap();
    assert_eq!(lines.next().unwrap().unwrap().text, Some(&b"TWO"[..]));
    assert!(lines.next().unwrap().is_none());
}
