//! `covey models`: which there are, which can be used, and what they cost.

use std::collections::BTreeMap;

use ::models::{
    Catalogue, Condition, FRESH_MS, Listings, ModelInfo, PROBE_TIMEOUT, RouteStatus, Tier, probe_local,
};
use futures::future::join_all;
use protocol::{ModelRef, Timestamp};
use serde_json::{Value, json};

use crate::block_on;
use crate::cli::{ModelsArguments, ModelsCommand};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::{Stream, Style, columns, count, one_line, print, tell, tell_warning};

pub(crate) fn models(arguments: &ModelsArguments) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    match &arguments.command {
        Some(ModelsCommand::Status { json }) => status(&settings, *json),
        None => block_on(list(&settings, arguments)),
    }
}

/// A model in the list.
struct Row {
    model: ModelRef,
    context: Option<u32>,
    info: ModelInfo,
    /// Why it can not be used, if it can not.
    missing: Option<String>,
    /// Milliseconds since its provider named it; none when it is known without asking.
    age_ms: Option<i64>,
}

async fn list(settings: &Settings, arguments: &ModelsArguments) -> Result<Exit, Failure> {
    let catalogue = settings.catalogue()?;
    let mut listings = Listings::load(&settings.home.cache_dir().join("models.json"));
    let usable: Vec<String> =
        catalogue.providers().into_iter().filter(|name| can_be_asked(&catalogue, name)).collect();
    let local = probe_local(&catalogue.local_ports(), PROBE_TIMEOUT).await;
    let is_here = |provider: &String| {
        let is_local = catalogue.local_ports().iter().any(|(name, _)| name == provider);
        !is_local || local.iter().any(|server| server.provider == *provider)
    };
    let ask: Vec<&String> = usable.iter().filter(|provider| is_here(provider)).collect();
    let missing = |provider: &&&String| listings.get(provider).is_none();
    let asked: Vec<&String> =
        if arguments.refresh { ask.clone() } else { ask.iter().filter(missing).copied().collect() };
    refresh(&catalogue, &mut listings, &asked).await;
    let rows = rows(&catalogue, &listings, arguments.all);
    print(&if arguments.json {
        as_json(&catalogue, &rows)
    } else {
        as_text(&catalogue, &rows, arguments.all)
    })?;
    // An old list is shown at once, with its age, and asked for anew after that, for the next time.
    let old = |provider: &&&String| listings.get(provider).is_none_or(|listing| listing.age_ms() > FRESH_MS);
    let again: Vec<&String> =
        ask.iter().filter(old).filter(|provider| !asked.contains(provider)).copied().collect();
    refresh(&catalogue, &mut listings, &again).await;
    Ok(Exit::Done)
}

/// Whether a provider has all that it takes to ask it something.
fn can_be_asked(catalogue: &Catalogue, provider: &str) -> bool {
    catalogue.resolve(&format!("{provider}/any")).is_ok()
}

async fn refresh(catalogue: &Catalogue, listings: &mut Listings, providers: &[&String]) {
    if providers.is_empty() {
        return;
    }
    let style = Style::of(Stream::Err);
    let watched = Stream::Err.is_terminal();
    if watched {
        let names = providers.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        tell(&format!("{}\r", style.faint(&one_line(&format!("asking {names} …"), columns()))));
    }
    let answers = join_all(providers.iter().map(|provider| catalogue.list_live(provider))).await;
    if watched {
        tell("\x1b[K");
    }
    for (provider, answer) in providers.iter().zip(answers) {
        match answer {
            Ok(models) => listings.put(provider, models),
            Err(error) => tell_warning(&format!(
                "`{provider}` does not tell its models: {}",
                one_line(&error.to_string(), 200)
            )),
        }
    }
    if let Err(error) = listings.save() {
        tell_warning(&format!("the list of models could not be kept: {error}"));
    }
}

/// What is known by name, and over it what the providers said.
fn rows(catalogue: &Catalogue, listings: &Listings, all: bool) -> Vec<Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for provider in catalogue.providers() {
        let known = catalogue.models(&provider).unwrap_or_default();
        let listing = listings.get(&provider);
        let listed = listing.map(|listing| listing.models.as_slice()).unwrap_or_default();
        let named = listed.iter().map(|model| ModelRef::new(format!("{provider}/{}", model.name)));
        for model in known.into_iter().chain(named) {
            let found = catalogue.resolve(model.as_str());
            if found.is_err() && !all {
                continue;
            }
            let live =
                listed.iter().find(|listed| model.split().is_some_and(|(_, name)| name == listed.name));
            let info = catalogue.describe(&model);
            let row = Row {
                context: info.context.or(live.and_then(|live| live.context)),
                info,
                missing: found.err().map(|error| error.to_string()),
                age_ms: live.and(listing).map(|listing| listing.age_ms()),
                model: model.clone(),
            };
            rows.entry(model.as_str().to_owned()).or_insert(row);
        }
        // One without a model that is known by name: what it lacks is worth a line, too.
        if all && let Err(error) = catalogue.resolve(&format!("{provider}/any")) {
            let row = Row {
                model: ModelRef::new(&provider),
                context: None,
                info: ModelInfo::default(),
                missing: Some(error.to_string()),
                age_ms: None,
            };
            let known =
                rows.keys().any(|name| name.split_once('/').is_some_and(|(name, _)| name == provider));
            if !known {
                rows.insert(provider.clone(), row);
            }
        }
    }
    rows.into_values().collect()
}

fn as_text(catalogue: &Catalogue, rows: &[Row], all: bool) -> String {
    let style = Style::of(Stream::Out);
    let mut out = String::new();
    for (name, chain) in catalogue.chains() {
        out.push_str(&format!("{}  {}\n", style.strong(name), style.faint(&chain.to_string())));
    }
    let name_width = rows.iter().map(|row| row.model.as_str().chars().count()).max().unwrap_or(0).min(48);
    for row in rows {
        let name = one_line(row.model.as_str(), name_width);
        let name = format!("{name:name_width$}");
        let mut about = Vec::new();
        about.extend(row.context.map(|context| format!("{} context", count(u64::from(context)))));
        about.extend(
            row.info.prices.map(|price| format!("${} in, ${} out a million", price.input, price.output)),
        );
        about.extend(row.info.tier.map(|tier| tier_name(tier).to_owned()));
        about.extend(
            row.age_ms
                .filter(|age| *age > FRESH_MS)
                .map(|age| format!("listed {} days ago", age / 86_400_000)),
        );
        match &row.missing {
            Some(why) => {
                let why = [std::slice::from_ref(why), &about].concat().join(" · ");
                let line = format!("{name}  {}", one_line(&why, columns().saturating_sub(name_width + 2)));
                out.push_str(&style.faint(&line));
            }
            None => out.push_str(format!("{name}  {}", style.faint(&about.join(" · "))).trim_end()),
        }
        out.push('\n');
    }
    if rows.is_empty() {
        out.push_str(
            "no model can be used yet; covey run \"hello\" shows the three quickest ways to get one\n",
        );
    }
    if !all {
        out.push_str(&style.faint("--all also lists those that can not be used, and says why\n"));
    }
    out
}

fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Low => "low",
        Tier::Medium => "medium",
        Tier::High => "high",
    }
}

fn as_json(catalogue: &Catalogue, rows: &[Row]) -> String {
    let models: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "model": row.model,
                "usable": row.missing.is_none(),
                "reason": row.missing,
                "context": row.context,
                "max_output": row.info.max_output,
                "tier": row.info.tier.map(tier_name),
                "released": row.info.released,
                "prices": row.info.prices.map(|price| json!({
                    "input": price.input,
                    "output": price.output,
                    "cache_read": price.cache_read,
                    "cache_write": price.cache_write,
                    "above": price.above.map(|step| json!({
                        "tokens": step.tokens,
                        "input": step.input,
                        "output": step.output,
                        "cache_read": step.cache_read,
                        "cache_write": step.cache_write,
                    })),
                })),
                "can": {
                    "tools": row.info.capabilities.tools,
                    "images": row.info.capabilities.images,
                    "thinking": row.info.capabilities.thinking,
                    "structured": row.info.capabilities.structured,
                    "cache": row.info.capabilities.cache,
                },
                "listed_seconds_ago": row.age_ms.map(|age| age / 1000),
            })
        })
        .collect();
    let chains: serde_json::Map<String, Value> =
        catalogue.chains().map(|(name, chain)| (name.to_owned(), json!(chain))).collect();
    format!("{}\n", json!({"models": models, "chains": chains}))
}

fn status(settings: &Settings, json: bool) -> Result<Exit, Failure> {
    let routes = settings.health().status();
    if json {
        print(&format!("{}\n", json!({"routes": routes})))?;
        return Ok(Exit::Done);
    }
    if routes.is_empty() {
        print("no route is in trouble\n")?;
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let width = routes.iter().map(|route| route.model.as_str().chars().count()).max().unwrap_or(0);
    let line = |route: &RouteStatus| {
        let name = one_line(route.model.as_str(), width);
        let latency = route.latency_ms.map(|ms| format!(" · {ms} ms to the first word")).unwrap_or_default();
        let reason =
            route.reason.as_deref().map(|why| format!(" · {}", one_line(why, 100))).unwrap_or_default();
        format!(
            "{name:width$}  {}{}\n",
            condition(route.condition, style),
            style.faint(&format!("{latency}{reason}"))
        )
    };
    print(&routes.iter().map(line).collect::<String>())?;
    Ok(Exit::Done)
}

fn condition(condition: Condition, style: Style) -> String {
    let left = |until: i64| {
        let seconds = (until - Timestamp::now().as_millis()).max(0) / 1000;
        format!("{seconds} s")
    };
    match condition {
        Condition::Closed => style.good("well"),
        Condition::Open { until } => style.danger(&format!("failing, tried again in {}", left(until))),
        Condition::HalfOpen => style.warning("failing, tried with the next call"),
        Condition::Parked { until } => style.warning(&format!("busy, left alone for {}", left(until))),
        Condition::Disabled => style.danger("refuses our key, until the settings change"),
    }
}
