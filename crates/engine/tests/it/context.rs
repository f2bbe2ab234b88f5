//! Windows that overflow, and files that are brought back.

use std::sync::Arc;

use protocol::{Compaction, CompactionStage, Event, EventBody, Limits, Stop};
use testkit::ModelServer;

use crate::play::{World, ends};

fn compactions(events: &[Arc<Event>]) -> Vec<Compaction> {
    let found = events.iter().filter_map(|event| match &event.body {
        EventBody::Compaction(compaction) => Some(compaction.clone()),
        _ => None,
    });
    found.collect()
}

/// The bytes of every message of a request.
async fn messages(server: &ModelServer, at: usize) -> Vec<String> {
    let request = server.request(at).await;
    request.json["messages"].as_array().unwrap().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn old_results_are_cut_and_can_be_paged_and_a_restart_cuts_the_same() {
    let script: String = (0..9)
        .map(|n| format!("reply\n  call: read {{\"path\": \"f{n}.txt\"}}\n  usage: input=0 output=0\n"))
        .collect();
    let mut world = World::with_window(&format!("{script}model: Done.\nmodel: Again.\n"), 30_000).await;
    for n in 0..9 {
        let text: String = (0..400).map(|line| format!("{n} line {line} of the file\n")).collect();
        world.write(&format!("f{n}.txt"), &text);
    }
    let session = world.session().await;
    let events = world.ask(&session, "read them all").await;
    let cuts = compactions(&events);
    assert!(cuts.iter().any(|cut| cut.stage == CompactionStage::Prune), "{cuts:?}");
    assert!(cuts.iter().all(|cut| cut.tokens_after < cut.tokens_before), "{cuts:?}");
    let last = messages(&world.server, world.server.requests().len() - 1).await;
    assert!(last.iter().any(|message| message.contains("output:t1_c1")), "{last:?}");
    let kept = world.store.dir(&session).join("outputs/t1_c1");
    assert!(std::fs::read_to_string(kept).unwrap().contains("0 line 399"));

    world.restart().await;
    world.ask(&session, "again").await;
    let after = messages(&world.server, world.server.requests().len() - 1).await;
    // Everything that was sent before the restart is sent the same way after it.
    assert_eq!(after[..last.len()], last[..]);
}

#[tokio::test]
async fn old_turns_are_summarised_and_the_task_survives() {
    let mut script = String::new();
    for n in 0..4 {
        script.push_str(&format!("reply\n  repeat: 3000 \"word{n} \"\n  usage: input=0 output=0\n"));
    }
    script.push_str("model: Goal: count the words.\nmodel: Going on.\nmodel: And on.\n");
    let mut world = World::with_window(&script, 24_000).await;
    let session = world.session().await;
    for n in 0..5 {
        let events = world.ask(&session, &format!("prompt number {n}")).await;
        assert!(matches!(&events.last().unwrap().body, EventBody::TurnEnd(end) if end.stop == Stop::Done));
    }
    let events = world.until(&session, |event| ends(event, &"t5".into())).await;
    let summary = compactions(&events).pop().unwrap();
    assert_eq!(summary.stage, CompactionStage::Summarise);
    assert_eq!(summary.summary.as_deref(), Some("Goal: count the words."));
    assert!(summary.tokens_after < summary.tokens_before, "{summary:?}");
    // The summary was a call like any other, and is counted: six prompts' worth of calls for five prompts.
    let counted = events.iter().filter(|event| matches!(event.body, EventBody::Usage(_))).count();
    assert_eq!(counted, 6);
    let sent = messages(&world.server, world.server.requests().len() - 1).await;
    assert!(sent.iter().any(|message| message.contains("Goal: count the words.")), "{sent:?}");
    assert!(!sent.iter().any(|message| message.contains("word0 word0")));

    world.restart().await;
    world.ask(&session, "prompt number 5").await;
    let after = messages(&world.server, world.server.requests().len() - 1).await;
    assert_eq!(after[..sent.len()], sent[..]);
}

#[tokio::test]
async fn a_summariser_that_fails_does_not_stop_the_work() {
    let script = "
        reply
          repeat: 12000 \"a \"
          usage: input=0 output=0
        reply
          repeat: 12000 \"b \"
          usage: input=0 output=0
        reply
          fault: 400 message=\"no\"
        model: Still here.
        ";
    let world = World::with_window(script, 16_000).await;
    let session = world.session().await;
    for prompt in ["remember: never touch main", "two"] {
        world.ask(&session, prompt).await;
    }
    let turn = world.start(&session, "three", false, Limits::default()).await;
    let events = world.until(&session, |event| ends(event, &turn)).await;
    let summary = compactions(&events).pop().unwrap().summary.unwrap();
    assert!(summary.contains("never touch main"), "{summary}");
    assert!(matches!(&events.last().unwrap().body, EventBody::TurnEnd(end) if end.stop == Stop::Done));
}
