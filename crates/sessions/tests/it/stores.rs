//! Creating, listing, finding, renaming and deleting sessions.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use protocol::SessionStatus;
use sessions::{AppendError, BlobError, Found, ListOptions, Opened, Store, StoreError, unfinished};

use crate::support::*;

#[test]
fn everything_is_private_to_its_owner() {
    let place = place();
    let mut opened = place.store.create(start(&id(1)), at(0)).unwrap();
    opened.writer.blobs().put(b"secret").unwrap();
    opened.writer.append((0..600).map(|_| notice("x")).collect(), at(1)).unwrap();
    let view = place.store.open_view(&id(1)).unwrap();
    opened.writer.close(&view).unwrap();
    let mut seen = Vec::new();
    let mut folders = vec![place.store.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let found = entry.metadata().unwrap();
            let mode = found.permissions().mode() & 0o777;
            assert_eq!(mode, if found.is_dir() { 0o700 } else { 0o600 }, "{:?}", entry.path());
            seen.push(entry.file_name().into_string().unwrap());
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    for name in ["events.jsonl", "metadata.json", "index", "snapshot", "blobs", "lock"] {
        assert!(seen.iter().any(|seen| seen == name), "{name} in {seen:?}");
    }
}

#[test]
fn a_list_has_the_session_used_last_first() {
    let place = place();
    let (a, b, c) = (place.session(1, vec![]), place.session(2, vec![]), place.session(3, vec![]));
    place.store.rename(&a, "Coupon applied twice", at(30)).unwrap();
    place.store.rename(&b, "Deploy the shop", at(20)).unwrap();
    place.store.rename(&c, "coupon codes twice as fast", at(40)).unwrap();
    fs::create_dir(place.store.root().join("not a session")).unwrap();

    let listing = place.store.list(&ListOptions::default()).unwrap();
    let ids: Vec<_> = listing.sessions.iter().map(|summary| summary.session.clone()).collect();
    assert_eq!(ids, [c.clone(), a.clone(), b.clone()]);
    assert_eq!(place.store.latest(Some("/src/shop")).unwrap().unwrap().session, c);
    assert_eq!(place.store.latest(Some("/elsewhere")).unwrap(), None);
    assert_eq!(
        place.store.list(&ListOptions { limit: Some(2), ..Default::default() }).unwrap().sessions.len(),
        2
    );

    assert_eq!(place.store.find(a.as_str()).unwrap(), Found::One(a.clone()));
    assert_eq!(place.store.find("SHOP deploy").unwrap(), Found::One(b.clone()));
    assert_eq!(place.store.find(&b.as_str()[..24]).unwrap(), Found::One(b));
    assert_eq!(place.store.find("nothing like it").unwrap(), Found::None);
    assert_eq!(place.store.find("").unwrap(), Found::None);
    assert_eq!(place.store.find("../../etc").unwrap(), Found::None);
    let Found::Ambiguous(candidates) = place.store.find("coupon twice").unwrap() else { panic!() };
    assert_eq!(candidates.iter().map(|s| &s.session).collect::<Vec<_>>(), [&c, &a]);
    assert!(matches!(place.store.find("20260125").unwrap(), Found::Ambiguous(all) if all.len() == 3));
}

#[test]
fn what_can_not_be_read_is_listed_as_such() {
    let place = place();
    place.session(1, vec![]);
    let broken = place.with_log(2, b"gibberish\n");
    fs::create_dir(place.store.dir(&id(3))).unwrap();
    let listing = place.store.list(&ListOptions::default()).unwrap();
    assert_eq!(listing.sessions.len(), 1);
    assert_eq!(listing.unreadable.len(), 2);
    assert_eq!(listing.unreadable[1].session, broken);
    assert!(listing.unreadable[0].why.contains("its log is missing"), "{}", listing.unreadable[0].why);
}

#[test]
fn a_list_notices_that_metadata_lags_behind() {
    let place = place();
    let session = place.session(1, vec![prompt("first words")]);
    let Opened { mut writer, .. } = place.store.open_writer(&session, at(5)).unwrap();
    writer.append(vec![notice("more"), turn_start("t1", None)], at(6)).unwrap();
    let summary = place.store.summary(&session).unwrap();
    assert_eq!((summary.seq, summary.title.as_str(), summary.updated), (4, "first words", at(6)));
    assert_eq!(summary.status, SessionStatus::Running);
    drop(writer);
    // Nobody holds it any more, but its process, this one, is alive; another would not be.
    let lock = file(&place, &session, "lock");
    let held = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, held.replace(&std::process::id().to_string(), "4194303")).unwrap();
    assert_eq!(place.store.summary(&session).unwrap().status, SessionStatus::Idle);
}

#[test]
fn a_deleted_session_is_gone_at_once() {
    let place = place();
    let session = place.session(1, vec![prompt("hello")]);
    place.store.delete(&session, at(5)).unwrap();
    assert!(!place.store.exists(&session));
    assert_eq!(fs::read_dir(place.store.root()).unwrap().count(), 0);
    assert!(matches!(place.store.delete(&session, at(5)), Err(StoreError::NotFound(_))));
    place.session(1, vec![]);
    assert!(matches!(place.store.create(start(&session), at(6)), Err(StoreError::Exists(_))));
}

#[test]
fn an_ephemeral_store_leaves_nothing() {
    let store = Store::ephemeral().unwrap();
    let root = store.root().to_owned();
    let opened = store.clone().create(start(&id(1)), at(0)).unwrap();
    drop(store.clone());
    assert!(root.exists());
    drop(opened);
    drop(store);
    assert!(!root.exists());
}

#[test]
fn blobs_are_kept_once_and_checked() {
    let place = place();
    let opened = place.store.create(start(&id(1)), at(0)).unwrap();
    let blobs = opened.writer.blobs();
    let blob = blobs.put(b"picture").unwrap();
    assert_eq!(blobs.put(b"picture").unwrap(), blob);
    assert_eq!(blobs.get(&blob, 100).unwrap(), b"picture");
    assert!(matches!(blobs.get(&blob, 3), Err(BlobError::TooLarge { .. })));
    let path = file(&place, &id(1), "blobs").join(blob.hash.as_str());
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    fs::write(&path, b"pictura").unwrap();
    assert!(matches!(blobs.get(&blob, 100), Err(BlobError::Damaged(_))));
    // A hash that is no hash is never a path.
    let outside = protocol::BlobRef { hash: "../events.jsonl".into(), bytes: 1 };
    assert!(matches!(blobs.get(&outside, 100), Err(BlobError::Missing(_))));
    assert_eq!(blobs.unreferenced(&Default::default()).unwrap(), [blob.hash]);
}

#[test]
fn a_crash_in_the_middle_of_a_turn_can_be_closed() {
    let place = place();
    let session = place.session(
        1,
        vec![
            prompt("do it"),
            turn_start("t1", None),
            says("t1", "t1.m1", "I will"),
            calls("t1", "c1"),
            turn_start("t2", Some("t1")),
            calls("t2", "c2"),
        ],
    );
    let Opened { mut writer, mut view, .. } = place.store.open_writer(&session, at(60)).unwrap();
    let open = unfinished(&view);
    assert_eq!(open.turns.iter().map(|open| open.turn.as_str()).collect::<Vec<_>>(), ["t2", "t1"]);
    assert_eq!(open.calls.len(), 2);
    for event in writer.append(open.closing_records(at(61)), at(61)).unwrap() {
        view.apply(&event);
    }
    assert!(unfinished(&view).is_empty(), "{:?}", unfinished(&view));
    assert_eq!(writer.turns().iter().map(|turn| turn.last.is_some()).collect::<Vec<_>>(), [true, true]);
    assert_eq!(writer.turns()[1].parent, Some("t1".into()));
    writer.checkpoint(&view).unwrap();
    assert_eq!(place.store.summary(&session).unwrap().status, SessionStatus::Idle);
}

#[test]
fn appends_are_synced_within_a_second() {
    let place = place();
    let mut writer = place.store.create(start(&id(1)), at(0)).unwrap().writer;
    writer.sync().unwrap();
    assert!(!writer.needs_sync());
    writer.append(vec![notice("x")], at(10)).unwrap();
    writer.sync_if_due(at(10)).unwrap();
    assert!(writer.needs_sync());
    writer.sync_if_due(at(11)).unwrap();
    assert!(!writer.needs_sync());
    // A clock that was set back must not put it off.
    writer.append(vec![notice("x")], at(10)).unwrap();
    writer.sync_if_due(at(5)).unwrap();
    assert!(!writer.needs_sync());
}

#[test]
fn errors_say_what_to_do() {
    let source = || std::io::Error::from_raw_os_error(28);
    let error = StoreError::from(AppendError::NoSpace { session: id(1), source: source() });
    assert_eq!(error.to_string(), "no space left to record session `20260125-143052-00000001`");
    assert_eq!(error.hint().unwrap(), "free some space; the session goes on from its last event");
}

#[test]
fn the_lock_says_where_the_owner_can_be_reached() {
    let place = place();
    let mut opened = place.store.create(start(&id(1)), at(0)).unwrap();
    opened.writer.announce(Some("/run/covey.sock".into())).unwrap();
    assert_eq!(place.store.holder_of(&id(1)).unwrap().socket.as_deref(), Some("/run/covey.sock"));
    let Err(StoreError::Locked { holder: Some(holder), .. }) = place.store.open_writer(&id(1), at(1)) else {
        panic!()
    };
    assert_eq!(holder.what, "covey run");
}
