//! Which model to use when nobody said: what is configured, a key in the environment, a server on this machine.

use ::models::{Catalogue, PROBE_TIMEOUT, probe_local};
use protocol::ModelRef;

use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style};

/// A model, and where it was found.
pub(crate) struct Discovered {
    pub(crate) model: ModelRef,
    pub(crate) because: String,
}

/// The best model that can be had without asking the person anything; none if there is nothing.
pub(crate) async fn discover(catalogue: &Catalogue, configured: &[String]) -> Option<Discovered> {
    // A provider that the person wrote down goes before anything that happens to be there.
    for provider in configured {
        let named = catalogue.resolve(provider).ok().map(|model| model.id().clone());
        let first = || catalogue.models(provider).ok().and_then(|models| models.into_iter().next());
        let usable = |model: &ModelRef| catalogue.resolve(model.as_str()).is_ok();
        if let Some(model) = named.or_else(first).filter(usable) {
            return Some(Discovered { model, because: format!("[providers.{provider}] in your settings") });
        }
    }
    if let Some(model) = catalogue.from_environment().into_iter().next() {
        let provider = model.split().map_or("", |(provider, _)| provider).to_owned();
        return Some(Discovered { model, because: format!("a key for {provider} in the environment") });
    }
    let servers = probe_local(&catalogue.local_ports(), PROBE_TIMEOUT).await;
    servers.iter().find_map(|server| {
        let because = format!("{} at {}", server.provider, server.base_url);
        server.first().map(|model| Discovered { model, because })
    })
}

/// What to do when there is nothing, on one screen.
pub(crate) fn nothing_found() -> Failure {
    let style = Style::of(Stream::Err);
    let head = |text: &str| style.strong(text);
    let code = |text: &str| style.accent(text);
    let message = format!(
        "no model is connected

Covey looked for a provider in your settings, for keys in the environment, and for model servers
on this machine (Ollama, LM Studio, llama.cpp), and found none. The three quickest ways to get one:

  {}  put a key in the environment
      {}
      {}

  {}  run a model on this machine
      {}

  {}  name a server that speaks the OpenAI format
      {}
      {}",
        head("1"),
        code("export OPENROUTER_API_KEY=…"),
        style.faint("or OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, MISTRAL_API_KEY, …"),
        head("2"),
        code("ollama serve & ollama pull qwen3"),
        head("3"),
        code("covey config set providers.mine.wire openai-chat"),
        code("covey config set providers.mine.base_url http://127.0.0.1:8080/v1"),
    );
    Failure { exit: Exit::Unreachable, message, hint: Some("then: covey run \"hello\"".to_owned()) }
}
