use super::*;

fn record(what: &str) -> Record {
    Record {
        n: 0,
        at: String::new(),
        tool: "shell".into(),
        what: vec![what.into()],
        mode: "auto".into(),
        level: "safe".into(),
        decision: "allow".into(),
        by: "guard".into(),
        because: vec![],
        before: String::new(),
        hash: String::new(),
    }
}

fn written(folder: &Path) -> PathBuf {
    let mut audit = Audit::open(folder, "s");
    for what in ["a", "b"] {
        audit.append(record(what)).unwrap();
    }
    // Opened again, the chain goes on.
    let mut audit = Audit::open(folder, "s");
    for what in ["c", "d"] {
        audit.append(record(what)).unwrap();
    }
    folder.join("s.jsonl")
}

fn wrong(folder: &Path) -> Vec<String> {
    verify(folder, "s").unwrap().1.iter().map(ToString::to_string).collect()
}

#[test]
fn a_chain_that_was_left_alone_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let (records, problems) = verify(folder.path(), "s").unwrap();
    assert_eq!((records.len(), problems), (4, vec![]));
    assert_eq!(sessions(folder.path()), ["s"]);
}

#[test]
fn whatever_is_done_to_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let log = written(folder.path());
    let text = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let put = |lines: &[&str]| std::fs::write(&log, lines.join("\n") + "\n").unwrap();

    put(&[lines[0], lines[2], lines[3]]);
    assert_eq!(wrong(folder.path()), ["1 record is missing before line 2: number 2"]);
    put(&[lines[0], &lines[1].replace("\"b\"", "\"x\""), lines[2], lines[3]]);
    assert_eq!(wrong(folder.path()), ["line 2 was changed"]);
    put(&lines[..2]);
    assert_eq!(wrong(folder.path()), ["the end was cut off: 2 lines are there, and there were 4"]);
    put(&[lines[1], lines[0], lines[2], lines[3]]);
    assert!(!wrong(folder.path()).is_empty());
    put(&[lines[0], "garbage", lines[2], lines[3]]);
    assert_eq!(wrong(folder.path()), ["line 2 is no record"]);
    std::fs::remove_file(&log).unwrap();
    assert_eq!(wrong(folder.path()), ["the end was cut off: 0 lines are there, and there were 4"]);
    put(&lines);
    assert_eq!(wrong(folder.path()), Vec::<String>::new());
    std::fs::remove_file(folder.path().join("heads/s.json")).unwrap();
    assert_eq!(wrong(folder.path()), ["the head of the chain is gone"]);
}

/// Somebody who knows the format can mend the hashes behind a line they changed, but not the head.
#[test]
fn a_chain_made_anew_does_not_match_its_head() {
    let folder = tempfile::tempdir().unwrap();
    let log = written(folder.path());
    let mut before = String::new();
    let mut lines = Vec::new();
    for line in std::fs::read_to_string(&log).unwrap().lines() {
        let mut record: Record = serde_json::from_str(line).unwrap();
        record.decision = "deny".into();
        record.before = before;
        record.hash = hash(&record);
        before = record.hash.clone();
        lines.push(serde_json::to_string(&record).unwrap());
    }
    std::fs::write(&log, lines.join("\n") + "\n").unwrap();
    assert_eq!(wrong(folder.path()), ["the last line is not the one that was written last"]);
}
