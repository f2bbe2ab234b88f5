//! Files come, change and go; processes die; disks lie.

use index::{Cancel, IfBusy, IndexError};

use crate::shelf::Shelf;

fn counts(updated: &index::Updated) -> (usize, usize, usize) {
    (updated.added, updated.changed, updated.removed)
}

#[test]
fn an_update_costs_what_changed() {
    let shelf = Shelf::new();
    shelf.write("a.rs", "fn alpha() {}\n");
    shelf.write("b.rs", "fn beta() {}\n");
    assert_eq!(counts(&shelf.update()), (2, 0, 0));
    // What changed at the very moment it was read is looked at again; then it is settled.
    std::thread::sleep(std::time::Duration::from_millis(40));
    shelf.write("a.rs", "fn alpha() {}\n");
    shelf.write("b.rs", "fn beta() {}\n");
    std::thread::sleep(std::time::Duration::from_millis(40));
    shelf.update();
    assert_eq!(counts(&shelf.update()), (0, 0, 0));
    shelf.write("a.rs", "fn gamma() {}\n");
    std::fs::remove_file(shelf.root.join("b.rs")).unwrap();
    shelf.write("c/d.rs", "fn delta() {}\n");
    assert_eq!(counts(&shelf.update()), (1, 1, 1));
    assert_eq!(shelf.files("gamma delta beta alpha"), ["a.rs", "c/d.rs"]);
    // A rename is one gone and one new.
    std::fs::rename(shelf.root.join("a.rs"), shelf.root.join("e.rs")).unwrap();
    shelf.update();
    assert_eq!(shelf.files("gamma"), ["e.rs"]);
}

#[test]
fn a_change_that_keeps_time_and_size_is_seen() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n")]);
    let path = shelf.root.join("a.rs");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    shelf.write("a.rs", "fn gamma() {}\n");
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    shelf.update();
    assert_eq!(shelf.files("gamma"), ["a.rs"]);
    assert!(shelf.files("alpha").is_empty());
}

#[test]
fn a_clock_that_runs_backwards_does_not_matter() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n")]);
    let path = shelf.root.join("a.rs");
    for (seconds, name) in [(0, "beta"), (4_000_000_000, "gamma"), (1_000, "delta")] {
        shelf.write("a.rs", format!("fn {name}() {{}}\n"));
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        shelf.update();
        assert_eq!(shelf.files(name), ["a.rs"]);
    }
}

#[test]
fn damage_is_noticed_and_mended() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n"), ("b.rs", "fn beta() {}\n")]);
    for at in [0usize, 10, 70, 300] {
        let path = shelf.segments().remove(0);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.min(bytes.len() - 1);
        bytes[at] ^= 0x55;
        std::fs::write(&path, bytes).unwrap();
        assert!(shelf.index().status().unwrap().unwrap().damaged, "{at}");
        assert!(shelf.update().repaired, "{at}");
        assert_eq!(shelf.files("alpha"), ["a.rs"], "{at}");
    }
    // Cut short, empty, gone.
    let path = shelf.segments().remove(0);
    std::fs::write(&path, &std::fs::read(&path).unwrap()[..50]).unwrap();
    assert!(shelf.update().repaired);
    std::fs::write(shelf.segments().remove(0), "").unwrap();
    assert!(shelf.update().repaired);
    std::fs::remove_file(shelf.segments().remove(0)).unwrap();
    assert!(shelf.update().repaired);
    for manifest in [
        "",
        "{",
        "{\"format\":99}",
        "{\"format\":1,\"root\":\"\",\"next\":0,\"checked_ms\":0,\"segments\":[{\"name\":\"../../x\",\"dead\":[]}]}",
    ] {
        std::fs::write(shelf.folder().join("manifest.json"), manifest).unwrap();
        shelf.update();
        assert_eq!(shelf.files("beta"), ["b.rs"], "{manifest}");
    }
}

#[test]
fn two_at_once_take_turns() {
    let shelf = Shelf::new();
    for file in 0..300 {
        shelf.write(&format!("src/f{file}.rs"), format!("fn function_{file}() {{}}\n"));
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| shelf.update());
            scope.spawn(|| shelf.index().embed(&|_| {}, &Cancel::default()).unwrap());
        }
    });
    shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    let status = shelf.index().status().unwrap().unwrap();
    assert_eq!((status.files, status.vectors, status.damaged), (300, status.chunks, false));
    assert_eq!(shelf.find("function_77")[0], "src/f77.rs:1-1 function_77");
}

#[test]
fn stopped_work_is_kept() {
    let shelf = Shelf::new();
    for file in 0..50 {
        shelf.write(&format!("f{file}.rs"), format!("fn function_{file}() {{}}\n"));
    }
    let cancel = Cancel::default();
    let stop = |step| {
        if matches!(step, index::Step::Reading { .. }) {
            cancel.cancel();
        }
    };
    let stopped = shelf.index().update(IfBusy::Wait, &stop, &cancel);
    assert!(matches!(stopped, Err(IndexError::Cancelled)));
    let before = shelf.index().status().unwrap().unwrap().files;
    assert!((1..50).contains(&before), "{before}");
    assert!(shelf.update().added <= 50 - before as usize);
    assert_eq!(shelf.index().status().unwrap().unwrap().files, 50);
}

#[test]
fn what_others_add_is_seen_by_a_searcher_that_is_open() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n")]);
    let searcher = shelf.index().searcher();
    let files = |query: &str| searcher.search(query, &index::SearchOptions::default()).unwrap().hits.len();
    assert_eq!((files("alpha"), files("beta")), (1, 0));
    shelf.write("b.rs", "fn beta() {}\n");
    shelf.update();
    assert_eq!(files("beta"), 1);
    shelf.index().clear().unwrap();
    assert_eq!(files("beta"), 0);
    assert!(shelf.index().status().unwrap().is_none());
}

#[test]
fn a_watched_project_stays_fresh() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n")]);
    let (told, heard) = std::sync::mpsc::channel();
    let watch = shelf.index().watch(move |updated| {
        let _ = told.send(updated.clone());
    });
    for (path, text, word) in [("a.rs", "fn gamma() {}\n", "gamma"), ("new/b.rs", "fn beta() {}\n", "beta")] {
        shelf.write(path, text);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while shelf.files(word) != [path] {
            assert!(std::time::Instant::now() < deadline, "{path} was not taken in");
            let _ = heard.recv_timeout(std::time::Duration::from_millis(100));
        }
    }
    drop(watch);
}

#[test]
fn what_is_kept_gets_its_vectors_and_what_builds_write_is_not_watched() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n"), ("Cargo.toml", "[package]\nname = 'a'\n")]);
    let first = shelf.index().keep();
    let second = shelf.index().keep();
    assert!(std::sync::Arc::ptr_eq(&first, &second), "one for a project");
    let complete = |files: u32| {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        loop {
            let status = shelf.index().status().unwrap().unwrap();
            if (status.files, status.vectors) == (files, status.passages) {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "{status:?}");
            std::thread::yield_now();
        }
    };
    complete(2);
    shelf.write("deep/er/b.rs", "fn beta() {}\n");
    complete(3);
    // In a folder that came later.
    shelf.write("deep/er/c.rs", "fn gamma() {}\n");
    complete(4);
    shelf.write("target/debug/d.rs", "fn delta() {}\n");
    shelf.write("e.rs", "fn epsilon() {}\n");
    complete(5);
    assert!(!shelf.files("delta").contains(&"target/debug/d.rs".to_owned()));
    drop((first, second));
}

#[test]
fn known_files_are_updated_without_a_walk() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n"), ("b.rs", "fn beta() {}\n")]);
    shelf.write("a.rs", "fn gamma() {}\n");
    std::fs::remove_file(shelf.root.join("b.rs")).unwrap();
    let paths = ["a.rs".to_owned(), "b.rs".to_owned()];
    let updated = shelf.index().update_files(&paths, &Cancel::default()).unwrap();
    assert_eq!(counts(&updated), (0, 1, 1));
    assert_eq!((shelf.files("gamma"), shelf.files("beta").len()), (vec!["a.rs".to_owned()], 0));
}
