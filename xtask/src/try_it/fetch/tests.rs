use super::*;

#[test]
fn a_registry_that_is_out_of_reach_is_named_in_one_line() {
    let errors = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(...)': /simple/x/\n\
                  ERROR: Could not find a version that satisfies the requirement x (from versions: none)\n";
    assert_eq!(reason(errors), "the Python package index can not be reached from here");
}

#[test]
fn the_first_error_is_the_reason() {
    let errors =
        "WARNING: something\nERROR: HTTP error 403 while getting x\nERROR: No matching distribution\n";
    assert_eq!(reason(errors), "HTTP error 403 while getting x");
    assert_eq!(
        reason("Traceback:\n  File x\nOSError: [Errno 28] No space left on device\n"),
        "OSError: [Errno 28] No space left on device"
    );
    assert_eq!(reason(""), "it failed and did not say why");
}
