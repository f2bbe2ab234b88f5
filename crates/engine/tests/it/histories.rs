//! Whatever happens to a conversation, the next request is one that every vendor takes.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use protocol::{EventBody, Limits, Op, Stop};
use testkit::Script;

use crate::play::{WIRES, World, ends, print};

/// What happens in one turn, and how it is interrupted.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Says,
    Thinks,
    CallsTwice,
    CallsWhatIsNotThere,
    CallsWithNonsense,
    CallsThroughTheDispatcher,
    IsDenied,
    SaysNothing,
    BreaksOffInACall,
    FailsForGood,
    IsCancelled,
    IsCancelledInACall,
    StopsAtItsLimit,
    IsCutByARestart,
    IsCompacted,
}

const ALL: [Happens; 15] = [
    Happens::Says,
    Happens::Thinks,
    Happens::CallsTwice,
    Happens::CallsWhatIsNotThere,
    Happens::CallsWithNonsense,
    Happens::CallsThroughTheDispatcher,
    Happens::IsDenied,
    Happens::SaysNothing,
    Happens::BreaksOffInACall,
    Happens::FailsForGood,
    Happens::IsCancelled,
    Happens::IsCancelledInACall,
    Happens::StopsAtItsLimit,
    Happens::IsCutByARestart,
    Happens::IsCompacted,
];

impl Happens {
    /// What the model says in such a turn.
    fn script(self) -> &'static str {
        match self {
            Self::Says => "model: Yes.\n",
            Self::Thinks => {
                "reply\n  think: Hm.\n  text: I see.\n  call: read {\"path\": \"a.txt\"}\nmodel: Read.\n"
            }
            Self::CallsTwice => {
                "reply\n  call: read {\"path\": \"a.txt\"}\n  call: list_dir {\"path\": \".\"}\nmodel: Both.\n"
            }
            Self::CallsWhatIsNotThere => "reply\n  text: Let me fly.\n  call: fly {}\nmodel: No.\n",
            Self::CallsWithNonsense => "reply\n  call: read {\"file\": [1]}\n  call: edit {}\nmodel: Oh.\n",
            Self::CallsThroughTheDispatcher => {
                "reply\n  call: call_tool {\"name\": \"stat\", \"arguments\": {\"path\": \"a.txt\"}}\nmodel: So.\n"
            }
            Self::IsDenied => "reply\n  call: shell {\"command\": \"rm a.txt\"}\nmodel: Then not.\n",
            Self::SaysNothing => "reply\n  text: \"\"\n",
            Self::BreaksOffInACall => {
                "reply\n  text: I will\n  call: read {\"path\": \"a.txt\"}\n  fault: cut after=4\nmodel: Again.\n"
            }
            Self::FailsForGood => "reply\n  fault: 400 message=\"no\"\n",
            Self::IsCancelled => "reply\n  text: one two three four\n  fault: stall after=3\n",
            Self::IsCancelledInACall => "reply\n  text: Wait.\n  call: shell {\"command\": \"sleep 100\"}\n",
            Self::StopsAtItsLimit | Self::IsCutByARestart => "reply\n  call: read {\"path\": \"a.txt\"}\n",
            Self::IsCompacted => "model: Goal: go on.\n",
        }
    }
}

async fn live(wire: &'static str, happens: &[Happens]) {
    let mut world = World::strict(wire).await;
    world.write("a.txt", "hello\n");
    let session = world.session().await;
    for happens in happens {
        world.server.rewrite(happens.script().parse::<Script>().unwrap());
        let prompt = if matches!(happens, Happens::IsCompacted) { "/compact" } else { "go on" };
        let limits = match happens {
            Happens::StopsAtItsLimit => Limits { max_steps: Some(1), ..Limits::default() },
            _ => Limits::default(),
        };
        let requests = world.server.requests().len();
        let turn = world.start(&session, prompt, false, limits).await;
        match happens {
            Happens::IsCancelled | Happens::IsCancelledInACall => {
                world.server.request(requests).await;
                // It may be over already.
                let _ = world.engine.submit(Op::CancelTurn { session: session.clone(), turn: None }).await;
            }
            Happens::IsCutByARestart => {
                world.server.request(requests).await;
                world.restart().await;
            }
            _ => {}
        }
        world.until(&session, |event| ends(event, &turn)).await;
    }
    world.server.rewrite("model: Still here.\n".parse::<Script>().unwrap());
    let events = world.ask(&session, "are you there?").await;
    let Some(EventBody::TurnEnd(end)) = events.last().map(|event| &event.body) else { unreachable!() };
    assert_eq!(end.stop, Stop::Done, "{wire} {happens:?}: {}", print(&events));
}

/// With more cases: `PROPTEST_CASES=200`.
#[test]
fn every_interleaving_leaves_a_history_that_all_four_wires_take() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(4);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let story = prop::collection::vec(prop::sample::select(ALL.to_vec()), 1..7);
    let told = runner.run(&story, |happens| {
        for wire in WIRES {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(live(wire, &happens));
        }
        Ok(())
    });
    told.unwrap();
}
