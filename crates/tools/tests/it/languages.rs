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
    if definition.contains("; to get it: rustup component add") {
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

/// A small project of some language: a file where a function is used and something is wrong.
struct Shop {
    ending: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// Where `total` is called.
    line: u32,
    defined: &'static str,
    complaint: &'static str,
}

const SHOPS: [Shop; 4] = [
    Shop {
        ending: "py",
        files: &[
            ("cart.py", "def total(prices: list[int]) -> int:\n    return sum(prices)\n"),
            ("main.py", "from cart import total\n\nword: str = total([1, 2])\n"),
        ],
        line: 3,
        defined: "cart.py:1: def total(",
        complaint: "\"int\" is not assignable to \"str\"",
    },
    Shop {
        ending: "ts",
        files: &[
            (
                "tsconfig.json",
                "{\"compilerOptions\": {\"strict\": true, \"module\": \"es2022\", \"moduleResolution\": \"bundler\"}}",
            ),
            ("cart.ts", "export function total(prices: number[]): number {\n  return prices.length;\n}\n"),
            ("main.ts", "import { total } from \"./cart\";\n\nexport const word: string = total([1, 2]);\n"),
        ],
        line: 3,
        defined: "cart.ts:1: export function total(",
        complaint: "'number' is not assignable to type 'string'",
    },
    Shop {
        ending: "c",
        files: &[
            ("cart.h", "int total(int count);\n"),
            ("main.c", "#include \"cart.h\"\n\nchar *word(void) { return total(\"two\", 2); }\n"),
        ],
        line: 3,
        defined: "cart.h:1: int total(",
        complaint: "oo many arguments",
    },
    Shop {
        ending: "go",
        files: &[
            ("go.mod", "module shop\n\ngo 1.19\n"),
            ("cart.go", "package shop\n\nfunc total(prices []int) int { return len(prices) }\n"),
            ("main.go", "package shop\n\nvar word string = total([]int{1, 2})\n"),
        ],
        line: 3,
        defined: "cart.go:3: func total(",
        complaint: "as string value",
    },
];

/// With pyright, typescript-language-server, clangd and gopls, as far as they are on the machine.
#[tokio::test]
async fn every_server_that_is_there_knows_its_language() {
    for shop in SHOPS {
        let folder = Folder::new();
        for (name, text) in shop.files {
            folder.write(name, text);
        }
        let path = format!("main.{}", shop.ending);
        let at = json!({"path": path, "line": shop.line, "symbol": "total"});
        let definition = match folder.call("definition", at.clone()).await {
            Err(error) if error.0.contains("; to get it: ") => continue,
            told => told.unwrap().text,
        };
        assert!(definition.starts_with(shop.defined), "{path}: {definition}");
        let hover = folder.call("hover", at).await.unwrap().text;
        assert!(hover.contains("total"), "{path}: {hover}");
        let found = folder.call("diagnostics", json!({"path": path, "errors_only": true})).await.unwrap();
        assert!(found.text.contains(shop.complaint), "{path}: {}", found.text);
    }
}

/// Says to this very program that the search path has a server that hangs.
const MUTE: &str = "COVEY_TOOLS_TEST_MUTE";

#[test]
fn a_server_that_hangs_costs_its_time_limit_and_no_more() {
    let programs = tempfile::tempdir().unwrap();
    let gopls = programs.path().join("gopls");
    std::fs::write(&gopls, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    std::fs::set_permissions(&gopls, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", programs.path().display());
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "languages::beside_a_server_that_hangs", "--nocapture"])
        .env(MUTE, "1")
        .env("PATH", path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&child.stderr)
    );
}

/// Time goes by as soon as nothing else happens, so the minute that it is given is over at once.
#[tokio::test(start_paused = true)]
async fn beside_a_server_that_hangs() {
    if std::env::var_os(MUTE).is_none() {
        return;
    }
    let folder = Folder::new();
    folder.write("go.mod", "module shop\n").write("main.go", "package shop\n\nvar word string\n");
    let at = json!({"path": "main.go", "line": 3, "symbol": "word"});
    let error = folder.call("hover", at).await.unwrap_err().0;
    assert!(error.contains("gopls") && error.contains("did not answer"), "{error}");
    // Work goes on without it.
    let path = folder.path().canonicalize().unwrap().join("main.go");
    assert!(errors_after_edit(&folder.context.state, folder.context.host.as_ref(), &[path]).await.is_empty());
}
