use protocol::ToolContent;
use serde_json::json;

use super::StallWatch;

#[test]
fn the_same_result_three_times_is_told_once_and_then_ends_the_turn() {
    let watch = StallWatch::default();
    let again = || watch.outcome("read", &json!({"path": "a"}), "same", false);
    assert_eq!((again(), again()), (None, None));
    assert!(again().unwrap().contains("`read` was called 3 times"));
    // It has not heard of it yet: they were all in one answer.
    assert_eq!((again(), again(), again(), again()), (None, None, None, None));
    assert_eq!(watch.stalled(), None);
    watch.next_step();
    assert_eq!(again(), None);
    assert!(watch.stalled().unwrap().contains("same result"));
}

#[test]
fn the_same_check_after_a_change_is_no_circle() {
    let watch = StallWatch::default();
    for n in 0..20 {
        watch.next_step();
        let (old, new) = (format!("{n}"), format!("{}", n + 1));
        let change = ToolContent::Diff { path: "a.rs".into(), old: Some(old), new };
        assert_eq!(watch.changes(&[change]), None);
        assert_eq!(watch.outcome("shell", &json!({"command": "make lint"}), "[exit code 0]", false), None);
    }
    assert_eq!(watch.stalled(), None);
}

#[test]
fn waiting_for_something_is_no_circle() {
    let watch = StallWatch::default();
    for n in 0..50 {
        assert_eq!(watch.outcome("job_output", &json!({"job": 1}), &format!("{n} %"), false), None);
    }
    assert_eq!(watch.stalled(), None);
}

#[test]
fn a_file_that_swings_between_two_states_is_noticed() {
    let watch = StallWatch::default();
    let change = |old: &str, new: &str| {
        watch.changes(&[ToolContent::Diff { path: "a.rs".into(), old: Some(old.into()), new: new.into() }])
    };
    assert_eq!((change("x", "y"), change("y", "x"), change("x", "y")), (None, None, None));
    assert!(change("y", "x").unwrap().contains("swings"));
    watch.next_step();
    for _ in 0..2 {
        change("x", "y");
        change("y", "x");
    }
    assert!(watch.stalled().is_some());
}

#[test]
fn nothing_but_failures_is_no_progress() {
    let watch = StallWatch::default();
    let notes: Vec<_> = (0..9).filter_map(|n| watch.outcome("edit", &json!({"n": n}), "no", true)).collect();
    assert_eq!(notes, [""; 0]);
    assert!(watch.outcome("edit", &json!({"n": 9}), "no", true).is_some());
}
