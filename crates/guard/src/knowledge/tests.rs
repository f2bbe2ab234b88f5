use super::*;
use crate::testing;
use crate::verdict::Level;

#[test]
fn every_table_is_read_and_every_word_in_it_is_understood() {
    let mut names = 0;
    let mut seen = std::collections::HashSet::new();
    for text in TABLES {
        let rows: HashMap<String, Row> = toml::from_str(text).unwrap_or_else(|error| panic!("{error}"));
        for (name, row) in rows {
            let own = if row.names.is_empty() { vec![name.clone()] } else { row.names.clone() };
            names += own.len();
            for own in own {
                assert!(seen.insert(own.clone()), "`{own}` is in the table twice");
            }
            if let Some(default) = &row.default {
                assert!(Kind::parse(default).is_some(), "{name}: {default}");
            }
            let examples = row.safe.len() + row.caution.len() + row.blocked.len();
            assert!(examples > 0, "{name} has no examples");
        }
    }
    assert!(names > 1000, "{names}");
}

#[test]
fn every_example_is_what_it_says() {
    let world = testing::world();
    let mut wrong = Vec::new();
    for (name, row) in rows() {
        for (level, examples) in
            [(Level::Safe, &row.safe), (Level::Caution, &row.caution), (Level::Blocked, &row.blocked)]
        {
            for example in examples {
                let found = world.classed(example);
                if found.level() != level {
                    wrong.push(format!(
                        "[{name}] `{example}` should be {level:?}, not {:?}: {:?}",
                        found.level(),
                        found.list
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
