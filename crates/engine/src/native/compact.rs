//! Making room in the window: first old results are cut, then old turns are summarised.
//!
//! Both are events, and the [`Transcript`] that is built from a log cuts at the same places and puts the same words
//! there. The log itself keeps everything.

use std::path::Path;
use std::sync::Arc;

use futures::StreamExt;
use models::{Answer, Message, Model, Request};
use protocol::{CallId, Compaction, CompactionStage, Content, UsageReport};

use super::agent::believable;
use super::limits::Room;
use super::transcript::Transcript;

/// A result shorter than this is not worth cutting.
pub(super) const WORTH_CUTTING: usize = 1_500;
const HEAD: usize = 600;
const TAIL: usize = 300;
/// The newest messages keep their results whole.
const RECENT: usize = 6;
/// The most that a summary may be.
const MAX_SUMMARY: u32 = 3_000;

const ASK: &str = "Stop here and summarise this conversation for yourself, so that you can go on without it. Do not \
    call tools. Use these headings: Goal; Decisions; Files (path: what was done and what matters); Errors and fixes; \
    State; Next steps; Constraints (what the person asked for or forbade, in their own words). Be exact with names, \
    paths, numbers and commands. At most 800 words.";

/// A result cut to its head and tail, with a handle to the rest.
pub(super) fn cut(call: &str, text: &str) -> String {
    if text.len() < WORTH_CUTTING {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(HEAD)];
    let tail = &text[text.ceil_char_boundary(text.len() - TAIL)..];
    let gone = text.len() - head.len() - tail.len();
    format!(
        "{head}\n[… {gone} bytes are left out to save room; `read` with path `output:{call}` shows them …]\n{tail}"
    )
}

/// Cuts old results. None when there is nothing to cut.
pub(super) fn prune(transcript: &mut Transcript, outputs: &Path) -> Option<Vec<CallId>> {
    let old = transcript.results_before(RECENT);
    let long: Vec<_> = old.into_iter().filter(|(_, text)| text.len() >= WORTH_CUTTING).collect();
    if long.is_empty() {
        return None;
    }
    for (call, text) in &long {
        keep(outputs, call, text);
    }
    let calls: Vec<CallId> = long.iter().map(|(call, _)| CallId::new(call)).collect();
    transcript.prune(&calls);
    Some(calls)
}

/// Where `read` finds it. What can not be kept is still in the log.
fn keep(outputs: &Path, call: &str, text: &str) {
    let path = outputs.join(call);
    if !path.exists() && project::create_private_dir(outputs).is_ok() {
        let _ = project::write_private_atomic(&path, text.as_bytes());
    }
}

/// What to mind in the summary, when the prompt is `/compact [WHAT]` and asks for nothing else.
pub(super) fn asked(prompt: &[Content]) -> Option<&str> {
    let [Content::Text { text }] = prompt else { return None };
    let (name, focus) = crate::prompt::named(text.trim())?;
    (name == "compact").then_some(focus)
}

/// The place from which on everything is kept as it was, when the window is full.
pub(super) fn place(model: &dyn Model, transcript: &Transcript, room: &Room) -> Option<String> {
    transcript.cut_for(room.kept(), |message| model.estimate(&Request::new("", vec![message.clone()])))
}

/// Has everything before `from` summarised. `mind` is what the summary must not leave out. None when it would not help.
pub(super) async fn summarise(
    model: &dyn Model,
    summariser: Option<&dyn Model>,
    request: &Request,
    transcript: &Transcript,
    from: String,
    mind: &[String],
    spent: &mut Vec<UsageReport>,
) -> Option<Compaction> {
    let mut told = None;
    // Whoever is meant for it, then the session's own, which has the conversation in its cache.
    for model in summariser.into_iter().chain([model]) {
        told = ask(model, request, transcript, &from, mind, spent).await;
        if told.is_some() {
            break;
        }
    }
    let summary = told.unwrap_or_else(|| transcript.bare_summary(&from));
    let mut after = transcript.clone();
    after.summarise(&from, &summary);
    let estimate = |messages: &[Arc<Message>]| {
        model.estimate(&Request { messages: messages.to_vec(), ..request.clone() })
    };
    let (tokens_before, tokens_after) = (estimate(transcript.messages()), estimate(after.messages()));
    (tokens_after < tokens_before).then(|| Compaction {
        stage: CompactionStage::Summarise,
        summary: Some(summary),
        from: Some(from),
        pruned: vec![],
        tokens_before,
        tokens_after,
    })
}

/// The model's own summary; none when it does not give one.
async fn ask(
    model: &dyn Model,
    request: &Request,
    transcript: &Transcript,
    from: &str,
    mind: &[String],
    spent: &mut Vec<UsageReport>,
) -> Option<String> {
    let mut old = transcript.until(from);
    let mut words = ASK.to_owned();
    for point in mind {
        words.push_str(&format!("\nMind this: {point}"));
    }
    old.push_prompt(&[Content::text(words)], &|_| None, "");
    // The same beginning as every other request, so that the provider has most of it in its cache.
    let request = Request {
        messages: old.messages().to_vec(),
        max_output: Some(request.max_output.map_or(MAX_SUMMARY, |most| most.min(MAX_SUMMARY))),
        reasoning: None,
        ..request.clone()
    };
    let mut events = model.stream(request.clone());
    let mut answer = Answer::default();
    while let Some(event) = events.next().await {
        answer.apply(&event.ok()?);
    }
    let told = answer.usage;
    let blocks = answer.into_blocks();
    // It costs what any other call costs, and counts like one.
    let (usage, estimated) = believable(model, told, &request, &blocks);
    spent.push(UsageReport { model: Some(model.id().clone()), usage, estimated });
    let text = Message::assistant(blocks).text();
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}
