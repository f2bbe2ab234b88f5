//! A real language server: rust-analyzer, which `cargo xtask test` installs where it is missing.

use serde_json::json;
use tools::errors_after_edit;

use crate::folder::Folder;

const CART: &str = "\
pub struct Cart {
    pub total: u32,
}

impl Cart {
    /// Adds to the total.
    pub fn add(&mut self, price: u32) {
        self.total += price;
    }
}

pub fn fill(cart: &mut Cart) {
    cart.add(3);
    cart.add(4);
}
";

fn shop() -> Folder {
    let folder = Folder::new();
    folder.write(
        "Cargo.toml",
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    folder.write("src/lib.rs", CART);
    folder
}

/// One story, because starting the server is most of it.
#[tokio::test]
async fn a_compiler_s_knowledge_is_asked_and_used() {
    let folder = shop();
    let tell = async |tool: &str, input| {
        folder.call(tool, input).await.map(|output| output.text).unwrap_or_else(|error| error.0)
    };
    let at = |line: u32, symbol: &str| json!({"path": "src/lib.rs", "line": line, "symbol": symbol});

    let definition = tell("definition", at(13, "add")).await;
    if definition.contains("is not installed; to get it") {
        return;
    }
    assert_eq!(definition, "src/lib.rs:7: pub fn add(&mut self, price: u32) {\n");
    let references = tell("references", at(7, "add")).await;
    assert!(
        references.contains("src/lib.rs:13: cart.add(3);") && references.contains("src/lib.rs:14:"),
        "{references}"
    );
    let hover = tell("hover", at(13, "add")).await;
    assert!(hover.contains("fn add") && hover.contains("Adds to the total."), "{hover}");
    let symbols = tell("symbols", json!({"path": "src/lib.rs"})).await;
    assert!(symbols.contains("1: Cart") && symbols.contains("12: fill"), "{symbols}");
    assert_eq!(
        tell("diagnostics", json!({"path": "src/lib.rs", "errors_only": true})).await,
        "no problems\n"
    );

    let renamed =
        tell("rename", json!({"path": "src/lib.rs", "line": 7, "symbol": "add", "new_name": "put"})).await;
    assert_eq!(renamed, "renamed in src/lib.rs\n");
    assert_eq!(folder.text("src/lib.rs"), CART.replace("add(", "put("));

    // An edit that breaks something is told of, because the server runs already.
    folder.write("src/lib.rs", CART.replace("cart.add(4)", "cart.add(\"four\")"));
    let path = folder.path().canonicalize().unwrap().join("src/lib.rs");
    let errors = errors_after_edit(&folder.context.state, folder.context.host.as_ref(), &[path]).await;
    assert!(errors.iter().any(|error| error.contains("lib.rs:14: error:")), "{errors:?}");

    for (tool, input, why) in [
        ("hover", at(99, "x"), "there is no line 99"),
        ("hover", at(13, "nothing"), "is not in line 13"),
        ("hover", json!({"path": "Cargo.toml", "line": 1}), "no language server is known"),
        ("hover", json!({"path": "missing.rs", "line": 1}), "missing.rs"),
    ] {
        let told = tell(tool, input).await;
        assert!(told.contains(why), "{told}");
    }
}
