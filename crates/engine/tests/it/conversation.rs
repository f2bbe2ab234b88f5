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
    // Which tools there are is not this story's business.
    let fly = results[2].split_once("; there are: read, ").unwrap();
    assert!(fly.1.contains("shell"), "{fly:?}");
    results[2] = fly.0;
    assert_snapshot!(results.join("\n"), @"
    user: look around
    turn started
    fly: Failed: there is no tool `fly`
    list_dir src: Completed: a.rs  12
    read .: Failed: the arguments do not fit: arguments: `path` is missing
    read src/b.rs: Failed: `PROJECT/src/b.rs` does not exist (did you mean `a.rs`?)
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
          call: read {"path": "/srv/notes.txt"}
        user:  deny none of your business
        model: Then not.
        "#,
    )
    .await;
    assert_snapshot!(log, @"
    user: read the hosts file
    turn started
    read /srv/notes.txt: starts
    read /srv/notes.txt: asks permission (`/srv/notes.txt` is outside the project)
    denied by Person
    read /srv/notes.txt: Failed: denied: none of your business
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
          call: read {"path": "/srv/notes.txt"}
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
    read /srv/notes.txt: starts
    read /srv/notes.txt: asks permission (`/srv/notes.txt` is outside the project)
    question withdrawn
    read /srv/notes.txt: Failed: cancelled by the person before it ran
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
async fn the_first_request_holds_the_core_tools_and_stays_small() {
    let world = World::new("model: hi\n").await;
    let session = world.session().await;
    world.ask(&session, "hello").await;
    let request = world.server.request(0).await;
    assert!(request.body.len() <= 12_000, "{}", request.body.len());
    let tools = request.json["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["function"]["name"] == "shell"));
}
