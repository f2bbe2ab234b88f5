use super::{Counts, Tally};

fn tally(output: &str) -> Tally {
    let mut tally = Tally::default();
    tally.push(output.as_bytes());
    tally
}

fn counts(output: &str) -> (u32, u32, u32) {
    let Counts { passed, failed, skipped } = tally(output).counts.unwrap();
    (passed, failed, skipped)
}

#[test]
fn cargo() {
    let output = "
running 3 tests
test cart::adds ... ok
test cart::removes ... FAILED
test slow ... ignored

failures:
    cart::removes

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests cart
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
error: test failed, to rerun pass `--lib`
";
    assert_eq!(counts(output), (3, 1, 1));
    assert_eq!(tally(output).failures(), ["cart::removes"]);
    let nextest = "        FAIL [   0.004s] cart tests::removes\n     Summary [   0.1s] 10 tests run: 9 passed (1 slow), 1 failed, 2 skipped\n";
    assert_eq!(counts(nextest), (9, 1, 2));
    assert_eq!(tally(nextest).failures(), ["cart tests::removes"]);
    let broken =
        "error[E0308]: mismatched types\n --> src/lib.rs:3:5\n  |\nerror: could not compile `cart`\n";
    assert_eq!(
        tally(broken).failures(),
        ["error[E0308]: mismatched types (src/lib.rs:3:5)", "error: could not compile `cart`"]
    );
    assert_eq!(tally(broken).counts, None);
}

#[test]
fn javascript() {
    let jest = "  ● cart › adds\n\n  ● cart › adds\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 2 skipped, 5 passed, 8 total\n";
    assert_eq!(counts(jest), (5, 1, 2));
    assert_eq!(tally(jest).failures(), ["cart › adds"]);
    let vitest = " FAIL  src/cart.test.ts > cart > adds\n Test Files  1 failed (1)\n      Tests  1 failed | 5 passed (6)\n";
    assert_eq!(counts(vitest), (5, 1, 0));
    assert_eq!(tally(vitest).failures(), ["src/cart.test.ts > cart > adds"]);
    let mocha = "  cart\n    1) adds\n\n  5 passing (10ms)\n  1 failing\n  2 pending\n";
    assert_eq!(counts(mocha), (5, 1, 2));
    assert_eq!(tally(mocha).failures(), ["adds"]);
    let node = "not ok 1 - adds\n# tests 6\n# pass 5\n# fail 1\n# cancelled 0\n# skipped 0\n";
    assert_eq!(counts(node), (5, 1, 0));
    let tsc = "src/a.ts(1,2): error TS2322: no\n";
    assert_eq!(tally(tsc).failures().len(), 1);
}

#[test]
fn python() {
    let pytest = "FAILED tests/test_cart.py::test_adds - assert 1 == 2\n=== 1 failed, 5 passed, 2 skipped, 1 error in 0.12s ===\n";
    assert_eq!(counts(pytest), (5, 2, 2));
    assert_eq!(tally(pytest).failures(), ["tests/test_cart.py::test_adds - assert 1 == 2"]);
    assert_eq!(counts("5 passed in 0.01s\n"), (5, 0, 0));
    assert_eq!(counts("1 failed, 5 passed in 61.01s (0:01:01)\n"), (5, 1, 0));
    assert_eq!(counts("Ran 5 tests in 0.001s\n\nOK\n"), (5, 0, 0));
    assert_eq!(counts("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n"), (2, 2, 1));
    assert_eq!(tally("cart.py:1:8: F401 `os` imported but unused\n").failures().len(), 1);
}

#[test]
fn go() {
    let output = "=== RUN   TestAdds\n--- PASS: TestAdds (0.00s)\n--- FAIL: TestRemoves (0.00s)\n    --- FAIL: TestRemoves/last (0.00s)\n    cart_test.go:9: no\n--- SKIP: TestSlow (0.00s)\nFAIL\nFAIL\texample/cart\t0.003s\n";
    let tally = tally(output);
    assert_eq!(tally.failed_tests[0], "TestRemoves (0.00s)");
    let counts = tally.counts.unwrap();
    assert_eq!((counts.passed, counts.failed, counts.skipped), (1, 1, 1));
}

#[test]
fn java() {
    let maven = "[INFO] Running CartTest\n[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 0.05 s <<< FAILURE! -- in CartTest\n[ERROR] CartTest.adds -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n";
    assert_eq!(counts(maven), (2, 2, 1));
    assert!(tally(maven).failures()[0].starts_with("CartTest.adds"));
    let gradle =
        "CartTest > adds() FAILED\n    java.lang.AssertionError\n\n5 tests completed, 1 failed, 2 skipped\n";
    assert_eq!(counts(gradle), (2, 1, 2));
    assert_eq!(tally(gradle).failures(), ["CartTest > adds()"]);
    let junit = "[         6 tests found           ]\n[         5 tests successful      ]\n[         1 tests failed          ]\n";
    assert_eq!(counts(junit), (5, 1, 0));
}

#[test]
fn other_talk_is_no_evidence() {
    let talk = "all 5 tests passed, I promise\nTests are fun\n# pass the salt 5\n1) \n  12 passengers\nin 3 s 5 passed\n";
    assert_eq!(tally(talk).counts, None);
    assert_eq!(tally(&"FAILED a\n".repeat(100)).failures().len(), 1);
    let many: String = (0..100).map(|n| format!("FAILED test {n}\n")).collect();
    assert_eq!(tally(&many).failures().len(), super::MAX_FAILURES);
}
