//! Checks of real projects.

use guard::Action;
use serde_json::json;
use tools::evidence;

use crate::folder::Folder;

#[tokio::test]
async fn what_the_makefile_offers_is_run_and_told() {
    let folder = Folder::new();
    folder.write(
        "Makefile",
        "build:\n\t@echo built\ntest:\n\t@echo '--- FAIL: TestCart (0.00s)'; echo '--- PASS: TestX (0.00s)'; exit 1\nlint:\n\t@true\n",
    );
    let output = folder.call("verify", json!({})).await.unwrap();
    let text = output.text;
    assert!(text.starts_with("build passed: `make build`, exit code 0, 0 s\n"), "{text}");
    assert!(
        text.contains(
            "test FAILED: `make test`, exit code 2, 1 passed, 1 failed, 0 skipped, 0 s\n  - TestCart"
        ),
        "{text}"
    );
    assert!(text.contains("lint passed") && text.ends_with("2 of 3 passed\n"), "{text}");
    let known = evidence(&folder.context.state);
    assert_eq!(known.len(), 3);
    assert!(known.iter().all(|evidence| evidence.is_fresh(&folder.context.state)));
    folder.context.state.edited();
    assert!(!known[0].is_fresh(&folder.context.state));
    let last = folder.call("verify", json!({"last": true})).await.unwrap().text;
    assert!(last.contains("STALE: older than the last edit"), "{last}");
    assert_eq!(folder.actions("verify", json!({"last": true})), [Action::Inward]);
}

#[tokio::test]
async fn a_failed_build_is_the_end_of_it() {
    let folder = Folder::new();
    folder.write("Makefile", "build:\n\t@echo 'a.c:1:2: error: no'; exit 1\ntest:\n\ttouch tested\n");
    let text = folder.call("verify", json!({})).await.unwrap().text;
    assert!(text.contains("  - a.c:1:2: error: no\n"), "{text}");
    assert!(text.contains("test not run: `make test`, the build failed\n0 of 2 passed\n"), "{text}");
    assert!(!folder.path().join("tested").exists());
    let asked = folder.actions("verify", json!({"checks": ["test"]}));
    let argv = vec!["make".to_owned(), "test".to_owned()];
    assert_eq!(asked, [Action::Program { argv, cwd: folder.context.cwd.clone() }]);
}

#[tokio::test]
async fn nothing_to_run_is_no_success() {
    let folder = Folder::new();
    let error = folder.call("verify", json!({})).await.unwrap_err();
    assert!(error.0.contains("no check was found"), "{error}");
    folder.write("go.mod", "module x\n");
    let option = folder.call("verify", json!({"filter": "-exec=evil"})).await.unwrap_err();
    assert!(option.0.contains("not an option"), "{option}");
    folder.write("sub/Makefile", "test:\n\t@sleep 1000\n");
    let late = folder.call("verify", json!({"path": "sub", "timeout": 1})).await.unwrap().text;
    assert!(late.contains("test FAILED: `make test`, did not end"), "{late}");
    let last = folder.call("verify", json!({"last": true, "checks": []})).await.unwrap();
    assert_eq!(last.summary, "1 known");
}

#[tokio::test]
async fn a_real_crate_is_built_and_tested() {
    let folder = Folder::new();
    folder.write(
        "Cargo.toml",
        "[package]\nname = \"cart\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n",
    );
    folder.write("src/lib.rs", "#[test]\nfn adds() {}\n#[test]\nfn fails() { assert_eq!(1, 2) }\n");
    let text = folder.call("verify", json!({"checks": ["test"]})).await.unwrap().text;
    assert!(text.contains("exit code 101, 1 passed, 1 failed, 0 skipped"), "{text}");
    assert!(text.contains("  - fails\n"), "{text}");
    assert!(text.contains("left: 1"), "{text}");
    let none = folder.call("verify", json!({"checks": ["test"], "filter": "nosuch"})).await.unwrap().text;
    assert!(none.contains("(NO TEST RAN)"), "{none}");
}
