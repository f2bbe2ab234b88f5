//! Chains, budgets and what was spent, through the real binary.

use serde_json::Value;
use testkit::ModelServer;

use crate::world::World;

async fn with_chain(first: &str, second: &str) -> (World, ModelServer) {
    let world = World::bare(first).await;
    let other = ModelServer::play(second).await;
    world.configure(&format!(
        "model = \"main\"\n[router.chains]\nmain = [\"a/small\", \"b/large\"]\n\
         [providers.a]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.a.models.small]\ncontext = 8000\n\
         [providers.b]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.b.models.large]\ncontext = 9000\n\
         [providers.b.models.large.prices]\ninput = 10.0\noutput = 100.0\n",
        world.server.base_url(),
        other.base_url()
    ));
    (world, other)
}

#[tokio::test]
async fn a_chain_goes_on_to_its_next_model_and_says_so() {
    let (world, _other) = with_chain(
        "reply\n  text: half an answer\n  fault: cut after=3\nforever\n",
        "reply\n  text: whole\n  usage: input=1000 output=10\nforever\n",
    )
    .await;
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!(
        (done.code, &result["text"], &result["model"]),
        (Some(0), &"whole".into(), &"b/large".into()),
        "{done:?}"
    );
    assert!((result["cost_usd"].as_f64().unwrap() - 0.011).abs() < 1e-9, "{result}");
    let lines = done.lines();
    let route = lines.iter().find(|line| line["type"] == "route").unwrap();
    assert_eq!((&route["from"], &route["to"]), (&"a/small".into(), &"b/large".into()));
    let text = world.covey(&["run", "hello"]).await;
    assert_eq!(text.out, "whole\n");
    assert!(text.err.contains("`b/large` answers instead of `a/small`"), "{}", text.err);
    // The session keeps the chain, not the model that happened to answer.
    assert_eq!(lines[0]["model"], "main");

    let status: Value =
        serde_json::from_str(&world.covey(&["models", "status", "--json"]).await.out).unwrap();
    assert!(status["routes"].as_array().unwrap().iter().all(|route| route["state"] == "closed"), "{status}");
}

#[tokio::test]
async fn a_budget_stops_before_the_next_call_and_exits_4() {
    let (world, _other) = with_chain(
        "reply\n  fault: 404\nforever\n",
        "reply\n  call: list_dir {}\n  usage: input=9000 output=1000\nforever\n",
    )
    .await;
    let (done, result) = world.result(&["go", "--model", "b/large", "--max-tokens", "19999"]).await;
    assert_eq!(
        (done.code, &result["stop"], &result["steps"]),
        (Some(4), &"limit".into(), &2.into()),
        "{done:?}"
    );
    assert!(done.out.contains(" of 19999 tokens are spent"), "{}", done.out);
    let (done, result) = world.result(&["go", "--model", "b/large", "--max-cost", "0.5"]).await;
    assert_eq!((done.code, &result["steps"]), (Some(4), &3.into()), "{done:?}");
    // A limit in money needs a price, of every model that may answer.
    let done = world.covey(&["run", "go", "--max-cost", "1"]).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("price of `a/small` is not known"), "{}", done.err);
    assert_ne!(world.covey(&["run", "go", "--max-cost", "1", "--max-tokens", "10"]).await.code, Some(2));
}

#[tokio::test]
async fn what_was_spent_is_counted_by_day_model_agent_and_project() {
    let (world, _other) = with_chain("", "reply\n  text: ok\n  usage: input=1000 output=10\nforever\n").await;
    for _ in 0..3 {
        world.result(&["hi", "--model", "b/large", "--ephemeral"]).await;
    }
    let stats = world.covey(&["stats", "day", "--by", "model", "--json"]).await;
    let stats: Value = serde_json::from_str(&stats.out).unwrap();
    assert_eq!(
        (&stats["rows"][0]["name"], &stats["rows"][0]["calls"]),
        (&"b/large".into(), &3.into()),
        "{stats}"
    );
    assert!((stats["total"]["usage"]["cost_usd"].as_f64().unwrap() - 0.033).abs() < 1e-9, "{stats}");
    let by_project = world.covey(&["stats", "--by", "project"]).await;
    assert!(by_project.out.contains(world.project.to_str().unwrap()), "{}", by_project.out);
    let week = world.covey(&["stats"]).await;
    assert_eq!(week.out.lines().count(), 8, "seven days and a sum:\n{}", week.out);
    assert!(week.out.contains("$0.03"), "{}", week.out);
    assert_eq!(crate::world::mode(&world.home.join("usage.jsonl")), 0o600);
    let nothing = World::bare("").await;
    assert_eq!(nothing.covey(&["stats"]).await.out, "nothing was spent\n");
}

#[tokio::test]
async fn models_are_listed_with_their_price_and_what_is_missing() {
    let world = World::bare("models: tiny, huge\n").await;
    world.configure(&format!(
        "[providers.mine]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.mine.models.tiny]\ncontext = 8000\n\
         [providers.mine.models.tiny.prices]\ninput = 1.5\noutput = 2.0\n[providers.ollama]\nport = 1\n[providers.lmstudio]\nport = 1\n[providers.llamacpp]\nport = 1\n",
        world.server.base_url()
    ));
    let text = world.covey(&["models"]).await;
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(
        text.out.contains("mine/tiny") && text.out.contains("mine/huge") && text.out.contains("$1.5 in"),
        "{}",
        text.out
    );
    let all: Value = serde_json::from_str(&world.covey(&["models", "--all", "--json"]).await.out).unwrap();
    let models = all["models"].as_array().unwrap();
    let openai = models.iter().find(|model| model["model"].as_str().unwrap().starts_with("openai/")).unwrap();
    assert_eq!(openai["usable"], false);
    assert!(openai["reason"].as_str().unwrap().contains("OPENAI_API_KEY"), "{openai}");
    // What it would cost is known without a key.
    let pro = models.iter().find(|model| model["model"] == "gemini/gemini-2.5-pro").unwrap();
    assert_eq!((&pro["prices"]["above"]["tokens"], &pro["tier"]), (&200_000.into(), &"high".into()), "{pro}");
    let azure = models.iter().find(|model| model["model"] == "azure-openai").unwrap();
    assert!(azure["reason"].as_str().unwrap().contains("needs an address"), "{azure}");
    let huge = models.iter().find(|model| model["model"] == "mine/huge").unwrap();
    assert!(huge["listed_seconds_ago"].is_number(), "{huge}");
}

#[tokio::test]
async fn the_same_question_through_four_wires() {
    for (wire, base) in
        [("openai-chat", "/v1"), ("openai-responses", "/v1"), ("anthropic", ""), ("gemini", "")]
    {
        let world = World::bare("reply\n  think: I should look.\n  text: Let me see.\n  call: read {\"path\": \"a.txt\"}\nmodel: It says hello.\nmodel: Nothing more.\n").await;
        world.write("a.txt", "hello\n");
        world.configure(&format!(
            "model = \"p/m\"\n[providers.p]\nwire = \"{wire}\"\nbase_url = \"{}{base}\"\n[providers.p.models.m]\ncontext = 100000\n",
            world.server.url()
        ));
        let (done, result) = world.result(&["what does a.txt say?"]).await;
        assert_eq!(
            (done.code, &result["text"], &result["steps"]),
            (Some(0), &"It says hello.".into(), &2.into()),
            "{wire}: {done:?}"
        );
        let told = world.server.request(1).await;
        assert!(
            told.text().contains("hello"),
            "{wire}: the result of the call was not sent: {}",
            told.text()
        );
        // Another process goes on with it, and the provider is sent its own words unchanged.
        let (done, result) = world.result(&["what else?", "--continue"]).await;
        assert_eq!((done.code, &result["text"]), (Some(0), &"Nothing more.".into()), "{wire}: {done:?}");
    }
}

#[tokio::test]
async fn short_prompts_go_to_the_quick_model_when_asked_for_and_it_is_told() {
    let (world, _other) = with_chain("model: quick\nforever\n", "model: thorough\nforever\n").await;
    let config = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    world.configure(
        &config.replace("[router.chains]", "[router]\nsimple_prompts = \"a/small\"\n[router.chains]"),
    );
    let (done, result) = world.result(&["say hello", "--model", "b/large"]).await;
    assert_eq!((&result["text"], &result["model"]), (&"quick".into(), &"a/small".into()), "{done:?}");
    assert!(
        done.out.contains("a short prompt, so `a/small` answers (router.simple_prompts)"),
        "{}",
        done.out
    );
    let (_, result) = world.result(&["refactor the cart", "--model", "b/large"]).await;
    assert_eq!(result["text"], "thorough");
}

#[tokio::test]
async fn a_budget_holds_when_the_provider_tells_no_usage() {
    let world = World::bare("reply\n  call: list_dir {}\n  usage: input=0 output=0\nforever\n").await;
    world.configure(&format!(
        "model = \"p/m\"\n[providers.p]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.p.models.m]\nprices = {{ input = 1.0, output = 10.0 }}\n",
        world.server.base_url()
    ));
    for limit in [["--max-tokens", "4000"], ["--max-cost", "0.004"]] {
        let (done, result) = world.result(&["go", "--max-steps", "50", limit[0], limit[1]]).await;
        assert_eq!((done.code, &result["stop"]), (Some(4), &"limit".into()), "{limit:?}: {done:?}");
        assert!(result["steps"].as_u64().unwrap() < 30, "{limit:?}: {result}");
        assert!(result["cost_usd"].as_f64().unwrap() > 0.0, "{result}");
        assert!(done.lines().iter().any(|line| line["estimated"] == true));
    }
}

#[tokio::test]
async fn a_route_that_fails_once_in_each_process_is_left_alone_after_five() {
    let (world, _other) = with_chain("reply\n  fault: 500\nforever\n", "model: fine\nforever\n").await;
    for _ in 0..7 {
        let (done, result) = world.result(&["hello"]).await;
        assert_eq!((done.code, &result["text"]), (Some(0), &"fine".into()), "{done:?}");
    }
    assert_eq!(world.server.requests().len(), 5);
    let status: Value =
        serde_json::from_str(&world.covey(&["models", "status", "--json"]).await.out).unwrap();
    let first =
        status["routes"].as_array().unwrap().iter().find(|route| route["model"] == "a/small").unwrap();
    assert_eq!(first["state"], "open", "{status}");
}

#[tokio::test]
async fn a_chain_that_is_called_main_answers_without_being_named_and_equals_are_shown() {
    let (world, other) = with_chain("model: small\nforever\n", "model: large\nforever\n").await;
    let config = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    let config = config
        .replace("model = \"main\"\n", "")
        .replace("[\"a/small\", \"b/large\"]", "[[\"a/small\", \"b/large\"]]\nquick = [\"a/small\"]");
    world.configure(&config);
    // Both are equals, and only one of them has a price.
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!((&result["text"], &result["model"]), (&"large".into(), &"b/large".into()), "{done:?}");
    assert!(done.out.contains("its equal costs less"), "{}", done.out);
    let (_, result) = world.result(&["hello", "--model", "quick"]).await;
    assert_eq!(result["text"], "small");
    assert_eq!((world.server.requests().len(), other.requests().len()), (1, 1));
    let text = world.covey(&["models"]).await;
    assert!(text.out.contains("main  a/small or b/large\n"), "{}", text.out);
    let json: Value = serde_json::from_str(&world.covey(&["models", "--json"]).await.out).unwrap();
    assert_eq!(json["chains"]["main"], serde_json::json!([["a/small", "b/large"]]), "{json}");
    // What is no chain is an error that names the place.
    world.configure(&config.replace("quick = [\"a/small\"]", "quick = [3]"));
    let done = world.covey(&["models"]).await;
    assert_eq!(done.code, Some(2), "{done:?}");
    assert!(done.err.contains("router.chains") && done.err.contains("PROVIDER/MODEL"), "{}", done.err);
}

/// Issue 3: a lone provider that is down was asked with every prompt.
#[tokio::test]
async fn a_lone_provider_that_keeps_failing_is_left_alone_and_it_is_said_until_when() {
    let world = World::bare("reply\n  fault: 500\nforever\n").await;
    world.configure(&format!(
        "model = \"p/m\"\n[providers.p]\nwire = \"openai-chat\"\nbase_url = \"{}\"\nretries = 0\n",
        world.server.base_url()
    ));
    for _ in 0..5 {
        assert_eq!(world.result(&["hello"]).await.0.code, Some(5));
    }
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!(done.code, Some(5), "{done:?}");
    let message = result["error"]["message"].as_str().unwrap();
    assert!(message.contains("it failed too often and is tried again in "), "{message}");
    assert_eq!(world.server.requests().len(), 5);
    let status = world.covey(&["models", "status"]).await;
    assert!(status.out.contains("p/m  failing, tried again in "), "{}", status.out);
}

#[tokio::test]
async fn a_keyring_that_this_build_does_not_have_is_an_error_with_a_way_out() {
    let world = World::new("model: hello\n").await;
    let config = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    world.configure(&format!("{config}\n[auth]\nstore = \"file\"\n"));
    assert_eq!(world.covey(&["run", "hi"]).await.code, Some(0));
    if cfg!(feature = "keyring") {
        return;
    }
    world.configure(&format!("{config}\n[auth]\nstore = \"keyring\"\n"));
    for arguments in [&["run", "hi"][..], &["auth", "status"], &["models"]] {
        let done = world.covey(arguments).await;
        assert_eq!(done.code, Some(2), "{done:?}");
        assert!(done.err.contains("built without the system's keyring"), "{}", done.err);
        assert!(done.err.contains("hint: covey config set auth.store file"), "{}", done.err);
    }
    world.configure(&format!("{config}\n[auth]\nstore = \"cloud\"\n"));
    assert_eq!(world.covey(&["auth", "status"]).await.code, Some(2));
}

#[tokio::test]
async fn an_old_list_is_shown_at_once_with_its_age_and_is_new_the_next_time() {
    let world = World::bare("models: new\n").await;
    world.configure(&format!(
        "[providers.mine]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.ollama]\nport = 1\n[providers.lmstudio]\nport = 1\n[providers.llamacpp]\nport = 1\n",
        world.server.base_url()
    ));
    let cache = world.home.join("cache");
    std::fs::create_dir_all(&cache).unwrap();
    let long_ago = protocol::Timestamp::now().as_millis() - 3 * 86_400_000;
    let listed = serde_json::json!({"mine": {"fetched": long_ago, "models": [{"name": "old"}]}});
    std::fs::write(cache.join("models.json"), listed.to_string()).unwrap();
    let first = world.covey(&["models"]).await;
    assert!(
        first.out.contains("mine/old  listed 3 days ago") && !first.out.contains("mine/new"),
        "{first:?}"
    );
    let second = world.covey(&["models"]).await;
    assert!(second.out.contains("mine/new") && !second.out.contains("mine/old"), "{second:?}");
    // A list from the future is of a clock that went back, and is no reason to ask never again.
    let listed = serde_json::json!({"mine": {"fetched": i64::MAX, "models": [{"name": "old"}]}});
    std::fs::write(cache.join("models.json"), listed.to_string()).unwrap();
    world.covey(&["models"]).await;
    assert!(world.covey(&["models"]).await.out.contains("mine/new"));
}

#[tokio::test]
async fn a_session_is_named_and_plans_are_made_by_the_models_that_are_there_for_it() {
    let world = World::bare("model: The work.\nforever\n").await;
    let namer = ModelServer::play("model: \"Coupons in carts.\"\nforever\n").await;
    let planner = ModelServer::play("model: The plan.\nforever\n").await;
    world.configure(&format!(
        "model = \"main\"\n[router.chains]\nmain = [\"a/m\"]\ntitle = [\"b/m\"]\nplan = [\"c/m\"]\n\
         [providers.a]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.a.models.m]\ncontext = 8000\n\
         [providers.b]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.b.models.m]\ncontext = 8000\n\
         [providers.c]\nwire = \"openai-chat\"\nbase_url = \"{}\"\n[providers.c.models.m]\ncontext = 8000\n",
        world.server.base_url(),
        namer.base_url(),
        planner.base_url()
    ));
    let title = async || {
        let list = world.covey(&["session", "list", "--json"]).await.out;
        let list: Value = serde_json::from_str(&list).unwrap();
        list["sessions"][0]["title"].as_str().unwrap().to_owned()
    };
    let (done, result) = world.result(&["a coupon is applied twice"]).await;
    assert_eq!((done.code, &result["text"]), (Some(0), &"The work.".into()), "{done:?}");
    assert_eq!(title().await, "Coupons in carts");
    let request = namer.request(0).await;
    let asked = request.text();
    assert!(asked.contains("a coupon is applied twice") && !asked.contains("\"tools\""), "{asked}");

    // It is named once, and who plans is asked in mode `plan` only.
    let (_, result) = world.result(&["--continue", "--mode", "plan", "and now?"]).await;
    assert_eq!(result["text"], "The plan.");
    assert_eq!((namer.requests().len(), planner.requests().len(), world.server.requests().len()), (1, 1, 1));

    // One that can not be had leaves the first line.
    drop(namer);
    let (done, _) = world.result(&["what is a cart?"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(title().await, "what is a cart?");
}
