//! The line to an editor, with the patience that each story needs.

use std::sync::Arc;
use std::time::Duration;

use project::HostError;
use protocol::{HostAnswer, HostCall, HostOffer, TerminalOffer};

use super::line::{BACK_WITHIN, Line, OfferRefused};

fn line(confined: bool) -> Arc<Line> {
    Arc::new(Line::new(vec!["/project".to_owned()], confined, BACK_WITHIN))
}

fn offer(host: &str) -> HostOffer {
    HostOffer {
        host: host.to_owned(),
        name: "Ed".to_owned(),
        files: true,
        terminal: Some(TerminalOffer { confined: false }),
        diagnostics: false,
    }
}

fn stat() -> HostCall {
    HostCall::Stat { path: "/project/a".to_owned() }
}

const MINUTE: Duration = Duration::from_secs(60);

fn ask(line: &Arc<Line>, within: Option<Duration>) -> tokio::task::JoinHandle<Result<HostAnswer, HostError>> {
    let line = line.clone();
    tokio::spawn(async move { line.ask(stat(), within).await })
}

#[tokio::test]
async fn what_was_not_answered_comes_again_under_its_number_and_an_answer_counts_once() {
    let line = line(false);
    let (_, mut first, is_new) = line.offer(offer("one")).unwrap();
    assert!(is_new);
    let asked = ask(&line, Some(MINUTE));
    let request = first.next().await.unwrap();
    drop(first);
    let (_, mut second, is_new) = line.offer(offer("one")).unwrap();
    assert!(!is_new);
    assert_eq!(second.next().await.unwrap(), request);
    line.answer(request.request, HostAnswer::Done);
    line.answer(request.request, HostAnswer::Started { terminal: "late".to_owned() });
    assert_eq!(asked.await.unwrap().unwrap(), HostAnswer::Done);
    // Answered, so it does not come again.
    drop(second);
    let (_, mut third, _) = line.offer(offer("one")).unwrap();
    let later = ask(&line, Some(MINUTE));
    assert_eq!(third.next().await.unwrap().request, request.request + 1);
    later.abort();
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_not_done_after_a_reconnect() {
    let line = line(false);
    let (_, mut first, _) = line.offer(offer("one")).unwrap();
    let asked = ask(&line, Some(MINUTE));
    first.next().await.unwrap();
    drop(first);
    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled());
    let (_, mut second, _) = line.offer(offer("one")).unwrap();
    let other = ask(&line, Some(MINUTE));
    assert_eq!(second.next().await.unwrap().request, 2);
    other.abort();
}

#[tokio::test]
async fn silence_ends_after_a_while() {
    let line = line(false);
    let (_, mut requests, _) = line.offer(offer("one")).unwrap();
    let asked = ask(&line, Some(Duration::ZERO));
    requests.next().await.unwrap();
    let error = asked.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "Ed did not answer within 0 s");
}

#[tokio::test]
async fn an_editor_that_stays_away_is_given_up_and_another_may_come() {
    let line = Arc::new(Line::new(vec![], false, Duration::ZERO));
    let (_, requests, _) = line.offer(offer("one")).unwrap();
    let refused = line.offer(offer("two")).err().unwrap();
    assert_eq!(refused, OfferRefused::Taken("Ed".to_owned()));
    // Without a limit of its own, as what a program prints.
    let asked = ask(&line, None);
    assert!(line.does_files());
    drop(requests);
    let error = asked.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("nobody knows whether it was done"), "{error}");
    assert!(!line.does_files());
    assert!(line.gave_up());
    assert!(!line.gave_up());
    assert!(line.offer(offer("two")).is_ok());
}

#[tokio::test]
async fn one_that_was_started_anew_fails_what_waits() {
    let line = line(false);
    let (_, mut requests, _) = line.offer(offer("one")).unwrap();
    let asked = ask(&line, Some(MINUTE));
    requests.next().await.unwrap();
    drop(requests);
    let (_, _requests, is_new) = line.offer(offer("two")).unwrap();
    assert!(is_new);
    assert!(matches!(asked.await.unwrap(), Err(HostError::NoAnswer(_))));
}

#[tokio::test]
async fn a_terminal_without_a_sandbox_is_not_used_where_there_is_one() {
    let (accepted, _requests, _) = line(true).offer(offer("one")).unwrap();
    assert!(accepted.files && !accepted.terminal);
    assert!(accepted.note.unwrap().contains("sandbox"));
    let (accepted, _requests, _) = line(false).offer(offer("one")).unwrap();
    assert!(accepted.terminal);
    let confined = HostOffer { terminal: Some(TerminalOffer { confined: true }), ..offer("one") };
    let (accepted, _requests, _) = line(true).offer(confined).unwrap();
    assert!(accepted.terminal);
    assert_eq!(line(true).offer(offer("")).err().unwrap(), OfferRefused::Nameless);
}
