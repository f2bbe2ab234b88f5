//! Markdown from a model, as HTML that can do nothing.
//!
//! What a model writes may be what a hostile page told it to write. Tags in it become text, links lead only to web
//! and mail addresses, and images that are not the session's own become their descriptions.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

pub(super) fn render(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // Whether each link that is open was let through.
    let mut links = Vec::new();
    let events = Parser::new_ext(markdown, options).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        // The block around raw HTML would become a bare `<div>`; its content is text now.
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Link { dest_url, .. }) => {
            let allowed = is_allowed(&dest_url);
            links.push(allowed);
            allowed
                .then(|| trusted(format!("<a href=\"{}\" rel=\"noopener noreferrer\">", escape(&dest_url))))
        }
        Event::End(TagEnd::Link) => links.pop().unwrap_or(false).then(|| trusted("</a>".to_owned())),
        Event::Start(Tag::Image { .. }) => Some(trusted("<span class=\"image\">".to_owned())),
        Event::End(TagEnd::Image) => Some(trusted("</span>".to_owned())),
        other => Some(other),
    });
    let mut out = String::with_capacity(markdown.len() * 3 / 2);
    html::push_html(&mut out, events);
    out
}

/// HTML that was made here.
fn trusted(html: String) -> Event<'static> {
    Event::InlineHtml(CowStr::from(html))
}

/// Only addresses of the web and of mail, spelled out: nothing that a browser might tidy up into something else.
fn is_allowed(url: &str) -> bool {
    let plain = !url.chars().any(|c| c.is_control() || c.is_whitespace());
    let starts =
        |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    plain && ["http://", "https://", "mailto:"].into_iter().any(starts)
}

/// Text for anywhere in a page, attributes in quotes included.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
