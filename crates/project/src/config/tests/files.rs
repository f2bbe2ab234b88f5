use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::setup;

#[test]
fn every_problem_of_every_file_is_reported() {
    let setup = setup()
        .user("# mine\nmodel = 3\nmodle = \"x\"\n[limits]\nsteps = 1000\ncost = \"much\"\n")
        .project("mode = \"ful\"\n[router]\ntimeout = \"30\"\n[providers.local.modles.x]\n")
        .local("[[hooks]]\nevnt = \"stop\"\n[[hooks]]\nevent = 1\n[zzz]\n");
    assert_snapshot!(setup.complaints(), @"
    `limits.cost` in `home/config.toml` line 6 should be a number, not text
    `limits.steps` in `home/config.toml` line 5 is 1000, which is not between 1 and 100
    `model` in `home/config.toml` line 2 should be text, not a whole number
    unknown key `modle` in `home/config.toml` line 3
    hint: did you mean `model`?
    `mode` in `project/.covey/config.toml` line 1 cannot be `ful`
    hint: it can be `explore`, `plan`, `ask`, `edit`, `auto`, `full`
    unknown key `providers.local.modles` in `project/.covey/config.toml` line 4
    hint: did you mean `providers.local.models`?
    `router.timeout` in `project/.covey/config.toml` line 3 should be a time span such as `30s`, not other text
    unknown key `hooks.evnt` in `project/.covey/config.local.toml` line 2
    hint: did you mean `hooks.event`?
    `hooks.event` in `project/.covey/config.local.toml` line 4 should be text, not a whole number
    unknown key `zzz` in `project/.covey/config.local.toml` line 5
    ");
}

#[test]
fn syntax_errors_name_file_and_line_and_take_one_line() {
    let setup = setup().user("model = \"a\"\nmode = [\n").project("a = 1\na = 2\n");
    assert_snapshot!(setup.complaints(), @"
    `home/config.toml` line 2 is not valid TOML: unclosed array, expected `]`
    `project/.covey/config.toml` line 2 is not valid TOML: duplicate key
    ");
}

#[test]
fn flags_and_variables_are_checked_like_files() {
    let setup = setup();
    let flags =
        [("modle", "x"), ("limits.steps", "many"), ("a..b", "x"), ("model.x", "1"), ("limits.stps", "1")];
    let errors = setup.load_with(&[("COVEY_MODE", "yolo")], &flags, &crate::NobodyTrusted).unwrap_err();
    assert_snapshot!(errors, @r#"
    `mode` in the environment variable `COVEY_MODE` cannot be `yolo`
    hint: it can be `explore`, `plan`, `ask`, `edit`, `auto`, `full`
    unknown key `modle` in the command-line flags
    hint: did you mean `model`?
    `many` is not a value for `limits.steps`
    hint: it should be a whole number
    `a..b` is not a key
    hint: join parts with dots, and quote one that has dots itself: `a."b.c"`
    unknown key `model.x` in the command-line flags
    unknown key `limits.stps` in the command-line flags
    hint: did you mean `limits.steps`?
    "#);
}

#[test]
fn a_hostile_key_cannot_write_to_the_terminal() {
    let setup = setup().project("\"\\u001b[2Jx\" = 1\nmode = \"\\u001b[2J\"\n");
    let complaints = setup.complaints();
    assert!(!complaints.contains('\u{1b}'), "{complaints:?}");
}

#[test]
fn what_is_not_a_text_file_is_refused() {
    let user = |prepare: &dyn Fn(&std::path::Path)| {
        let setup = setup();
        prepare(&setup.home.config_file());
        setup.complaints()
    };
    assert_eq!(
        user(&|path| fs::create_dir(path).unwrap()),
        "cannot read `home/config.toml`: it is not a file"
    );
    let pipe = |path: &std::path::Path| mknodat(CWD, path, FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert_eq!(user(&pipe), "cannot read `home/config.toml`: it is not a file");
    assert_eq!(
        user(&|path| symlink("/dev/zero", path).unwrap()),
        "cannot read `home/config.toml`: it is not a file"
    );
    let binary = |path: &std::path::Path| fs::write(path, b"\x7fELF\xff\xfe").unwrap();
    assert_eq!(user(&binary), "cannot read `home/config.toml`: it is not UTF-8 text");
    let huge = |path: &std::path::Path| fs::File::create(path).unwrap().set_len(10 << 30).unwrap();
    assert_eq!(user(&huge), "cannot read `home/config.toml`: it is larger than 1 MiB");
    let circle = |path: &std::path::Path| symlink("config.toml", path).unwrap();
    assert!(user(&circle).starts_with("cannot read `home/config.toml`: "));
}

#[test]
fn nul_bytes_and_deep_nesting_are_errors_not_crashes() {
    assert!(setup().user("model = \"a\0b\"").complaints().contains("line 1 is not valid TOML"));
    let deep = format!("extra = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(setup().user(&deep).complaints().contains("not valid TOML"));
    let many = "\u{1}\n".repeat(1000);
    assert!(setup().user(&many).complaints().lines().count() <= 10);
}

#[test]
fn missing_files_and_dangling_links_are_no_settings() {
    let setup = setup();
    symlink("nowhere", setup.home.config_file()).unwrap();
    fs::remove_dir(setup.project.root().join(".covey")).unwrap();
    fs::write(setup.project.root().join(".covey"), "a file").unwrap();
    assert!(setup.load().is_ok());
}

#[test]
fn a_link_to_settings_is_followed() {
    let setup = setup();
    fs::write(setup.top.join("dotfile"), "model = \"linked\"").unwrap();
    symlink("../dotfile", setup.home.config_file()).unwrap();
    assert_eq!(setup.load().unwrap().get::<String>("model").unwrap().unwrap(), "linked");
}

#[test]
fn windows_line_ends_and_a_byte_order_mark_do_not_matter() {
    let setup = setup().user("\u{feff}model = \"a\"\r\n\r\nmodle = 1\r\n");
    assert!(setup.complaints().starts_with("unknown key `modle` in `home/config.toml` line 3"));
}

#[test]
fn a_file_full_of_nonsense_does_not_flood_the_screen() {
    let many: String = (0..50_000).map(|number| format!("k{number} = 1\n")).collect();
    assert!(setup().user(&many).complaints().lines().count() <= 200);
    let long = format!("mode = \"{}\"", "x".repeat(100_000));
    assert!(setup().user(&long).complaints().len() < 500);
}
