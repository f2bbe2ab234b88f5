//! Folders that were added to a session.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::super::{Checkpoints, Mark, Plan, Scope, Target, UndoError};

/// A folder with a project `p` in it, and whatever a test adds.
struct Desk {
    folder: tempfile::TempDir,
    effects: u32,
}

impl Desk {
    fn new(folders: &[&str]) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap(), effects: 0 };
        for folder in ["p", "home/sessions"].iter().chain(folders) {
            fs::create_dir_all(desk.at(folder)).unwrap();
        }
        desk
    }

    /// Without links, as folders are when they are granted.
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn with(&self, added: &[&str]) -> Checkpoints {
        Checkpoints::at(
            &self.at("home/sessions/s"),
            &self.at("p"),
            added.iter().map(|folder| self.at(folder)),
        )
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }

    /// What an effect of its own turn changed.
    fn effect(&mut self, checkpoints: &Checkpoints, scope: Scope, work: impl FnOnce(&Self)) -> Vec<String> {
        self.effects += 1;
        let mark = Mark { turn: format!("t{}", self.effects), call: None };
        let pending = checkpoints.before(mark, scope).unwrap();
        work(self);
        let record = checkpoints.after(pending).unwrap();
        record.into_iter().flat_map(|record| record.files).map(|file| self.short(&file.path)).collect()
    }

    /// A path as it is told, without the part that differs from run to run.
    fn short(&self, path: &Path) -> String {
        path.display().to_string().replace(self.at("").to_str().unwrap(), "/…/")
    }

    fn told(&self, plan: &Plan) -> Vec<String> {
        let line = |step: &super::super::Step| {
            let path = self.short(&step.path);
            match &step.conflict {
                Some(why) => format!("{path} {}", why.replace(self.at("").to_str().unwrap(), "/…/")),
                None => path,
            }
        };
        plan.steps.iter().map(line).collect()
    }
}

fn undo(checkpoints: &Checkpoints) -> Plan {
    checkpoints.plan_undo(&Target::LastTurn, None).unwrap()
}

#[test]
fn what_was_done_in_an_added_folder_is_taken_back_and_done_again() {
    let mut desk = Desk::new(&["lib/deep"]);
    desk.write("p/a", "a");
    desk.write("lib/deep/b", "b");
    desk.write("lib/gone", "g");
    let checkpoints = desk.with(&["lib"]);
    let changed = desk.effect(&checkpoints, Scope::Anything, |desk| {
        desk.write("p/a", "new a");
        desk.write("lib/deep/b", "new b");
        desk.write("lib/made/c", "new c");
        fs::remove_file(desk.at("lib/gone")).unwrap();
    });
    assert_eq!(changed, ["/…/lib/deep/b", "/…/lib/gone", "/…/lib/made", "/…/lib/made/c", "a"]);
    checkpoints.carry_out(&undo(&checkpoints), false).unwrap();
    let all = |desk: &Desk| ["p/a", "lib/deep/b", "lib/made/c", "lib/gone"].map(|path| desk.read(path));
    assert_eq!(all(&desk), [Some("a".into()), Some("b".into()), None, Some("g".into())]);
    assert!(!desk.at("lib/made").exists());
    checkpoints.carry_out(&checkpoints.plan_redo().unwrap(), false).unwrap();
    assert_eq!(all(&desk), [Some("new a".into()), Some("new b".into()), Some("new c".into()), None]);
}

#[test]
fn a_named_file_is_kept_with_the_folders_that_come_to_be_on_the_way() {
    let mut desk = Desk::new(&["lib"]);
    let checkpoints = desk.with(&["lib"]);
    let scope = Scope::Files(vec![desk.at("lib/x/y/z"), desk.at("elsewhere")]);
    let changed = desk.effect(&checkpoints, scope, |desk| {
        desk.write("lib/x/y/z", "z");
        desk.write("elsewhere", "not looked after");
    });
    assert_eq!(changed, ["/…/lib/x", "/…/lib/x/y", "/…/lib/x/y/z"]);
    checkpoints.carry_out(&undo(&checkpoints), false).unwrap();
    assert_eq!(fs::read_dir(desk.at("lib")).unwrap().count(), 0);
    assert_eq!(desk.read("elsewhere").as_deref(), Some("not looked after"));
}

/// A tool names files as the model does.
#[test]
fn a_file_is_kept_where_it_really_is_however_it_is_named() {
    let mut desk = Desk::new(&["lib"]);
    desk.write("p/real", "old");
    symlink(desk.at("p/real"), desk.at("p/link")).unwrap();
    symlink(desk.at("lib"), desk.at("p/library")).unwrap();
    let checkpoints = desk.with(&["lib"]);
    let named = ["p/../lib/./a", "p/library/b", "p/link"];
    let scope = Scope::Files(named.iter().map(|name| desk.at(name)).collect());
    let changed = desk.effect(&checkpoints, scope, |desk| {
        named.iter().for_each(|name| desk.write(name, "new"));
    });
    assert_eq!(changed, ["/…/lib/a", "/…/lib/b", "real"]);
    checkpoints.carry_out(&undo(&checkpoints), false).unwrap();
    assert_eq!(
        (desk.read("p/real").as_deref(), desk.read("lib/a"), desk.read("lib/b")),
        (Some("old"), None, None)
    );
    assert!(desk.at("p/link").is_symlink() && desk.at("p/library").is_symlink());
}

#[test]
fn paths_can_be_limited_however_they_are_written() {
    let mut desk = Desk::new(&["lib"]);
    let checkpoints = desk.with(&["lib"]);
    desk.effect(&checkpoints, Scope::Anything, |desk| {
        ["p/a", "lib/a", "lib/b"].iter().for_each(|path| desk.write(path, "new"));
    });
    symlink(desk.at("lib"), desk.at("by-link")).unwrap();
    let only = |path: &Path| {
        let plan = checkpoints.plan_undo(&Target::All, Some(path)).unwrap();
        desk.told(&plan)
    };
    assert_eq!(only(&desk.at("lib/b")), ["/…/lib/b"]);
    assert_eq!(only(&desk.at("lib")), ["/…/lib/a", "/…/lib/b"]);
    assert_eq!(only(Path::new("../lib/a")), ["/…/lib/a"]);
    assert_eq!(only(&desk.at("by-link/a")), ["/…/lib/a"]);
    assert_eq!(only(&desk.at("p/a")), ["a"]);
    assert_eq!(only(Path::new("a")), ["a"]);
}

#[test]
fn folders_in_each_other_have_one_name_for_everything() {
    // One in the project, even where generated things are left out, and one around it.
    let mut desk = Desk::new(&["p/sub", "p/node_modules/mine"]);
    desk.write("beside", "b");
    desk.write("p/sub/s", "s");
    desk.write("p/node_modules/theirs/t", "t");
    desk.write("p/node_modules/mine/m", "m");
    let checkpoints = desk.with(&["p/sub", "p/node_modules/mine", ""]);
    let changed = desk.effect(&checkpoints, Scope::Anything, |desk| {
        ["beside", "p/a", "p/sub/s", "p/node_modules/mine/m", "p/node_modules/theirs/t"]
            .iter()
            .for_each(|path| desk.write(path, "changed"));
    });
    // What is kept meanwhile is not among it.
    assert_eq!(changed, ["/…/beside", "a", "node_modules/mine/m", "sub/s"]);
    checkpoints.carry_out(&undo(&checkpoints), false).unwrap();
    let all = ["beside", "p/a", "p/sub/s", "p/node_modules/mine/m"].map(|path| desk.read(path));
    assert_eq!(all, [Some("b".into()), None, Some("s".into()), Some("m".into())]);
}

#[test]
fn a_folder_that_was_added_later_is_not_taken_for_new() {
    let desk = Desk::new(&["lib"]);
    desk.write("lib/old", "mine");
    let before = desk.with(&[]);
    let pending = before.before(Mark { turn: "t1".into(), call: None }, Scope::Anything).unwrap();
    desk.write("p/a", "half done");
    // Killed here; the next one has another folder.
    drop(pending);
    let later = desk.with(&["lib"]);
    assert_eq!(desk.told(&undo(&later)), ["a"]);
    later.carry_out(&undo(&later), false).unwrap();
    assert_eq!((desk.read("p/a"), desk.read("lib/old").as_deref()), (None, Some("mine")));
}

#[test]
fn nothing_is_written_in_a_folder_that_is_gone_moved_or_no_part_any_more() {
    let mut desk = Desk::new(&["lib", "elsewhere"]);
    desk.write("lib/a", "old");
    desk.write("lib/gone", "old");
    desk.write("elsewhere/a", "not yours");
    let checkpoints = desk.with(&["lib"]);
    desk.effect(&checkpoints, Scope::Anything, |desk| {
        desk.write("lib/a", "new!");
        desk.write("p/b", "b");
        fs::remove_file(desk.at("lib/gone")).unwrap();
    });
    let told = |checkpoints: &Checkpoints| desk.told(&undo(checkpoints));

    let fewer = desk.with(&[]);
    let why = "lies in a folder that is no part of this session any more";
    assert_eq!(told(&fewer), [format!("/…/lib/a {why}"), format!("/…/lib/gone {why}"), "b".to_owned()]);

    fs::rename(desk.at("lib"), desk.at("away")).unwrap();
    let why = "lies in `/…/lib`, which is gone";
    assert_eq!(told(&checkpoints), [format!("/…/lib/a {why}"), format!("/…/lib/gone {why}"), "b".to_owned()]);
    let refused = checkpoints.carry_out(&undo(&checkpoints), false);
    assert!(matches!(refused, Err(UndoError::Impossible { .. })), "{refused:?}");

    symlink(desk.at("elsewhere"), desk.at("lib")).unwrap();
    let why = "lies in `/…/lib`, which leads elsewhere now";
    assert_eq!(told(&checkpoints), [format!("/…/lib/a {why}"), format!("/…/lib/gone {why}"), "b".to_owned()]);
    // Forced, the rest is done.
    checkpoints.carry_out(&undo(&checkpoints), true).unwrap();
    assert_eq!((desk.read("p/b"), desk.read("elsewhere/a").as_deref()), (None, Some("not yours")));
    assert!(!desk.at("elsewhere/gone").exists() && desk.read("away/a").as_deref() == Some("new!"));
}

#[test]
fn an_added_folder_that_the_effect_took_away_comes_back() {
    let mut desk = Desk::new(&["lib", "p/sub", "elsewhere"]);
    desk.write("lib/a", "a");
    desk.write("p/sub/s", "s");
    let checkpoints = desk.with(&["lib", "p/sub"]);
    let changed = desk.effect(&checkpoints, Scope::Anything, |desk| {
        fs::remove_dir_all(desk.at("lib")).unwrap();
        fs::remove_dir_all(desk.at("p/sub")).unwrap();
        symlink(desk.at("elsewhere"), desk.at("p/sub")).unwrap();
    });
    assert_eq!(changed, ["/…/lib", "/…/lib/a", "sub", "sub/s"]);
    checkpoints.carry_out(&undo(&checkpoints), false).unwrap();
    assert_eq!((desk.read("lib/a").as_deref(), desk.read("p/sub/s").as_deref()), (Some("a"), Some("s")));
    assert_eq!(fs::read_dir(desk.at("elsewhere")).unwrap().count(), 0);
    assert!(!desk.at("p/sub").is_symlink());
}

#[test]
fn a_link_that_was_put_on_the_way_is_not_followed() {
    let mut desk = Desk::new(&["p/src", "elsewhere"]);
    desk.write("p/src/a", "old");
    desk.write("p/src/gone", "old");
    desk.write("elsewhere/a", "new!");
    let checkpoints = desk.with(&[]);
    desk.effect(&checkpoints, Scope::Anything, |desk| {
        desk.write("p/src/a", "new!");
        desk.write("p/src/made", "made");
        fs::remove_file(desk.at("p/src/gone")).unwrap();
    });
    desk.write("elsewhere/made", "made");
    fs::rename(desk.at("p/src"), desk.at("moved")).unwrap();
    symlink(desk.at("elsewhere"), desk.at("p/src")).unwrap();
    let why = "lies behind `/…/p/src`, which is no folder now";
    assert_eq!(desk.told(&undo(&checkpoints)), [format!("src/a {why}"), format!("src/gone {why}")]);
    let forced = checkpoints.carry_out(&undo(&checkpoints), true);
    assert!(matches!(forced, Err(UndoError::Impossible { .. })), "{forced:?}");
    assert_eq!(desk.read("elsewhere/a").as_deref(), Some("new!"));
    assert!(desk.at("elsewhere/made").exists() && !desk.at("elsewhere/gone").exists());
}
