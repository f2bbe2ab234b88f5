use super::*;

fn show(text: &str, columns: usize) -> String {
    rows(text, columns).iter().map(|row| row.text().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[test]
fn everything_there_is() {
    let text = "# Title\n\nA *paragraph* with `code`, **bold** and [a link](https://example.org) that is long.\n\n\
        ### Sub\n\n- one\n- two\n  - inner\n- three is longer than the rest of them\n\n1. first\n2. second\n\n\
        > quoted\n> text\n\n```rust\nfn main() {}\n\n// done\n```\n\n- [x] done\n- [ ] open\n\n---\n\nend";
    insta::assert_snapshot!(show(text, 34), @"
    Title

    A paragraph with code, bold and a
    link that is long.

    Sub

    • one
    • two
      • inner
    • three is longer than the rest of
      them

    1. first
    2. second

    │ quoted text

      fn main() {}

      // done

    • ✓ done
    • ○ open

    ──────────────────────────────────

    end
    ");
}

#[test]
fn tables_fit_or_become_lists() {
    let text = "| name | what it does | n |\n|---|---|--:|\n| read | reads a file | 12 |\n| write | writes one, all of it | 3 |";
    insta::assert_snapshot!(show(text, 60), @"
    name  │ what it does          │   n
    ──────┼───────────────────────┼────
    read  │ reads a file          │  12
    write │ writes one, all of it │   3
    ");
    insta::assert_snapshot!(show(text, 26), @"
    name  │ what it does │   n
    ──────┼──────────────┼────
    read  │ reads a file │  12
    write │ writes one,  │   3
          │ all of it    │
    ");
    insta::assert_snapshot!(show(text, 12), @"
    name: read
    what it
      does:
      reads a
      file
    n: 12

    name: write
    what it
      does:
      writes
      one, all
      of it
    n: 3
    ");
}

#[test]
fn what_is_settled_stays() {
    assert_eq!(settled("One paragraph"), 0);
    assert_eq!(&"One\n\nTwo"[..settled("One\n\nTwo")], "One\n\n");
    let fence = "Text\n\n```rust\nfn a() {}\n";
    assert_eq!(&fence[..settled(fence)], "Text\n\n");
    assert_eq!(settled("- a\n- b\n"), 0);
    assert_eq!(settled(""), 0);
}

#[test]
fn links_lead_somewhere_and_hold_nothing_else() {
    let lines = rows("[a](https://example.org/x) [b](javascript:alert(1)) <https://e.org/\u{7}>", 80);
    let links: Vec<_> =
        lines.iter().flat_map(|line| &line.spans).filter_map(|span| span.link.as_deref()).collect();
    assert_eq!(links[0], "https://example.org/x");
    assert!(links.iter().all(|link| !link.contains("javascript") && !link.contains('\u{7}')));
}

proptest::proptest! {
    /// What a message looks like does not depend on how it came.
    #[test]
    fn pieces_make_the_whole(text in "([a-z]{1,6}( |\n|\n\n|\n- |\n\n```\n|\\*\\*|`|> |# |\\| )){0,20}") {
        let cut = settled(&text);
        proptest::prop_assert!(text.is_char_boundary(cut));
        rows(&text, 20);
        for row in rows(&text, 20) {
            proptest::prop_assert!(row.width() <= 20, "{:?}", row.text());
        }
    }
}
