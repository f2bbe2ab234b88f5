//! Vectors: made once, kept, found again.

use std::sync::atomic::Ordering;

use index::{Cancel, IndexError, Mode, SearchOptions, Step};

use crate::shelf::Shelf;

#[test]
fn vectors_are_made_once_and_shared_by_branches_and_projects() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n"), ("b.rs", "fn beta() {}\n")]);
    let made = shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    assert_eq!((made.wanted, made.computed, made.cached), (4, 4, 0));
    assert_eq!(shelf.index().embed(&|_| {}, &Cancel::default()).unwrap().computed, 0);
    // Another branch, and back.
    shelf.write("a.rs", "fn gamma() {}\n");
    shelf.update();
    assert_eq!(shelf.index().embed(&|_| {}, &Cancel::default()).unwrap().computed, 2);
    shelf.write("a.rs", "fn alpha() {}\n");
    shelf.update();
    let back = shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    // A file that was read in the moment it was written is read once more, so there may be others.
    assert!(back.computed == 0 && back.cached >= 2, "{back:?}");
    // The whole index made again costs no vector.
    shelf.index().clear().unwrap();
    shelf.update();
    let again = shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    assert_eq!((again.computed, again.cached), (0, 4));
    assert_eq!(shelf.letters.texts.load(Ordering::Relaxed), 6);
}

#[test]
fn words_answer_before_vectors_are_there() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n")]);
    let found = shelf.index().searcher().search("alpha", &SearchOptions::default()).unwrap();
    assert_eq!((found.hits[0].file.as_str(), found.dense), ("a.rs", false));
    shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    assert!(shelf.index().searcher().search("alpha", &SearchOptions::default()).unwrap().dense);
}

#[test]
fn stopped_vectors_are_kept_and_damaged_ones_made_again() {
    let shelf = Shelf::new();
    for file in 0..200 {
        shelf.write(&format!("f{file}.rs"), format!("fn function_{file}() {{}}\n"));
    }
    shelf.update();
    let cancel = Cancel::default();
    let stop = |step| {
        if matches!(step, Step::Embedding { done, .. } if done > 0) {
            cancel.cancel();
        }
    };
    assert!(matches!(shelf.index().embed(&stop, &cancel), Err(IndexError::Cancelled)));
    let status = shelf.index().status().unwrap().unwrap();
    assert!(status.vectors > 0 && status.vectors < status.chunks, "{status:?}");
    let made = shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    assert_eq!(made.computed as u32, status.chunks - status.vectors);
    for segment in shelf.segments() {
        let path = segment.with_extension("vec");
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
    }
    assert_eq!(shelf.index().status().unwrap().unwrap().vectors, 0);
    assert_eq!(shelf.index().embed(&|_| {}, &Cancel::default()).unwrap().computed, 0);
    assert_eq!(shelf.index().status().unwrap().unwrap().vectors, status.chunks);
}

#[test]
fn vectors_of_a_lost_manifest_are_not_taken_for_others() {
    let shelf = Shelf::with(&[("a.rs", "fn alpha() {}\n")]);
    shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    std::fs::write(shelf.folder().join("manifest.json"), "{").unwrap();
    // As many pieces as before, and others.
    shelf.write("a.rs", "fn zulu_quebec() {}\n");
    shelf.update();
    assert_eq!(shelf.index().status().unwrap().unwrap().vectors, 0);
}

#[test]
fn the_end_of_a_long_function_is_found_by_meaning() {
    let mut shelf = Shelf::new();
    shelf.options.embedder = Some(std::sync::Arc::new(index::Bert::built_in()));
    let filler = "    total = total + price * amount\n".repeat(60);
    let long =
        format!("def run(total, price, amount):\n{filler}    shutil.rmtree(folder)\n    os.remove(path)\n");
    shelf.write("long.py", long);
    shelf.write("other.py", "def multiply(a, b):\n    return a * b\n");
    shelf.update();
    let made = shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    let status = shelf.index().status().unwrap().unwrap();
    assert_eq!((status.passages, status.vectors), (made.wanted as u32, made.wanted as u32));
    assert!(status.passages > status.chunks, "{status:?}");
    let dense = SearchOptions { mode: Mode::Dense, ..SearchOptions::default() };
    assert_eq!(shelf.find_with("delete a folder with everything in it", &dense)[0], "long.py:1-63 run");
}

#[test]
fn the_built_in_model_finds_by_meaning() {
    let mut shelf = Shelf::new();
    shelf.options.embedder = Some(std::sync::Arc::new(index::Bert::built_in()));
    shelf.write("a.py", "def remove_directory(path):\n    shutil.rmtree(path)\n");
    shelf.write("b.py", "def parse_json(text):\n    return json.loads(text)\n");
    shelf.write("c.py", "def send_mail(to, body):\n    smtp.sendmail(to, body)\n");
    shelf.update();
    shelf.index().embed(&|_| {}, &Cancel::default()).unwrap();
    let dense = SearchOptions { mode: Mode::Dense, ..SearchOptions::default() };
    assert!(shelf.find_with("delete a folder with everything in it", &dense)[0].starts_with("a.py"));
    assert!(shelf.find_with("how to read a JSON string into an object", &dense)[0].starts_with("b.py"));
}
