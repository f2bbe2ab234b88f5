use protocol::Mode;

use super::*;
use crate::action::Change;
use crate::audit;
use crate::settings::Temperament;
use crate::testing::{self, World};
use crate::verdict::Level;

fn shell(world: &World, command: &str) -> [Action; 1] {
    [Action::Shell { command: command.to_owned(), cwd: world.root.clone() }]
}

fn request<'a>(actions: &'a [Action], mode: Mode, attended: bool) -> Request<'a> {
    Request { tool: "shell", actions, mode, attended }
}

fn with_home(world: &World) -> Guard {
    Guard::new(GuardOptions {
        settings: GuardSettings::default(),
        roots: Roots::new([&world.root]).unwrap(),
        home: Some(Home::at(world.root.parent().unwrap().join("covey"))),
        user_home: world.root.parent().unwrap().to_owned(),
        session: Some("s1".to_owned()),
    })
}

fn data(world: &World) -> PathBuf {
    world.root.parent().unwrap().join("covey")
}

#[test]
fn an_answer_holds_as_long_as_it_was_meant_to() {
    let world = testing::world();
    let (run, other) = (shell(&world, "cargo run"), shell(&world, "cargo run --release"));
    let asks = |guard: &Guard, actions: &[Action]| guard.judge(&request(actions, Mode::Auto, true)).decision;
    for (scope, same, next) in [
        (Scope::Once, Ruling::Ask, Ruling::Ask),
        (Scope::Session, Ruling::Allow, Ruling::Ask),
        (Scope::Project, Ruling::Allow, Ruling::Allow),
    ] {
        let guard = with_home(&world);
        let question = request(&run, Mode::Auto, true);
        let verdict = guard.decide(&question);
        assert_eq!(
            (verdict.decision, &verdict.rules[..]),
            (Ruling::Ask, &["shell(cargo run)".to_owned()][..])
        );
        guard.answered(&question, &verdict, Answer { yes: true, scope }).unwrap();
        assert_eq!(asks(&guard, &run), same, "{scope:?}");
        assert_eq!(asks(&guard, &other), Ruling::Ask, "never more than was allowed");
        assert_eq!(asks(&with_home(&world), &run), next, "{scope:?}, next session");
    }
}

#[test]
fn what_is_blocked_is_never_remembered_and_wants_two_words() {
    let world = testing::world();
    let guard = with_home(&world);
    let actions = shell(&world, "git reset --hard");
    for mode in [Mode::Ask, Mode::Edit] {
        let question = request(&actions, mode, true);
        let verdict = guard.decide(&question);
        assert_eq!(
            (verdict.decision, verdict.level, verdict.confirm_twice, verdict.may_remember),
            (Ruling::Ask, Level::Blocked, true, false)
        );
        assert!(verdict.checkpoint && verdict.rules.is_empty());
        guard.answered(&question, &verdict, Answer { yes: true, scope: Scope::User }).unwrap();
        assert_eq!(guard.judge(&question).decision, Ruling::Ask);
        assert_eq!(guard.judge(&request(&actions, mode, false)).decision, Ruling::Deny);
    }
    for mode in [Mode::Auto, Mode::Explore, Mode::Plan] {
        assert_eq!(guard.judge(&request(&actions, mode, true)).decision, Ruling::Deny, "{mode:?}");
    }
    let full = guard.judge(&request(&actions, Mode::Full, false));
    assert!(full.decision == Ruling::Allow && full.checkpoint);
}

#[test]
fn rules_do_not_lift_what_is_blocked_and_denials_hold_everywhere() {
    let world = testing::world();
    let mut settings = GuardSettings::default();
    settings.rules.add(Effect::Allow, Source::Flag, "shell").unwrap();
    settings.rules.add(Effect::Deny, Source::Config, "shell(git push *)").unwrap();
    settings.rules.add(Effect::Deny, Source::Config, "read(docs/private/**)").unwrap();
    let guard = world.guard(settings);
    let decide =
        |command: &str, mode: Mode| guard.judge(&request(&shell(&world, command), mode, true)).decision;
    assert_eq!(decide("unknown-program", Mode::Auto), Ruling::Allow);
    assert_eq!(decide("rm -rf src", Mode::Auto), Ruling::Deny);
    assert_eq!(decide("git push", Mode::Full), Ruling::Deny);
    assert_eq!(decide("ls && timeout 5 sh -c 'git push origin x'", Mode::Full), Ruling::Deny);
    assert_eq!(decide("cat docs/private/a.md", Mode::Full), Ruling::Deny);
    assert_eq!(decide("cat docs/public/../private/a.md | wc -l", Mode::Auto), Ruling::Deny);
}

#[test]
fn a_rule_about_a_command_is_none_about_what_comes_with_it() {
    let world = testing::world();
    let mut settings = GuardSettings::default();
    settings.rules.add(Effect::Allow, Source::Flag, "shell(frob *)").unwrap();
    let guard = world.guard(settings);
    let decide = |command: &str| guard.judge(&request(&shell(&world, command), Mode::Auto, true)).decision;
    assert_eq!(decide("frob a b | head"), Ruling::Allow);
    for more in
        ["frob > out.txt", "frob; other", "frob $(other)", "frob && rm x", "X=$(other) frob", "frob | sh"]
    {
        assert!(decide(more) > Ruling::Allow, "{more}");
    }
}

#[test]
fn without_a_person_the_rule_that_would_do_is_named() {
    let world = testing::world();
    let guard = world.guard(GuardSettings::default());
    let actions = shell(&world, "cargo run && ls");
    let verdict = guard.judge(&request(&actions, Mode::Auto, false));
    assert_eq!(verdict.decision, Ruling::Deny);
    assert_eq!(verdict.because[0], "nobody is there to ask; this would allow it: --allow 'shell(cargo run)'");
    let mut settings = GuardSettings::default();
    settings.rules.add(Effect::Allow, Source::Flag, &verdict.rules[0]).unwrap();
    assert_eq!(world.guard(settings).judge(&request(&actions, Mode::Auto, false)).decision, Ruling::Allow);
}

#[test]
fn file_tools_by_mode_and_place() {
    let world = testing::world();
    let write = |path: &str| [Action::Write { change: Change::Edit, paths: vec![world.root.join(path)] }];
    let guard = world.guard(GuardSettings::default());
    let decide = |path: &str, mode: Mode| {
        guard.judge(&Request { tool: "edit", actions: &write(path), mode, attended: true }).decision
    };
    assert_eq!(decide("src/main.rs", Mode::Explore), Ruling::Deny);
    assert_eq!(decide("src/main.rs", Mode::Plan), Ruling::Deny);
    assert_eq!(decide("src/main.rs", Mode::Ask), Ruling::Ask);
    assert_eq!(decide("src/main.rs", Mode::Edit), Ruling::Allow);
    assert_eq!(decide("src/main.rs", Mode::Auto), Ruling::Allow);
    for held in ["../other/x", ".github/workflows/ci.yml", "package.json", ".env"] {
        assert_eq!(decide(held, Mode::Edit), Ruling::Ask, "{held}");
        assert_eq!(decide(held, Mode::Auto), Ruling::Ask, "{held}");
    }
    assert_eq!(decide(".git/hooks/pre-commit", Mode::Auto), Ruling::Deny);
    assert_eq!(decide("../.bashrc", Mode::Auto), Ruling::Deny);
    let verdict = guard.judge(&Request {
        tool: "edit",
        actions: &write("src/main.rs"),
        mode: Mode::Auto,
        attended: true,
    });
    assert_eq!(verdict.destroys, [world.root.join("src/main.rs")]);
}

#[test]
fn temperaments_go_as_far_as_they_say() {
    let world = testing::world();
    let decide = |temperament, command: &str| {
        let guard = world.guard(GuardSettings { temperament, ..GuardSettings::default() });
        guard.judge(&request(&shell(&world, command), Mode::Auto, true)).decision
    };
    use Temperament::{Aggressive, Balanced, Conservative};
    for (command, wanted) in [
        ("ls", [Ruling::Allow; 3]),
        ("cargo test", [Ruling::Ask, Ruling::Allow, Ruling::Allow]),
        ("cargo fmt", [Ruling::Ask, Ruling::Ask, Ruling::Allow]),
        ("npm ci", [Ruling::Ask, Ruling::Ask, Ruling::Allow]),
        ("git commit -m x", [Ruling::Ask, Ruling::Ask, Ruling::Allow]),
        ("curl https://docs.rs/serde", [Ruling::Ask, Ruling::Ask, Ruling::Allow]),
        ("curl http://localhost:3000", [Ruling::Ask; 3]),
        ("echo x > out.txt", [Ruling::Ask; 3]),
        ("python3 x.py", [Ruling::Ask; 3]),
        ("frobnicate", [Ruling::Ask; 3]),
        ("cat ../x", [Ruling::Ask; 3]),
        ("npm install left-pad", [Ruling::Ask; 3]),
        ("rm -rf src", [Ruling::Deny; 3]),
    ] {
        assert_eq!(
            [Conservative, Balanced, Aggressive].map(|temperament| decide(temperament, command)),
            wanted,
            "{command}"
        );
    }
    std::fs::write(world.root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(decide(Aggressive, "git commit -m x"), Ruling::Ask, "main is protected");
}

#[test]
fn tools_can_be_disabled_one_by_one_and_by_category() {
    let world = testing::world();
    let settings = GuardSettings {
        disabled_tools: vec!["web_*".into()],
        disabled_categories: vec!["git".into()],
        ..GuardSettings::default()
    };
    let guard = world.guard(settings);
    assert!(
        guard.offers("shell", "process")
            && !guard.offers("web_fetch", "web")
            && !guard.offers("git_commit", "git")
    );
}

#[test]
fn hooks_may_be_stricter_and_skip_questions_only() {
    let world = testing::world();
    let guard = world.guard(GuardSettings::default());
    let fold = |command: &str, mode, hook: HookSays| {
        fold_hook(guard.judge(&request(&shell(&world, command), mode, true)), &hook).decision
    };
    assert_eq!(fold("ls", Mode::Auto, HookSays::Deny { because: "no".into() }), Ruling::Deny);
    assert_eq!(fold("ls", Mode::Auto, HookSays::Ask { because: "hm".into() }), Ruling::Ask);
    assert_eq!(fold("cargo run", Mode::Auto, HookSays::Allow), Ruling::Allow);
    assert_eq!(fold("rm -rf src", Mode::Auto, HookSays::Allow), Ruling::Deny);
    assert_eq!(fold("rm -rf src", Mode::Ask, HookSays::Allow), Ruling::Ask, "blocked stays a question");
}

#[test]
fn every_decision_is_recorded_without_secrets() {
    let world = testing::world();
    let guard = with_home(&world).with_known_secrets(["canary-value-1".to_owned()]);
    let actions = shell(&world, "echo canary-value-1; cargo run");
    let question = request(&actions, Mode::Ask, true);
    let verdict = guard.decide(&question);
    guard.answered(&question, &verdict, Answer { yes: false, scope: Scope::Once }).unwrap();
    let (records, wrong) = audit::verify(&data(&world).join("audit"), "s1").unwrap();
    assert_eq!(wrong, []);
    let shown: Vec<String> = records
        .iter()
        .map(|record| format!("{} {} {}", record.by, record.decision, record.what[0]))
        .collect();
    assert_eq!(
        shown,
        [
            "guard ask echo [redacted: known secret]; cargo run",
            "person deny echo [redacted: known secret]; cargo run"
        ]
    );
}

#[test]
fn without_a_record_nothing_happens() {
    let world = testing::world();
    std::fs::create_dir_all(data(&world)).unwrap();
    std::fs::write(data(&world).join("audit"), "a file in the way").unwrap();
    let verdict = with_home(&world).decide(&request(&shell(&world, "ls"), Mode::Auto, true));
    assert_eq!(verdict.decision, Ruling::Deny);
    assert!(verdict.because[0].starts_with("it can not be recorded"), "{:?}", verdict.because);
}

#[test]
fn a_call_that_says_nothing_about_itself_is_asked() {
    let world = testing::world();
    let guard = world.guard(GuardSettings::default());
    assert_eq!(
        guard.judge(&Request { tool: "x", actions: &[], mode: Mode::Auto, attended: true }).decision,
        Ruling::Ask
    );
    let inward = [Action::Inward];
    assert_eq!(
        guard.judge(&Request { tool: "x", actions: &inward, mode: Mode::Explore, attended: false }).decision,
        Ruling::Allow
    );
    let program =
        [Action::Program { argv: vec!["rm".into(), "-rf".into(), "/".into()], cwd: world.root.clone() }];
    assert_eq!(guard.judge(&request(&program, Mode::Auto, true)).decision, Ruling::Deny);
}

#[test]
fn a_person_hears_before_something_goes_that_no_checkpoint_keeps() {
    let world = testing::world();
    for folder in ["target/debug", "web/node_modules/left-pad", "kept/build"] {
        std::fs::create_dir_all(world.root.join(folder)).unwrap();
    }
    std::fs::write(world.root.join(".gitignore"), "target\nnode_modules\n").unwrap();
    let guard = with_home(&world);
    let judge =
        |command: &str, attended: bool| guard.judge(&request(&shell(&world, command), Mode::Full, attended));
    for (command, named) in [
        ("git clean -fdX", "`target/`, `web/node_modules/`"),
        ("git clean -dxf web", "`web/node_modules/`"),
        ("git clean -fdX -e keep", "`target/`, `web/node_modules/`"),
        ("git clean -fdXenone web", "`web/node_modules/`"),
        ("rm -rf target", "`target/`"),
        ("rm -r ./web", "`web/node_modules/`"),
    ] {
        let verdict = judge(command, true);
        assert_eq!(verdict.decision, Ruling::Ask, "{command}");
        let because = verdict.because.join("\n");
        assert!(because.contains(&format!("it deletes {named}, which no checkpoint keeps")), "{because}");
        assert_eq!(judge(command, false).decision, Ruling::Allow, "{command}: full, and nobody to ask");
    }
    for command in [
        "git clean -fd",
        "git clean -ndX",
        "git clean -e x -fdXn",
        "rm -rf kept",
        "rm target/debug/a",
        "ls target",
    ] {
        assert_eq!(judge(command, true).decision, Ruling::Allow, "{command}");
    }
}
