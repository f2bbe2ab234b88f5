use super::*;

async fn lines(input: &[u8], max: usize) -> Vec<Line> {
    let mut lines = Lines::with_max(input, max);
    let mut all = Vec::new();
    while let Some(line) = lines.next().await.unwrap() {
        all.push(line);
    }
    all
}

fn whole(text: &str) -> Line {
    Line::Whole(text.as_bytes().to_vec())
}

#[tokio::test]
async fn lines_end_in_either_way_and_the_last_needs_no_end() {
    assert_eq!(lines(b"a\r\n\nb\nc", 10).await, [whole("a"), whole(""), whole("b"), whole("c")]);
    assert_eq!(lines(b"", 10).await, []);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_counted_and_the_next_one_is_read() {
    assert_eq!(lines(b"0123456789\nok\n", 4).await, [Line::TooLong { bytes: 10 }, whole("ok")]);
    let long = [vec![b'x'; 300_000], b"\nok".to_vec()].concat();
    assert_eq!(lines(&long, 100_000).await, [Line::TooLong { bytes: 300_000 }, whole("ok")]);
    assert_eq!(lines(&vec![b'x'; 300_000], 100_000).await, [Line::TooLong { bytes: 300_000 }]);
}

#[tokio::test]
async fn bytes_that_are_no_text_pass() {
    assert_eq!(lines(b"\xff\xfe\n{}\n", 10).await, [Line::Whole(vec![0xff, 0xfe]), whole("{}")]);
}
