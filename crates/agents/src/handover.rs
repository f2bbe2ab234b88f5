//! What an agent is told of the turns that it did not take part in.

use std::collections::HashMap;

use protocol::{AgentId, CallId, Event, EventBody, ToolContent, ToolStatus, TurnId, prompt_text};

#[cfg(test)]
mod tests;

/// About 6,000 tokens: enough for the thread of a conversation, little beside any window.
const BUDGET: usize = 24_000;
/// No single prompt or answer takes more of it.
const MOST: usize = 6_000;
/// Of what a tool gave back.
const OUTPUT: usize = 600;
/// How much of our log is read for it.
pub(crate) const HISTORY_BYTES: u64 = 4 << 20;

/// One turn, as text.
struct Told {
    agent: AgentId,
    asked: String,
    did: Vec<String>,
    said: Vec<(String, String)>,
}

/// The turns after `since` that others had, or all of them: the recent ones in full, the older ones in a line each. None
/// when there is nothing to tell.
pub(crate) fn preamble(events: &[Event], me: &AgentId, since: Option<&TurnId>) -> Option<String> {
    let (turns, summary) = turns(events);
    let start =
        since.and_then(|since| turns.iter().position(|(turn, _)| turn == since)).map_or(0, |at| at + 1);
    // What I did myself I know, as long as I remember anything.
    let news: Vec<&Told> = turns[start..]
        .iter()
        .map(|(_, told)| told)
        .filter(|told| since.is_none() || told.agent != *me)
        .collect();
    if news.is_empty() {
        return None;
    }
    let mut recent = Vec::new();
    let mut left = BUDGET;
    let mut rest = news.as_slice();
    while let Some((told, before)) = rest.split_last() {
        let text = told.whole();
        if text.len() > left && !recent.is_empty() {
            break;
        }
        left = left.saturating_sub(text.len());
        recent.push(text);
        rest = before;
    }
    recent.reverse();
    let mut text = String::from(
        "<conversation>\nThis conversation began before you joined it. It is told here for you to go on from; do not answer it again.\n",
    );
    if let Some(summary) = summary.filter(|_| since.is_none()) {
        text.push_str(&format!("\nSummary of the beginning:\n{}\n", cut(&summary, MOST)));
    }
    if !rest.is_empty() {
        text.push_str("\nEarlier turns:\n");
        // Of very many the newest count.
        for told in &rest[rest.len().saturating_sub(40)..] {
            text.push_str(&format!("- {}\n", cut(told.asked.lines().next().unwrap_or_default(), 160)));
        }
    }
    for turn in recent {
        text.push('\n');
        text.push_str(&turn);
    }
    text.push_str("</conversation>");
    Some(text)
}

impl Told {
    fn whole(&self) -> String {
        let mut text = format!("User: {}\n", cut(&self.asked, MOST));
        for line in &self.did {
            text.push_str(line);
            text.push('\n');
        }
        for (_, said) in &self.said {
            text.push_str(&format!("{}: {}\n", self.agent, cut(said, MOST)));
        }
        text
    }
}

/// The turns in order, without those that other turns started, and the newest summary of what came before them.
fn turns(events: &[Event]) -> (Vec<(TurnId, Told)>, Option<String>) {
    let mut turns: Vec<(TurnId, Told)> = Vec::new();
    let mut summary = None;
    let mut calls: HashMap<&CallId, String> = HashMap::new();
    for event in events.iter().filter(|event| !event.is_of_child()) {
        let Some(id) = &event.turn else { continue };
        if turns.last().is_none_or(|(last, _)| last != id) {
            let told = Told { agent: AgentId::new("agent"), asked: String::new(), did: vec![], said: vec![] };
            turns.push((id.clone(), told));
        }
        let Some((_, told)) = turns.last_mut() else { continue };
        match &event.body {
            EventBody::UserPrompt(prompt) => told.asked = prompt_text(&prompt.content),
            EventBody::TurnStart(start) => told.agent = start.agent.clone(),
            EventBody::AgentMessage(chunk) => {
                let message = chunk.message.as_str();
                match told.said.iter_mut().find(|(id, _)| id == message) {
                    Some((_, text)) => text.push_str(&chunk.text),
                    None => told.said.push((message.to_owned(), chunk.text.clone())),
                }
            }
            EventBody::Retract(retract) => told.said.retain(|(id, _)| id != retract.message.as_str()),
            EventBody::ToolCall(call) => drop(calls.insert(&call.call, call.title.clone())),
            EventBody::ToolCallUpdate(update) => {
                if let Some(status) = update.status.filter(|status| status.is_final())
                    && let Some(title) = calls.remove(&update.call)
                {
                    let word = if status == ToolStatus::Completed { "did" } else { "failed" };
                    let came = update.content.as_deref().map(output).unwrap_or_default();
                    told.did.push(format!("[{word}: {}]{came}", cut(&title, 200)));
                }
            }
            EventBody::Compaction(compaction) => {
                summary = compaction.summary.clone().or(summary);
            }
            _ => {}
        }
    }
    turns.retain(|(_, told)| !told.asked.is_empty());
    (turns, summary)
}

fn output(content: &[ToolContent]) -> String {
    let text: Vec<String> = content
        .iter()
        .filter_map(|part| match part {
            ToolContent::Content { content } => Some(prompt_text(std::slice::from_ref(content))),
            ToolContent::Diff { path, .. } => Some(format!("changed {path}")),
            ToolContent::Terminal { .. } | ToolContent::Other(_) => None,
        })
        .collect();
    let text = text.join("\n");
    if text.trim().is_empty() { String::new() } else { format!(" {}", cut(text.trim(), OUTPUT)) }
}

/// The beginning of a text, at a character's edge.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}
