use super::Cleaner;

fn clean(bytes: &[u8]) -> String {
    let mut whole = Vec::new();
    let mut cleaner = Cleaner::default();
    cleaner.push(bytes, |text| whole.extend_from_slice(text));
    cleaner.finish(|text| whole.extend_from_slice(text));

    // However the output is cut into pieces, the same comes out.
    let mut single = Vec::new();
    let mut cleaner = Cleaner::default();
    for byte in bytes {
        cleaner.push(&[*byte], |text| single.extend_from_slice(text));
    }
    cleaner.finish(|text| single.extend_from_slice(text));
    assert_eq!(whole, single);
    String::from_utf8_lossy(&whole).into_owned()
}

#[test]
fn escape_sequences_go() {
    assert_eq!(clean(b"\x1b[1;31merror\x1b[0m: no\n"), "error: no\n");
    assert_eq!(clean(b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n"), "alink\n");
    assert_eq!(clean(b"\x1b(Bplain\x1b=\n\x1b"), "plain\n");
    assert_eq!(clean(b"bell\x07 nul\0 del\x7f\ttab\n"), "bell nul del\ttab\n");
    assert_eq!(clean(b"\x1b]never closed\nnext\n"), "\nnext\n");
}

#[test]
fn of_a_progress_bar_the_last_state_stays() {
    assert_eq!(clean(b"10%\r50%\r100%\ndone\n"), "100%\ndone\n");
    assert_eq!(clean(b"a\r\nb\r\r\nc\r"), "a\nb\nc");
    assert_eq!(clean("ab\u{8}c |\u{8}/ é\u{8}e\n".as_bytes()), "ac / e\n");
}

#[test]
fn a_line_without_end_is_handed_on() {
    let long = vec![b'x'; 100_000];
    let mut sizes = Vec::new();
    let mut cleaner = Cleaner::default();
    for piece in long.chunks(1000) {
        cleaner.push(piece, |text| sizes.push(text.len()));
        assert!(cleaner.partial().len() <= super::MAX_LINE);
    }
    cleaner.finish(|text| sizes.push(text.len()));
    assert_eq!(sizes.iter().sum::<usize>(), long.len());
}

#[test]
fn many_lines_of_a_terminal_are_handed_on_together() {
    let bytes = b"y\r\n".repeat(10_000);
    let (mut calls, mut total) = (0, 0);
    let mut cleaner = Cleaner::default();
    cleaner.push(&bytes, |text| {
        calls += 1;
        total += text.len();
    });
    assert_eq!(total, 20_000);
    assert!(calls < 10, "{calls}");
}
