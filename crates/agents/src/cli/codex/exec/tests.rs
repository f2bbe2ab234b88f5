use insta::assert_snapshot;

use super::*;
use crate::cli::per_turn::told;

#[test]
fn a_command_that_was_run() {
    assert_snapshot!(told::<Reader>(include_str!("../../../../fixtures/codex-exec-tool.jsonl")));
}
