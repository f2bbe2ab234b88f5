//! Several processes on one session, and processes that are killed.
//!
//! A test that needs another process runs this test program again with the name of a job in its environment.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use protocol::{SessionId, Timestamp};
use sessions::{AppendError, Store, StoreError};

use crate::support::*;

/// This test program again, doing only the named job.
pub(crate) fn again(job: &str, place: &Place, session: &SessionId) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    prepare(&mut command, job, place, session);
    command
}

pub(crate) fn prepare(command: &mut Command, job: &str, place: &Place, session: &SessionId) {
    command
        .args(["--exact", "processes::job", "--nocapture", "--test-threads=1"])
        .env("COVEY_TEST_JOB", job)
        .env("COVEY_TEST_ROOT", place.store.root())
        .env("COVEY_TEST_SESSION", session.as_str())
        .stdout(Stdio::piped());
}

/// Runs in the other process. Without a job it is an empty test.
#[test]
fn job() {
    let Ok(job) = std::env::var("COVEY_TEST_JOB") else { return };
    let store = Store::new(std::env::var("COVEY_TEST_ROOT").unwrap()).owned_by("covey serve");
    let session: SessionId = std::env::var("COVEY_TEST_SESSION").unwrap().parse().unwrap();
    match job.as_str() {
        "append for ever" => append_for_ever(&store, &session),
        "fill" => fill(&store, &session),
        "read only" => read_only(&store, &session),
        "hold" => {
            let _opened = store.open_writer(&session, Timestamp::now()).unwrap();
            println!("\nheld");
            std::thread::sleep(Duration::from_secs(600));
        }
        other => panic!("no job `{other}`"),
    }
}

fn append_for_ever(store: &Store, session: &SessionId) {
    let mut opened = store.open_writer(session, Timestamp::now()).unwrap();
    println!();
    for count in 0u64.. {
        let batch = (0..count % 5 + 1).map(|_| notice(&"x".repeat((count * 37 % 3000) as usize))).collect();
        let events = opened.writer.append(batch, Timestamp::now()).unwrap();
        events.iter().for_each(|event| opened.view.apply(event));
        println!("recorded {}", events.last().unwrap().seq);
        if count % 50 == 0 {
            opened.writer.checkpoint(&opened.view).unwrap();
        }
    }
}

/// Appends until there is no room, makes some, and goes on.
fn fill(store: &Store, session: &SessionId) {
    let mut opened = store.open_writer(session, Timestamp::now()).unwrap();
    let mut count = 0;
    println!();
    let error = loop {
        match opened.writer.append(vec![notice(&"y".repeat(5000))], Timestamp::now()) {
            Ok(events) => println!("recorded {}", events[0].seq),
            Err(error) => break error,
        }
        count += 1;
        assert!(count < 1000, "it never filled up");
    };
    assert!(matches!(error, AppendError::NoSpace { .. }), "{error:?}");
    // The smaller ones still fit, and number on without a gap.
    for event in opened.writer.append(vec![notice("small")], Timestamp::now()).unwrap() {
        println!("recorded {}", event.seq);
    }
    // A batch of which only a part would fit leaves nothing behind.
    let batch = (0..20).map(|_| notice(&"z".repeat(1000))).collect();
    assert!(matches!(opened.writer.append(batch, Timestamp::now()), Err(AppendError::NoSpace { .. })));
    println!("full");
}

fn read_only(store: &Store, session: &SessionId) {
    let error = store.open_writer(session, at(5)).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("writable"));
    assert!(matches!(store.create(start(&id(77)), at(5)), Err(StoreError::ReadOnly { .. })));
    assert!(matches!(store.delete(session, at(5)), Err(StoreError::ReadOnly { .. })));
    assert_eq!(store.open_view(session).unwrap().seq, 3);
    assert_eq!(store.reader(session).unwrap().last(2).unwrap().len(), 2);
    assert_eq!(store.list(&Default::default()).unwrap().sessions.len(), 1);
    assert!(store.verify(session).unwrap().is_sound());
    println!("\nread");
}

/// The lines of a job's answer, until it says `until`, is killed or ends.
fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok)
}

fn recorded(line: &str) -> Option<u64> {
    line.strip_prefix("recorded ").and_then(|seq| seq.parse().ok())
}

#[test]
fn what_was_recorded_survives_kill_9() {
    let place = place();
    let session = place.session(1, vec![]);
    for round in 0..25u64 {
        let mut child = again("append for ever", &place, &session).spawn().unwrap();
        let mut answer = lines(&mut child);
        // Killed after a number of records that differs, at whatever it is doing then.
        let enough = 1 + round * 13 % 190;
        let mut last = (&mut answer).filter_map(|line| recorded(&line)).nth(enough as usize).unwrap();
        child.kill().unwrap();
        last = answer.filter_map(|line| recorded(&line)).last().unwrap_or(last);
        child.wait().unwrap();

        let report = place.store.verify(&session).unwrap();
        assert_eq!(
            (report.damaged_count, report.gaps.len(), report.duplicates.len()),
            (0, 0, 0),
            "{report:?}"
        );
        assert!(report.events >= last, "round {round}: {} of {last}", report.events);
        let opened = place.store.open_writer(&session, at(100)).unwrap();
        assert_eq!(opened.view.seq, opened.writer.last_seq());
        assert!(opened.writer.last_seq() >= last);
    }
    assert!(place.store.verify(&session).unwrap().is_sound());
}

#[test]
fn a_second_writer_is_told_who_has_the_session() {
    let place = place();
    let session = place.session(1, vec![prompt("hello")]);
    let mut child = again("hold", &place, &session).spawn().unwrap();
    assert!(lines(&mut child).any(|line| line == "held"));

    let error = place.store.open_writer(&session, at(5)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&format!("`covey serve` (process {} on ", child.id())), "{text}");
    assert!(error.hint().unwrap().contains("--fork"));
    assert!(matches!(place.store.rename(&session, "other", at(5)), Err(StoreError::Locked { .. })));
    assert!(matches!(place.store.delete(&session, at(5)), Err(StoreError::Locked { .. })));
    assert_eq!(place.store.holder_of(&session).unwrap().what, "covey serve");
    // Reading and forking need no lock.
    assert_eq!(place.store.open_view(&session).unwrap().seq, 2);
    let fork = place.store.fork(&session, None, id(2), at(6)).unwrap();
    assert_eq!(fork.view.seq, 2);

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.store.holder_of(&session), None);
    place.store.open_writer(&session, at(7)).unwrap();
}

#[test]
fn two_writers_in_one_process_exclude_each_other_too() {
    let place = place();
    let opened = place.store.create(start(&id(1)), at(0)).unwrap();
    assert!(matches!(place.store.open_writer(&id(1), at(1)), Err(StoreError::Locked { .. })));
    drop(opened);
    place.store.open_writer(&id(1), at(2)).unwrap();
}

#[test]
fn a_reader_follows_another_process() {
    let place = place();
    let session = place.session(1, vec![]);
    let mut records = place.store.reader(&session).unwrap().iter(0).unwrap();
    let mut child = again("append for ever", &place, &session).spawn().unwrap();
    let answer = lines(&mut child);
    let mut read = 0;
    for told in answer.filter_map(|line| recorded(&line)).take(300) {
        // What the other process was told is recorded can be read at once, in order, and nothing half.
        while read < told {
            let event = records.next().expect("it is there").unwrap().event().expect("it is whole");
            assert_eq!(event.seq, read + 1);
            read = event.seq;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
