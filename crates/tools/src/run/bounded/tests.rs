use super::Bounded;

fn through(pieces: &[&[u8]]) -> Bounded {
    let mut bounded = Bounded::new(20);
    pieces.iter().for_each(|piece| bounded.push(piece));
    bounded
}

#[test]
fn what_fits_stays_whole() {
    let all = "0123456789012345678901234567890123456789";
    for size in 1..=40 {
        let pieces: Vec<&[u8]> = all.as_bytes().chunks(size).collect();
        assert_eq!(through(&pieces).text(|_| unreachable!()), all);
    }
    assert_eq!(through(&[]).text(|_| unreachable!()), "");
}

#[test]
fn both_ends_of_what_does_not_fit_stay() {
    let all: String = (0..1000).map(|n| format!("line {n}\n")).collect();
    for size in [1, 7, 19, 20, 21, 40, 41, 1000, all.len()] {
        let pieces: Vec<&[u8]> = all.as_bytes().chunks(size).collect();
        let bounded = through(&pieces);
        let mut missing = 0;
        let text = bounded.text(|gone| {
            missing = gone;
            "…".to_owned()
        });
        assert_eq!(text, "line 0\nline 1\n…\nline 998\nline 999\n", "pieces of {size}");
        assert_eq!(missing, all.len() as u64 - 32);
        assert_eq!(bounded.last(9), b"line 999\n");
        assert!(bounded.tail.len() <= 40 && bounded.head.len() == 20);
    }
}

#[test]
fn the_last_bytes_reach_back_into_the_head() {
    assert_eq!(through(&[b"abc"]).last(2), b"bc");
    assert_eq!(through(&[b"01234567890123456789", b"xy"]).last(4), b"89xy");
    assert_eq!(through(&[b"ab"]).last(100), b"ab");
}
