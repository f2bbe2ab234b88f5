//! What a person does at the terminal, and sees.

use rustix::process::Signal;

use super::Talk;
use crate::world::World;

const ESC: &str = "\x1b";
const CTRL_C: &str = "\x03";

/// Modes that have to be off when the terminal is given back.
pub(super) fn is_restored(written: &str) -> bool {
    let last = |on: &str, off: &str| written.rfind(off) > written.rfind(on);
    last("\x1b[?2004h", "\x1b[?2004l") && last("\x1b[>1u", "\x1b[<u") && last("\x1b[?7l", "\x1b[?7h") && {
        written.rfind("\x1b[?25l").is_none_or(|hidden| written.rfind("\x1b[?25h") > Some(hidden))
    }
}

pub(super) async fn leave(mut talk: Talk) -> String {
    talk.keys(CTRL_C);
    talk.sees("ctrl-c again leaves").await;
    talk.keys(CTRL_C);
    let (code, written) = talk.end().await;
    assert_eq!(code, Some(0));
    assert!(is_restored(&written), "{written:?}");
    written
}

#[tokio::test]
async fn opens_takes_what_is_typed_and_leaves_nothing_behind() {
    let world = World::new("model: Hello.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    let screen = talk.sees("ask, or / for commands").await;
    assert!(screen.contains("covey") && screen.contains("native · scripted · ask"), "{screen}");
    talk.keys("日本語 and 👍");
    talk.sees("│ › 日本語 and 👍").await;
    assert_eq!(talk.terminal.screen().cursor_position().1, 4 + 6 + 5 + 2);
    talk.keys("\x17\x17\x17\x17");
    talk.sees("ask, or / for commands").await;
    leave(talk).await;
    assert_eq!(world.sessions().len(), 0);
}

#[tokio::test]
async fn an_answer_streams_in_and_the_session_can_be_taken_up_again() {
    let world = World::new("model: It is **done**.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("is it done?").await;
    let screen = talk.sees("● It is done.").await;
    assert!(screen.contains("› is it done?"), "{screen}");
    let written = leave(talk).await;
    let id = world.sessions()[0].file_name().unwrap().to_string_lossy().into_owned();
    assert!(written.contains(&format!("covey --session {id}")), "{written}");

    let mut talk = world.talk(&["--continue"], 60, 20);
    let screen = talk.sees("● It is done.").await;
    assert!(screen.contains("› is it done?"), "{screen}");
    leave(talk).await;
    assert_eq!(world.sessions().len(), 1);
}

#[tokio::test]
async fn questions_are_answered_by_number_and_a_refusal_says_why() {
    let script = "\
reply
  call: edit {\"path\": \"a.txt\", \"old\": \"teh\", \"new\": \"the\"}
reply
  call: edit {\"path\": \"a.txt\", \"old\": \"end\", \"new\": \"END\"}
model: As you like.
";
    let world = World::new(script).await;
    world.write("a.txt", "teh end\n");
    let mut talk = world.talk(&[], 80, 30);
    talk.sees("ask, or").await;
    talk.ask("fix the typo").await;
    let screen = talk.sees("1 Allow once").await;
    // At its place in the file, before it is made.
    assert!(screen.contains("1 │ - teh end") && screen.contains("1 │ + the end"), "{screen}");
    talk.keys("1");
    talk.sees("- the end").await;
    talk.keys("4");
    talk.sees("why?").await;
    talk.keys("leave the case alone\r");
    talk.sees("● As you like.").await;
    leave(talk).await;
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "the end\n");
    let last = world.server.requests().last().unwrap().json.to_string();
    assert!(last.contains("leave the case alone"), "{last}");
}

#[tokio::test]
async fn esc_stops_a_turn_and_what_was_queued_comes_back() {
    let world = World::new("reply\n  text: Never ending\n  fault: stall after=2\nmodel: Later.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("go").await;
    talk.sees("esc stop").await;
    talk.ask("and then this").await;
    talk.sees("queued").await;
    talk.keys(ESC);
    talk.sees("stopped after").await;
    talk.sees("│ › and then this").await;
    talk.keys("\r");
    talk.sees("● Later.").await;
    leave(talk).await;
}

#[tokio::test]
async fn a_large_paste_is_a_chip_and_is_sent_whole() {
    let world = World::new("model: Read.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    let pasted: String = (0..3000).map(|line| format!("line {line}\r")).collect();
    talk.keys(&format!("see \x1b[200~{pasted}\x1b[201~"));
    talk.sees("see [paste 1: 3000 lines]").await;
    talk.keys("\r");
    talk.sees("● Read.").await;
    leave(talk).await;
    let sent = world.server.requests()[0].json.to_string();
    assert!(sent.contains("line 0\\nline 1\\n") && sent.contains("line 2999"));
}

#[tokio::test]
async fn the_screen_is_right_after_every_resize() {
    let world = World::new(
        "model: \"A paragraph of some words that has to be broken somewhere.\\n\\n- one\\n- two\"\n",
    )
    .await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("say something").await;
    talk.sees("• two").await;
    for (columns, rows) in [(40, 14), (120, 30), (41, 12), (200, 40), (80, 24)] {
        talk.resize(columns, rows);
        let edge = format!("╭{}╮", "─".repeat(usize::from(columns) - 2));
        let screen = talk.until("the box", |screen| screen.lines().any(|line| line == edge)).await;
        assert_eq!(screen.matches('╭').count(), 1, "{columns}: {screen}");
        assert!(screen.contains("• two") && screen.contains("› ask, or"), "{columns}: {screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= usize::from(columns)), "{screen}");
    }
    leave(talk).await;
}

#[tokio::test]
async fn twice_esc_goes_back_to_a_prompt_with_the_files() {
    let script = "\
reply
  call: edit {\"path\": \"a.txt\", \"old\": \"one\", \"new\": \"two\"}
model: Changed.
";
    let world = World::new(script).await;
    world.write("a.txt", "one\n");
    let mut talk = world.talk(&["--mode", "edit"], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("make it two").await;
    talk.sees("● Changed.").await;
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "two\n");
    talk.keys(ESC);
    talk.sees("esc again").await;
    talk.keys(ESC);
    talk.sees("go back to before").await;
    talk.keys("\r");
    talk.sees("the conversation and the files").await;
    talk.keys("\r");
    talk.sees("│ › make it two").await;
    talk.loses("Changed.").await;
    leave_with_text(talk).await;
    assert_eq!(std::fs::read_to_string(world.project.join("a.txt")).unwrap(), "one\n");
}

pub(super) async fn leave_with_text(mut talk: Talk) {
    talk.keys(CTRL_C);
    talk.sees("ask, or").await;
    leave(talk).await;
}

#[tokio::test]
async fn a_killed_terminal_keeps_the_draft_and_is_restored() {
    let world = World::new("model: Hello.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.keys("half a thought");
    talk.sees("half a thought").await;
    talk.signal(Signal::TERM);
    let (code, written) = talk.end().await;
    assert_eq!(code, Some(0));
    assert!(is_restored(&written));
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("│ › half a thought").await;
    leave_with_text(talk).await;
}

#[tokio::test]
async fn commands_complete_and_sheets_are_shown() {
    let world = World::new("model: Hello.\n").await;
    world.write("readme.md", "x");
    let mut talk = world.talk(&[], 100, 40);
    talk.sees("ask, or").await;
    talk.keys("/stat");
    talk.sees("› /status").await;
    talk.keys("\r");
    talk.sees("folder").await;
    talk.keys("see @read");
    talk.sees("›   readme.md").await;
    talk.keys("\t");
    talk.sees("see @readme.md ").await;
    talk.keys("\x15/theme plain\r");
    talk.loses("/theme").await;
    talk.keys("!echo from the shell\r");
    talk.sees("      from the shell").await;
    assert_eq!(world.server.requests().len(), 0);
    let config = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    assert!(config.contains("theme = \"plain\""), "{config}");
    leave(talk).await;
}

/// The bar is 60 bytes for each piece of an answer, the composer and the status line included.
#[tokio::test]
async fn a_streamed_answer_costs_few_bytes() {
    let world = World::new("reply\n  repeat: 2000 \"word \"\n  writes: frames\nmodel: Done.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("talk").await;
    let before = talk.written();
    talk.until("the end", |screen| screen.contains("word word") && screen.contains("? keys ·")).await;
    let each = (talk.written() - before) / 2000;
    assert!(each <= 60, "{each} bytes for each delta");
    leave(talk).await;
}

#[tokio::test]
async fn without_a_terminal_it_prints_help() {
    let world = World::new("model: Hello.\n").await;
    let done = world.covey(&[]).await;
    assert_eq!(done.code, Some(2));
    assert!(done.out.contains("Usage: covey"), "{}", done.out);
}
