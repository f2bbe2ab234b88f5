//! Sessions that begin as a copy of another.

use std::fs;

use protocol::{EventBody, ForkPoint, Stop, StopCause, ToolStatus};
use sessions::{StoreError, unfinished};

use crate::support::*;

fn parent(place: &Place) -> protocol::SessionId {
    place.session(
        1,
        vec![
            prompt("first"),
            turn_start("t1", None),
            calls("t1", "c1"),
            says("t1", "t1.m1", "hello"),
            turn_end("t1"),
            prompt("second"),
        ],
    )
}

#[test]
fn a_fork_has_its_parents_records_byte_for_byte() {
    let place = place();
    let parent = parent(&place);
    let fork = place.store.fork(&parent, None, id(2), at(50)).unwrap();
    let point = ForkPoint { session: parent.clone(), seq: 7 };
    assert_eq!(fork.view.forked_from, Some(point));
    assert_eq!((fork.view.title.as_str(), fork.view.session.clone()), ("first", id(2)));
    drop(fork);
    let rest = |session| {
        let log = fs::read_to_string(place.log(session)).unwrap();
        log.split_once('\n').unwrap().1.to_owned()
    };
    assert!(rest(&id(2)).starts_with(&rest(&parent)));
    assert!(place.store.verify(&id(2)).unwrap().is_sound());
    let ids: Vec<_> =
        place.store.list(&Default::default()).unwrap().sessions.into_iter().map(|s| s.session).collect();
    assert_eq!(ids, [id(2), parent]);
}

#[test]
fn a_fork_in_the_middle_of_a_turn_closes_what_is_open() {
    let place = place();
    let parent = parent(&place);
    let mut fork = place.store.fork(&parent, Some(4), id(2), at(50)).unwrap();
    assert!(unfinished(&fork.view).is_empty());
    let events = place.events(&id(2));
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert!(
        matches!(&events[4].body, EventBody::ToolCallUpdate(update) if update.status == Some(ToolStatus::Failed))
    );
    assert!(matches!(&events[5].body, EventBody::TurnEnd(end)
        if (end.stop, end.cause) == (Stop::Cancelled, Some(StopCause::Interrupted))));
    assert_eq!(fork.writer.append(vec![prompt("other")], at(51)).unwrap()[0].seq, 7);
    drop(fork);
    assert!(place.store.verify(&id(2)).unwrap().is_sound());
}

#[test]
fn a_fork_keeps_the_blobs_when_its_parent_goes() {
    let place = place();
    let opened = place.store.create(start(&id(1)), at(0)).unwrap();
    let blob = opened.writer.blobs().put(b"picture").unwrap();
    drop(opened);
    drop(place.store.fork(&id(1), None, id(2), at(5)).unwrap());
    place.store.delete(&id(1), at(6)).unwrap();
    assert_eq!(place.store.reader(&id(2)).unwrap().blobs().get(&blob, 100).unwrap(), b"picture");
}

#[test]
fn a_fork_where_there_is_no_event_is_refused() {
    let place = place();
    let parent = parent(&place);
    for at_seq in [0, 8, u64::MAX] {
        let error = place.store.fork(&parent, Some(at_seq), id(2), at(50)).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchEvent { last: 7, .. }), "{error}");
    }
    assert!(!place.store.exists(&id(2)));
    assert!(matches!(place.store.fork(&parent, None, parent.clone(), at(50)), Err(StoreError::Exists(_))));
}
