//! The same stories with a starter, as the program has one: there most commands are born in a place that was made
//! before.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stdout, reason = "a test that could not run says so")]
#![expect(unsafe_code, reason = "a test has no `main` that could be the starter's; this runs before it")]

mod sandbox;

extern "C" fn before_main() {
    project::may_be_starter(&guard::Outside);
}

// SAFETY: called once by the C library, after std's own entry, which keeps the arguments.
#[used]
#[unsafe(link_section = ".init_array.99999")]
static BEFORE_MAIN: extern "C" fn() = before_main;
