use super::*;

fn of(text: &str) -> String {
    let mut out = Vec::new();
    tokens(text, |kind, token| {
        let text = String::from_utf8_lossy(token).into_owned();
        out.push(if kind == Token::Whole { format!("<{text}>") } else { text });
    });
    out.join(" ")
}

#[test]
fn identifiers_fall_into_words_and_stay_whole() {
    assert_eq!(of("getPagerExecutable"), "get pager executabl <getpagerexecutable>");
    assert_eq!(of("get_pager_executable"), of("getPagerExecutable"));
    assert_eq!(of("HTTPServer XMLHttpRequest"), "http server <httpserver> xml http request <xmlhttprequest>");
    assert_eq!(of("sha256 utf8Decode __init__"), "sha256 utf8 decod <utf8decode> init");
}

#[test]
fn forms_of_a_word_meet() {
    assert_eq!(of("parse parses parsed parsing"), "pars pars pars pars");
    assert_eq!(of("entries entry running runs class status"), "entry entry run run class status");
}

#[test]
fn other_scripts_have_tokens() {
    assert_eq!(of("Größe ΔΕΛΤΑ"), "größe δελτα");
    assert_eq!(of("解析文件"), "解 析 <解析> 文 <析文> 件 <文件>");
    assert_eq!(of("naïveParser"), "naïveparser");
}

#[test]
fn data_is_not_words() {
    assert_eq!(of(&"a".repeat(1000)), "");
    assert_eq!(of("0xdeadbeef01 404"), "0xdeadbeef01 404");
    assert_eq!(of("+-*/ \u{0} ..."), "");
}
