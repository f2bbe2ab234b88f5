//! Chains of models over three scripted providers that fail in turn.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use models::{
    Block, CallError, Catalogue, Chain, Condition, Health, ImageData, Message, ModelEvent, Request,
    RetryPolicy, Role,
};
use testkit::ModelServer;

/// Three providers `a`, `b`, `c` in a chain `main`, with a clock that only the test moves.
struct World {
    servers: [ModelServer; 3],
    catalogue: Catalogue,
    health: Arc<Health>,
    clock: Arc<AtomicI64>,
    /// Of all switches.
    reasons: Mutex<Vec<String>>,
}

impl World {
    async fn new(scripts: [&str; 3]) -> Self {
        Self::with(scripts, ["", "", ""]).await
    }

    async fn with(scripts: [&str; 3], settings: [&str; 3]) -> Self {
        Self::chained(scripts, settings, "chain = [\"a/m\", \"b/m\", \"c/m\"]").await
    }

    /// With the chain as a person writes it.
    async fn chained(scripts: [&str; 3], settings: [&str; 3], chain: &str) -> Self {
        let [a, b, c] = scripts;
        let servers = [ModelServer::play(a).await, ModelServer::play(b).await, ModelServer::play(c).await];
        let clock = Arc::new(AtomicI64::new(1_000_000));
        let ticking = clock.clone();
        let health = Arc::new(Health::in_memory().with_clock(move || ticking.load(Ordering::SeqCst)));
        let mut providers = BTreeMap::new();
        for ((name, server), settings) in ["a", "b", "c"].into_iter().zip(&servers).zip(settings) {
            let config = format!(
                "wire = \"openai-chat\"\nbase_url = \"{}\"\n[models.m]\n{settings}\n",
                server.base_url()
            );
            providers.insert(name.to_owned(), toml::from_str(&config).unwrap());
        }
        let chain: BTreeMap<String, Chain> = toml::from_str(chain).unwrap();
        let catalogue = Catalogue::new(providers, |_| None)
            .with_retry(RetryPolicy { retries: 2, base: Duration::from_millis(1), ..RetryPolicy::default() })
            .with_chains([("main".to_owned(), chain["chain"].clone())].into())
            .with_health(health.clone());
        Self { servers, catalogue, health, clock, reasons: Mutex::default() }
    }

    async fn ask(&self) -> (Result<String, CallError>, Vec<String>) {
        self.ask_with(Request::new("", vec![Message::user("hi")])).await
    }

    /// The answer, and what was told on the way.
    async fn ask_with(&self, request: Request) -> (Result<String, CallError>, Vec<String>) {
        let mut events = self.catalogue.resolve("main").unwrap().stream(request);
        let (mut text, mut told) = (String::new(), Vec::new());
        while let Some(event) = events.next().await {
            match event {
                Ok(ModelEvent::Delta { text: piece, .. }) => text.push_str(&piece),
                Ok(ModelEvent::Switch { from, to, shown, reason }) => {
                    text.clear();
                    self.reasons.lock().unwrap().push(reason);
                    told.push(format!("{from} -> {to}{}", if shown { " (retract)" } else { "" }));
                }
                Ok(ModelEvent::Restart { attempt, .. }) => {
                    text.clear();
                    told.push(format!("restart {attempt}"));
                }
                Ok(_) => {}
                Err(error) => return (Err(error), told),
            }
        }
        (Ok(text), told)
    }

    fn asked(&self) -> [usize; 3] {
        [0, 1, 2].map(|n| self.servers[n].requests().len())
    }

    fn pass(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    fn condition(&self, model: &str) -> Condition {
        self.health.status().into_iter().find(|status| status.model.as_str() == model).unwrap().condition
    }
}

const WELL: &str = "model: fine\nforever\n";

#[tokio::test]
async fn the_first_that_is_well_answers_and_the_others_are_not_asked() {
    let world = World::new([WELL; 3]).await;
    assert_eq!(world.ask().await, (Ok("fine".to_owned()), vec![]));
    assert_eq!(world.asked(), [1, 0, 0]);
}

#[tokio::test]
async fn each_failure_switches_once_and_is_told() {
    let world =
        World::new(["reply\n  fault: 500\nforever\n", "reply\n  fault: close\nforever\n", WELL]).await;
    let (answer, told) = world.ask().await;
    assert_eq!(answer.unwrap(), "fine");
    assert_eq!(told, ["a/m -> b/m", "b/m -> c/m"]);
    assert_eq!(world.asked(), [1, 1, 1]);
}

#[tokio::test]
async fn an_answer_that_is_cut_is_retracted_and_begins_anew_elsewhere() {
    let world = World::new(["reply\n  text: half of this\n  fault: cut after=3\n", WELL, WELL]).await;
    let (answer, told) = world.ask().await;
    assert_eq!(answer.unwrap(), "fine");
    assert_eq!(told, ["a/m -> b/m (retract)"]);
}

#[tokio::test]
async fn when_all_fail_they_are_asked_again_after_a_wait() {
    let down_once = "reply\n  fault: 500\nmodel: back\n";
    let world = World::new([down_once; 3]).await;
    let (answer, told) = world.ask().await;
    assert_eq!(answer.unwrap(), "back");
    assert_eq!(told, ["a/m -> b/m", "b/m -> c/m", "restart 1", "c/m -> a/m"]);
    let world = World::new(["reply\n  fault: 500\nforever\n"; 3]).await;
    let (answer, _) = world.ask().await;
    assert!(answer.is_err());
    assert_eq!(world.asked(), [3, 3, 3], "three rounds, and no more");
}

#[tokio::test]
async fn a_route_that_keeps_failing_is_passed_over_until_a_probe_finds_it_well() {
    let mut sick = "reply\n  fault: 500\n".repeat(5);
    sick.push_str("model: well again\nforever\n");
    let world = World::new([&sick, WELL, WELL]).await;
    for _ in 0..5 {
        world.ask().await.0.unwrap();
    }
    assert!(matches!(world.condition("a/m"), Condition::Open { .. }));
    let (answer, told) = world.ask().await;
    assert_eq!((answer.unwrap().as_str(), told), ("fine", vec!["a/m -> b/m".to_owned()]));
    assert_eq!(world.asked()[0], 5, "a closed door is not knocked at");
    world.pass(30_000);
    assert_eq!(world.condition("a/m"), Condition::HalfOpen);
    assert_eq!(world.ask().await, (Ok("well again".to_owned()), vec![]));
    assert_eq!(world.condition("a/m"), Condition::Closed);
}

#[tokio::test]
async fn too_many_requests_park_a_route_for_as_long_as_it_asks() {
    let world =
        World::new(["reply\n  fault: 429 retry-after=20\nmodel: rested\nforever\n", WELL, WELL]).await;
    assert_eq!(world.ask().await.0.unwrap(), "fine");
    assert_eq!(world.condition("a/m"), Condition::Parked { until: 1_020_000 });
    world.pass(19_999);
    assert_eq!(world.ask().await.0.unwrap(), "fine");
    world.pass(1);
    assert_eq!(world.ask().await.0.unwrap(), "rested");
}

#[tokio::test]
async fn wrong_credentials_disable_a_route_and_our_own_mistake_ends_the_call() {
    let world = World::new(["reply\n  fault: 401\nforever\n", "reply\n  fault: 400\nforever\n", WELL]).await;
    let (answer, told) = world.ask().await;
    assert!(matches!(answer, Err(CallError::CallerMistake { status: 400, .. })), "{answer:?}");
    assert_eq!(told, ["a/m -> b/m"]);
    assert_eq!(world.asked(), [1, 1, 0], "nobody else is asked the same nonsense");
    assert_eq!(world.condition("a/m"), Condition::Disabled);
    assert_eq!(world.condition("b/m"), Condition::Closed);
    world.pass(i64::from(u32::MAX));
    world.ask().await.0.unwrap_err();
    assert_eq!(world.asked()[0], 1);
}

#[tokio::test]
async fn what_is_not_this_api_falls_back() {
    let world = World::new(["reply\n  fault: html\n", "reply\n  fault: 404\n", WELL]).await;
    let (answer, told) = world.ask().await;
    assert_eq!((answer.unwrap().as_str(), told.len()), ("fine", 2));
}

#[tokio::test]
async fn a_model_that_can_not_see_is_not_sent_a_picture() {
    let world = World::with([WELL; 3], ["images = false", "", ""]).await;
    let image = Block::Image(ImageData { media_type: "image/png".to_owned(), data: "iVBORw0KGgo=".into() });
    let message = Message::new(Role::User, vec![Block::Text("what is it?".to_owned()), image]);
    let (answer, told) = world.ask_with(Request::new("", vec![message])).await;
    assert_eq!((answer.unwrap().as_str(), told), ("fine", vec!["a/m -> b/m".to_owned()]));
    assert_eq!(world.asked(), [0, 1, 0]);
}

#[tokio::test]
async fn a_prompt_that_is_too_long_goes_to_a_larger_window_and_is_nobodys_fault() {
    let long =
        "reply\n  fault: 400 message=\"This model's maximum context length is 8192 tokens\"\nforever\n";
    let world =
        World::with([long, WELL, WELL], ["context = 8192", "context = 4096", "context = 200000"]).await;
    let (answer, told) = world.ask().await;
    assert_eq!((answer.unwrap().as_str(), told), ("fine", vec!["a/m -> c/m".to_owned()]));
    assert_eq!(world.condition("a/m"), Condition::Closed);
}

#[tokio::test]
async fn what_was_learned_is_there_for_the_next_process_and_new_settings_start_afresh() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cache/routes.json");
    let server = ModelServer::play("reply\n  fault: 401\nforever\n").await;
    let fine = ModelServer::play(WELL).await;
    let catalogue = |key: &str| {
        let config = |server: &ModelServer| {
            toml::from_str(&format!(
                "wire = \"openai-chat\"\nbase_url = \"{}\"\napi_key = \"{key}\"",
                server.base_url()
            ))
            .unwrap()
        };
        let providers = [("a".to_owned(), config(&server)), ("b".to_owned(), config(&fine))].into();
        Catalogue::new(providers, |_| None)
            .with_chains([("main".to_owned(), vec!["a/m".to_owned(), "b/m".to_owned()])].into())
            .with_health(Arc::new(Health::at(file.clone())))
    };
    let ask = async |catalogue: Catalogue| {
        let model = catalogue.resolve("main").unwrap();
        model.stream(Request::new("", vec![Message::user("hi")])).collect::<Vec<_>>().await
    };
    ask(catalogue("sk-old-secret")).await;
    ask(catalogue("sk-old-secret")).await;
    assert_eq!(server.requests().len(), 1, "the second process knows better");
    assert!(!std::fs::read_to_string(&file).unwrap().contains("secret"));
    ask(catalogue("sk-new-secret")).await;
    assert_eq!(server.requests().len(), 2, "with a new key it is worth a try");
    for damage in ["", "{", "[1,2]", "{\"a/m\": 3}"] {
        std::fs::write(&file, damage).unwrap();
        let events = ask(catalogue("sk-new-secret")).await;
        assert!(events.iter().all(Result::is_ok), "{damage}");
    }
}

const DOWN: &str = "reply\n  fault: 500\nforever\n";
const ONE: &str = "chain = [\"a/m\"]";
const EQUALS: &str = "chain = [[\"a/m\", \"b/m\", \"c/m\"]]";

/// Issue 3: it was asked all the same while it was open, and its cool-down never doubled.
#[tokio::test]
async fn a_lone_route_that_is_open_is_left_alone_and_says_until_when() {
    let world = World::chained([DOWN, WELL, WELL], [""; 3], ONE).await;
    for _ in 0..2 {
        world.ask().await.0.unwrap_err();
    }
    assert_eq!(world.asked()[0], 5, "the breaker opened in the middle of the second call");
    let Condition::Open { until } = world.condition("a/m") else { panic!("it is not open") };
    world.pass(10_000);
    let (answer, told) = world.ask().await;
    let error = answer.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`a` can not answer now: it failed too often and is tried again in 20 s (`a` can not answer now: scripted error)"
    );
    assert_eq!((error.retry_after(), told.len()), (Some(Duration::from_secs(20)), 0));
    assert_eq!(world.asked()[0], 5, "nobody knocked");
    // Each probe that fails doubles the time, also without anybody else to ask.
    let mut at = until;
    for (calls, cool_down) in
        [(6, 60_000), (7, 120_000), (8, 240_000), (9, 480_000), (10, 600_000), (11, 600_000)]
    {
        world.clock.store(at, Ordering::SeqCst);
        world.ask().await.0.unwrap_err();
        assert_eq!(world.asked()[0], calls, "one probe, and no more");
        at += cool_down;
        assert_eq!(world.condition("a/m"), Condition::Open { until: at });
    }
}

#[tokio::test]
async fn a_short_rest_is_waited_for_and_told() {
    // The clock of this one is the real one.
    let server = ModelServer::play("reply\n  fault: 429 retry-after=1\nmodel: rested\nforever\n").await;
    let health = Arc::new(Health::in_memory());
    let catalogue = |retries: u32| {
        let config =
            toml::from_str(&format!("base_url = \"{}\"\nretries = {retries}", server.base_url())).unwrap();
        Catalogue::new([("a".to_owned(), config)].into(), |_| None).with_health(health.clone())
    };
    let ask = async |retries: u32| {
        let model = catalogue(retries).resolve("a/m").unwrap();
        model.stream(Request::new("", vec![Message::user("hi")])).collect::<Vec<_>>().await
    };
    let refused = ask(0).await;
    assert!(matches!(refused[..], [Err(CallError::RateLimited { .. })]), "{refused:?}");
    // Whoever does not want to wait is told at once, and the provider is not asked.
    let resting = ask(0).await;
    let [Err(error @ CallError::RateLimited { .. })] = &resting[..] else { panic!("{resting:?}") };
    assert!(error.to_string().contains("it is left alone for "), "{error}");
    assert_eq!(server.requests().len(), 1);
    let answered = ask(1).await;
    assert!(matches!(answered[0], Ok(ModelEvent::Restart { .. })), "{answered:?}");
    assert!(matches!(answered.last(), Some(Ok(ModelEvent::Stop(_)))), "{answered:?}");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn an_absurd_wait_is_a_day_and_is_shown() {
    let world = World::chained(
        ["reply\n  fault: 429 retry-after=99999999999999999999\nforever\n", WELL, WELL],
        [""; 3],
        ONE,
    )
    .await;
    let error = world.ask().await.0.unwrap_err();
    assert!(error.to_string().ends_with("(it asks us to wait 24 h or longer)"), "{error}");
    assert_eq!(world.condition("a/m"), Condition::Parked { until: 1_000_000 + 86_400_000 });
    let error = world.ask().await.0.unwrap_err();
    assert!(error.to_string().contains("it is left alone for 24 h, as it asked"), "{error}");
    assert_eq!(world.asked()[0], 1);
}

#[tokio::test]
async fn a_probe_that_is_cancelled_does_not_shut_the_route() {
    let world = World::chained(
        [&format!("{}model: first\nmodel: well again\n", "reply\n  fault: 500\n".repeat(5)), WELL, WELL],
        [""; 3],
        ONE,
    )
    .await;
    for _ in 0..2 {
        world.ask().await.0.unwrap_err();
    }
    world.pass(30_000);
    let mut probe =
        world.catalogue.resolve("main").unwrap().stream(Request::new("", vec![Message::user("hi")]));
    probe.next().await.unwrap().unwrap();
    drop(probe);
    assert_eq!(world.ask().await.0.unwrap(), "well again");
}

#[tokio::test]
async fn who_refused_us_is_asked_again_only_if_there_is_nobody_else() {
    let world =
        World::chained(["reply\n  fault: 401\nmodel: paid\nforever\n", WELL, WELL], [""; 3], ONE).await;
    world.ask().await.0.unwrap_err();
    assert_eq!(world.condition("a/m"), Condition::Disabled);
    assert_eq!(world.ask().await.0.unwrap(), "paid");
}

#[tokio::test]
async fn place_goes_before_health_latency_and_price() {
    let prices = |price: f64| format!("prices = {{ input = {price}, output = {price} }}");
    let (dear, cheap) = (prices(10.0), prices(1.0));
    let world = World::chained([WELL; 3], [&dear, &cheap, ""], "chain = [\"a/m\", [\"b/m\", \"c/m\"]]").await;
    assert_eq!(world.ask().await, (Ok("fine".to_owned()), vec![]));
    assert_eq!(world.asked(), [1, 0, 0]);
}

#[tokio::test]
async fn of_equals_the_cheaper_one_is_asked_and_the_choice_is_told() {
    let prices = |price: f64| format!("prices = {{ input = {price}, output = {price} }}");
    let (dear, cheap) = (prices(10.0), prices(1.0));
    // What nobody knows the price of may be the dearest of all.
    let world = World::chained([WELL; 3], ["", &dear, &cheap], EQUALS).await;
    assert_eq!(world.ask().await, (Ok("fine".to_owned()), vec!["a/m -> c/m".to_owned()]));
    assert_eq!(*world.reasons.lock().unwrap(), ["its equal costs less"]);
    assert_eq!(world.asked(), [0, 0, 1]);
    // With nothing between them, it is as written.
    let world = World::chained([WELL; 3], [""; 3], EQUALS).await;
    assert_eq!(world.ask().await, (Ok("fine".to_owned()), vec![]));
}

/// A model whose answers take as long as the test says, by its own clock.
struct Timed {
    id: protocol::ModelRef,
    info: models::ModelInfo,
    takes: i64,
    clock: Arc<AtomicI64>,
    asked: Arc<Mutex<Vec<String>>>,
    fails: Arc<AtomicI64>,
}

impl models::Model for Timed {
    fn id(&self) -> &protocol::ModelRef {
        &self.id
    }

    fn info(&self) -> &models::ModelInfo {
        &self.info
    }

    fn stream(&self, _request: Request) -> models::EventStream {
        self.asked.lock().unwrap().push(self.id.to_string());
        self.clock.fetch_add(self.takes, Ordering::SeqCst);
        let event = match self.fails.fetch_sub(1, Ordering::SeqCst) > 0 {
            true => {
                Err(CallError::Overloaded { provider: "p".into(), retry_after: None, message: "busy".into() })
            }
            false => {
                Ok(ModelEvent::Stop(models::Ending { reason: models::StopReason::EndTurn, replay: vec![] }))
            }
        };
        futures::stream::iter([event]).boxed()
    }
}

#[tokio::test]
async fn of_equals_the_quicker_one_is_asked_and_before_that_the_one_that_fails_less() {
    let clock = Arc::new(AtomicI64::new(1_000_000));
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let fails: [Arc<AtomicI64>; 2] = Default::default();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("routes.json");
    let health = || {
        let ticking = clock.clone();
        Arc::new(Health::at(file.clone()).with_clock(move || ticking.load(Ordering::SeqCst)))
    };
    let router = |health: Arc<Health>| {
        let route = |(at, (name, takes)): (usize, (&str, i64))| models::Route {
            model: Arc::new(Timed {
                id: protocol::ModelRef::new(name),
                info: models::ModelInfo::default(),
                takes,
                clock: clock.clone(),
                asked: asked.clone(),
                fails: fails[at].clone(),
            }),
            rank: 0,
            fingerprint: String::new(),
        };
        let routes = [("p/slow", 4_000), ("p/quick", 300)].into_iter().enumerate().map(route).collect();
        models::Router::new(routes, health, RetryPolicy { retries: 0, ..RetryPolicy::default() }).unwrap()
    };
    let ask = async |health: Arc<Health>| {
        let events: Vec<_> = models::Model::stream(&router(health), Request::default()).collect().await;
        let last = asked.lock().unwrap().last().cloned().unwrap();
        let reason = events.into_iter().rev().find_map(|event| match event {
            Ok(ModelEvent::Switch { reason, .. }) => Some(reason),
            _ => None,
        });
        (last, reason.unwrap_or_default())
    };
    let one = health();
    assert_eq!(ask(one.clone()).await, ("p/slow".into(), String::new()), "nobody knows yet");
    // Slower than what a new one is taken to be: that one gets its chance, and keeps its place.
    for _ in 0..3 {
        assert_eq!(ask(one.clone()).await, ("p/quick".into(), "its equal answers sooner".into()));
    }
    assert_eq!(ask(health()).await.0, "p/quick", "the next process knows it, too");
    // One that failed goes after its equals, for a minute.
    fails[1].store(1, Ordering::SeqCst);
    let (answered, reason) = ask(one.clone()).await;
    assert_eq!(answered, "p/slow");
    assert!(reason.contains("busy"), "{reason}");
    assert_eq!(ask(one.clone()).await.0, "p/slow");
    clock.fetch_add(60_000, Ordering::SeqCst);
    assert_eq!(ask(one.clone()).await.0, "p/quick");
    // A clock that goes back measures nothing, and stops nobody.
    clock.store(5, Ordering::SeqCst);
    assert_eq!(ask(one).await.0, "p/quick");
}

#[tokio::test]
async fn a_prompt_that_can_not_fit_goes_to_a_window_where_it_does() {
    let world = World::with([WELL; 3], ["context = 1000", "context = 2000", "context = 100000"]).await;
    let long = Request::new("", vec![Message::user("many words ".repeat(5_000))]);
    let (answer, told) = world.ask_with(long.clone()).await;
    assert_eq!((answer.unwrap().as_str(), told), ("fine", vec!["a/m -> c/m".to_owned()]));
    assert_eq!(*world.reasons.lock().unwrap(), ["the prompt is longer than its window"]);
    // Where it fits nowhere, the provider says so, who counts better than we do.
    let world = World::with([WELL; 3], ["context = 1000", "context = 2000", "context = 3000"]).await;
    assert_eq!(world.ask_with(long).await.0.unwrap(), "fine");
    assert_eq!(world.asked(), [1, 0, 0]);
}

#[tokio::test]
async fn a_model_that_can_not_be_held_to_a_schema_is_not_asked_for_one() {
    let world = World::with([WELL; 3], ["structured = false", "", ""]).await;
    let schema =
        models::OutputSchema { name: "answer".into(), schema: serde_json::json!({"type": "object"}) };
    let request =
        Request { output_schema: Some(Arc::new(schema)), ..Request::new("", vec![Message::user("hi")]) };
    assert_eq!(world.ask_with(request).await.1, ["a/m -> b/m"]);
}
