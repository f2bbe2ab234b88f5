//! What becomes of the terminal: stopped, closed, blocked, dragged about.

use rustix::process::Signal;

use super::stories::{is_restored, leave, leave_with_text};
use crate::world::{PATIENCE, World};

/// Waits for something that is not on the screen.
async fn until(what: &str, wanted: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !wanted() {
        assert!(tokio::time::Instant::now() < deadline, "{what} never came");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_again() {
    let world = World::new("model: Hello.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("say hello").await;
    talk.sees("● Hello.").await;
    talk.keys("half a");
    talk.sees("› half a").await;
    assert!(talk.is_raw());
    talk.keys("\x1a");
    talk.stopped().await;
    let screen = talk.loses("╭").await;
    talk.wrote("\x1b[?25h\x1b[m").await;
    assert!(screen.contains("● Hello."), "{screen}");
    assert!(!talk.is_raw());
    assert!(is_restored(&talk.log()), "{:?}", talk.log());
    talk.signal(Signal::CONT);
    talk.sees("› half a").await;
    assert!(talk.is_raw());
    talk.keys(" thought");
    let screen = talk.sees("› half a thought").await;
    assert_eq!(screen.matches("● Hello.").count(), 1, "{screen}");
    leave_with_text(talk).await;
}

#[tokio::test]
async fn a_terminal_that_is_closed_ends_it_and_keeps_the_session_and_the_draft() {
    let world = World::new("reply\n  text: Never ending\n  fault: stall after=2\nmodel: Later.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("go").await;
    talk.sees("● Never").await;
    talk.keys("and then");
    talk.sees("› and then").await;
    talk.signal(Signal::HUP);
    let (code, _) = talk.end().await;
    assert_eq!(code, Some(0));
    let mut talk = world.talk(&["--continue"], 80, 24);
    talk.sees("› go").await;
    let screen = talk.sees("› and then").await;
    assert!(screen.contains("Never"), "{screen}");
    leave_with_text(talk).await;
}

#[tokio::test]
async fn what_is_being_written_survives_a_kill() {
    let world = World::new("model: Hello.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.keys("half a thought");
    talk.sees("half a thought").await;
    let folder = world.home.join("tui");
    let kept = || {
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        files
            .filter_map(|file| std::fs::read_to_string(file.path()).ok())
            .any(|text| text.contains("half a thought"))
    };
    until("the draft", kept).await;
    talk.signal(Signal::KILL);
    talk.end().await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("│ › half a thought").await;
    leave_with_text(talk).await;
}

/// The session goes on while the terminal takes nothing; then the screen is as it would have been.
#[tokio::test]
async fn a_terminal_that_takes_nothing_holds_up_nobody() {
    let world = World::new("reply\n  repeat: 3000 \"word \"\n  writes: frames\nmodel: Done.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("talk").await;
    talk.pause(true);
    let ended = || {
        let logs = world.sessions();
        let log = logs.first().and_then(|folder| std::fs::read_to_string(folder.join("events.jsonl")).ok());
        log.is_some_and(|log| log.contains("\"type\":\"turn_end\""))
    };
    until("the end of the turn", ended).await;
    talk.pause(false);
    talk.until("the end", |screen| screen.contains("word word") && screen.contains("? keys ·")).await;
    talk.keys("still here");
    talk.sees("› still here").await;
    talk.pause(true);
    talk.signal(Signal::TERM);
    until("the end", || !world.sessions().is_empty()).await;
    talk.pause(false);
    let (code, written) = talk.end().await;
    assert_eq!(code, Some(0));
    assert!(is_restored(&written));
}

#[tokio::test]
async fn a_storm_of_resizes_while_text_streams_leaves_the_screen_right() {
    let world = World::new("reply\n  repeat: 800 \"word \"\n  writes: frames\nmodel: Done.\n").await;
    let mut talk = world.talk(&[], 80, 24);
    talk.sees("ask, or").await;
    talk.ask("talk").await;
    for step in 0..80u16 {
        talk.resize(30 + step * 7 % 170, 8 + step * 5 % 40);
    }
    talk.resize(100, 30);
    let edge = format!("╭{}╮", "─".repeat(98));
    let calm = |screen: &str| {
        screen.contains("? keys ·")
            && screen.contains("word word")
            && screen.lines().filter(|line| **line == edge).count() == 1
    };
    let screen = talk.until("one box", calm).await;
    assert_eq!(screen.matches('╭').count(), 1, "{screen}");
    assert!(screen.contains("word word"), "{screen}");
    leave(talk).await;
}

#[tokio::test]
async fn somebody_who_looks_elsewhere_is_told() {
    let world = World::new("reply\n  call: shell {\"command\": \"touch a\"}\nmodel: Done.\n").await;
    let tools = world.home.join("bin");
    std::fs::create_dir_all(&tools).unwrap();
    let told = world.home.join("told");
    std::fs::write(
        tools.join("notify-send"),
        format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}.part && mv {0}.part {0}\n", told.display()),
    )
    .unwrap();
    std::fs::set_permissions(tools.join("notify-send"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let path = format!("{}:/usr/bin:/bin", tools.display());
    let mut talk = world.talk_with(&[], 80, 24, &[("PATH", &path)]);
    talk.sees("ask, or").await;
    // The terminal has not the person's eye any more.
    talk.keys("\x1b[O");
    talk.ask("make it").await;
    talk.sees("1 Allow once").await;
    until("the message", || told.exists()).await;
    let desktop = std::fs::read_to_string(&told).unwrap();
    assert!(desktop.contains("covey asks") && desktop.contains("touch a"), "{desktop}");
    talk.keys("\x1b[I1");
    talk.sees("● Done.").await;
    let written = leave(talk).await;
    assert!(written.contains("\x07\x1b]9;covey asks: "), "{written:?}");
    assert!(written.contains("\x1b]777;notify;covey asks;"));
    // A short turn that somebody watches is not worth a bell.
    assert!(!written.contains("covey is done"));
}

/// What people type in their own script stands where the cursor is, in the line and in the conversation.
#[tokio::test]
async fn wide_and_joined_characters_keep_their_columns() {
    let texts = ["日本語テキスト", "한글 조합", "👍 fine", "e\u{301}te\u{301}", "שלום עולם", "مرحبا", "नमस्ते"];
    let world = World::new(&texts.map(|text| format!("model: \"{text}\"\n")).concat()).await;
    let mut talk = world.talk(&[], 60, 30);
    talk.sees("ask, or").await;
    for text in texts {
        talk.keys(text);
        talk.sees(&format!("› {text}")).await;
        talk.keys("\r");
        talk.sees(&format!("● {text}")).await;
        let screen = talk.until("the box", |screen| screen.contains("? keys ·")).await;
        let boxed: Vec<&str> = screen.lines().filter(|line| line.starts_with('│')).collect();
        assert_eq!(boxed.len(), 1, "{screen}");
    }
    leave(talk).await;
}
