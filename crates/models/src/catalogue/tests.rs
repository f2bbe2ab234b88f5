use super::*;

fn catalogue(config: &str, keys: &'static [(&'static str, &'static str)]) -> Catalogue {
    let user = toml::from_str(config).unwrap();
    Catalogue::new(user, move |name| {
        keys.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    })
}

fn error(catalogue: &Catalogue, name: &str) -> String {
    let error = catalogue.resolve(name).err().unwrap();
    format!("{error}\nhint: {}", error.hint())
}

const LOCAL: &str = r#"
    [local]
    wire = "openai-chat"
    base_url = "http://127.0.0.1:8080/v1"
    api_key_env = "LOCAL_API_KEY"
    [local.models.small]
    context = 32768
    [broken]
    base_url = "no address"
"#;

#[test]
fn a_name_becomes_a_model() {
    let catalogue = catalogue(LOCAL, &[("OPENAI_API_KEY", "sk-test")]);
    let small = catalogue.resolve("local/small").unwrap();
    assert_eq!(small.id().as_str(), "local/small");
    assert_eq!(small.info().context, Some(32768));
    // Nobody described it, and it may work all the same.
    assert_eq!(catalogue.resolve("local/other").unwrap().info().context, None);
    // A model's own name may hold slashes; a provider alone is its default model.
    assert_eq!(catalogue.resolve("ollama/hf.co/a/b").unwrap().id().as_str(), "ollama/hf.co/a/b");
    assert_eq!(catalogue.resolve("openai").unwrap().id().as_str(), "openai/gpt-5");
}

#[test]
fn errors_say_what_to_do() {
    let catalogue = catalogue(LOCAL, &[("XAI_API_KEY", " ")]);
    insta::assert_snapshot!(error(&catalogue, "opnai/gpt-5"), @"
    there is no provider `opnai`
    hint: did you mean `openai`?
    ");
    insta::assert_snapshot!(error(&catalogue, "somewhere/else"), @"
    there is no provider `somewhere`
    hint: add [providers.somewhere] to config.toml
    ");
    insta::assert_snapshot!(error(&catalogue, "openai/gpt-5"), @"
    `openai` needs a key, and the variable OPENAI_API_KEY is not set
    hint: export OPENAI_API_KEY=…, or: covey auth login openai
    ");
    insta::assert_snapshot!(error(&catalogue, "xai"), @"
    `xai` needs a key, and the variable XAI_API_KEY is not set
    hint: export XAI_API_KEY=…, or: covey auth login xai
    ");
    insta::assert_snapshot!(error(&catalogue, "ollama"), @"
    `ollama` does not say which model; it should be `PROVIDER/MODEL`
    hint: name one, such as `ollama/MODEL`
    ");
    insta::assert_snapshot!(error(&catalogue, "broken/m"), @"
    the settings of provider `broken` are wrong: base_url is no address: relative URL without a base
    hint: correct [providers.broken] in config.toml
    ");
}

#[test]
fn keys_in_the_environment_say_who_can_be_asked() {
    let found = |keys| {
        let found =
            catalogue("[mine]\nbase_url = \"http://h/v1\"\napi_key = \"k\"\ndefault_model = \"m\"", keys);
        found.from_environment().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found(&[]), "mine/m");
    assert_eq!(
        found(&[("GROQ_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]),
        "mine/m anthropic/claude-sonnet groq/openai/gpt-oss-120b"
    );
}

#[test]
fn local_servers_are_sought_where_they_usually_are() {
    let moved = catalogue("[ollama]\nport = 4321", &[]);
    let ports: Vec<_> = moved.local_ports();
    let expected = [("ollama", 4321), ("lmstudio", 1234), ("llamacpp", 8080)];
    assert_eq!(ports, expected.map(|(name, port)| (name.to_owned(), port)));
}

#[test]
fn a_purpose_is_served_by_its_chain_and_else_by_the_main_one() {
    let chains = |text: &str| catalogue(LOCAL, &[]).with_chains::<Chain>(toml::from_str(text).unwrap());
    let names = |catalogue: &Catalogue, main: &str| {
        let name = |purpose| {
            let chosen = catalogue.resolve_for(purpose, main).unwrap();
            let passed = chosen.passed.map(|(chain, _)| format!(" (not {chain})")).unwrap_or_default();
            format!("{}={}:{}{passed}", Purpose::name(purpose), chosen.name, chosen.model.id())
        };
        Purpose::ALL.map(name).join(" ")
    };
    assert_eq!(
        names(&chains(""), "local/small"),
        "main=local/small:local/small small=local/small:local/small plan=local/small:local/small \
         title=local/small:local/small summary=local/small:local/small"
    );
    let some = chains(
        "main = [\"local/m\"]\nsmall = [\"local/s\"]\nsummary = [\"local/long\", \"local/m\"]\nplan = [\"openai/gpt-5\"]",
    );
    assert_eq!(some.main(), Some("main"));
    assert_eq!(
        names(&some, "main"),
        "main=main:local/m small=small:local/s plan=main:local/m (not plan) title=small:local/s summary=summary:local/long"
    );
    // What a person chose for the work is not changed by a chain that is called main.
    assert!(names(&some, "local/other").starts_with("main=local/other:local/other small=small:local/s"));
    let title = chains("title = [\"local/t\"]\nsmall = [\"local/s\"]");
    assert_eq!(title.resolve_for(Purpose::Title, "local/m").unwrap().name, "title");
    assert_eq!(title.main(), None);
    let broken = chains("summary = []");
    let chosen = broken.resolve_for(Purpose::Summary, "local/m").unwrap();
    let (chain, why) = chosen.passed.unwrap();
    assert_eq!(
        (chosen.name.as_str(), chain.as_str(), why.to_string().as_str()),
        ("local/m", "summary", "the chain `summary` names no model")
    );
}

#[test]
fn a_chain_is_written_as_names_and_lists_of_equals() {
    let chain = |text: &str| {
        toml::from_str::<BTreeMap<String, Chain>>(&format!("c = {text}"))
            .map(|mut chains| chains.remove("c").unwrap())
    };
    let mixed = chain("[\"a/x\", [\"b/y\", \"c/z\"], \"d/w\"]").unwrap();
    assert_eq!(mixed.to_string(), "a/x → b/y or c/z → d/w");
    let ranked: Vec<_> = mixed.ranked().collect();
    assert_eq!(ranked, [(0, "a/x"), (1, "b/y"), (1, "c/z"), (2, "d/w")]);
    assert_eq!(serde_json::to_string(&mixed).unwrap(), r#"["a/x",["b/y","c/z"],"d/w"]"#);
    for wrong in ["[1]", "[[[\"a/x\"]]]", "[{ a = 1 }]"] {
        let error = chain(wrong).unwrap_err().to_string();
        assert!(error.contains("expected a model as `PROVIDER/MODEL`, or a list of such"), "{error}");
    }
}
