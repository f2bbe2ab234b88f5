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
    let utf16: Vec<u8> = "\u{feff}größe 🦀\r\nb".encode_utf16().flat_map(u16::to_be_bytes).collect();
    folder
        .write("utf16.txt", utf16)
        .write("mark.txt", "\u{feff}a\n")
        .write("broken.txt", b"gr\xc3\xb6\xc3\x9fe gr\xc3\xb6\xc3\x9fe \xff\n");
    assert_eq!(folder.read(json!({"path": "utf16.txt"})).await.unwrap(), "1\tgröße 🦀\n2\tb\n");
    assert_eq!(folder.read(json!({"path": "mark.txt"})).await.unwrap(), "1\ta\n");
    assert_eq!(folder.read(json!({"path": "broken.txt"})).await.unwrap(), "1\tgröße größe \u{fffd}\n");
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
    assert_eq!(listing.text, "\"a\\nc\"  0\nb.txt  5\ndir/\nlink (link)\n");
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

#[tokio::test]
async fn read_counts_from_the_end_too() {
    let folder = Folder::new();
    folder
        .write("a.txt", (1..=100).map(|n| format!("line {n}\n")).collect::<String>())
        .write("open.txt", "x\ny");
    let last = folder.call("read", json!({"path": "a.txt", "offset": -2})).await.unwrap();
    assert_eq!(last.text, "99\tline 99\n100\tline 100\n");
    assert_eq!(last.summary, "lines 99-100");
    let part = folder.read(json!({"path": "a.txt", "offset": -50, "limit": 1})).await.unwrap();
    assert_eq!(part, "51\tline 51\n… more: go on with offset 52\n");
    let all = folder.read(json!({"path": "open.txt", "offset": -9})).await.unwrap();
    assert_eq!(all, "1\tx\n2\ty\n");
}

#[tokio::test]
async fn several_files_are_read_at_once() {
    let folder = Folder::new();
    folder.write("a.txt", "a\n").write("b.txt", "b\n").write("c.rs", "c\n").write("-", "dash\n");
    folder.write("[id].tsx", "page\n").write("new\nline", "nl\n");
    let both = folder.call("read", json!({"path": ["*.txt", "missing"]})).await.unwrap();
    assert!(
        both.text.starts_with("==> a.txt <==\n1\ta\n==> b.txt <==\n1\tb\n==> missing <==\nerror: `"),
        "{}",
        both.text
    );
    assert_eq!((both.summary.as_str(), both.read.len()), ("2 files", 2));
    assert!(folder.read(json!({"path": ["x", "y"]})).await.unwrap_err().contains("does not exist"));
    assert!(folder.read(json!({"path": "*.zig"})).await.unwrap_err().contains("no file matches"));
    // Names that look like something else are names all the same.
    for (name, text) in [("[id].tsx", "1\tpage\n"), ("-", "1\tdash\n"), ("new\nline", "1\tnl\n")] {
        assert_eq!(folder.read(json!({"path": name})).await.unwrap(), text);
    }
    let asked = folder.actions("read", json!({"path": ["src/*.rs", "a.txt", "output:x"]}));
    let path = |name: &str| folder.context.cwd.join(name);
    assert_eq!(asked, [Action::Read { paths: vec![path("src/"), path("a.txt")] }]);
    folder.write("big.log", "x".repeat(1000).repeat(60) + "\n");
    for n in 0..60 {
        folder.write(&format!("many/{n:02}"), format!("{}\n", "x".repeat(1500)));
    }
    let many = folder.read(json!({"path": "many/*"})).await.unwrap();
    assert!(many.len() < 60_000 && many.contains("more files were not read: many/"), "{}", many.len());
}

#[tokio::test]
async fn pictures_are_seen_and_outputs_are_paged() {
    let folder = Folder::new();
    let png = [b"\x89PNG\r\n\x1a\n".as_slice(), &[0; 100]].concat();
    // What it is decides, not what it is called.
    folder.write("shot.txt", &png).write("fake.png", "text\n").write("paper.pdf", "%PDF-1.7 …");
    let shot = folder.call("read", json!({"path": "shot.txt"})).await.unwrap();
    assert_eq!((shot.images[0].media_type.as_str(), &shot.images[0].bytes), ("image/png", &png));
    assert_eq!(folder.read(json!({"path": "fake.png"})).await.unwrap(), "1\ttext\n");
    assert!(
        folder.read(json!({"path": "paper.pdf"})).await.unwrap_err().contains("no pages that can be read")
    );

    use tools::Desk;
    std::fs::write(folder.desk.outputs().join("t1_c9"), "a\nb\nc\n").unwrap();
    std::fs::write(folder.desk.outputs().parent().unwrap().join("secret"), "s").ok();
    assert_eq!(folder.actions("read", json!({"path": "output:t1_c9"})), [Action::Inward]);
    let page = folder.call("read", json!({"path": "output:t1_c9", "offset": 2})).await.unwrap();
    assert_eq!((page.text.as_str(), page.read.len()), ("2\tb\n3\tc\n", 0));
    for name in ["output:", "output:../secret", "output:..", "output:/etc/passwd", "output:gone"] {
        let error = folder.read(json!({"path": name})).await.unwrap_err();
        assert!(error.contains("no output") || error.contains("is gone"), "{name}: {error}");
    }
}

#[tokio::test]
async fn huge_files_are_read_in_little_memory() {
    use std::io::Write;
    let folder = Folder::new();
    std::fs::File::create(folder.path().join("sparse")).unwrap().set_len(2 << 30).unwrap();
    assert!(
        folder.read(json!({"path": "sparse"})).await.unwrap_err().contains("binary file (2147483648 bytes)")
    );
    assert!(folder.call("edit", json!({"path": "sparse", "old": "a", "new": "b"})).await.is_err());
    // Numbered lines of 1,000 bytes, 100 MB of them, a megabyte at a time.
    let mut file = std::fs::File::create(folder.path().join("big")).unwrap();
    for block in 0..100 {
        let lines = (0..1000).map(|line| format!("{:0999}\n", block * 1000 + line));
        file.write_all(lines.collect::<String>().as_bytes()).unwrap();
    }
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default()
    };
    let before = peak();
    let deep = folder.read(json!({"path": "big", "offset": 90_000, "limit": 1})).await.unwrap();
    assert!(deep.starts_with("90000\t000") && deep.contains("89999\n"), "{deep}");
    let last = folder.read(json!({"path": "big", "offset": -1})).await.unwrap();
    assert!(last.starts_with("100000\t") && last.ends_with("99999\n"), "{last}");
    assert!(peak() < before + 32 * 1024, "{before} KiB, then {} KiB", peak());
    let error = folder.call("edit", json!({"path": "big", "old": "a", "new": "b"})).await.unwrap_err();
    assert!(error.0.contains("too many to change"), "{error}");
}

/// The bar of the first request: what every model is told of these at once.
#[test]
fn the_core_tools_for_files_are_told_in_few_bytes() {
    let toolbox = Toolbox::builtin();
    let mut sizes: Vec<(usize, &str)> = toolbox
        .core()
        .filter(|tool| matches!(tool.group(), tools::Group::Files | tools::Group::Search))
        .map(|tool| {
            let told =
                json!({"name": tool.name(), "description": tool.description(), "schema": tool.schema()});
            (told.to_string().len(), tool.name())
        })
        .collect();
    sizes.sort();
    let names: Vec<&str> = toolbox.core().map(|tool| tool.name()).collect();
    for name in ["read", "write", "edit", "list_dir", "glob", "grep", "apply_patch"] {
        assert!(names.contains(&name), "{name}");
    }
    assert!(sizes.iter().map(|(size, _)| size).sum::<usize>() <= 4_500, "{sizes:?}");
}
