use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::setup;
use crate::config::{HumanDuration, KeyPath};

#[derive(Debug, Deserialize, PartialEq)]
struct Router {
    chains: BTreeMap<String, Vec<String>>,
    timeout: HumanDuration,
}

#[test]
fn a_section_is_read_into_its_struct() {
    let setup = setup().user("[router.chains]\n\"a.b\" = [\"x\"]\n").local("router.timeout = \"1m\"");
    let config = setup.load().unwrap();
    let chains = BTreeMap::from([("a.b".to_owned(), vec!["x".to_owned()])]);
    let timeout = HumanDuration(Duration::from_secs(60));
    assert_eq!(config.get::<Router>("router").unwrap().unwrap(), Router { chains, timeout });
    assert_eq!(config.get::<Vec<String>>("router.chains.\"a.b\"").unwrap().unwrap(), ["x"]);
    assert!(config.get::<Router>("router.chains.none").unwrap().is_none());
    assert!(config.get::<Router>("a..b").is_err());
}

#[test]
fn a_value_that_does_not_fit_names_its_origin() {
    let setup = setup().user("\nmodel = \"a\"\n");
    let error = setup.load().unwrap().get::<u8>("model").unwrap_err();
    let message = setup.without_folder(&error.to_string());
    assert!(message.starts_with("`model` in `home/config.toml` line 2 does not fit: "), "{message}");
}

#[test]
fn secrets_are_masked_when_shown() {
    let setup = setup().user("[providers.x]\napi_key = \"sk-123\"\n");
    let config = setup.load().unwrap();
    assert!(!setup.shown(&config).contains("sk-123"));
    assert_eq!(config.get::<String>("providers.x.api_key").unwrap().unwrap(), "sk-123");
}

#[test]
fn time_spans_read_as_people_write_them() {
    let span = |text: &str| text.parse::<HumanDuration>().ok().map(|span| span.0.as_millis());
    assert_eq!(span("250ms"), Some(250));
    assert_eq!(span("1h30m"), Some(5_400_000));
    assert_eq!(span("7d"), Some(604_800_000));
    for wrong in ["", "30", "s", "1x", "-1s", "1.5s", "99999999999999999999s", "18446744073709551615d", "1s "]
    {
        assert_eq!(span(wrong), None, "{wrong}");
    }
}

#[test]
fn key_paths_print_as_they_parse() {
    for text in ["a", "a.b-c.D_1", "a.\"b.c\".d", "\"\"", "a.\"x y\"", "\"\\u001B\""] {
        assert_eq!(text.parse::<KeyPath>().unwrap().to_string(), text);
    }
    assert_eq!("a . 'b.c'".parse::<KeyPath>().unwrap().parts(), ["a", "b.c"]);
    for wrong in ["", ".", "a.", "a..b", "a b", "\"a", "a=1", "a\nb"] {
        assert!(wrong.parse::<KeyPath>().is_err(), "{wrong}");
    }
}
