use super::*;

#[test]
fn every_known_provider_can_be_used() {
    for (name, text) in KNOWN {
        let config: ProviderConfig = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(config.wire.is_some_and(|wire| wire.format().is_some()), "{name}");
        let Some(base) = config.base_url.as_deref() else {
            // Everybody has their own address there, and their own models.
            assert_eq!((*name, config.models.len()), ("azure-openai", 0));
            assert!(text.contains("base_url = "), "{name}: says how to set the address");
            continue;
        };
        let base: net::Url = base.parse().unwrap();
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
fn every_known_model_is_described_in_full() {
    let month = |text: &str| {
        let (year, rest) = text.split_once('-').unwrap();
        let month: u32 = rest.split('-').next().unwrap().parse().unwrap();
        (2023..2100).contains(&year.parse::<u32>().unwrap()) && (1..=12).contains(&month)
    };
    for (provider, text) in KNOWN {
        let config: ProviderConfig = toml::from_str(text).unwrap();
        for (model, described) in &config.models {
            let at = format!("{provider}/{model}");
            let info = described.info();
            let (context, most) = (info.context.expect(&at), info.max_output.expect(&at));
            // What an answer may have is sent along, and prompt and answer have to fit together.
            assert!(most >= 4_096 && most <= context * 3 / 4, "{at}: {most} of {context}");
            assert!(info.tier.is_some(), "{at}: no tier");
            assert!(month(info.released.as_deref().expect(&at)), "{at}: no month");
            let prices = info.prices.expect(&at);
            assert!(prices.input > 0.0 && prices.output >= prices.input, "{at}: {prices:?}");
            assert!(prices.cache_read.is_none_or(|read| read < prices.input), "{at}: {prices:?}");
            assert!(prices.cache_write.is_none_or(|write| write >= prices.input), "{at}: {prices:?}");
            assert!(info.capabilities.cache || prices.cache_read.is_none(), "{at}: {prices:?}");
            if let Some(step) = prices.above {
                assert!(step.tokens < u64::from(context), "{at}: a step that no prompt reaches");
                assert!(step.input > prices.input && step.output > prices.output, "{at}: {prices:?}");
            }
            if !info.capabilities.thinking {
                assert!(
                    described.efforts.is_empty() && described.reasoning.is_none(),
                    "{at}: does not think"
                );
            }
        }
        // Vendors with a table offer something strong and something quick.
        let tiers: Vec<_> = config.models.values().filter_map(|model| model.tier).collect();
        if ["openai", "anthropic", "gemini", "mistral", "xai", "groq", "zhipu"].contains(provider) {
            assert!(tiers.contains(&Tier::Low), "{provider}: nothing quick");
            assert!(tiers.iter().any(|tier| *tier > Tier::Low), "{provider}: nothing strong");
        }
    }
}

#[test]
fn one_quirk_of_a_person_leaves_the_others_as_they_are_known() {
    let user: ProviderConfig = toml::from_str("quirks = { api_version = \"2099-01-01\" }").unwrap();
    let quirks = user.over(known("azure-openai").unwrap()).quirks.quirks();
    assert_eq!(quirks.api_version.as_deref(), Some("2099-01-01"));
    assert_eq!((quirks.key_header.as_deref(), quirks.deployment_path), (Some("api-key"), true));
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
