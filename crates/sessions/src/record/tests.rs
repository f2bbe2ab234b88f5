use super::*;

fn sealed(json: &str) -> Vec<u8> {
    let mut line = json.as_bytes().to_vec();
    seal(&mut line, 0);
    line.pop();
    line
}

#[test]
fn a_sealed_line_is_the_object_with_its_checksum() {
    let line = sealed(r#"{"v":1,"seq":1}"#);
    assert_eq!(String::from_utf8(line.clone()).unwrap(), r#"{"v":1,"seq":1,"crc":"42708879"}"#);
    assert_eq!(unseal(&line), Ok(&br#"{"v":1,"seq":1"#[..]));
}

#[test]
fn any_flipped_bit_is_noticed() {
    let line = sealed(r#"{"v":1,"seq":1,"ts":"2026-01-25T14:30:52.000Z","type":"notice","text":"abc"}"#);
    for bit in 0..line.len() * 8 {
        let mut bad = line.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        assert!(unseal(&bad).is_err(), "bit {bit}");
    }
}

#[test]
fn quick_and_slow_headers_agree() {
    for json in [
        r#"{"v":1,"seq":12,"ts":"2026-01-25T14:30:52.000Z","type":"notice","text":"abc"}"#,
        r#"{"v":1,"seq":12,"ts":"2026-01-25T14:30:52.000Z","turn":"t1","type":"turn_start","agent":"x"}"#,
    ] {
        let body = &json.as_bytes()[..json.len() - 1];
        assert_eq!(quick_header(body), slow_header(body));
        assert!(quick_header(body).is_some());
    }
    // Another order, and an escaped name, take the slow path.
    let odd = br#"{"type":"x","turn":"a\"b","seq":3,"v":2"#;
    assert_eq!(quick_header(odd), None);
    let header = header(odd).unwrap();
    assert_eq!((header.seq, header.turn.as_deref()), (3, Some("a\"b")));
}
