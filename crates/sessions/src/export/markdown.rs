//! A session as Markdown: answers as they were written, the rest in a form that every viewer shows.

use std::io::{self, Write};

use protocol::{Content, PlanStatus, SessionView, ToolCall, ToolCallUpdate, ToolContent};

use super::{ExportError, diff, words};
use crate::conversation::{Body, Conversation, Piece};
use crate::reader::Reader;

pub(super) fn write(reader: &mut Reader, out: &mut dyn Write) -> Result<(), ExportError> {
    let view = reader.view()?;
    head(&view, out)?;
    let mut conversation = Conversation::open(reader)?;
    while let Some(piece) = conversation.next()? {
        write_piece(&piece, out)?;
    }
    let spent = words::usage(&view.usage);
    if !spent.is_empty() {
        writeln!(out, "---\n\n{}, {spent}", words::turns(view.turns))?;
    }
    Ok(())
}

fn head(view: &SessionView, out: &mut dyn Write) -> io::Result<()> {
    let title = if view.title.is_empty() { "Untitled" } else { &view.title };
    writeln!(out, "# {}\n", line(title))?;
    let model = view.model.as_ref().map(|model| format!(" · {model}")).unwrap_or_default();
    let (agent, created) = (&view.agent, words::moment(view.created));
    writeln!(out, "{}{model} · `{}` · {created} UTC · {}\n", agent, line(&view.cwd), view.session)
}

fn write_piece(piece: &Piece, out: &mut dyn Write) -> io::Result<()> {
    match &piece.body {
        Body::Prompt(content) => {
            writeln!(out, "## You · {}\n", words::moment(piece.ts))?;
            content.iter().try_for_each(|block| write_content(block, out))
        }
        Body::Message(text) if text.trim().is_empty() => Ok(()),
        Body::Message(text) => writeln!(out, "{}\n", text.trim_end()),
        Body::Thought(text) => {
            writeln!(out, "<details><summary>Thought</summary>\n\n{}\n</details>\n", fenced("", text))
        }
        Body::Tool(call, result) => write_tool(call, result.as_ref(), out),
        Body::Question(request, answer) => {
            writeln!(out, "> ⏸ {}: {}\n", line(&request.title), words::answer(answer.as_ref()))
        }
        Body::Plan(plan) => {
            for entry in &plan.entries {
                let mark = if entry.status == PlanStatus::Completed { "x" } else { " " };
                writeln!(out, "- [{mark}] {}", line(&entry.content))?;
            }
            writeln!(out)
        }
        Body::ChildTurn { agent } => writeln!(out, "> ● {} began\n", line(agent.as_str())),
        Body::Retry(retry) => {
            let wait = words::duration(retry.wait_ms);
            writeln!(out, "> ⚠ try {} in {wait}: {}\n", retry.attempt + 1, line(&retry.reason))
        }
        Body::Notice(notice) => writeln!(out, "> {}\n", line(&notice.text)),
        Body::Error(error) => {
            writeln!(out, "> ✗ {}", line(&error.message))?;
            match &error.hint {
                Some(hint) => writeln!(out, "> hint: {}\n", line(hint)),
                None => writeln!(out),
            }
        }
        Body::Changed(text) => writeln!(out, "> {}\n", line(text)),
        Body::TurnEnd(end) => writeln!(out, "*{}*\n", words::turn_end(end)),
        Body::Repaired { bytes } => writeln!(out, "> ⚠ {bytes} bytes of a torn record were cut off here\n"),
        Body::Damaged(damage) => {
            writeln!(
                out,
                "> ⚠ {} bytes can not be read here: {}\n",
                damage.bytes,
                line(&damage.why.to_string())
            )
        }
        Body::Forked { from, seq } => writeln!(out, "> forked from {from} after event {seq}\n"),
    }
}

fn write_content(block: &Content, out: &mut dyn Write) -> io::Result<()> {
    match block {
        Content::Text { text } => writeln!(out, "{}\n", text.trim_end()),
        Content::Image(image) => writeln!(out, "[{}]\n", line(image.name.as_deref().unwrap_or("image"))),
        Content::Resource(resource) => {
            writeln!(out, "`{}`\n", line(&resource.uri))?;
            resource.text.iter().try_for_each(|text| writeln!(out, "{}", fenced("", text)))
        }
        Content::Other(value) => writeln!(out, "{}", fenced("json", &value.to_string())),
    }
}

fn write_tool(call: &ToolCall, result: Option<&ToolCallUpdate>, out: &mut dyn Write) -> io::Result<()> {
    let summary = result.and_then(|result| result.summary.as_deref()).unwrap_or_default();
    let time = result.and_then(|result| result.duration_ms).map(words::duration);
    let right: Vec<&str> =
        [summary, time.as_deref().unwrap_or_default()].into_iter().filter(|s| !s.is_empty()).collect();
    let title = format!("{} {} {}", words::sign(call.status), call.name, words::after_name(call));
    let heading = if right.is_empty() { title } else { format!("{title} — {}", right.join(" · ")) };
    writeln!(out, "<details><summary>{}</summary>\n", tagless(&heading))?;
    let input = serde_json::to_string_pretty(&call.input)?;
    writeln!(out, "{}", fenced("json", &input))?;
    for content in result.iter().filter_map(|result| result.content.as_ref()).flatten() {
        match content {
            ToolContent::Content { content: Content::Text { text } } => {
                writeln!(out, "{}", fenced("", text))?
            }
            ToolContent::Content { content } => write_content(content, out)?,
            ToolContent::Diff { path, old, new } => {
                let lines = diff::lines(old.as_deref().unwrap_or_default(), new);
                let text: Vec<_> =
                    lines.iter().map(|(side, line)| format!("{}{line}", side.sign())).collect();
                writeln!(out, "`{}`\n\n{}", line(path), fenced("diff", &text.join("\n")))?;
            }
            ToolContent::Terminal { terminal } => writeln!(out, "terminal `{}`\n", line(terminal))?,
            ToolContent::Other(value) => writeln!(out, "{}", fenced("json", &value.to_string()))?,
        }
    }
    writeln!(out, "</details>\n")
}

/// One line, whatever was in it.
fn line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Inside our own tags nothing may look like one.
fn tagless(text: &str) -> String {
    line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A code block whose fence is longer than any in the text, so the text can not end it.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().bytes().take_while(|b| *b == b'`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}
