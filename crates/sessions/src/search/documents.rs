//! Documents in the database: one per prompt, answer and tool call.

use protocol::{Event, EventBody, MessageId, prompt_text};
use rusqlite::{OptionalExtension, Transaction, params};
use std::collections::HashMap;

use crate::text::call_text;

pub(super) const MARK_START: char = '\u{1}';
pub(super) const MARK_END: char = '\u{2}';

/// Of a longer document only the beginning can be found. Cutting a snippet takes time that grows with the square of
/// the hits in a document, so one that repeats a word for megabytes must not stall a query.
const MAX_TEXT: usize = 64 << 10;

/// The types that make documents; others are not even parsed.
pub(super) fn is_searched(kind: &str) -> bool {
    matches!(kind, "user_prompt" | "agent_message" | "message_end" | "retract" | "tool_call")
}

/// Adds the documents of one session, joining the pieces of its messages.
pub(super) struct Documents<'a> {
    change: &'a Transaction<'a>,
    session: i64,
    open: HashMap<MessageId, Open>,
}

struct Open {
    seq: u64,
    ts: i64,
    text: String,
}

impl<'a> Documents<'a> {
    pub(super) fn new(change: &'a Transaction<'a>, session: i64) -> Self {
        Self { change, session, open: HashMap::new() }
    }

    pub(super) fn add(&mut self, event: &Event) -> rusqlite::Result<()> {
        let ts = event.ts.as_millis();
        match &event.body {
            EventBody::UserPrompt(prompt) => {
                self.insert(event.seq, ts, 0, None, &prompt_text(&prompt.content))
            }
            EventBody::ToolCall(call) => self.insert(event.seq, ts, 2, None, &call_text(call)),
            EventBody::AgentMessage(chunk) => {
                let start = || Open { seq: event.seq, ts, text: String::new() };
                let open = self.open.entry(chunk.message.clone()).or_insert_with(start);
                if open.text.len() < MAX_TEXT {
                    open.text.push_str(&chunk.text);
                }
                Ok(())
            }
            EventBody::MessageEnd(end) => match self.open.remove(&end.message) {
                Some(open) => self.save(&end.message, open),
                None => Ok(()),
            },
            EventBody::Retract(retract) => {
                self.open.remove(&retract.message);
                match self.saved(&retract.message)? {
                    Some(number) => self.remove(number),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Writes messages that have no end yet; later pieces are joined to them by the next update.
    pub(super) fn finish(mut self) -> rusqlite::Result<()> {
        for (message, open) in std::mem::take(&mut self.open) {
            self.save(&message, open)?;
        }
        Ok(())
    }

    fn save(&self, message: &MessageId, open: Open) -> rusqlite::Result<()> {
        let Some(number) = self.saved(message)? else {
            return self.insert(open.seq, open.ts, 1, Some(message), &open.text);
        };
        let mut statement = self.change.prepare_cached("select text from words where rowid = ?1")?;
        let mut text: String =
            statement.query_row([number], |row| row.get(0)).optional()?.unwrap_or_default();
        text.push_str(&open.text);
        self.change
            .prepare_cached("update words set text = ?2 where rowid = ?1")?
            .execute(params![number, clean(&text)])?;
        Ok(())
    }

    fn saved(&self, message: &MessageId) -> rusqlite::Result<Option<i64>> {
        self.change
            .prepare_cached("select number from documents where session = ?1 and message = ?2")?
            .query_row(params![self.session, message.as_str()], |row| row.get(0))
            .optional()
    }

    fn remove(&self, number: i64) -> rusqlite::Result<()> {
        self.change.prepare_cached("delete from words where rowid = ?1")?.execute([number])?;
        self.change.prepare_cached("delete from documents where number = ?1")?.execute([number])?;
        Ok(())
    }

    fn insert(
        &self,
        seq: u64,
        ts: i64,
        kind: i64,
        message: Option<&MessageId>,
        text: &str,
    ) -> rusqlite::Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let message = message.map(MessageId::as_str);
        self.change
            .prepare_cached(
                "insert into documents (session, seq, ts, kind, message) values (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![self.session, seq as i64, ts, kind, message])?;
        let number = self.change.last_insert_rowid();
        self.change
            .prepare_cached("insert into words (rowid, text) values (?1, ?2)")?
            .execute(params![number, clean(text)])?;
        Ok(())
    }
}

/// Cut to what can be found, without the signs that mark hits.
fn clean(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_TEXT);
    text[..end].replace([MARK_START, MARK_END, '\0'], " ")
}
