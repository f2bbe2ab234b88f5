//! `docs/formats/events.md` and the generated TypeScript say what the code does.

use std::path::PathBuf;

use protocol::{Event, EventBody};

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn every_event_type_has_a_section_with_an_example_that_reads_and_writes_the_same() {
    let document = std::fs::read_to_string(repository("docs/formats/events.md")).unwrap();
    for kind in EventBody::TYPES {
        let heading = format!("\n### `{kind}`\n");
        let at = document.find(&heading).unwrap_or_else(|| panic!("events.md has no section `{kind}`"));
        let section = &document[at + heading.len()..];
        let section = &section[..section.find("\n### ").unwrap_or(section.len())];
        let example = section.lines().find(|line| line.starts_with('{'));
        let example = example.unwrap_or_else(|| panic!("`{kind}` has no example"));
        let event = Event::from_json(example.as_bytes()).unwrap();
        assert_eq!(event.body.name(), *kind);
        assert!(!matches!(event.body, EventBody::Other(_)), "`{kind}`: the example does not fit the type");
        assert_eq!(event.to_json(), example, "`{kind}`: the example holds something that is not in the type");
    }
}

#[test]
fn the_generated_typescript_is_fresh() {
    let path = "packages/protocol/src/generated/protocol.ts";
    let committed = std::fs::read_to_string(repository(path)).unwrap_or_default();
    assert!(committed == protocol::typescript(), "{path} is stale; run `cargo xtask codegen`");
}
