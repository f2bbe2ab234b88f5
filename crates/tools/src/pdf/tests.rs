use std::io::Write;

use proptest::prelude::*;

use super::{NoText, text};

/// A file with these objects, numbered from 1 on; the first is the catalogue.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.4\n".to_vec();
    for (at, object) in objects.iter().enumerate() {
        bytes.extend(format!("{} 0 obj\n", at + 1).bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    bytes.extend(b"trailer\n<< /Root 1 0 R >>\n%%EOF\n");
    bytes
}

fn stream(more: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<< /Length {} {more} >>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// One page with this content and this font.
fn page(content: Vec<u8>, font: &str) -> Vec<u8> {
    pdf(&[
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F1 5 0 R >> >> >>".to_vec(),
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>".to_vec(),
        content,
        font.as_bytes().to_vec(),
        stream("", b"1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfchar <0001> <00480069> endbfchar\n\
                     1 beginbfrange <0002> <0004> <0061> endbfrange"),
    ])
}

const PLAIN: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

#[test]
fn lines_and_words_are_where_the_page_has_them() {
    let content =
        b"BT /F1 12 Tf 72 700 Td (Hello, \\(big\\) world) Tj 0 -14 Td (second) Tj 60 0 Td (far) Tj T* ET\n\
                    BT /F1 12 Tf 72 600 Td [(sp) -20 (lit) -400 (words)] TJ ET";
    let told = text(&page(stream("", content), PLAIN)).unwrap();
    assert_eq!(told, "--- page 1 ---\nHello, (big) world\nsecond far\n\nsplit words\n");
}

#[test]
fn streams_are_unpacked_and_codes_looked_up() {
    let content = deflated(b"BT /F1 10 Tf 1 0 0 1 50 50 Tm <00010002> Tj <00030004> Tj ET");
    let font =
        "<< /Subtype /Type0 /ToUnicode 6 0 R /DescendantFonts [<< /DW 500 /W [2 [400 400] 4 4 300] >>] >>";
    let told = text(&page(stream("/Filter /FlateDecode", &content), font)).unwrap();
    assert_eq!(told, "--- page 1 ---\nHiabc\n");
    let named = "<< /Subtype /Type1 /Encoding << /Differences [1 /fi /quoteright 65 /uni20AC /bar] >> >>";
    let told = text(&page(stream("", b"BT /F1 9 Tf <0102414243> Tj ET"), named)).unwrap();
    assert_eq!(told, "--- page 1 ---\nfi\u{2019}\u{20ac}|C\n");
}

#[test]
fn objects_in_streams_and_files_without_a_way_to_their_pages_are_read() {
    let inner = b"7 0 8 40 << /Type /Page /Contents 9 0 R /X 1     >> << /Font << >> >>";
    let packed = stream("/Type /ObjStm /N 2 /First 9 /Filter /FlateDecode", &deflated(inner));
    let mut bytes = b"%PDF-1.5\n3 0 obj\n".to_vec();
    bytes.extend(packed);
    bytes.extend(b"\nendobj\n9 0 obj\n");
    bytes.extend(stream(
        "/Filter [/ASCII85Decode]",
        b"6<#'\\7PQ#@1a#b0+>GQ(+?(u.+B2ko-qIocCi:FtDfTZ).9(%)78s~>",
    ));
    bytes.extend(b"\nendobj\n");
    assert_eq!(text(&bytes).unwrap(), "--- page 1 ---\nHello World\n");
}

#[test]
fn what_has_no_text_says_why() {
    assert_eq!(text(b"%PDF-1.4\nnothing"), Err(NoText::Damaged));
    assert_eq!(text(&page(stream("", b"q 10 0 0 10 0 0 cm /Im0 Do Q"), PLAIN)), Err(NoText::OnlyPictures));
    let mut locked = page(stream("", b"BT (x) Tj ET"), PLAIN);
    locked.extend(b"trailer << /Root 1 0 R /Encrypt 9 0 R >>");
    assert_eq!(text(&locked), Err(NoText::Encrypted));
}

#[test]
fn letters_of_a_font_that_is_cut_off_are_not_guessed() {
    let font = "<< /Subtype /TrueType /ToUnicode 6 0 R >>";
    let whole = page(stream("", b"BT /F1 9 Tf <0102> Tj (ABC) Tj ET"), font);
    let at = |what: &[u8]| whole.windows(what.len()).position(|window| window == what).unwrap();
    // Without its table, without the font, without what says which fonts there are.
    assert_eq!(text(&whole[..at(b"6 0 obj")]), Err(NoText::NoFonts));
    assert_eq!(text(&whole[..at(b"5 0 obj")]), Err(NoText::NoFonts));
    let orphan = [b"%PDF-1.4\n", &whole[at(b"3 0 obj")..at(b"5 0 obj")]].concat();
    assert_eq!(text(&orphan), Err(NoText::NoFonts));
    // With what says it above the page, though nothing leads there.
    let led = [b"%PDF-1.4\n", &whole[at(b"2 0 obj")..at(b"trailer")]].concat();
    assert!(text(&led).is_ok());
    // With half of its table.
    let half = pdf(&[
        b"<< /Pages 2 0 R >>".to_vec(),
        b"<< /Kids [3 0 R] /Resources << /Font << /F1 4 0 R >> >> >>".to_vec(),
        b"<< /Contents 6 0 R >>".to_vec(),
        b"<< /Subtype /TrueType /ToUnicode 5 0 R >>".to_vec(),
        stream("", b"1 beginbfchar <41> <0048> endbfchar 1 beginbfchar <42> <00"),
        stream("", b"BT /F1 9 Tf (AB A) Tj ET"),
    ]);
    let told = text(&half).unwrap();
    assert!(told.starts_with("--- page 1 ---\nH H\n[left out: 1 letter,"), "{told}");
    let two = page(stream("", b"BT /F1 9 Tf (gone) Tj /F2 9 Tf 0 -20 Td (kept) Tj ET"), font);
    let cut = &two[..two.windows(7).position(|window| window == b"6 0 obj").unwrap()];
    let told = text(cut).unwrap();
    assert!(
        told.contains("kept") && !told.contains("gone") && told.contains("[left out: 4 letters,"),
        "{told}"
    );
}

#[test]
fn what_an_enemy_made_comes_to_an_end() {
    // Pages that are their own parents, references in circles, forms that draw themselves, bombs, and nothing closed.
    let circle = pdf(&[
        b"<< /Pages 2 0 R >>".to_vec(),
        b"<< /Kids [2 0 R 2 0 R 3 0 R] >>".to_vec(),
        b"3 0 R".to_vec(),
    ]);
    assert_eq!(text(&circle), Err(NoText::Damaged));
    let own = pdf(&[
        b"<< /Pages 2 0 R >>".to_vec(),
        b"<< /Contents 3 0 R /Resources << /XObject << /A 3 0 R >> >> >>".to_vec(),
        stream("/Subtype /Form", &b"/A Do ".repeat(50)),
    ]);
    assert_eq!(text(&own), Err(NoText::OnlyPictures));
    let bomb = deflated(&vec![b' '; 20 << 20]);
    let many: String = (0..200).map(|_| "4 0 R ").collect();
    let bombs = pdf(&[
        b"<< /Pages 2 0 R >>".to_vec(),
        format!("<< /Kids [{}] >>", "3 0 R ".repeat(500)).into_bytes(),
        format!("<< /Contents [{many}] >>").into_bytes(),
        stream("/Filter /FlateDecode", &bomb),
    ]);
    assert_eq!(text(&bombs), Err(NoText::OnlyPictures));
    for part in ["1 0 obj (", "1 0 obj <<", "1 0 obj [", "1 0 obj <", "<<<<", "[[[["] {
        assert_eq!(text(part.repeat(20_000).as_bytes()), Err(NoText::Damaged), "{part}");
    }
}

proptest! {
    #[test]
    fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..400), at in 0_usize..700) {
        let _ = text(&bytes);
        let mut file = page(stream("", b"BT /F1 12 Tf 72 700 Td (Hello) Tj ET"), PLAIN);
        let at = at.min(file.len());
        file.splice(at..(at + bytes.len() / 8).min(file.len()), bytes.into_iter().take(50));
        let _ = text(&file);
    }
}
