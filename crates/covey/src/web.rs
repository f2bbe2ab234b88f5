//! Settings of the web tools: who is asked when an agent searches.

use ::tools::{SearchProvider, WebSettings};
use net::Url;
use project::{Key, process_env};
use serde::Deserialize;

use crate::exit::Failure;
use crate::settings::Settings;
use crate::terminal::tell_warning;

const PROVIDERS: &[&str] = &["searxng", "brave", "exa", "tavily"];

pub(crate) const SECTION: Key = Key::table(
    "web",
    &[
        Key::choice("search", PROVIDERS)
            .doc("who is asked for pages; without it the one whose key is in the environment"),
        Key::text("url").doc("where it is: needed for searxng, otherwise its usual address"),
        Key::text("key_env")
            .doc("the variable that holds its key; BRAVE_API_KEY, EXA_API_KEY or TAVILY_API_KEY"),
        Key::secret("key").doc("the key itself; a variable is safer"),
        Key::bool("private").doc("whether pages of this machine and its network may be fetched"),
    ],
)
.trusted();

#[derive(Default, Deserialize)]
struct Section {
    search: Option<String>,
    url: Option<String>,
    key_env: Option<String>,
    key: Option<String>,
    #[serde(default)]
    private: bool,
}

/// What the web tools are told.
pub(crate) fn settings(settings: &Settings) -> Result<WebSettings, Failure> {
    let section: Section = settings.config.get("web")?.unwrap_or_default();
    Ok(WebSettings { search: provider(&section)?, allow_private: section.private })
}

fn provider(section: &Section) -> Result<Option<SearchProvider>, Failure> {
    let name = match &section.search {
        Some(name) => name.as_str(),
        // A key that lies there for it is a wish; the first is taken.
        None => match PROVIDERS.iter().find(|name| process_env(&variable(name)).is_some()) {
            Some(name) => name,
            None => return Ok(None),
        },
    };
    let url = section.url.as_ref().map(|url| {
        Url::parse(url).map_err(|error| {
            Failure::usage(format!("`web.url`: {error}"))
                .hint("an address, such as https://searx.example.org/")
        })
    });
    let url = url.transpose()?;
    if name == "searxng" {
        if url.is_none() {
            tell_warning(
                "`web.search` is searxng, and `web.url` does not say where it is; nothing is searched",
            );
        }
        return Ok(url.map(|url| SearchProvider::SearXng { url }));
    }
    let variable = section.key_env.clone().unwrap_or_else(|| variable(name));
    let Some(key) = section.key.clone().or_else(|| process_env(&variable)) else {
        // No reason not to answer: most prompts search nothing.
        tell_warning(&format!("`web.search` is {name}, and no key is in {variable}; nothing is searched"));
        return Ok(None);
    };
    Ok(Some(match name {
        "brave" => SearchProvider::Brave { key, url },
        "exa" => SearchProvider::Exa { key, url },
        _ => SearchProvider::Tavily { key, url },
    }))
}

fn variable(name: &str) -> String {
    format!("{}_API_KEY", name.to_uppercase())
}
