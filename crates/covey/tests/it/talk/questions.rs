//! May this happen? What the person can answer, and what comes of it.

use super::stories::leave;
use crate::world::World;

#[tokio::test]
async fn a_command_is_changed_before_it_is_allowed() {
    let script = "\
reply
  call: shell {\"command\": \"touch wrong.txt\"}
model: As you wish.
";
    let world = World::new(script).await;
    let mut talk = world.talk(&[], 100, 30);
    talk.sees("ask, or").await;
    talk.ask("make the file").await;
    let screen = talk.sees("Change it first (e)").await;
    assert!(screen.contains("$ touch wrong.txt"), "{screen}");
    talk.keys("e");
    talk.sees("run instead: touch wrong.txt").await;
    talk.keys("\x17\x17right.txt");
    talk.sees("run instead: touch right.txt").await;
    talk.keys("\r");
    talk.sees("● As you wish.").await;
    let screen = talk.sees("✓ $ touch right.txt").await;
    assert!(!screen.contains("wrong.txt"), "{screen}");
    leave(talk).await;
    assert!(world.project.join("right.txt").exists() && !world.project.join("wrong.txt").exists());
    let last = world.server.requests().last().unwrap().json.to_string();
    assert!(last.contains("the person changed this before it ran, to: touch right.txt"), "{last}");
    assert_eq!(world.server.requests().len(), 2);
}

/// A change is no way around what is never allowed, and what can do harm is asked again.
#[tokio::test]
async fn a_changed_command_has_to_pass_too() {
    let script = "\
reply
  call: shell {\"command\": \"touch a.txt\"}
model: I see.
";
    let world = World::new(script).await;
    let mut talk = world.talk(&[], 100, 30);
    talk.sees("ask, or").await;
    talk.ask("clean up").await;
    talk.sees("Change it first").await;
    talk.keys("e");
    talk.sees("run instead: touch a.txt").await;
    talk.keys("\x15rm -rf ~");
    talk.sees("run instead: rm -rf ~").await;
    talk.keys("\r");
    talk.sees("really?").await;
    talk.keys("n");
    talk.sees("why?").await;
    talk.keys("a slip\r");
    talk.sees("● I see.").await;
    leave(talk).await;
    assert!(world.home.join("config.toml").exists());
}
