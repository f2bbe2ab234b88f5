//! Full-text search over real logs.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use protocol::{EventBody, MessageEnd, Retract};
use sessions::{Hit, HitKind, Opened, Progress, Search, Updated};

use crate::support::*;

fn database(place: &Place) -> PathBuf {
    place.folder.path().join("search.sqlite")
}

fn update(place: &Place) -> (Search, Updated) {
    let mut search = Search::open(&database(place)).unwrap();
    let updated = search.update(&place.store, &mut |_| ControlFlow::Continue(())).unwrap();
    (search, updated)
}

fn find(place: &Place, query: &str) -> Vec<Hit> {
    update(place).0.search(query, 20).unwrap()
}

fn ends(turn: &str, message: &str) -> Body {
    (Some(turn.into()), EventBody::MessageEnd(MessageEnd { message: message.into() }))
}

fn retracts(message: &str) -> Body {
    (None, EventBody::Retract(Retract { message: message.into(), reason: "cut off".to_owned() }))
}

#[test]
fn prompts_answers_and_tool_calls_are_found() {
    let place = place();
    let session = place.session(
        1,
        vec![
            prompt("Der Gutschein wird doppelt angewandt, naïve Größe"),
            turn_start("t1", None),
            says("t1", "m1", "The cou"),
            says("t1", "m1", "pon is counted twice"),
            ends("t1", "m1"),
            calls("t1", "c1"),
        ],
    );
    let hits = find(&place, "coupon");
    assert_eq!(hits.len(), 1);
    let hit = &hits[0];
    assert_eq!((&hit.session, hit.seq, hit.kind, hit.ts), (&session, 4, HitKind::Answer, at(1)));
    assert_eq!(hit.title, "Der Gutschein wird doppelt angewandt, naïve Größe");
    assert_eq!(&hit.snippet[hit.marks[0].clone()], "coupon");
    assert_eq!(find(&place, "NAIVE grosse").len(), 0);
    assert_eq!(find(&place, "naive GRÖSSE").len(), 0);
    assert_eq!(find(&place, "naive Größe")[0].kind, HitKind::Prompt);
    assert_eq!(find(&place, "test -p cart")[0].kind, HitKind::ToolCall);
    // The last word may be unfinished, the others not; words in quotes stay together.
    assert_eq!(find(&place, "counted tw").len(), 1);
    assert_eq!(find(&place, "count twice").len(), 0);
    assert_eq!(find(&place, "\"counted twice\"").len(), 1);
    assert_eq!(find(&place, "\"twice counted\"").len(), 0);
    assert_eq!(find(&place, "\"counted tw\"").len(), 0);
}

#[test]
fn nothing_a_person_types_is_an_error() {
    let place = place();
    place.session(1, vec![prompt("and or not near the coupon's column: a-b c++")]);
    let (mut search, _) = update(&place);
    for query in [
        "\"",
        "\"\"",
        "'",
        "*",
        "(",
        ")",
        "AND",
        "OR NOT",
        "NEAR(",
        "a AND (b",
        "text:coupon",
        "-coupon",
        "^coupon",
        "coupon*",
        "\"coupon",
        "coupon\"",
        "a\"b\"c",
        "\0",
        "{",
        "col : x",
        "+",
        "c++",
        "coupon's",
        "\\",
        ";--",
        "日本",
        "%",
        "  ",
        "\u{1}\u{2}",
    ] {
        search.search(query, 5).unwrap_or_else(|error| panic!("{query:?}: {error}"));
    }
    assert_eq!(search.search("\"coupon", 5).unwrap().len(), 1);
    assert_eq!(search.search("c++", 5).unwrap().len(), 1);
}

#[test]
fn an_update_reads_only_what_is_new() {
    let place = place();
    let session = place.session(1, vec![prompt("one"), says("t1", "m1", "half a wo")]);
    place.session(2, vec![prompt("other")]);
    assert_eq!(update(&place).1.sessions, 2);
    assert_eq!(update(&place).1, Updated::default());

    let Opened { mut writer, .. } = place.store.open_writer(&session, at(5)).unwrap();
    writer.append(vec![says("t1", "m1", "rd and more"), ends("t1", "m1")], at(6)).unwrap();
    let (mut search, updated) = update(&place);
    assert_eq!(updated.sessions, 1);
    assert!(updated.bytes < 500, "{updated:?}");
    // A message that was half there is joined with its rest.
    let hits = search.search("\"half a word and more\"", 5).unwrap();
    assert_eq!((hits.len(), hits[0].seq), (1, 3));

    writer.append(vec![says("t1", "m2", "wrong"), retracts("m2"), retracts("m1")], at(7)).unwrap();
    drop(writer);
    assert_eq!(find(&place, "wrong").len(), 0);
    assert_eq!(find(&place, "half").len(), 0);

    place.store.delete(&session, at(9)).unwrap();
    assert_eq!(update(&place).1.removed, 1);
    assert_eq!(find(&place, "one").len(), 0);
    assert_eq!(find(&place, "other").len(), 1);
}

#[test]
fn a_damaged_database_is_made_anew() {
    let place = place();
    for number in 0..30 {
        place.session(number, vec![prompt(&format!("coupon {number} {}", "filler ".repeat(200)))]);
    }
    drop(update(&place));
    let path = database(&place);
    let good = fs::read(&path).unwrap();
    let mut holed = good.clone();
    holed[4096..].fill(0xaa);
    for bad in
        [&b"not a database at all, but long enough to be read as one"[..], &holed, &good[..good.len() / 2]]
    {
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", path.display()));
        }
        fs::write(&path, bad).unwrap();
        // Damage may show at once or on the first query; then the next update mends it.
        let _ = find(&place, "coupon");
        assert_eq!(find(&place, "coupon").len(), 20);
    }
}

#[test]
fn indexing_can_be_stopped_and_taken_up_again() {
    let place = place();
    let filler = (0..60_000).map(|n| format!("{n:x} ")).collect::<String>();
    let long = (0..60).map(|n| prompt(&format!("word {n} {filler}"))).collect::<Vec<_>>();
    place.session(1, long.clone());
    place.session(2, long);
    let mut search = Search::open(&database(&place)).unwrap();
    let mut seen: Vec<Progress> = Vec::new();
    let mut stop_second = |progress| {
        seen.push(progress);
        if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let updated = search.update(&place.store, &mut stop_second).unwrap();
    assert!(updated.cancelled && updated.bytes > 0);
    assert_eq!(seen[0], Progress { sessions: 2, sessions_done: 0, bytes_done: 0, bytes: seen[0].bytes });
    let rest = search.update(&place.store, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(!rest.cancelled);
    assert_eq!(updated.bytes + rest.bytes, seen[0].bytes);
    assert_eq!(search.search("word", 200).unwrap().len(), 120);
}

#[test]
fn two_connections_index_at_once() {
    let place = place();
    for number in 0..60 {
        place.session(number, vec![prompt("the same coupon")]);
    }
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| update(&place));
        }
    });
    let hits = update(&place).0.search("coupon", 1000).unwrap();
    assert_eq!(hits.len(), 60);
}
