//! What crashes, power cuts and bad disks do to a log.

use std::fs;
use std::io::Write;

use sessions::{CacheState, DamageKind, Opened, Record, StoreError};

use crate::support::*;

/// The log of a small session, and where its last record begins.
fn small_log() -> (Vec<u8>, usize) {
    let place = place();
    let session = place.session(1, vec![notice("one"), notice("two"), notice("three with ü and \"quotes\"")]);
    let log = fs::read(place.log(&session)).unwrap();
    let last = log[..log.len() - 1].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    (log, last)
}

#[test]
fn a_log_cut_anywhere_in_its_last_record_loses_only_that() {
    let (log, last) = small_log();
    let place = place();
    for cut in last..log.len() {
        let session = place.with_log(1, &log[..cut]);
        let before = place.events(&session);
        assert_eq!(before.len(), 3, "cut at {cut}");

        let Opened { mut writer, view, repaired } = place.store.open_writer(&session, at(10)).unwrap();
        let torn = (cut - last) as u64;
        assert_eq!(repaired.as_ref().map_or(0, |repair| repair.bytes), torn, "cut at {cut}");
        if let Some(repair) = &repaired {
            assert_eq!(repair.offset, last as u64);
            let kept = fs::read(file(&place, &session, repair.kept_in.as_ref().unwrap())).unwrap();
            assert_eq!(kept, &log[last..cut]);
        }
        assert_eq!(view.seq, writer.last_seq());
        writer.append(vec![notice("after")], at(11)).unwrap();
        drop(writer);

        let events = place.events(&session);
        assert_eq!(events[..3], before[..]);
        let report = place.store.verify(&session).unwrap();
        assert!(report.is_sound(), "cut at {cut}: {report:?}");
        assert_eq!(report.repairs, Vec::from_iter(repaired));
    }
}

#[test]
fn a_power_cut_that_left_zeros_is_a_torn_tail() {
    let (log, last) = small_log();
    let place = place();
    for zeros in [1, 100, 5_000_000] {
        let mut torn = log[..last + 7].to_vec();
        torn.resize(last + 7 + zeros, 0);
        let session = place.with_log(1, &torn);
        let opened = place.store.open_writer(&session, at(10)).unwrap();
        let repair = opened.repaired.unwrap();
        assert_eq!((repair.offset, repair.bytes), (last as u64, 7 + zeros as u64));
        // However much was torn, little is kept.
        let kept = fs::metadata(file(&place, &session, &repair.kept_in.unwrap())).unwrap().len();
        assert!(kept <= 1 << 20);
        drop(opened.writer);
        assert!(place.store.verify(&session).unwrap().is_sound());
    }
}

#[test]
fn every_flipped_bit_is_found() {
    let (log, _) = small_log();
    let place = place();
    for bit in 0..log.len() * 8 {
        let mut bad = log.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let session = place.with_log(1, &bad);
        assert!(!place.store.verify(&session).unwrap().is_sound(), "bit {bit} of {:?}", bad[bit / 8] as char);
    }
}

#[test]
fn a_damaged_record_in_the_middle_stays_and_is_passed_over() {
    let (mut log, last) = small_log();
    let place = place();
    let second = log.iter().position(|b| *b == b'\n').unwrap() + 1;
    log[second + 20] ^= 4;
    let session = place.with_log(1, &log);

    let records = place.records(&session);
    assert_eq!(seqs(&records), [1, 3, 4]);
    assert!(matches!(&records[1], Record::Damaged(damage)
        if damage.offset == second as u64 && damage.why == DamageKind::Checksum));
    let report = place.store.verify(&session).unwrap();
    assert_eq!((report.damaged[0].seq, report.gaps.clone()), (Some(2), vec![2..=2]));

    let mut opened = place.store.open_writer(&session, at(10)).unwrap();
    assert_eq!(opened.repaired, None);
    assert_eq!(opened.writer.append(vec![notice("after")], at(11)).unwrap()[0].seq, 5);
    drop(opened);
    assert_eq!(fs::read(place.log(&session)).unwrap()[..last], log[..last]);

    let mut reader = place.store.reader(&session).unwrap();
    assert!(matches!(reader.events_from(1, 10).unwrap()[0], Record::Damaged(_)));
    assert_eq!(seqs(&reader.events_from(2, 10).unwrap()), [3, 4, 5]);
    assert_eq!(seqs(&reader.before(4, 10).unwrap()), [1, 3]);
}

#[test]
fn a_line_of_fifty_megabytes_harms_nothing() {
    let (log, last) = small_log();
    let place = place();
    let session = place.with_log(1, &log[..last]);
    let mut file = fs::OpenOptions::new().append(true).open(place.log(&session)).unwrap();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..50 {
        file.write_all(&block).unwrap();
    }
    file.write_all(b"\n").unwrap();
    file.write_all(&log[last..]).unwrap();
    drop((file, block));

    let mut reader = place.store.reader(&session).unwrap();
    assert_eq!(seqs(&reader.last(2).unwrap()), [4]);
    assert_eq!(seqs(&reader.events_from(3, 5).unwrap()), [4]);
    let records = place.records(&session);
    assert_eq!(seqs(&records), [1, 2, 3, 4]);
    assert!(
        records.iter().any(|record| matches!(record, Record::Damaged(d) if d.why == DamageKind::TooLong))
    );
    let opened = place.store.open_writer(&session, at(10)).unwrap();
    assert_eq!((opened.repaired, opened.writer.last_seq()), (None, 4));
    assert_eq!(place.store.verify(&session).unwrap().damaged_count, 1);

    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 120_000, "peak of {peak} kB");
}

#[test]
fn a_record_that_is_too_large_is_refused_and_harms_nothing() {
    let place = place();
    let mut opened = place.store.create(start(&id(1)), at(0)).unwrap();
    let error =
        opened.writer.append(vec![notice("small"), notice(&"x".repeat(17 << 20))], at(1)).unwrap_err();
    assert!(matches!(error, sessions::AppendError::TooLarge { .. }), "{error}");
    assert_eq!(opened.writer.append(vec![notice("small")], at(2)).unwrap()[0].seq, 2);
    assert_eq!(place.events(&id(1)).len(), 2);
}

#[test]
fn what_is_no_log_is_refused_and_left_alone() {
    let place = place();
    let (log, last) = small_log();
    for (bytes, why) in [
        (&b""[..], "its log is empty"),
        (b"hello\nworld\n", "its log has no whole record"),
        (&log[last..], "its log does not begin with `session_start`"),
    ] {
        let session = place.with_log(1, bytes);
        let error = place.store.open_writer(&session, at(1)).unwrap_err();
        assert!(error.to_string().ends_with(why), "{error}");
        assert!(error.hint().unwrap().contains("covey session verify"));
        assert_eq!(fs::read(place.log(&session)).unwrap(), bytes);
    }
    assert!(matches!(place.store.open_writer(&id(9), at(1)), Err(StoreError::NotFound(_))));
    assert!(matches!(place.store.reader(&id(9)), Err(StoreError::NotFound(_))));
}

#[test]
fn caches_that_do_not_fit_are_made_anew() {
    let place = place();
    let bodies = (0..2000).map(|n| notice(&format!("{n} {}", "x".repeat(300)))).collect();
    let session = place.session(1, bodies);
    let view = place.store.open_view(&session).unwrap();
    let report = place.store.verify(&session).unwrap();
    let current = (CacheState::Current, CacheState::Current, CacheState::Current);
    assert_eq!((report.index, report.snapshot, report.metadata), current);

    for name in ["index", "snapshot", "metadata.json"] {
        let path = file(&place, &session, name);
        let good = fs::read(&path).unwrap();
        let mut flipped = good.clone();
        flipped[good.len() / 2] ^= 1;
        for bad in [&b""[..], b"{}\n", &good[..good.len() / 2], &flipped] {
            fs::write(&path, bad).unwrap();
            assert_eq!(place.store.open_view(&session).unwrap(), view, "{name}");
            assert_eq!(
                seqs(&place.store.reader(&session).unwrap().events_from(1500, 2).unwrap()),
                [1501, 1502]
            );
            assert_eq!(place.store.summary(&session).unwrap().seq, 2001);
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(place.store.open_view(&session).unwrap(), view, "{name}");
        let opened = place.store.open_writer(&session, at(20)).unwrap();
        assert_eq!(opened.view, view);
        opened.writer.close(&opened.view).unwrap();
        let report = place.store.verify(&session).unwrap();
        assert_eq!(report.index, CacheState::Current, "{name}");
    }
}

/// A snapshot and an index of a log that was cut back and went another way must not be believed.
#[test]
fn caches_of_another_past_are_not_believed() {
    let place = place();
    let session = place.session(1, (0..50).map(|n| notice(&format!("first {n}"))).collect());
    let log = fs::read(place.log(&session)).unwrap();
    let half = log[..log.len() / 2].iter().rposition(|b| *b == b'\n').unwrap() + 1;
    fs::write(place.log(&session), &log[..half]).unwrap();

    let Opened { mut writer, view, .. } = place.store.open_writer(&session, at(30)).unwrap();
    assert_eq!(view.seq, writer.last_seq());
    writer.append((0..50).map(|n| notice(&format!("second {n}"))).collect(), at(31)).unwrap();
    drop(writer);
    let view = place.store.open_view(&session).unwrap();
    for name in ["snapshot", "index"] {
        fs::remove_file(file(&place, &session, name)).unwrap();
    }
    assert_eq!(place.store.open_view(&session).unwrap(), view);
}
