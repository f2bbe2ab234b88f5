use std::time::Instant;

use super::*;
use crate::settings::{GuardSettings, Temperament};
use crate::testing;

fn guard(temperament: Temperament) -> (testing::World, Guard) {
    let world = testing::world();
    let guard = world.guard(GuardSettings { temperament, ..GuardSettings::default() });
    (world, guard)
}

#[test]
fn it_is_large_and_names_nothing_twice() {
    let all = corpus();
    assert!(all.len() >= 500, "{}", all.len());
    let mut commands: Vec<&String> = all.iter().map(|(_, command)| command).collect();
    commands.sort();
    commands.dedup();
    assert_eq!(commands.len(), all.len());
    for label in Label::ALL {
        assert_eq!(label.lines().lines().count(), all.iter().filter(|(own, _)| *own == label).count());
    }
}

#[test]
fn nothing_destructive_is_allowed_and_little_that_is_harmless_is_asked() {
    for temperament in [Temperament::Conservative, Temperament::Balanced, Temperament::Aggressive] {
        let (_world, guard) = guard(temperament);
        let matrix = Matrix::of(&guard, Mode::Auto);
        assert_eq!(matrix.missed, Vec::<String>::new(), "{temperament:?}");
        if temperament >= Temperament::Balanced {
            assert!(
                matrix.false_questions() <= 2.0,
                "{:.1} %: {:#?}",
                matrix.false_questions(),
                matrix.bothered
            );
        }
    }
}

#[test]
fn what_destroys_is_not_run_in_quieter_modes_either() {
    let (_world, guard) = guard(Temperament::Balanced);
    for mode in [Mode::Explore, Mode::Plan, Mode::Ask, Mode::Edit] {
        assert_eq!(Matrix::of(&guard, mode).missed, Vec::<String>::new(), "{mode:?}");
    }
}

/// Generous, because this is an unoptimised build on a busy machine; `covey guard corpus` prints the real figure.
#[test]
fn a_decision_takes_no_time_worth_noticing() {
    let (_world, guard) = guard(Temperament::Balanced);
    Matrix::of(&guard, Mode::Auto);
    let start = Instant::now();
    Matrix::of(&guard, Mode::Auto);
    let each = start.elapsed() / u32::try_from(corpus().len()).unwrap();
    assert!(each.as_micros() < 5_000, "{each:?}");
}

#[test]
#[ignore = "prints what there is to improve"]
fn what_is_destructive_and_not_blocked() {
    let (world, guard) = guard(Temperament::Balanced);
    for (label, command) in corpus() {
        let actions = [Action::Shell { command: command.clone(), cwd: world.root.clone() }];
        let verdict =
            guard.judge(&Request { tool: "shell", actions: &actions, mode: Mode::Auto, attended: true });
        let odd = match label {
            Label::Destructive | Label::Disguised => verdict.level != Level::Blocked,
            Label::Ambiguous => verdict.decision != Ruling::Ask,
            Label::Harmless => verdict.decision != Ruling::Allow,
        };
        if odd {
            println!(
                "{:12} {:8} {:5} {command:?}: {:?}",
                label.as_str(),
                verdict.level.as_str(),
                verdict.decision.as_str(),
                verdict.because
            );
        }
    }
}
