//! Looking at files and folders.

use std::os::unix::fs::symlink;

use guard::Action;
use serde_json::json;
use tools::Toolbox;

use crate::folder::Folder;

#[tokio::test]
async fn read_numbers_lines_and_pages() {
    let folder = Folder::new();
    let text: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
    folder.write("long.txt", text);
    let first = folder.call("read", json!({"path": "long.txt"})).await.unwrap();
    assert!(first.text.starts_with("1\tline 1\n2\tline 2\n"));
    assert!(first.text.ends_with("2000\tline 2000\n… more: go on with offset 2001\n"));
    assert_eq!(first.summary, "lines 1-2000");
    let middle = folder.read(json!({"path": "long.txt", "offset": 4999, "limit": 10})).await.unwrap();
    assert_eq!(middle, "4999\tline 4999\n5000\tline 5000\n");
    let beyond = folder.read(json!({"path": "long.txt", "offset": 6000})).await.unwrap_err();
    assert!(beyond.contains("only 5000 lines"), "{beyond}");
}

#[tokio::test]
async fn read_takes_any_text_there_is() {
    let folder = Folder::new();
    folder.write("crlf.txt", "a\r\nb").write("empty.txt", "").write("latin1.txt", b"caf\xe9\n");
    assert_eq!(folder.read(json!({"path": "crlf.txt"})).await.unwrap(), "1\ta\n2\tb\n");
    assert_eq!(folder.read(json!({"path": "empty.txt"})).await.unwrap(), "(the file is empty)\n");
    assert_eq!(folder.read(json!({"path": "latin1.txt"})).await.unwrap(), "1\tcafé\n");
}

#[tokio::test]
async fn a_line_of_megabytes_is_cut_and_a_page_stays_small() {
    let folder = Folder::new();
    folder.write("minified.js", "🦀".repeat(1 << 20));
    let line = folder.read(json!({"path": "minified.js"})).await.unwrap();
    assert!(line.len() < 10_000 && line.ends_with("[line cut]\n"), "{}", line.len());
    folder.write("wide.txt", format!("{}\n", "x".repeat(1900)).repeat(2000));
    let page = folder.read(json!({"path": "wide.txt"})).await.unwrap();
    assert!(page.len() < 60_000, "{}", page.len());
    assert!(page.contains("go on with offset"));
}

#[tokio::test]
async fn what_is_not_a_text_file_is_an_answer_not_a_hang() {
    let folder = Folder::new();
    folder.write("binary", [0u8, 1, 2, 3]);
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    for (path, told) in [
        ("binary", "binary"),
        ("dir", "folder"),
        ("pipe", "pipe"),
        ("missing", "does not exist"),
        ("loop", "loop"),
    ] {
        let error = folder.read(json!({"path": path})).await.unwrap_err();
        assert!(error.contains(told), "{path}: {error}");
    }
    for bad in
        [json!({}), json!({"path": 3}), json!({"path": "a", "other": 1}), json!("a"), json!({"path": "a\0b"})]
    {
        assert!(folder.read(bad.clone()).await.is_err(), "{bad}");
    }
}

#[tokio::test]
async fn a_way_out_of_the_project_needs_the_persons_word() {
    let folder = Folder::new();
    folder.write("inside", "x");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "s3cret").unwrap();
    symlink(outside.path(), folder.path().join("link")).unwrap();
    for path in ["../other", "/etc/passwd", "link/secret", "link/../x", "./link"] {
        // What is asked about is the path as it was given; where it leads is for the guard to find out.
        let asked = folder.actions("read", json!({"path": path}));
        assert_eq!(asked, [Action::Read { paths: vec![folder.context.cwd.join(path)] }]);
        let error = folder.read(json!({"path": path})).await.unwrap_err();
        assert!(error.contains("outside"), "{path}: {error}");
    }
}

#[tokio::test]
async fn list_dir_shows_what_there_is_once() {
    let folder = Folder::new();
    folder.write("b.txt", "12345").write("a\nc", "");
    std::fs::create_dir(folder.path().join("dir")).unwrap();
    symlink("b.txt", folder.path().join("link")).unwrap();
    let listing = folder.call("list_dir", json!({})).await.unwrap();
    assert_eq!(listing.text, "a\u{fffd}c  0\nb.txt  5\ndir/\nlink (link)\n");
    assert_eq!(listing.summary, "4 entries");
    for n in 0..600 {
        std::fs::write(folder.path().join(format!("dir/{n}")), "").unwrap();
    }
    let many = folder.call("list_dir", json!({"path": "dir"})).await.unwrap();
    assert!(many.text.ends_with("… only the first 500 of 600 are listed\n"));
    let file = folder.call("list_dir", json!({"path": "b.txt"})).await.unwrap_err();
    assert!(file.0.contains("folder"), "{file}");
}

#[test]
fn what_the_model_is_told_of_the_tools_is_short_and_a_schema() {
    let toolbox = Toolbox::builtin();
    for tool in toolbox.iter() {
        assert_eq!(tool.schema()["type"], "object", "{}", tool.name());
        assert_eq!(tool.schema()["additionalProperties"], false, "{}", tool.name());
        assert!(tool.description().len() < 200, "{}", tool.name());
        assert!(!tool.title(&json!(null)).is_empty(), "{}", tool.name());
    }
}
