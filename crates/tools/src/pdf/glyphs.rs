//! What the names of glyphs mean. Letters and digits name themselves; the rest is what Latin text uses.

const NAMES: &str = "\
space  |exclam !|quotedbl \"|numbersign #|dollar $|percent %|ampersand &|quotesingle '|parenleft (|parenright )|\
asterisk *|plus +|comma ,|hyphen -|minus −|period .|slash /|zero 0|one 1|two 2|three 3|four 4|five 5|six 6|seven 7|\
eight 8|nine 9|colon :|semicolon ;|less <|equal =|greater >|question ?|at @|bracketleft [|backslash \\|bracketright ]|\
asciicircum ^|underscore _|grave `|braceleft {|bar ||braceright }|asciitilde ~|bullet •|endash –|emdash —|\
quoteleft ‘|quoteright ’|quotedblleft “|quotedblright ”|quotesinglbase ‚|quotedblbase „|guillemotleft «|\
guillemotright »|ellipsis …|dagger †|daggerdbl ‡|section §|paragraph ¶|copyright ©|registered ®|trademark ™|degree °|\
plusminus ±|multiply ×|divide ÷|periodcentered ·|mu µ|germandbls ß|ae æ|AE Æ|oe œ|OE Œ|oslash ø|Oslash Ø|aring å|\
Aring Å|adieresis ä|odieresis ö|udieresis ü|Adieresis Ä|Odieresis Ö|Udieresis Ü|eacute é|egrave è|ecircumflex ê|\
edieresis ë|aacute á|agrave à|acircumflex â|atilde ã|ccedilla ç|iacute í|igrave ì|icircumflex î|idieresis ï|ntilde ñ|\
oacute ó|ograve ò|ocircumflex ô|otilde õ|uacute ú|ugrave ù|ucircumflex û|yacute ý|Eacute É|Egrave È|Agrave À|\
Ccedilla Ç|Ntilde Ñ|Euro €|sterling £|yen ¥|cent ¢|fi ﬁ|fl ﬂ|ff ﬀ|ffi ﬃ|ffl ﬄ|nbspace  |sfthyphen -";

/// The text of a glyph, by its name.
pub(super) fn named(name: &str) -> Option<String> {
    let base = name.split_once('.').map_or(name, |(base, _)| base);
    if base.chars().count() == 1 {
        return Some(base.to_owned());
    }
    if let Some(digits) = base.strip_prefix("uni").filter(|digits| digits.len() == 4) {
        return char::from_u32(u32::from_str_radix(digits, 16).ok()?).map(String::from);
    }
    let known = NAMES.split('|').filter_map(|entry| entry.split_once(' '));
    // The bar itself ends its own entry.
    let text = known.into_iter().find(|(known, _)| *known == base).map(|(_, text)| text.to_owned());
    if base == "bar" { Some("|".to_owned()) } else { text.map(plain) }
}

/// Letters that are printed as one, taken apart: whoever searches types them apart.
pub(super) fn plain(text: String) -> String {
    if !text.contains(['ﬁ', 'ﬂ', 'ﬀ', 'ﬃ', 'ﬄ']) {
        return text;
    }
    [("ﬁ", "fi"), ("ﬂ", "fl"), ("ﬀ", "ff"), ("ﬃ", "ffi"), ("ﬄ", "ffl")]
        .iter()
        .fold(text, |text, (one, many)| text.replace(one, many))
}

/// A byte in Windows' code page 1252, which is what fonts without a say of their own mean, or nearly.
pub(super) fn windows(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '•', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '•', 'Ž', '•', '•', '‘', '’', '“',
        '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '•', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9f => HIGH[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}
