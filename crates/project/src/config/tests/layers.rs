use insta::assert_snapshot;

use super::{Everybody, setup};
use crate::config::{Layer, NobodyTrusted};

#[test]
fn later_layers_win_and_every_value_knows_its_origin() {
    let setup = setup()
        .user("model = \"a\"\nagent = \"u\"\n[router.chains]\nmain = [\"x\", \"y\"]\nspare = [\"z\"]\n")
        .project("model = \"b\"\n[router]\nchains.main = [\"p\"]\n")
        .local("\nmodel = \"c\"\n");
    let config = setup
        .load_with(
            &[("COVEY_MODEL", "d"), ("COVEY_MODE", "full")],
            &[("model", "e"), ("extra.\"a.b\"", "1")],
            &NobodyTrusted,
        )
        .unwrap();
    assert_snapshot!(setup.shown(&config), @r#"
    agent = "u" (`home/config.toml` line 2)
    extra."a.b" = 1 (the command-line flags)
    limits.steps = 50 (the built-in defaults)
    mode = "full" (the environment variable `COVEY_MODE`)
    model = "e" (the command-line flags)
    router.chains.main = ["p"] (`project/.covey/config.toml` line 3)
    router.chains.spare = ["z"] (`home/config.toml` line 5)
    router.timeout = "30s" (the built-in defaults)
    "#);
    assert_eq!(config.origin("mode").unwrap().layer, Layer::Environment);
    assert!(config.origin("providers").is_none());
}

#[test]
fn nothing_configured_leaves_the_defaults() {
    let setup = setup();
    let config = setup.load_with(&[("COVEY_MODEL", "")], &[], &NobodyTrusted).unwrap();
    assert_eq!(config.get::<String>("mode").unwrap().unwrap(), "ask");
    assert!(config.get::<String>("model").unwrap().is_none());
}

#[test]
fn an_untrusted_project_cannot_name_commands_or_addresses() {
    let setup = setup()
        .user("[providers.local]\nbase_url = \"http://127.0.0.1\"\n")
        .project("[providers.local]\nbase_url = \"http://evil\"\nwire = \"anthropic\"\n[[hooks]]\nevent = \"stop\"\ncommand = \"rm\"\n")
        .local("[providers.local]\napi_key = \"stolen\"\n");
    let config = setup.load().unwrap();
    assert_eq!(config.get::<String>("providers.local.base_url").unwrap().unwrap(), "http://127.0.0.1");
    assert_eq!(config.get::<String>("providers.local.wire").unwrap().unwrap(), "anthropic");
    assert!(config.get::<toml::Value>("hooks").unwrap().is_none());
    assert_snapshot!(setup.held(&config), @"
    `hooks` in `project/.covey/config.toml` line 4 is not applied: the file is not trusted
    `providers.local.base_url` in `project/.covey/config.toml` line 2 is not applied: the file is not trusted
    `providers.local.api_key` in `project/.covey/config.local.toml` line 2 is not applied: the file is not trusted
    ");
}

#[test]
fn a_trusted_project_may_set_everything() {
    let setup = setup().project("mode = \"full\"\n[providers.local]\nbase_url = \"http://fine\"\n");
    let config = setup.load_with(&[], &[], &Everybody).unwrap();
    assert_eq!(config.get::<String>("providers.local.base_url").unwrap().unwrap(), "http://fine");
    assert_eq!(config.get::<String>("mode").unwrap().unwrap(), "full");
    assert!(config.held().is_empty());
}

#[test]
fn an_untrusted_project_may_tighten_but_not_loosen() {
    let mode = |user: &str, project: &str, local: &str| {
        let setup = setup().user(user).project(project).local(local);
        let config = setup.load().unwrap();
        (config.get::<String>("mode").unwrap().unwrap(), setup.held(&config))
    };
    assert_eq!(mode("mode = \"auto\"", "mode = \"edit\"", "mode = \"plan\"").0, "plan");
    assert_eq!(mode("mode = \"auto\"", "mode = \"auto\"", "").1, "");
    let (applied, held) = mode("", "mode = \"full\"", "");
    assert_eq!(applied, "ask");
    assert_snapshot!(held, @"`mode` in `project/.covey/config.toml` line 1 is not applied: an untrusted file cannot loosen `ask` to `full`");
    // The local file cannot go back to where the user's was either.
    let (applied, held) = mode("mode = \"auto\"", "mode = \"plan\"", "mode = \"auto\"");
    assert_eq!(applied, "plan");
    assert!(held.contains("config.local.toml"));
}

#[test]
fn with_nothing_in_force_only_the_tightest_choice_is_taken() {
    let network = |value: &str| {
        let setup = setup().project(&format!("limits.network = {value}"));
        let config = setup.load().unwrap();
        (config.get::<bool>("limits.network").unwrap(), config.held().len())
    };
    assert_eq!(network("false"), (Some(false), 0));
    assert_eq!(network("true"), (None, 1));
}

#[test]
fn trust_is_asked_only_when_it_matters() {
    struct Never;
    impl crate::config::Trust for Never {
        fn trusts(&self, _file: &std::path::Path, _content: &[u8]) -> bool {
            panic!("asked")
        }
    }
    let setup = setup().user("providers.a.base_url = \"x\"").project("model = \"a\"\nmode = \"plan\"\n");
    assert!(setup.load_with(&[], &[], &Never).is_ok());
}

#[test]
fn trust_is_told_the_content() {
    struct Exactly(&'static str);
    impl crate::config::Trust for Exactly {
        fn trusts(&self, file: &std::path::Path, content: &[u8]) -> bool {
            file.ends_with(".covey/config.toml") && content == self.0.as_bytes()
        }
    }
    let setup = setup().project("mode = \"full\"").local("mode = \"full\"");
    let config = setup.load_with(&[], &[], &Exactly("mode = \"full\"")).unwrap();
    // The local file was not trusted, but it asks for what is already in force.
    assert_eq!((config.held().len(), config.origin("mode").unwrap().layer), (0, Layer::Local));
    assert_eq!(setup.load_with(&[], &[], &Exactly("other")).unwrap().held().len(), 2);
}

#[test]
fn a_home_that_is_the_projects_own_folder_stays_the_persons() {
    let setup = setup().project("providers.local.base_url = \"x\"");
    let home = crate::home::Home::at(setup.project.root().join(".covey"));
    let setup = super::Setup { home, ..setup };
    let config = setup.load().unwrap();
    assert!(config.held().is_empty());
    assert_eq!(config.origin("providers.local.base_url").unwrap().layer, Layer::User);
}

#[test]
fn an_untrusted_project_can_add_to_what_is_forbidden_but_not_take_from_it() {
    let setup = setup().user("deny = [\"a\"]").project("deny = [\"b\", \"a\"]").local("deny = []");
    let deny = |trust: &dyn crate::config::Trust| {
        setup.load_with(&[], &[], trust).unwrap().get::<Vec<String>>("deny").unwrap().unwrap()
    };
    assert_eq!(deny(&NobodyTrusted), ["a", "b"]);
    assert!(deny(&Everybody).is_empty());
}
