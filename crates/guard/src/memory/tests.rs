use super::*;

const DAY: u64 = 86_400;

fn rules(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

#[test]
fn five_times_yes_proposes_just_that() {
    let mut memory = Memory::default();
    let (here, there) = (Path::new("/p"), Path::new("/q"));
    let test = rules("shell(cargo test -p cart)");
    for day in 0..4 {
        assert_eq!(memory.count(here, &test, true, day * DAY / 24), None);
    }
    assert_eq!(memory.count(there, &test, true, DAY), None, "another project is another matter");
    assert_eq!(memory.count(here, &test, true, DAY), Some(test.clone()));
    assert_eq!(memory.count(here, &rules("shell(cargo test)"), true, DAY), None, "never anything wider");
}

#[test]
fn a_no_and_time_weigh_against_it() {
    let mut memory = Memory::default();
    let here = Path::new("/p");
    let test = rules("shell(make deploy)");
    memory.count(here, &test, false, 0);
    for _ in 0..5 {
        assert_eq!(memory.count(here, &test, true, 0), None);
    }
    let mut slow = Memory::default();
    for month in 0..20 {
        assert_eq!(slow.count(here, &test, true, month * 60 * DAY), None);
    }
    assert!(slow.counts["/p"][&test[0]].yes < 2.0);
}

#[test]
fn rules_are_kept_by_project_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let (here, there) = (Path::new("/p"), Path::new("/q"));
    Memory::change(data, |memory| {
        memory.keep(Some(here), &rules("shell(cargo run)"), Effect::Allow, 1);
        memory.keep(None, &rules("shell(make)"), Effect::Deny, 1);
        memory.keep(None, &rules("shell(make)"), Effect::Allow, 2);
    })
    .unwrap();
    let memory = Memory::load(data);
    let shown = |root| {
        memory
            .rules_for(root)
            .iter()
            .map(|entry| format!("{} {:?}", entry.rule, entry.effect))
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(here), ["shell(cargo run) Allow", "shell(make) Allow"]);
    assert_eq!(shown(there), ["shell(make) Allow"]);
    assert_eq!(Memory::change(data, |memory| memory.forget(here, Some("shell(cargo run)"))).unwrap(), 1);
    assert_eq!(Memory::load(data).rules_for(here).iter().count(), 1);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(Memory::file(data)).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(Memory::file(data), "not json").unwrap();
    assert_eq!(Memory::load(data), Memory::default());
}
