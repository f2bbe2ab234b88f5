use super::describe;

#[test]
fn every_kind_of_change_is_listed_by_its_real_name() {
    let zeros = "0".repeat(40);
    let records = [
        "# branch.oid 0123456789abcdef".to_owned(),
        "# branch.head main".to_owned(),
        "# branch.upstream origin/main".to_owned(),
        "# branch.ab +2 -1".to_owned(),
        format!("1 M. N... 100644 100644 100644 {zeros} {zeros} staged file.rs"),
        format!("1 .M N... 100644 100644 100644 {zeros} {zeros} two\nlines"),
        format!("2 R. N... 100644 100644 100644 {zeros} {zeros} R100 new name"),
        "old name".to_owned(),
        format!("u UU N... 100644 100644 100644 100644 {zeros} {zeros} {zeros} both.rs"),
        "? -f".to_owned(),
        String::new(),
    ];
    let (text, summary) = describe(records.join("\0").as_bytes());
    assert_eq!(
        text,
        "on main at 012345678, upstream origin/main +2 -1\nconflicts:\n  both.rs\nstaged:\n  M staged file.rs\n  \
         R old name -> new name\nnot staged:\n  M \"two\\nlines\"\nuntracked:\n  -f\n"
    );
    assert_eq!(summary, "1 in conflict, 2 staged, 1 not staged, 1 untracked");
}

#[test]
fn what_makes_no_sense_is_passed_over() {
    let (text, summary) = describe(b"1\0 \0x y\x001 M\0u UU\x002 R. N\0\xff\xfe\0");
    assert_eq!((text.as_str(), summary.as_str()), ("on  at \nnothing changed\n", "clean"));
}
