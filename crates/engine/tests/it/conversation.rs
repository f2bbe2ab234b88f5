//! What a person and a model say to each other, and what the model is sent.

use insta::assert_snapshot;
use protocol::Op;

use crate::play::{World, play};

#[tokio::test]
async fn the_model_reads_a_file_and_answers() {
    let log = play(
        r#"
        file:  a.txt: hello
        user:  what does a.txt say?
        reply
          think: I should look.
          text: Let me read it.
          call: read {"path": "a.txt"}
        model: It says hello.
        "#,
    )
    .await;
    assert_snapshot!(log, @"
    user: what does a.txt say?
    turn started
    thinks: I should look.
    says: Let me read it.
    read a.txt: starts
    read a.txt: Completed: 1 hello
    says: It says hello.
    turn ended: done
    ");
}

#[tokio::test]
async fn several_calls_are_answered_each_and_mistakes_go_back_to_the_model() {
    let log = play(
        r#"
        file:  src/a.rs: fn main() {}
        user:  look around
        reply
          call: list_dir {"path": "src"}
          call: read {"path": "src/b.rs"}
          call: fly {}
          call: read {"file": "src/a.rs"}
        model: One of four worked.
        "#,
    )
    .await;
    // They run side by side, so only the order in which they start is certain.
    let (starts, results): (Vec<&str>, Vec<&str>) = log.lines().partition(|line| line.ends_with("starts"));
    assert_eq!(starts, ["list_dir src: starts", "read src/b.rs: starts", "fly: starts", "read .: starts"]);
    let mut results = results;
    results[2..6].sort();
    assert_snapshot!(results.join("\n"), @"
    user: look around
    turn started
    fly: Failed: there is no tool `fly`; there are: read, list_dir
    list_dir src: Completed: a.rs  12
    read .: Failed: the arguments do not fit: unknown field `file`, expected one of `path`, `offset`, `limit`
    read src/b.rs: Failed: `PROJECT/src/b.rs` does not exist
    says: One of four worked.
    turn ended: done
    ");
}

#[tokio::test]
async fn a_denied_read_goes_back_to_the_model() {
    let log = play(
        r#"
        user:  read the hosts file
        reply
          call: read {"path": "/etc/hosts"}
        user:  deny none of your business
        model: Then not.
        "#,
    )
    .await;
    assert_snapshot!(log, @"
    user: read the hosts file
    turn started
    read /etc/hosts: starts
    read /etc/hosts: asks permission (outside the project)
    denied by Person
    read /etc/hosts: Failed: denied: none of your business
    says: Then not.
    turn ended: done
    ");
}

#[tokio::test]
async fn an_allowed_read_may_leave_the_project_once() {
    let log = play(
        r#"
        user:  read the host name
        reply
          call: read {"path": "/etc/host.conf"}
        user:  allow
        model: There it is.
        "#,
    )
    .await;
    assert!(log.contains("approved by Person"), "{log}");
    assert!(log.contains("read /etc/host.conf: Completed"), "{log}");
}

#[tokio::test]
async fn cancelling_while_a_question_waits_leaves_nothing_open() {
    let log = play(
        r#"
        user:  read the hosts file
        reply
          call: read {"path": "/etc/hosts"}
        user:  cancel
        "#,
    )
    .await;
    // Whether the call or the turn ends first is a race; either way the call has a result and the turn an end.
    let log =
        log.replace("cancelled by the person before it finished", "cancelled by the person before it ran");
    assert_snapshot!(log, @"
    user: read the hosts file
    turn started
    read /etc/hosts: starts
    read /etc/hosts: asks permission (outside the project)
    question withdrawn
    read /etc/hosts: Failed: cancelled by the person before it ran
    turn ended: cancelled
    ");
}

#[tokio::test]
async fn each_request_begins_with_the_whole_of_the_one_before_even_after_a_restart() {
    let mut world = World::new(
        r#"
        reply
          text: Let me see.
          call: read {"path": "a.txt"}
          call: list_dir {}
        model: It says hello.
        reply
          call: read {"path": "missing.txt"}
        model: That is not there.
        model: We read a.txt.
        "#,
    )
    .await;
    world.write("a.txt", "hello");
    let session = world.session().await;
    world.ask(&session, "read a.txt").await;
    world.ask(&session, "and missing.txt?").await;
    world.restart().await;
    world.ask(&session, "what did we do?").await;

    let requests = world.server.requests();
    assert_eq!(requests.len(), 5);
    let mut before = Vec::new();
    for request in &requests {
        let messages = request.json["messages"].as_array().unwrap().clone();
        assert!(messages.starts_with(&before), "the history changed:\n{before:#?}\nnow\n{messages:#?}");
        // Byte for byte: everything up to the end of the last message.
        before = messages;
    }
    let head = |text: &str| text.trim_end_matches(['}', ']']).to_owned();
    for pair in requests.windows(2) {
        assert!(pair[1].text().starts_with(&head(pair[0].text())), "{}\n{}", pair[0].text(), pair[1].text());
    }
}

#[tokio::test]
async fn a_fork_goes_its_own_way() {
    let world = World::new("model: one\nmodel: two\nmodel: three\n").await;
    let session = world.session().await;
    let events = world.ask(&session, "first").await;
    let at = events.last().unwrap().seq;
    world.ask(&session, "second").await;
    let fork = Op::ForkSession { session: session.clone(), at: Some(at) };
    let fork = world.engine.submit(fork).await.unwrap().session;
    world.ask(&fork, "other").await;
    let request = world.server.request(2).await;
    let texts: Vec<&str> =
        request.json["messages"].as_array().unwrap().iter().filter_map(|m| m["content"].as_str()).collect();
    assert_eq!(texts[1..], ["first", "one", "other"]);
}

#[tokio::test]
async fn a_model_without_tools_is_sent_none_and_a_short_prompt() {
    let world = World::new("model: hi\n").await;
    let session = world.session().await;
    world.ask(&session, "hello").await;
    let request = world.server.request(0).await;
    assert!(request.body.len() < 4000, "{}", request.body.len());
    assert!(request.json["tools"].as_array().is_some_and(|tools| tools.len() == 2));
}
