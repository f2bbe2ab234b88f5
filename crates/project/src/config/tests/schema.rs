use super::SECTIONS;
use crate::config::{Config, Key, LoadOptions, NobodyTrusted, Reach, Schema};
use crate::home::Home;

#[test]
fn sections_can_be_written_as_constants() {
    const NESTED: Key = Key::table("a", &[Key::list("b", &Schema::List(&Schema::Bool)).trusted().doc("why")]);
    static KEPT: Key = NESTED;
    let Schema::Table(keys) = KEPT.schema else { panic!() };
    assert_eq!((keys[0].reach, keys[0].doc), (Reach::Trusted, "why"));
    assert!(SECTIONS.contains(&&Key::text("model")));
}

#[test]
fn a_default_that_breaks_its_own_schema_is_reported() {
    const WRONG: Key = Key::integer("steps", 1, 10).default("11");
    let home = Home::at("/nonexistent");
    let options = LoadOptions {
        home: &home,
        project: None,
        sections: &[&WRONG],
        env: &|_| Some("ignored without its section".into()),
        flags: &[],
        trust: &NobodyTrusted,
    };
    let errors = Config::load(&options).unwrap_err();
    assert_eq!(errors.to_string(), "`steps` in the built-in defaults is 11, which is not between 1 and 10");
}
