mod folders;

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Checkpoints, Mark, Scope, Target, UndoError};

/// No folders besides the project.
const NOTHING: [PathBuf; 0] = [];

struct Project {
    folder: tempfile::TempDir,
    checkpoints: Checkpoints,
    calls: u32,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("p/src")).unwrap();
        let checkpoints = Checkpoints::at(&folder.path().join("session"), &folder.path().join("p"), NOTHING);
        Self { folder, checkpoints, calls: 0 }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("p")
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.root().join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    /// An effect of a turn, on everything or on named files.
    fn effect(&mut self, turn: &str, files: &[&str], work: impl FnOnce(&Path)) -> usize {
        self.calls += 1;
        let mark = Mark { turn: turn.to_owned(), call: Some(format!("c{}", self.calls)) };
        let scope = match files {
            [] => Scope::Anything,
            files => Scope::Files(files.iter().map(|file| self.root().join(file)).collect()),
        };
        let pending = self.checkpoints.before(mark, scope).unwrap();
        work(&self.root());
        self.checkpoints.after(pending).unwrap().map_or(0, |record| record.files.len())
    }

    fn undo(&self, target: Target) -> Vec<String> {
        let plan = self.checkpoints.plan_undo(&target, None).unwrap();
        let done = self.checkpoints.carry_out(&plan, false).unwrap();
        done.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.autocrlf=false"])
            .args(arguments)
            .current_dir(self.root())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn an_edit_a_new_file_and_a_deleted_one_are_taken_back_and_done_again() {
    let mut project = Project::new();
    project.write("a.txt", "old");
    project.write("gone.txt", "kept");
    fs::set_permissions(project.root().join("gone.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    project.effect("t1", &["a.txt"], |root| fs::write(root.join("a.txt"), "new!").unwrap());
    project.effect("t1", &["deep/er/b.txt"], |root| {
        fs::create_dir_all(root.join("deep/er")).unwrap();
        fs::write(root.join("deep/er/b.txt"), "b").unwrap();
    });
    project.effect("t1", &["gone.txt"], |root| fs::remove_file(root.join("gone.txt")).unwrap());

    project.undo(Target::LastTurn);
    assert_eq!(project.read("a.txt").as_deref(), Some("old"));
    assert!(!project.root().join("deep").exists());
    assert_eq!(project.read("gone.txt").as_deref(), Some("kept"));
    let mode = fs::metadata(project.root().join("gone.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);

    let redo = project.checkpoints.plan_redo().unwrap();
    project.checkpoints.carry_out(&redo, false).unwrap();
    assert_eq!(project.read("a.txt").as_deref(), Some("new!"));
    assert_eq!(project.read("deep/er/b.txt").as_deref(), Some("b"));
    assert!(!project.root().join("gone.txt").exists());
    assert!(matches!(project.checkpoints.plan_redo(), Err(UndoError::NothingToRedo)));
    // And back once more: what redo wrote is not taken for somebody else's work.
    project.undo(Target::All);
    assert_eq!(project.read("a.txt").as_deref(), Some("old"));
}

#[test]
fn whatever_a_command_did_is_found_and_taken_back() {
    let mut project = Project::new();
    project.write("a.txt", "a");
    project.write(".env", "SECRET=1");
    project.write("src/lib.rs", "lib");
    symlink("a.txt", project.root().join("link")).unwrap();
    let odd = std::ffi::OsString::from_vec(b"odd\xff%\nname".to_vec());
    fs::write(project.root().join(&odd), "odd").unwrap();
    fs::create_dir_all(project.root().join("node_modules/x")).unwrap();
    let changed = project.effect("t1", &[], |root| {
        fs::remove_dir_all(root.join("src")).unwrap();
        fs::remove_file(root.join(".env")).unwrap();
        fs::remove_file(root.join("link")).unwrap();
        fs::remove_file(root.join(&odd)).unwrap();
        fs::write(root.join("a.txt"), "b").unwrap();
        fs::write(root.join("made"), "m").unwrap();
    });
    assert_eq!(changed, 7);
    let record = project.checkpoints.records().unwrap().pop().unwrap();
    assert_eq!(record.left_out, ["node_modules/: generated"]);
    project.undo(Target::LastStep);
    assert_eq!(project.read("a.txt").as_deref(), Some("a"));
    assert_eq!(project.read(".env").as_deref(), Some("SECRET=1"));
    assert_eq!(project.read("src/lib.rs").as_deref(), Some("lib"));
    assert_eq!(fs::read(project.root().join(&odd)).unwrap(), b"odd");
    assert_eq!(fs::read_link(project.root().join("link")).unwrap(), Path::new("a.txt"));
    assert!(!project.root().join("made").exists());
}

#[test]
fn git_clean_and_reset_are_undone_without_touching_git() {
    let mut project = Project::new();
    project.git(&["init", "-q"]);
    project.write(".gitignore", "*.log\n");
    project.write("tracked.txt", "tracked");
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "x"]);
    // So that git's index is clearly newer than the files it lists.
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    fs::File::options()
        .write(true)
        .open(project.root().join("tracked.txt"))
        .unwrap()
        .set_modified(old)
        .unwrap();
    project.git(&["update-index", "--refresh"]);
    project.write("ignored.log", "log");
    project.write("untracked.txt", "mine");
    let index = fs::read(project.root().join(".git/index")).unwrap();
    project.effect("t1", &[], |root| {
        fs::remove_file(root.join("tracked.txt")).unwrap();
        fs::remove_file(root.join("ignored.log")).unwrap();
        fs::remove_file(root.join("untracked.txt")).unwrap();
    });
    // What git has was not copied.
    let kept = fs::read_dir(project.folder.path().join("session/checkpoints/objects")).unwrap().count();
    assert!(kept <= 3, "{kept} objects");
    project.undo(Target::LastTurn);
    assert_eq!(project.read("tracked.txt").as_deref(), Some("tracked"));
    assert_eq!(project.read("ignored.log").as_deref(), Some("log"));
    assert_eq!(project.read("untracked.txt").as_deref(), Some("mine"));
    assert_eq!(fs::read(project.root().join(".git/index")).unwrap(), index);
}

#[test]
fn one_undo_after_the_other_meets_only_what_we_put_there() {
    let mut project = Project::new();
    project.write("a.txt", "1");
    project.write("b.txt", "1");
    for (turn, text) in [("t1", "2"), ("t2", "3"), ("t3", "4")] {
        project.effect(turn, &["a.txt", "b.txt"], |root| {
            fs::write(root.join("a.txt"), text).unwrap();
            fs::write(root.join("b.txt"), text).unwrap();
        });
    }
    let read = |project: &Project| (project.read("a.txt").unwrap(), project.read("b.txt").unwrap());
    project.undo(Target::LastTurn);
    assert_eq!(read(&project), ("3".into(), "3".into()));
    // One path by itself, and again.
    let only = project.checkpoints.plan_undo(&Target::LastTurn, Some(Path::new("b.txt"))).unwrap();
    project.checkpoints.carry_out(&only, false).unwrap();
    assert_eq!(read(&project), ("3".into(), "2".into()));
    let redo = project.checkpoints.plan_redo().unwrap();
    project.checkpoints.carry_out(&redo, false).unwrap();
    assert_eq!(read(&project), ("3".into(), "3".into()));
    project.undo(Target::LastTurn);
    project.undo(Target::LastTurn);
    assert_eq!(read(&project), ("1".into(), "1".into()));
    for text in ["2", "3", "4"] {
        let redo = project.checkpoints.plan_redo().unwrap();
        project.checkpoints.carry_out(&redo, false).unwrap();
        assert_eq!(read(&project), (text.into(), text.into()));
    }
    project.undo(Target::All);
    assert_eq!(read(&project), ("1".into(), "1".into()));
}

#[test]
fn what_was_too_large_to_keep_keeps_nothing_else_from_coming_back() {
    let mut project = Project::new();
    project.write("a.txt", "1");
    project.write("huge.bin", &"x".repeat(33 << 20));
    project.effect("t1", &[], |root| {
        fs::remove_file(root.join("a.txt")).unwrap();
        fs::remove_file(root.join("huge.bin")).unwrap();
    });
    let plan = project.checkpoints.plan_undo(&Target::LastTurn, None).unwrap();
    assert_eq!(project.checkpoints.carry_out(&plan, false).unwrap(), [Path::new("a.txt")]);
    assert_eq!(project.read("a.txt").as_deref(), Some("1"));
}

#[test]
fn a_change_whose_time_was_set_back_is_still_a_change() {
    let mut project = Project::new();
    project.write("a.txt", "one");
    project.write("b.txt", "same");
    project.effect("t1", &[], |root| {
        let path = root.join("a.txt");
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "two").unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        // Touched, and as before.
        fs::hard_link(root.join("b.txt"), root.join("c.txt")).unwrap();
        fs::remove_file(root.join("c.txt")).unwrap();
    });
    let records = project.checkpoints.records().unwrap();
    let paths: Vec<_> = records[0].files.iter().map(|file| file.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["a.txt"]);
    project.undo(Target::LastTurn);
    assert_eq!(project.read("a.txt").as_deref(), Some("one"));
}

#[test]
fn what_somebody_else_changed_since_is_not_overwritten_unasked() {
    let mut project = Project::new();
    project.write("a.txt", "old");
    project.effect("t1", &["a.txt"], |root| fs::write(root.join("a.txt"), "agent's").unwrap());
    project.write("a.txt", "the person's own work");
    let plan = project.checkpoints.plan_undo(&Target::LastTurn, None).unwrap();
    assert!(plan.steps[0].conflict.is_some());
    assert!(matches!(project.checkpoints.carry_out(&plan, false), Err(UndoError::Conflict { .. })));
    assert_eq!(project.read("a.txt").as_deref(), Some("the person's own work"));
    project.checkpoints.carry_out(&plan, true).unwrap();
    assert_eq!(project.read("a.txt").as_deref(), Some("old"));
    // Even that can be taken back.
    let redo = project.checkpoints.plan_redo().unwrap();
    project.checkpoints.carry_out(&redo, false).unwrap();
    assert_eq!(project.read("a.txt").as_deref(), Some("the person's own work"));
}

#[test]
fn a_crash_in_the_middle_of_an_effect_can_be_taken_back() {
    let project = Project::new();
    project.write("a.txt", "old");
    let mark = Mark { turn: "t1".to_owned(), call: None };
    let pending = project.checkpoints.before(mark, Scope::Anything).unwrap();
    project.write("a.txt", "half done");
    drop(pending);
    let reopened = Checkpoints::at(&project.folder.path().join("session"), &project.root(), NOTHING);
    let plan = reopened.plan_undo(&Target::LastTurn, None).unwrap();
    reopened.carry_out(&plan, false).unwrap();
    assert_eq!(project.read("a.txt").as_deref(), Some("old"));
}

#[test]
fn what_is_still_being_done_is_not_closed_by_whoever_looks() {
    let project = Project::new();
    project.write("a.txt", "old");
    let mark = |turn: &str| Mark { turn: turn.to_owned(), call: None };
    let long = project.checkpoints.before(mark("t1"), Scope::Anything).unwrap();
    project.write("a.txt", "half done");
    // Somebody asks for the difference in between, from another process even; and another agent works beside it.
    let other = Checkpoints::at(&project.folder.path().join("session"), &project.root(), NOTHING);
    assert!(matches!(other.plan_undo(&Target::LastTurn, None), Err(UndoError::NothingToUndo)));
    let short = other.before(mark("t1.1"), Scope::Files(vec![project.root().join("b.txt")])).unwrap();
    project.write("b.txt", "made");
    assert_eq!(other.after(short).unwrap().unwrap().id, 1);
    project.write("a.txt", "done");
    let record = project.checkpoints.after(long).unwrap().unwrap();
    assert_eq!((record.id, record.files.len()), (2, 2));
    project.undo(Target::All);
    assert_eq!((project.read("a.txt").as_deref(), project.read("b.txt")), (Some("old"), None));
}

#[test]
fn turns_calls_and_single_paths_can_be_named() {
    let mut project = Project::new();
    for (turn, file) in [("t1", "a"), ("t2", "b"), ("t2", "c"), ("t3", "d")] {
        project.effect(turn, &[file], |root| fs::write(root.join(file), turn).unwrap());
    }
    let paths = |target: Target| {
        let plan = project.checkpoints.plan_undo(&target, None).unwrap();
        plan.steps.iter().map(|step| step.path.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(paths(Target::LastTurn), ["d"]);
    assert_eq!(paths(Target::Turn("t2".into())), ["b", "c", "d"]);
    assert_eq!(paths(Target::Call("c3".into())), ["c", "d"]);
    let missing = project.checkpoints.plan_undo(&Target::Turn("t9".into()), None);
    assert!(matches!(missing, Err(UndoError::NoSuchTarget(_))));

    let only = project.checkpoints.plan_undo(&Target::All, Some(Path::new("b"))).unwrap();
    project.checkpoints.carry_out(&only, false).unwrap();
    assert_eq!((project.read("b"), project.read("a").as_deref()), (None, Some("t1")));
    // Something new after an undo: what was undone can not come back on top of it.
    project.undo(Target::LastStep);
    project.effect("t4", &["e"], |root| fs::write(root.join("e"), "e").unwrap());
    assert!(matches!(project.checkpoints.plan_redo(), Err(UndoError::NothingToRedo)));
}

#[test]
fn a_damaged_journal_or_content_is_an_error_not_a_wrong_file() {
    let mut project = Project::new();
    project.write("a.txt", "old");
    project.effect("t1", &["a.txt"], |root| fs::write(root.join("a.txt"), "new").unwrap());
    let objects = project.folder.path().join("session/checkpoints/objects");
    for entry in fs::read_dir(objects).unwrap() {
        fs::write(entry.unwrap().path(), "garbage").unwrap();
    }
    let plan = project.checkpoints.plan_undo(&Target::LastTurn, None).unwrap();
    assert!(matches!(project.checkpoints.carry_out(&plan, false), Err(UndoError::Io { .. })));
    assert_eq!(project.read("a.txt").as_deref(), Some("new"));
    let journal = project.folder.path().join("session/checkpoints/journal.jsonl");
    fs::write(&journal, "{\"id\":1,\"tu").unwrap();
    assert!(matches!(project.checkpoints.plan_undo(&Target::LastTurn, None), Err(UndoError::NothingToUndo)));
}
