use std::convert::Infallible;

use proptest::prelude::*;

use super::*;

type Frames = Vec<(String, String)>;

/// Decodes in the given pieces; an error is told by the last entry.
fn decode(pieces: &[&[u8]], limit: usize) -> Frames {
    let mut frames = Frames::new();
    let mut decoder = SseDecoder::new(limit);
    let mut run = || -> Result<(), SseError<Infallible>> {
        for piece in pieces {
            decoder.push(piece, |frame| {
                frames.push((frame.event.into_owned(), frame.data.into_owned()));
                Ok(())
            })?;
        }
        decoder.finish(|frame| {
            frames.push((frame.event.into_owned(), frame.data.into_owned()));
            Ok(())
        })
    };
    if run().is_err() {
        frames.push(("error".to_owned(), "too large".to_owned()));
    }
    frames
}

/// Slow and obvious: the whole document, line by line.
fn reference(document: &[u8]) -> Frames {
    let document = document.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(document);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut bytes = document.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' => {
                bytes.next_if_eq(&b'\n');
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            _ => lines.last_mut().unwrap().push(byte),
        }
    }
    lines.push(Vec::new());
    let mut frames = Frames::new();
    let mut event = Vec::new();
    let mut data: Vec<Vec<u8>> = Vec::new();
    for line in lines {
        if line.is_empty() {
            if !data.is_empty() {
                let text = String::from_utf8_lossy(&data.join(&b'\n')).into_owned();
                frames.push((String::from_utf8_lossy(&event).into_owned(), text));
            }
            event.clear();
            data.clear();
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (name, mut value) = match colon {
            Some(at) => (line[..at].to_vec(), line[at + 1..].to_vec()),
            None => (line.clone(), Vec::new()),
        };
        if value.first() == Some(&b' ') {
            value.remove(0);
        }
        match name.as_slice() {
            b"data" => data.push(value),
            b"event" => event = value,
            _ => {}
        }
    }
    frames
}

/// Documents from the pieces that matter, with raw bytes in between.
fn document() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        2 => Just(b"\r".to_vec()),
        4 => Just(b"data: ".to_vec()),
        1 => Just(b"data".to_vec()),
        1 => Just(b"data:".to_vec()),
        1 => Just(b"event: ping".to_vec()),
        1 => Just(b": comment".to_vec()),
        1 => Just(b"id: 7".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        3 => Just("{\"a\":\"Grüße 你好 🦆\"}".as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_frames_of_the_reference(document in document(), cuts in proptest::collection::vec(any::<u16>(), 0..8)) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut as usize % (document.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts {
            pieces.push(&document[start..cut]);
            start = cut;
        }
        pieces.push(&document[start..]);
        let expected = reference(&document);
        prop_assert_eq!(&decode(&pieces, FRAME_LIMIT), &expected);
        prop_assert_eq!(&decode(&[&document], FRAME_LIMIT), &expected);
        let bytes: Vec<&[u8]> = document.chunks(1).collect();
        prop_assert_eq!(&decode(&bytes, FRAME_LIMIT), &expected);
        // The limit falls in the same place however the document is cut.
        prop_assert_eq!(decode(&bytes, 24), decode(&[&document], 24));
    }
}

#[test]
fn knows_every_line_ending_and_joins_lines_of_data() {
    let document = b"\xEF\xBB\xBFevent: a\r\ndata: 1\r\ndata:2\r\n\r\n: hi\rdata: 3\r\rdata: 4\n\ndata: 5";
    let frames = decode(&[document], FRAME_LIMIT);
    let frames: Vec<_> = frames.iter().map(|(event, data)| (event.as_str(), data.as_str())).collect();
    assert_eq!(frames, [("a", "1\n2"), ("", "3"), ("", "4"), ("", "5")]);
}

#[test]
fn bytes_that_are_not_text_are_replaced() {
    assert_eq!(decode(&[b"data: a\xFFb\n\n"], FRAME_LIMIT)[0].1, "a\u{FFFD}b");
}

#[test]
fn a_line_without_end_stops_at_the_limit() {
    let mut decoder = SseDecoder::new(1000);
    let piece = [b'x'; 100];
    let mut taken = 0;
    let error = loop {
        match decoder.push(&piece, |_| Ok::<_, Infallible>(())) {
            Ok(()) => taken += piece.len(),
            Err(error) => break error,
        }
    };
    assert_eq!(error, SseError::FrameTooLarge { limit: 1000 });
    assert_eq!(taken, 1000);
}

#[test]
fn many_lines_of_data_stop_at_the_limit() {
    let document = "data: 0123456789\n".repeat(200);
    assert_eq!(decode(&[document.as_bytes()], 1000), [("error".to_owned(), "too large".to_owned())]);
}

#[test]
fn an_error_of_the_receiver_comes_back() {
    let mut decoder = SseDecoder::default();
    let error = decoder.push(b"data: 1\n\n", |_| Err("stop")).unwrap_err();
    assert_eq!(error, SseError::Receiver("stop"));
}
