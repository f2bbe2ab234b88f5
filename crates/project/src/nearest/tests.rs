use super::nearest;

fn near(word: &str, candidates: &[&str]) -> Vec<String> {
    nearest(word, candidates.iter().map(ToString::to_string), 3)
}

#[test]
fn slips_are_found_nearest_first() {
    assert_eq!(near("modle", &["mode", "model", "agent"]), ["model", "mode"]);
    assert_eq!(near("READEM.md", &["README.md", "main.rs"]), ["README.md"]);
    assert_eq!(near("größe", &["grösse", "große"]), ["große"]);
}

#[test]
fn other_words_are_not_suggested() {
    assert!(near("zzz", &["mode", "model"]).is_empty());
    assert!(near("ab", &["xy"]).is_empty());
    assert!(near("", &["mode"]).is_empty());
}
