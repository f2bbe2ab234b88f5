use super::*;

#[test]
fn every_known_provider_can_be_used() {
    for (name, text) in KNOWN {
        let config: ProviderConfig = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(config.wire.is_some_and(|wire| wire.format().is_some()), "{name}");
        let base: net::Url = config.base_url.as_deref().unwrap().parse().unwrap();
        let local = net::is_loopback(&base);
        assert_eq!(local, config.port.is_some(), "{name}: a port is for programs on this machine");
        assert_eq!(local, config.api_key_env.is_none(), "{name}: others need a key");
        assert_eq!(base.scheme(), if local { "http" } else { "https" }, "{name}");
        if let Some(model) = &config.default_model {
            assert!(config.models.contains_key(model), "{name}: `{model}` is not described");
        } else {
            assert!(local, "{name} has no default model");
        }
    }
}

#[test]
fn what_a_person_sets_goes_before_what_is_known() {
    let text = r#"
        base_url = "http://proxy.example/v1"
        headers = { x-team = "blue" }
        timeouts = { idle = 7 }
        [models.mine]
        context = 1000
        prices = { input = 1, output = 2.5 }
    "#;
    let user: ProviderConfig = toml::from_str(text).unwrap();
    let config = user.over(known("openai").unwrap());
    assert_eq!(config.base_url.as_deref(), Some("http://proxy.example/v1"));
    assert_eq!(config.api_key_env.as_deref(), Some("OPENAI_API_KEY"));
    assert_eq!(config.timeouts.timeouts().idle, Duration::from_secs(7));
    assert_eq!(config.timeouts.timeouts().connect, Timeouts::default().connect);
    assert_eq!(config.models["mine"].info().prices.unwrap().output, 2.5);
    assert!(config.models.len() > 1);
    assert!(!format!("{config:?}").contains("blue"));
}

#[test]
fn unknown_settings_are_errors() {
    let error = toml::from_str::<ProviderConfig>("base_ulr = \"x\"").unwrap_err().to_string();
    assert!(error.contains("unknown field `base_ulr`"), "{error}");
    assert!(toml::from_str::<ProviderConfig>("wire = \"smoke-signals\"").is_err());
}

#[test]
fn long_prompts_cost_what_the_step_says() {
    let text =
        "prices = { input = 1.0, output = 10.0, above = { tokens = 100, input = 2.0, output = 20.0 } }";
    let prices = toml::from_str::<crate::ModelConfig>(text).unwrap().info().prices.unwrap();
    let usage = |input, output| protocol::Usage { input, output, ..Default::default() };
    assert_eq!(prices.cost(&usage(100, 10)), (100.0 + 100.0) / 1e6);
    assert_eq!(prices.cost(&usage(101, 10)), (202.0 + 200.0) / 1e6);
}
