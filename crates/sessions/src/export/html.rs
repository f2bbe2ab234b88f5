//! A session as one page: no script, nothing loaded from anywhere, light and dark.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use protocol::{
    Content, Image, NoticeLevel, PlanStatus, SessionView, Source, ToolCall, ToolCallUpdate, ToolContent,
};
use protocol::{ToolStatus, TurnId};
use std::collections::HashSet;

use super::rich::{escape, render};
use super::{ExportError, diff, words};
use crate::blobs::Blobs;
use crate::conversation::{Body, Conversation, Piece};
use crate::reader::Reader;

const STYLE: &str = include_str!("page.css");
/// Even if something got through, the browser would not run or load it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
const MAX_IMAGE: u64 = 8 << 20;
/// Formats that are pixels and nothing else.
const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

pub(super) fn write(reader: &mut Reader, out: &mut dyn Write) -> Result<(), ExportError> {
    let view = reader.view()?;
    let mut page = Page { out, blobs: reader.blobs(), children: HashSet::new() };
    page.head(&view)?;
    let mut conversation = Conversation::open(reader)?;
    while let Some(piece) = conversation.next()? {
        page.piece(&piece)?;
    }
    Ok(page.foot(&view)?)
}

struct Page<'a> {
    out: &'a mut dyn Write,
    blobs: Blobs,
    /// Turns that other turns started; what belongs to them is set in.
    children: HashSet<TurnId>,
}

impl Page<'_> {
    fn head(&mut self, view: &SessionView) -> io::Result<()> {
        let title = escape(if view.title.is_empty() { "Untitled" } else { &view.title });
        let model =
            view.model.as_ref().map(|model| format!(" · {}", escape(model.as_str()))).unwrap_or_default();
        let (agent, cwd) = (escape(view.agent.as_str()), escape(&view.cwd));
        let created = words::moment(view.created);
        write!(
            self.out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header><h1>{title}</h1><p>{agent}{model} · {cwd} · {created} UTC</p></header>\n<main>\n"
        )
    }

    fn foot(&mut self, view: &SessionView) -> io::Result<()> {
        let turns = words::turns(view.turns);
        let spent = words::usage(&view.usage);
        let spent = if spent.is_empty() { spent } else { format!(" · {spent}") };
        write!(
            self.out,
            "</main>\n<footer><p>{turns}{spent}</p><p>{}</p></footer>\n</body>\n</html>\n",
            view.session
        )
    }

    fn piece(&mut self, piece: &Piece) -> io::Result<()> {
        let child = piece.turn.as_ref().is_some_and(|turn| self.children.contains(turn));
        let class = |name: &str| if child { format!("{name} child") } else { name.to_owned() };
        match &piece.body {
            Body::Prompt(content) => {
                let when = words::moment(piece.ts);
                write!(
                    self.out,
                    "<article class=\"prompt\" id=\"e{}\"><span class=\"when\">{when}</span>",
                    piece.seq
                )?;
                content.iter().try_for_each(|block| self.content(block))?;
                writeln!(self.out, "</article>")
            }
            Body::Message(text) if text.trim().is_empty() => Ok(()),
            Body::Message(text) => {
                writeln!(self.out, "<article class=\"{}\">{}</article>", class("answer"), render(text))
            }
            Body::Thought(text) => {
                let class = class("thought");
                writeln!(
                    self.out,
                    "<details class=\"{class}\"><summary>Thought</summary><pre>{}</pre></details>",
                    escape(text)
                )
            }
            Body::Tool(call, result) => self.tool(call, result.as_ref(), &class("tool")),
            Body::Question(request, answer) => {
                let answer = words::answer(answer.as_ref());
                self.note(&class("note"), &format!("⏸ {}: {answer}", request.title))
            }
            Body::Plan(plan) => {
                write!(self.out, "<ul class=\"{}\">", class("plan"))?;
                for entry in &plan.entries {
                    let sign = match entry.status {
                        PlanStatus::Completed => "✓",
                        PlanStatus::InProgress => "●",
                        PlanStatus::Pending => "○",
                    };
                    write!(self.out, "<li>{sign} {}</li>", escape(&entry.content))?;
                }
                writeln!(self.out, "</ul>")
            }
            Body::ChildTurn { agent } => {
                self.children.extend(piece.turn.clone());
                self.note("note child", &format!("● {agent}"))
            }
            Body::Retry(retry) => {
                let wait = words::duration(retry.wait_ms);
                self.note("note warning", &format!("⚠ try {} in {wait}: {}", retry.attempt + 1, retry.reason))
            }
            Body::Notice(notice) => {
                let class = if notice.level == NoticeLevel::Warning { "note warning" } else { "note" };
                self.note(class, &notice.text)
            }
            Body::Error(error) => {
                self.note("note error", &format!("✗ {}", error.message))?;
                error.hint.iter().try_for_each(|hint| self.note("note", &format!("hint: {hint}")))
            }
            Body::Changed(text) => self.note("note", text),
            Body::TurnEnd(end) => self.note(&class("end"), &words::turn_end(end)),
            Body::Repaired { bytes } => {
                self.note("note warning", &format!("⚠ {bytes} bytes of a torn record were cut off here"))
            }
            Body::Damaged(damage) => self.note(
                "note warning",
                &format!("⚠ {} bytes can not be read here: {}", damage.bytes, damage.why),
            ),
            Body::Forked { from, seq } => self.note("note", &format!("forked from {from} after event {seq}")),
        }
    }

    fn note(&mut self, class: &str, text: &str) -> io::Result<()> {
        writeln!(self.out, "<p class=\"{class}\">{}</p>", escape(text))
    }

    fn content(&mut self, block: &Content) -> io::Result<()> {
        match block {
            Content::Text { text } => write!(self.out, "<p>{}</p>", escape(text)),
            Content::Image(image) => self.image(image),
            Content::Resource(resource) => {
                write!(self.out, "<p><code>{}</code></p>", escape(&resource.uri))?;
                resource.text.iter().try_for_each(|text| write!(self.out, "<pre>{}</pre>", escape(text)))
            }
            Content::Other(value) => write!(self.out, "<pre>{}</pre>", escape(&value.to_string())),
        }
    }

    /// The session's own pictures are put into the page; what is missing or strange is named instead.
    fn image(&mut self, image: &Image) -> io::Result<()> {
        let name = escape(image.name.as_deref().unwrap_or("image"));
        let bytes = match &image.source {
            Source::Blob(blob) => self.blobs.get(blob, MAX_IMAGE).ok(),
            Source::Data(data) if data.len() as u64 <= MAX_IMAGE * 2 => STANDARD.decode(data).ok(),
            Source::Data(_) => None,
        };
        let media = IMAGES.iter().find(|known| image.media_type.eq_ignore_ascii_case(known));
        match (bytes, media) {
            (Some(bytes), Some(media)) => {
                write!(
                    self.out,
                    "<img alt=\"{name}\" src=\"data:{media};base64,{}\">",
                    STANDARD.encode(bytes)
                )
            }
            _ => write!(self.out, "<p class=\"image\">[{name}]</p>"),
        }
    }

    fn tool(&mut self, call: &ToolCall, result: Option<&ToolCallUpdate>, class: &str) -> io::Result<()> {
        let summary = result.and_then(|result| result.summary.clone());
        let time = result.and_then(|result| result.duration_ms).map(words::duration);
        let right = [summary, time].into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let state = match call.status {
            ToolStatus::Completed => "ok",
            ToolStatus::Failed => "bad",
            ToolStatus::Pending | ToolStatus::InProgress => "busy",
        };
        write!(
            self.out,
            "<details class=\"{class}\"><summary><span class=\"right\">{}</span><span class=\"{state}\">{}</span> \
             <b>{}</b> {}</summary>",
            escape(&right),
            words::sign(call.status),
            escape(&call.name),
            escape(words::after_name(call))
        )?;
        let input = match &call.input {
            serde_json::Value::String(text) => text.clone(),
            value => serde_json::to_string_pretty(value)?,
        };
        write!(self.out, "<pre>{}</pre>", escape(&input))?;
        for content in result.iter().filter_map(|result| result.content.as_ref()).flatten() {
            match content {
                ToolContent::Content { content: Content::Text { text } } => {
                    write!(self.out, "<pre>{}</pre>", escape(text))?;
                }
                ToolContent::Content { content } => self.content(content)?,
                ToolContent::Diff { path, old, new } => {
                    self.diff(path, old.as_deref().unwrap_or_default(), new)?
                }
                ToolContent::Terminal { terminal } => self.note("note", &format!("terminal {terminal}"))?,
                ToolContent::Other(value) => write!(self.out, "<pre>{}</pre>", escape(&value.to_string()))?,
            }
        }
        writeln!(self.out, "</details>")
    }

    fn diff(&mut self, path: &str, old: &str, new: &str) -> io::Result<()> {
        write!(self.out, "<p class=\"note\">{}</p><pre class=\"diff\">", escape(path))?;
        for (side, line) in diff::lines(old, new) {
            let text = escape(line);
            match side {
                diff::Side::Same => writeln!(self.out, "  {text}")?,
                diff::Side::Removed => write!(self.out, "<del>- {text}</del>")?,
                diff::Side::Added => write!(self.out, "<ins>+ {text}</ins>")?,
            }
        }
        write!(self.out, "</pre>")
    }
}
