use super::detect;

/// One line a check.
fn found(files: &[(&str, &str)], filter: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let checks = detect(folder.path(), filter);
    checks.iter().map(|check| format!("{}: {}\n", check.kind.as_str(), check.argv.join(" "))).collect()
}

#[test]
fn each_kind_of_project_has_its_checks() {
    assert_eq!(
        found(&[("Cargo.toml", "")], Some("cart")),
        "build: cargo check --all-targets --color=never\ntest: cargo test --no-fail-fast --color=never cart\n\
         lint: cargo clippy --all-targets --color=never\n"
    );
    assert_eq!(
        found(&[("go.mod", "")], None),
        "build: go build ./...\ntest: go test -v ./...\nlint: go vet ./...\n"
    );
    assert_eq!(
        found(&[("pyproject.toml", "[tool.ruff]\n[tool.mypy]")], Some("x")),
        "build: python3 -m mypy .\ntest: python3 -m pytest -q --color=no -rfE -k x\n\
         lint: ruff check --output-format=concise .\n"
    );
    assert_eq!(
        found(&[("pom.xml", ""), ("mvnw", "")], None),
        "build: ./mvnw -B -q test-compile\ntest: ./mvnw -B test\n"
    );
    assert_eq!(
        found(&[("build.gradle.kts", "")], Some("A")),
        "build: gradle --console=plain testClasses\ntest: gradle --console=plain test --tests A\n"
    );
}

#[test]
fn a_python_project_is_tested_with_what_it_has() {
    let unittest = ("tests/test_a.py", "import unittest\n");
    assert_eq!(found(&[("setup.py", ""), unittest], Some("x")), "test: python3 -m unittest -v -k x\n");
    let pytest = "test: python3 -m pytest -q --color=no -rfE\n";
    assert_eq!(found(&[("setup.py", ""), unittest, ("requirements-dev.txt", "pytest>=8\n")], None), pytest);
    assert_eq!(found(&[("setup.py", ""), unittest, ("test_b.py", "import pytest\n")], None), pytest);
    assert_eq!(
        found(&[("pyproject.toml", "[project]"), (".venv/bin/python", "")], None),
        "test: ./.venv/bin/python -m pytest -q --color=no -rfE\n"
    );
}

#[test]
fn a_node_project_says_itself_what_it_has() {
    let scripts = r#"{"scripts": {"build": "b", "test": "t", "lint": "l"}}"#;
    assert_eq!(
        found(&[("package.json", scripts), ("pnpm-lock.yaml", "")], Some("cart")),
        "build: pnpm run build\ntest: pnpm run test cart\nlint: pnpm run lint\n"
    );
    let empty = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
    assert_eq!(found(&[("package.json", empty)], None), "");
    assert_eq!(
        found(&[("package.json", "{}"), ("tsconfig.json", "")], None),
        "build: npx --no-install tsc --noEmit --pretty false\n"
    );
    assert_eq!(
        found(&[("package.json", "not json"), ("tsconfig.json", "\u{feff}{")], None).lines().count(),
        1
    );
}

#[test]
fn a_makefile_fills_the_gaps() {
    let makefile = "test:=1\nall: x\ncheck : x\n\tcargo test\nlint:\n";
    assert_eq!(
        found(&[("Makefile", makefile)], None),
        "build: make all\ntest: make check\nlint: make lint\n"
    );
    let both = found(&[("Makefile", makefile), ("pom.xml", "")], None);
    assert!(
        both.contains("mvn -B test") && both.contains("make lint") && !both.contains("make check"),
        "{both}"
    );
    assert_eq!(found(&[], None), "");
}
