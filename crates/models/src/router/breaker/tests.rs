use proptest::prelude::*;

use super::*;

fn fail(breaker: &mut Breaker, now: i64) {
    breaker.failed(Blame::Route, "down", now);
}

#[test]
fn five_failures_within_a_minute_open_it_and_one_probe_closes_it() {
    let mut breaker = Breaker::default();
    for n in 0..4 {
        fail(&mut breaker, n * 1000);
        assert!(breaker.admit(n * 1000));
    }
    fail(&mut breaker, 4000);
    assert_eq!(breaker.condition(4000), Condition::Open { until: 34_000 });
    assert!(!breaker.admit(33_999));
    assert_eq!(breaker.condition(34_000), Condition::HalfOpen);
    assert!(breaker.admit(34_000));
    assert!(!breaker.admit(34_001), "only one call probes");
    breaker.succeeded();
    assert_eq!(breaker.condition(34_002), Condition::Closed);
}

#[test]
fn failures_far_apart_do_not_add_up_unless_half_of_ten_fail() {
    let mut breaker = Breaker::default();
    let minute = |n: i64| n * 61_000;
    for n in 0..4 {
        fail(&mut breaker, minute(n));
        breaker.succeeded();
    }
    fail(&mut breaker, minute(4));
    assert_eq!(breaker.condition(minute(4)), Condition::Closed, "five failures of nine calls, far apart");
    fail(&mut breaker, minute(5));
    assert_eq!(breaker.condition(minute(5)), Condition::Open { until: minute(5) + 30_000 }, "six of ten");
}

#[test]
fn each_failed_probe_doubles_the_wait_up_to_ten_minutes() {
    let mut breaker = Breaker::default();
    (0..5).for_each(|n| fail(&mut breaker, n));
    let mut now = 4;
    for wait in [30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000] {
        assert_eq!(breaker.free_at(now), Some(now + wait));
        now += wait;
        assert!(breaker.admit(now));
        fail(&mut breaker, now);
    }
}

#[test]
fn a_parked_route_is_not_a_failed_one() {
    let mut breaker = Breaker::default();
    breaker.failed(Blame::Park { until: 5000 }, "slow down", 0);
    assert_eq!(breaker.condition(4999), Condition::Parked { until: 5000 });
    assert!(!breaker.admit(4999));
    assert!(breaker.admit(5000));
    assert_eq!(breaker.condition(5000), Condition::Closed);
}

#[test]
fn wrong_credentials_disable_and_our_own_mistakes_do_nothing() {
    let mut breaker = Breaker::default();
    for _ in 0..100 {
        breaker.failed(Blame::Caller, "no such field", 0);
    }
    assert_eq!(breaker.condition(0), Condition::Closed);
    breaker.failed(Blame::Credentials, "who are you?", 0);
    assert!(!breaker.admit(i64::MAX));
    assert_eq!(breaker.free_at(0), None);
}

#[test]
fn a_probe_whose_caller_left_lets_the_next_one_probe() {
    let mut breaker = Breaker::default();
    (0..5).for_each(|n| fail(&mut breaker, n));
    assert!(breaker.admit(40_000) && !breaker.admit(40_000));
    breaker.abandoned();
    assert_eq!(breaker.condition(40_000), Condition::HalfOpen);
    assert!(breaker.admit(40_000), "nobody has to wait for one that is gone");
    breaker.abandoned();
    breaker.succeeded();
    breaker.abandoned();
    assert_eq!(breaker.condition(40_000), Condition::Closed, "what was told is told");
}

#[test]
fn a_clock_that_goes_back_shuts_nobody_out() {
    let year = 365 * 24 * 3_600_000;
    let mut breaker = Breaker::default();
    (0..5).for_each(|n| fail(&mut breaker, year + n));
    assert!(!breaker.admit(year + 5));
    assert_eq!(breaker.free_at(1000), Some(1000), "a year to wait is a clock that was wrong");
    assert!(breaker.admit(1000));
    let mut parked = Breaker::default();
    parked.failed(Blame::Park { until: i64::MAX }, "for ever", year);
    assert_eq!(parked.free_at(year), Some(year + LONGEST_PARK_MS), "a day at most");
    assert!(parked.admit(0));
    let mut probing = Breaker::default();
    (0..5).for_each(|n| fail(&mut probing, year + n));
    assert!(probing.admit(year + 30_004));
    assert_eq!(probing.free_at(7), Some(7));
    assert!(probing.admit(7));
    assert_eq!(breaker.recent_failures(i64::MIN), 0);
}

proptest! {
    /// Whatever happens, with a clock that also goes backwards: it never admits two probes at once, never stays shut
    /// longer than it says, and a success always closes it.
    #[test]
    fn the_machine_keeps_its_promises(steps in prop::collection::vec((0u8..9, prop_oneof![-20_000i64..200_000, -100_000_000_000i64..100_000_000_000]), 1..200)) {
        let mut breaker = Breaker::default();
        let mut now = 1_000_000;
        for (step, passed) in steps {
            now += passed;
            match step {
                0 | 1 => fail(&mut breaker, now),
                2 => breaker.failed(Blame::Park { until: now + 1000 }, "busy", now),
                3 => breaker.failed(Blame::Caller, "mine", now),
                7 => breaker.failed(Blame::Park { until: i64::MAX }, "for ever", now),
                8 => breaker.abandoned(),
                4 => {
                    breaker.succeeded();
                    prop_assert_eq!(breaker.condition(now), Condition::Closed);
                }
                _ => {
                    let before = breaker.condition(now);
                    let admitted = breaker.admit(now);
                    let shut = matches!(before, Condition::Open { .. } | Condition::Parked { .. });
                    prop_assert!(!admitted || !shut);
                    if admitted && before == Condition::HalfOpen {
                        prop_assert!(!breaker.admit(now), "a second probe");
                    }
                }
            }
            let free = breaker.free_at(now).unwrap();
            let longest = match breaker.condition(now) {
                Condition::Parked { .. } => LONGEST_PARK_MS,
                _ => LONGEST_COOL_DOWN_MS,
            };
            prop_assert!(free >= now && free - now <= longest);
            prop_assert!(breaker.clone().admit(free), "shut longer than it says");
            let stored = serde_json::to_string(&breaker).unwrap();
            prop_assert_eq!(serde_json::from_str::<Breaker>(&stored).unwrap(), breaker.clone());
        }
    }
}
