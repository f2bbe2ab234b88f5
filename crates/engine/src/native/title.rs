//! A name for a session, by a model that is there for such things. Without one its first line is its name.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use models::{Answer, Message, Model, Request};
use protocol::{Content, Event, EventBody, TitleChanged, UsageReport};
use tokio_util::task::AbortOnDropHandle;

use super::agent::believable;

const ASK: &str = "Name the conversation that begins with the text below, in at most six words, in the language of the \
                   text. Answer with the name alone.\n\n";
/// What the name is made of.
const MAX_PROMPT: usize = 2000;
const MAX_OUTPUT: u32 = 40;
const MAX_TITLE: usize = 80;
/// It is asked while the turn runs. A turn that is over first waits for it no longer than this.
const GRACE: Duration = Duration::from_secs(2);

/// A name that is being thought of.
pub(super) struct Naming(AbortOnDropHandle<Option<(String, UsageReport)>>);

/// Whether somebody named the session already.
pub(super) fn is_named(events: &[Event]) -> bool {
    events.iter().any(|event| match &event.body {
        EventBody::SessionStart(start) => start.title.is_some(),
        EventBody::Title(_) => true,
        _ => false,
    })
}

impl Naming {
    pub(super) fn start(model: Arc<dyn Model>, prompt: &[Content]) -> Option<Self> {
        let text: Vec<&str> = prompt
            .iter()
            .filter_map(|part| match part {
                Content::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let text = text.join("\n");
        let text = text[..text.floor_char_boundary(MAX_PROMPT)].trim().to_owned();
        (!text.is_empty()).then(|| Self(AbortOnDropHandle::new(tokio::spawn(name(model, text)))))
    }

    /// The name, if there is one by now or shortly.
    pub(super) async fn finish(self) -> Option<(TitleChanged, UsageReport)> {
        let (title, usage) = tokio::time::timeout(GRACE, self.0).await.ok()?.ok()??;
        Some((TitleChanged { title }, usage))
    }
}

async fn name(model: Arc<dyn Model>, text: String) -> Option<(String, UsageReport)> {
    let messages = vec![Message::user(format!("{ASK}{text}"))];
    let request = Request { max_output: Some(MAX_OUTPUT), ..Request::new("", messages) };
    let mut events = model.stream(request.clone());
    let mut answer = Answer::default();
    while let Some(event) = events.next().await {
        answer.apply(&event.ok()?);
    }
    let told = answer.usage;
    let blocks = answer.into_blocks();
    let (usage, estimated) = believable(model.as_ref(), told, &request, &blocks);
    let title = tidied(&Message::assistant(blocks).text())?;
    Some((title, UsageReport { model: Some(model.id().clone()), usage, estimated }))
}

/// One line without the quotes and the full stop that models like to put around a name.
fn tidied(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_matches(['"', '\'', '*', '#', '`', '“', '”', ' ']).trim_end_matches('.');
    let title: String = line.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect();
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::tidied;

    #[test]
    fn a_name_is_one_line_without_ornaments() {
        assert_eq!(tidied("\n \"Coupons apply twice.\" \nmore").as_deref(), Some("Coupons apply twice"));
        assert_eq!(tidied("**Fix the cart**").as_deref(), Some("Fix the cart"));
        assert_eq!(tidied(" \n\"\"\n"), None);
        assert_eq!(tidied(&"x".repeat(500)).unwrap().len(), 80);
    }
}
