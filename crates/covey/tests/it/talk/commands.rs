//! Commands, pickers and mentions, as a person uses them.

use std::process::Stdio;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;
use tokio::time::timeout;

use super::stories::{leave, leave_with_text};
use crate::world::{PATIENCE, World};

const CODE: &str = "struct Cart;\n\nimpl Cart {\n    fn apply_coupon(&mut self) -> u32 {\n        let mut total = 0;\n        total += 1;\n        total\n    }\n}\n";

#[tokio::test]
async fn files_names_in_the_code_and_sub_agents_are_mentioned() {
    let world = World::new("model: Seen.\n").await;
    std::fs::create_dir(world.project.join("src")).unwrap();
    world.write("src/cart.rs", CODE);
    let mut talk = world.talk(&[], 100, 30);
    talk.sees("ask, or").await;
    talk.keys("see @cart");
    talk.sees("  src/cart.rs").await;
    talk.keys("\t");
    talk.sees("› see @src/cart.rs ").await;
    talk.keys("and @apply_c");
    talk.sees("ƒ ").await;
    let screen = talk.sees("src/cart.rs:4").await;
    assert!(screen.contains("apply_coupon"), "{screen}");
    talk.keys("\t");
    talk.loses("src/cart.rs:4").await;
    talk.keys("then @review");
    talk.sees("● reviewer").await;
    talk.keys("\t");
    talk.sees("@reviewer ").await;
    talk.keys("\r");
    talk.sees("● Seen.").await;
    leave(talk).await;
    let sent = world.server.requests()[0].json.to_string();
    assert!(sent.contains("total += 1"), "{sent}");
    assert!(sent.contains("the person wants the sub-agent `reviewer`"), "{sent}");
}

#[tokio::test]
async fn sessions_are_found_by_what_was_said_in_them() {
    let world = World::new("model: The walrus is in the harbour.\nmodel: Nothing here.\n").await;
    world.result(&["--mode", "ask", "where is it"]).await;
    world.result(&["and what else"]).await;
    let mut talk = world.talk(&[], 100, 30);
    talk.sees("ask, or").await;
    talk.keys("/resume\r");
    let screen = talk.sees("2 of 2").await;
    assert!(screen.contains("where is it") && screen.contains("and what else"), "{screen}");
    talk.sees("● Nothing here.").await;
    talk.keys("walrus");
    let screen = talk.sees("1 of 2").await;
    assert!(screen.contains("where is it"), "{screen}");
    talk.sees("● The walrus is in the harbour.").await;
    talk.keys("\r");
    talk.sees("› where is it").await;
    talk.sees("● The walrus is in the harbour.").await;
    leave(talk).await;
}

#[tokio::test]
async fn how_much_is_thought_is_set_for_the_session() {
    let world = World::new("model: One.\nmodel: Two.\n").await;
    let config = format!("{}thinking = true\n", world.server.config());
    world.configure(&config);
    let mut talk = world.talk(&[], 100, 30);
    talk.sees("ask, or").await;
    talk.keys("/thinking\r");
    talk.sees("as much as it can").await;
    talk.keys("high");
    talk.sees("1 of 8").await;
    talk.keys("\r");
    talk.sees("thinks from here on: high").await;
    talk.ask("first").await;
    talk.sees("● One.").await;
    talk.keys("/thinking default\r");
    talk.sees("thinks as the settings say").await;
    talk.ask("second").await;
    talk.sees("● Two.").await;
    leave(talk).await;
    let efforts: Vec<String> = world
        .server
        .requests()
        .iter()
        .map(|request| request.json["reasoning_effort"].as_str().unwrap_or("-").to_owned())
        .collect();
    assert_eq!(efforts, ["high", "-"]);
}

/// A picture that a tool made is shown where the terminal says that it can.
#[tokio::test]
async fn pictures_are_shown_where_the_terminal_can() {
    let world = World::new("model: A square.\n").await;
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x50\0\0\0\x20".to_vec();
    png.extend([8; 64]);
    world.write("square.png", png);
    let mut talk = world.talk_with(&[], 80, 24, &[("TERM", "xterm-kitty")]);
    talk.sees("ask, or").await;
    talk.keys("\x1b_Gi=31;OK\x1b\\");
    // With a word behind it, so that Enter does not choose among files.
    talk.keys("what is @square.png here");
    talk.sees("› what is @square.png here").await;
    talk.keys("\r");
    talk.sees("● A square.").await;
    let written = leave(talk).await;
    assert!(written.contains("\x1b_Gi=31,"), "it was not asked");
    assert!(written.contains("\x1b_Ga=T,U=1,q=2,f=100,i=1,c=10,r=2,m=0;"), "{written:?}");
    assert!(written.contains(&"\u{10EEEE}\u{305}".repeat(10)), "{written:?}");
}

/// A server, and the address that it prints.
async fn serve(world: &World) -> (Child, String) {
    let arguments = ["serve", "--json", "--bind", "127.0.0.1:0"];
    let mut child = world.command(&arguments).stderr(Stdio::inherit()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let word = |name: &str| told[name].as_str().unwrap().to_owned();
    (child, format!("{}#token={}", word("url"), word("token")))
}

#[tokio::test]
async fn a_running_server_is_joined() {
    let world = World::new("model: From the server.\n").await;
    let (_server, address) = serve(&world).await;
    let mut talk = world.talk(&["--server", &address], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("who is there?").await;
    talk.sees("● From the server.").await;
    let written = leave(talk).await;
    let id = world.sessions()[0].file_name().unwrap().to_string_lossy().into_owned();
    assert!(written.contains(&format!("--session {id}")), "{written}");
    assert!(!written.contains("token"), "{written}");
    let mut talk = world.talk(&["--server", &address, "--continue"], 80, 24);
    talk.sees("● From the server.").await;
    talk.keys("draft");
    talk.sees("› draft").await;
    leave_with_text(talk).await;
    assert_eq!(world.sessions().len(), 1);
}
