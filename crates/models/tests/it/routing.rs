//! Chains of models over three scripted providers that fail in turn.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use models::{
    Block, CallError, Catalogue, Condition, Health, ImageData, Message, ModelEvent, Request, RetryPolicy,
    Role,
};
use testkit::ModelServer;

/// Three providers `a`, `b`, `c` in a chain `main`, with a clock that only the test moves.
struct World {
    servers: [ModelServer; 3],
    catalogue: Catalogue,
    health: Arc<Health>,
    clock: Arc<AtomicI64>,
}

impl World {
    async fn new(scripts: [&str; 3]) -> Self {
        Self::with(scripts, ["", "", ""]).await
    }

    async fn with(scripts: [&str; 3], settings: [&str; 3]) -> Self {
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
        let chain = ["a/m", "b/m", "c/m"].map(str::to_owned).to_vec();
        let catalogue = Catalogue::new(providers, |_| None)
            .with_retry(RetryPolicy { retries: 2, base: Duration::from_millis(1), ..RetryPolicy::default() })
            .with_chains([("main".to_owned(), chain)].into())
            .with_health(health.clone());
        Self { servers, catalogue, health, clock }
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
                Ok(ModelEvent::Switch { from, to, shown, .. }) => {
                    text.clear();
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
