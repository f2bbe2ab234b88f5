//! Playing sessions back.

use std::time::Duration;

use sessions::{Filter, Opened, Player};

use crate::support::*;

fn session(place: &Place) -> protocol::SessionId {
    let Opened { mut writer, .. } = place.store.create(start(&id(1)), at(0)).unwrap();
    for (seconds, body) in [
        (1, prompt("One")),
        (2, notice("two")),
        (100, prompt("three")),
        (99, notice("four")),
        (100, notice("FIVE")),
    ] {
        writer.append(vec![body], at(seconds)).unwrap();
    }
    id(1)
}

fn player(place: &Place) -> Player {
    Player::open(place.store.reader(&session(place)).unwrap()).unwrap()
}

fn rest(player: &mut Player) -> Vec<u64> {
    std::iter::from_fn(|| player.next().unwrap()).map(|event| event.seq).collect()
}

#[test]
fn a_player_moves_and_can_be_set() {
    let place = place();
    let mut player = player(&place);
    assert_eq!(player.position(), 0);
    assert_eq!(player.peek().unwrap().unwrap().seq, 1);
    assert_eq!(rest(&mut player), [1, 2, 3, 4, 5, 6]);
    assert_eq!(player.position(), 6);
    player.seek(4).unwrap();
    assert_eq!(player.peek().unwrap().unwrap().seq, 5);
    assert_eq!((player.position(), rest(&mut player)), (4, vec![5, 6]));
    player.reset().unwrap();
    assert_eq!(player.next().unwrap().unwrap().seq, 1);
    player.seek(1000).unwrap();
    assert!(rest(&mut player).is_empty());
}

#[test]
fn a_filter_lets_through_what_fits() {
    let only = |filter| {
        let place = place();
        rest(&mut player(&place).filter(filter))
    };
    assert_eq!(only(Filter::types(["user_prompt"])), [2, 4]);
    assert_eq!(only(Filter { from: Some(at(99)), until: Some(at(99)), ..Default::default() }), [5]);
    assert_eq!(only(Filter { text: Some("five".to_owned()), ..Default::default() }), [6]);
}

#[test]
fn a_timed_replay_keeps_the_pauses_within_bounds() {
    let place = place();
    let timed = player(&place).timed(2.0, Duration::from_secs(10));
    let delays: Vec<_> = timed.map(|step| step.unwrap().0.as_millis()).collect();
    assert_eq!(delays, [0, 500, 500, 10_000, 0, 500]);
    let place = crate::support::place();
    let at_once = player(&place).timed(f64::INFINITY, Duration::ZERO);
    assert!(at_once.map(|step| step.unwrap().0).all(|delay| delay.is_zero()));
}
