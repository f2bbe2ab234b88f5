use proptest::prelude::*;

use super::*;

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn every_usual_encoding_goes_round() {
    let files: [Vec<u8>; 8] = [
        b"plain\n".to_vec(),
        b"\xef\xbb\xbfmark\r\n".to_vec(),
        b"caf\xe9\n".to_vec(),
        "größe größe größe \n".bytes().chain([0xff, b'\n']).collect(),
        [b"\xff\xfe".to_vec(), utf16("fn größe() {}\r\n", u16::to_le_bytes)].concat(),
        [b"\xfe\xff".to_vec(), utf16("🦀\n", u16::to_be_bytes)].concat(),
        utf16("no mark in here\n", u16::to_le_bytes),
        vec![],
    ];
    for bytes in files {
        let text = Text::decode(&bytes).unwrap();
        assert_eq!(text.encode().unwrap(), bytes);
    }
    assert_eq!(Text::decode(b"caf\xe9\n").unwrap().plain(), "café\n");
    assert!(Text::decode(b"\x7fELF\0\x01").is_err());
}

#[test]
fn a_character_that_the_encoding_lacks_is_refused() {
    let text = Text::decode(b"caf\xe9\n").unwrap();
    let error = text.with("caf€".to_owned()).encode().unwrap_err();
    assert_eq!(error.to_string(), "the file is in Latin-1, which has no `€`");
}

#[test]
fn new_lines_end_as_those_around_them() {
    let text = Text::decode(b"a\r\nb\nc\r\nd").unwrap();
    let at = |old: &str| {
        let start = text.plain().find(old).unwrap();
        start..start + old.len()
    };
    let change = |old: &str, new: &str| {
        let changed = text.spliced(&[Splice { range: at(old), new: new.to_owned() }]);
        changed.original().to_owned()
    };
    assert_eq!(change("a\n", "x\ny\n"), "x\r\ny\r\nb\nc\r\nd");
    assert_eq!(change("b", "x\ny"), "a\r\nx\ny\nc\r\nd");
    assert_eq!(change("d", "x\ny"), "a\r\nb\nc\r\nx\r\ny");
    // Lines that stay keep their own ends.
    assert_eq!(change("a\nb\nc\n", "a\nb\nX\n"), "a\r\nb\nX\r\nd");
}

#[test]
fn a_stream_reads_what_a_block_cuts_through() {
    let bytes = [b"\xff\xfe".to_vec(), utf16("a🦀é\n", u16::to_le_bytes)].concat();
    let mut decoder = Decoder::new(&bytes).unwrap();
    let text: Vec<u8> = bytes.chunks(3).flat_map(|block| decoder.push(block.to_vec())).collect();
    assert_eq!(String::from_utf8(text).unwrap(), "a🦀é\n");
}

proptest! {
    #[test]
    fn any_bytes_go_round_or_are_no_text(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = Text::decode(&bytes) {
            prop_assert_eq!(text.encode().unwrap(), bytes);
        }
    }

    #[test]
    fn a_splice_changes_only_its_place(
        file in "([ab]{0,3}(\r\n|\n)){0,6}[ab]{0,2}", new in "([xy]{0,3}\n){0,3}[xy]{0,2}", at in 0usize..20, length in 0usize..10,
    ) {
        let text = Text::decode(file.as_bytes()).unwrap();
        let start = at.min(text.plain().len());
        let end = (start + length).min(text.plain().len());
        let changed = text.spliced(&[Splice { range: start..end, new: new.clone() }]);
        let expected = format!("{}{new}{}", &text.plain()[..start], &text.plain()[end..]);
        prop_assert_eq!(changed.plain(), expected);
        let before = text.in_original(start);
        let after = text.original().len() - text.in_original(end);
        prop_assert!(changed.original().starts_with(&text.original()[..before]));
        prop_assert!(changed.original().ends_with(&text.original()[text.original().len() - after..]));
    }
}
