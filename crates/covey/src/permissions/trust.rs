//! `covey guard trust`: what of a repository may act.

use guard::{Item, TrustState, TrustStore};
use serde_json::{Value, json};

use super::arguments::TrustCommand;
use super::done;
use crate::exit::{Exit, Failure};
use crate::settings::{home, project_root};
use crate::terminal::{Stream, Style, plain};

pub(super) fn trust(command: Option<TrustCommand>, json: bool) -> Result<Exit, Failure> {
    // Settings are one of the things in question, so they are not read here.
    let root = project_root()?;
    let mut store = TrustStore::open(home()?.data_dir(), &root);
    let found = store.found();
    match command.unwrap_or(TrustCommand::List) {
        TrustCommand::List => list(&store, &found, json),
        TrustCommand::Accept { items, all } => {
            let chosen = chosen(&found, &items, all)?;
            let style = Style::of(Stream::Out);
            let mut out = String::new();
            let open: Vec<Item> = chosen.into_iter().filter(|item| !store.is_accepted(item)).collect();
            for item in &open {
                out.push_str(&format!("{} {}\n", item.kind.as_str(), style.strong(&plain(&item.name))));
                for line in store.diff(item).lines() {
                    let line = plain(line).into_owned();
                    let painted = if line.starts_with('+') {
                        style.good(&line)
                    } else if line.starts_with('-') {
                        style.danger(&line)
                    } else {
                        line
                    };
                    out.push_str(&format!("  {painted}\n"));
                }
            }
            store.accept(&open).map_err(|error| Failure::from_error(&error))?;
            if json {
                let names: Vec<&str> = open.iter().map(|item| item.name.as_str()).collect();
                return done(&format!("{}\n", json!({"accepted": names})));
            }
            out.push_str(&match open.len() {
                0 => "nothing to accept\n".to_owned(),
                1 => "accepted 1 item\n".to_owned(),
                many => format!("accepted {many} items\n"),
            });
            done(&out)
        }
        TrustCommand::Revoke { items, all } => {
            let gone =
                store.revoke((!all).then_some(&items[..])).map_err(|error| Failure::from_error(&error))?;
            if json {
                return done(&format!("{}\n", json!({"revoked": gone})));
            }
            match gone {
                0 if !all => Err(Failure::new(format!("`{}` was not trusted", items.join("`, `")))
                    .hint("see what is: covey guard trust list")),
                gone => done(&format!("took back {gone}\n")),
            }
        }
    }
}

fn chosen(found: &[Item], names: &[String], all: bool) -> Result<Vec<Item>, Failure> {
    if all {
        return Ok(found.to_vec());
    }
    names
        .iter()
        .map(|name| {
            found.iter().find(|item| item.name == *name).cloned().ok_or_else(|| {
                Failure::usage(format!("there is no item `{name}` in this repository"))
                    .hint("see what there is: covey guard trust list")
            })
        })
        .collect()
}

fn list(store: &TrustStore, found: &[Item], json: bool) -> Result<Exit, Failure> {
    if json {
        let items: Vec<Value> = found
            .iter()
            .map(|item| json!({"name": item.name, "kind": item.kind, "state": store.state(item), "hash": item.hash, "diff": store.diff(item)}))
            .collect();
        let gone: Vec<String> =
            store.accepted().into_iter().filter(|name| found.iter().all(|item| item.name != *name)).collect();
        return done(&format!("{}\n", json!({"items": items, "gone": gone})));
    }
    if found.is_empty() {
        return done("nothing in this repository would act\n");
    }
    let style = Style::of(Stream::Out);
    let mut out = String::new();
    let mut open = 0;
    for item in found {
        let state = match store.state(item) {
            TrustState::Accepted => style.good("✓ accepted"),
            TrustState::New => style.warning("⚠ new     "),
            TrustState::Changed => style.danger("⚠ changed "),
        };
        open += usize::from(!store.is_accepted(item));
        out.push_str(&format!("{state}  {:10}  {}\n", item.kind.as_str(), plain(&item.name)));
    }
    if open > 0 {
        out.push_str(&format!(
            "{} {open} held; look at each and accept it: covey guard trust accept ITEM\n",
            style.accent("hint:")
        ));
    }
    done(&out)
}
