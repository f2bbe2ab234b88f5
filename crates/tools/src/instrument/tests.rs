use std::path::Path;

use super::{Comment, LASTING, MARK, Which, put, take};

fn comment(name: &str) -> Comment {
    Comment::of(Path::new(name)).unwrap()
}

#[test]
fn a_line_is_marked_in_its_language() {
    let lines = [
        ("a.rs", "dbg!(x); // covey-debug"),
        ("a.PY", "dbg!(x); # covey-debug"),
        ("Makefile", "dbg!(x); # covey-debug"),
        ("a.lua", "dbg!(x); -- covey-debug"),
        ("a.html", "dbg!(x); <!-- covey-debug -->"),
        ("a.css", "dbg!(x); /* covey-debug */"),
    ];
    for (name, line) in lines {
        assert_eq!(comment(name).marked("dbg!(x);", MARK), line, "{name}");
        assert!(comment(name).is_marked(format!("  {line} \r\n").as_bytes(), &[MARK]), "{name}");
    }
    for name in ["a.json", "a.unknown", "noextension"] {
        assert_eq!(Comment::of(Path::new(name)), None, "{name}");
    }
    assert!(!comment("a.rs").is_marked(b"let covey-debug", &[MARK]));
    assert!(!comment("a.rs").is_marked(b"x // covey-debug-keep", &[MARK]));
}

#[test]
fn what_is_put_in_comes_out_again_to_the_byte() {
    let files: [&[u8]; 7] =
        [b"", b"\n", b"a", b"a\nb", b"\tif x {\n\t\ty\n\t}\n", b"a\r\nb\r\n", b"a\r\nb\xff\xfe"];
    for file in files {
        let count = file.split_inclusive(|byte| *byte == b'\n').count();
        for after in 0..=count {
            let with = put(file, comment("a.rs"), after, &["one();", "two();"], MARK).unwrap();
            let (rest, removed) = take(&with, comment("a.rs"), Which::Passing);
            assert_eq!(
                (rest.as_slice(), removed),
                (file, 2),
                "{:?} after {after}",
                String::from_utf8_lossy(file)
            );
        }
        assert!(put(file, comment("a.rs"), count + 1, &["x"], MARK).is_err());
    }
}

#[test]
fn it_is_indented_like_its_neighbour_and_may_stay() {
    let with = put(b"def f():\n    return 1\n", comment("a.py"), 2, &["print(1)"], LASTING).unwrap();
    assert_eq!(String::from_utf8_lossy(&with), "def f():\n    return 1\n    print(1) # covey-debug-keep\n");
    assert_eq!(take(&with, comment("a.py"), Which::Passing).1, 0);
    assert_eq!(take(&with, comment("a.py"), Which::All).1, 1);
}
