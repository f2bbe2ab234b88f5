//! Taking back what was done in added folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use super::{Two, native, run, shell, two, write};
use crate::world::{Done, World};

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

async fn session(world: &World, arguments: &[&str]) -> Done {
    world.covey(&[&["session"], arguments].concat()).await
}

/// What undo would do, a line each, without the part of a path that differs from run to run.
async fn foreseen(two: &Two) -> String {
    let done = session(&two.world, &["undo", "--dry-run"]).await;
    done.out.replace(two.library.parent().unwrap().to_str().unwrap(), "/…")
}

/// Files by a tool and files by a command, in the project and beside it.
#[tokio::test]
async fn what_the_built_in_agent_did_there_is_taken_back() {
    let two = native().await;
    let (world, library) = (&two.world, &two.library);
    fs::write(library.join("gone.txt"), "mine").unwrap();
    let folder = library.to_str().unwrap();
    run(world, &["--add-dir", folder, &write(&library.join("made.txt"))]).await;
    let line = format!("rm {folder}/gone.txt; mkdir {folder}/deep; echo x > {folder}/deep/x; echo y > y");
    let done = run(world, &["--continue", &shell(&line)]).await;
    assert!(library.join("deep/x").exists() && !library.join("gone.txt").exists(), "{done:?}");
    let changed = done.lines().pop().unwrap()["files_changed"].clone();
    let names = changed.as_array().unwrap().iter().map(|name| name.as_str().unwrap().replace(folder, "LIB"));
    assert_eq!(names.collect::<Vec<_>>(), ["LIB/deep", "LIB/deep/x", "LIB/gone.txt", "y"]);

    let diff = session(world, &["diff"]).await;
    let shown = [
        format!("+++ {folder}/made.txt"),
        format!("--- {folder}/gone.txt"),
        "-mine".into(),
        "+++ b/y".into(),
    ];
    for line in shown {
        assert!(diff.out.lines().any(|shown| shown == line), "{line}: {diff:?}");
    }
    insta::assert_snapshot!(foreseen(&two).await, @r"
      delete  /…/library/deep
      delete  /…/library/deep/x
      create  /…/library/gone.txt
      delete  y
    ");
    let undone = session(world, &["undo", "--yes"]).await;
    assert_eq!(undone.code, Some(0), "{undone:?}");
    assert_eq!(text(&library.join("gone.txt")).as_deref(), Some("mine"));
    assert!(!library.join("deep").exists() && !world.project.join("y").exists());
    let made = library.join("made.txt");
    let undone = session(world, &["undo", "--yes", "--path", made.to_str().unwrap()]).await;
    assert_eq!((undone.code, made.exists()), (Some(0), false), "{undone:?}");
    // The last one first, though it was of one path.
    let redone = session(world, &["redo", "--yes"]).await;
    assert!(made.exists() && !library.join("deep").exists(), "{redone:?}");
    let redone = session(world, &["redo", "--yes"]).await;
    assert!(library.join("deep/x").exists() && world.project.join("y").exists(), "{redone:?}");
}

#[tokio::test]
async fn what_another_agent_did_there_is_taken_back() {
    let Two { world, library, .. } = two(crate::agents::world(&["--folders"]).await).await;
    let folder = library.to_str().unwrap();
    fs::write(library.join("a.txt"), "mine").unwrap();
    let prompt = format!("write {folder}/a.txt theirs\nrun! echo b > {folder}/b.txt; echo c > c.txt");
    let done = world
        .covey(&["run", "--json", "--agent", "fake", "--mode", "full", "--add-dir", folder, &prompt])
        .await;
    let taken = done.lines().into_iter().find(|event| event["type"] == "checkpoint").unwrap();
    let paths: Vec<String> = serde_json::from_value(taken["paths"].clone()).unwrap();
    assert_eq!(paths, [&format!("{folder}/a.txt"), &format!("{folder}/b.txt"), "c.txt"], "{done:?}");
    let undone = session(&world, &["undo", "--yes"]).await;
    assert_eq!((undone.code, text(&library.join("a.txt")).as_deref()), (Some(0), Some("mine")), "{undone:?}");
    assert!(!library.join("b.txt").exists() && !world.project.join("c.txt").exists());
}

/// Gone, or a link now: nothing is written there, forced or not, and the rest is taken back when forced.
#[tokio::test]
async fn a_folder_that_is_not_itself_any_more_is_left_alone() {
    let two = native().await;
    let (world, library, other) = (&two.world, &two.library, &two.other);
    fs::write(library.join("a.txt"), "mine").unwrap();
    fs::write(other.join("a.txt"), "text").unwrap();
    let folder = library.to_str().unwrap();
    let line = format!("printf text > {folder}/a.txt; echo y > y");
    run(world, &["--add-dir", folder, &shell(&line)]).await;
    assert_eq!(text(&library.join("a.txt")).as_deref(), Some("text"));
    let away = library.with_file_name("away");
    fs::rename(library, &away).unwrap();
    insta::assert_snapshot!(foreseen(&two).await, @r"
      create  /…/library/a.txt  lies in `/…/library`, which is gone
      delete  y
    ");
    let undone = session(world, &["undo", "--yes"]).await;
    assert_eq!(undone.code, Some(1), "{undone:?}");
    assert!(undone.err.contains("hint: look with --dry-run; --force does the rest without it"), "{undone:?}");
    symlink(other, library).unwrap();
    insta::assert_snapshot!(foreseen(&two).await, @r"
      create  /…/library/a.txt  lies in `/…/library`, which leads elsewhere now
      delete  y
    ");
    let undone = session(world, &["undo", "--yes", "--force"]).await;
    assert_eq!((undone.code, world.project.join("y").exists()), (Some(0), false), "{undone:?}");
    assert_eq!(text(&other.join("a.txt")).as_deref(), Some("text"));
    assert_eq!(text(&away.join("a.txt")).as_deref(), Some("text"));
    // Nor is what the link leads to a folder of the session.
    let done = run(world, &["--continue", &write(&other.join("b.txt"))]).await;
    assert!(!other.join("b.txt").exists(), "{done:?}");
}

/// In the project, around it, and added only later: everything is taken back once.
#[tokio::test]
async fn folders_within_folders_are_taken_back_once() {
    let two = native().await;
    let (world, library) = (&two.world, &two.library);
    let inside = world.project.join("inside");
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("i.txt"), "mine").unwrap();
    fs::write(library.join("l.txt"), "mine").unwrap();
    let around = world.project.parent().unwrap();
    let line = format!("echo new > inside/i.txt; echo new > p.txt; echo new > {}/l.txt", library.display());
    let inside_name = inside.to_str().unwrap();
    run(world, &["--add-dir", inside_name, &shell("echo new > inside/i.txt; echo new > p.txt")]).await;
    let done = run(world, &["--continue", "--add-dir", around.to_str().unwrap(), &shell(&line)]).await;
    assert_eq!(text(&library.join("l.txt")).as_deref(), Some("new\n"), "{done:?}");
    let undone = session(world, &["undo", "--to", "all", "--yes", "--json"]).await;
    let done: Value = serde_json::from_str(&undone.out).unwrap();
    let mut paths: Vec<String> = serde_json::from_value(done["done"].clone()).unwrap();
    paths.iter_mut().for_each(|path| *path = path.replace(around.to_str().unwrap(), "/…"));
    assert_eq!(paths, ["/…/library/l.txt", "inside/i.txt", "p.txt"], "{undone:?}");
    assert_eq!(text(&inside.join("i.txt")).as_deref(), Some("mine"));
    assert_eq!(text(&library.join("l.txt")).as_deref(), Some("mine"));
}
