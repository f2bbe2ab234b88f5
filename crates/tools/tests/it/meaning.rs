//! Tools that ask the code index.

use index::{Index, Options};
use project::Home;
use serde_json::json;

use crate::folder::Folder;

fn shop() -> (Folder, tempfile::TempDir) {
    let folder = Folder::new();
    folder
        .write("src/cart.rs", "use crate::price::total;\n\n/// Adds the prices of all items.\npub fn checkout() -> u32 {\n    total(3)\n}\n")
        .write("src/price.rs", "pub fn total(items: u32) -> u32 {\n    items * 2\n}\n")
        .write("tests/cart.rs", "#[test]\nfn checkout_adds_up() {\n    checkout();\n}\n");
    let home = tempfile::tempdir().unwrap();
    let options = Options { embedder: None, ..Options::new(&Home::at(home.path())) };
    tools::set_index(&folder.context.state, &Index::new(&folder.context.cwd, options));
    (folder, home)
}

#[tokio::test]
async fn code_is_found_by_what_it_does_and_as_it_is_now() {
    let (folder, _home) = shop();
    let found =
        folder.call("code_search", json!({"query": "where are the prices of items added?"})).await.unwrap();
    assert!(found.text.contains("src/cart.rs:3-6  checkout"), "{}", found.text);
    folder.write("src/refund.rs", "pub fn give_money_back() {}\n");
    let found = folder.call("code_search", json!({"query": "give_money_back"})).await.unwrap();
    assert!(found.text.contains("src/refund.rs:1"), "{}", found.text);
}

#[tokio::test]
async fn symbols_neighbours_and_the_map_are_told() {
    let (folder, _home) = shop();
    let symbol = folder.call("symbol", json!({"name": "total"})).await.unwrap();
    assert!(
        symbol.text.contains("src/price.rs:1") && symbol.text.contains("src/cart.rs:5"),
        "{}",
        symbol.text
    );
    let related = folder.call("related_files", json!({"path": "src/cart.rs"})).await.unwrap();
    assert!(related.text.contains("tests/cart.rs"), "{}", related.text);
    let map = folder.call("repo_map", json!({})).await.unwrap();
    assert!(map.text.contains("src/price.rs"), "{}", map.text);
    let outside = folder.call("related_files", json!({"path": "../x"})).await.unwrap_err();
    assert!(outside.0.contains("outside"), "{outside}");
}

#[tokio::test]
async fn without_an_index_they_say_what_to_do_instead() {
    let folder = Folder::new();
    let error = folder.call("code_search", json!({"query": "x"})).await.unwrap_err();
    assert!(error.0.contains("use grep"), "{error}");
}
