//! What the stories share.

use std::fs;
use std::path::PathBuf;

use protocol::*;
use sessions::{Opened, Record, Store};

/// A store in a folder of its own.
pub(crate) struct Place {
    pub(crate) store: Store,
    pub(crate) folder: tempfile::TempDir,
}

pub(crate) fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Place { store: Store::new(folder.path().join("sessions")).owned_by("covey run"), folder }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_769_351_452_000 + seconds * 1000)
}

pub(crate) fn id(number: u32) -> SessionId {
    SessionId::new(at(0), number)
}

pub(crate) fn start(session: &SessionId) -> SessionStart {
    SessionStart {
        session: session.clone(),
        cwd: "/src/shop".to_owned(),
        agent: "native".into(),
        model: None,
        mode: Mode::Ask,
        title: None,
        forked_from: None,
        covey: "0.1.0".to_owned(),
    }
}

pub(crate) type Body = (Option<TurnId>, EventBody);

pub(crate) fn notice(text: &str) -> Body {
    (None, EventBody::Notice(Notice { level: NoticeLevel::Info, text: text.to_owned() }))
}

pub(crate) fn prompt(text: &str) -> Body {
    (None, EventBody::UserPrompt(UserPrompt { content: vec![Content::text(text)], key: None }))
}

pub(crate) fn turn_start(turn: &str, parent: Option<&str>) -> Body {
    let start = TurnStart {
        parent: parent.map(TurnId::from),
        agent: "native".into(),
        model: None,
        mode: Mode::Ask,
        limits: None,
        attended: None,
    };
    (Some(turn.into()), EventBody::TurnStart(start))
}

pub(crate) fn says(turn: &str, message: &str, text: &str) -> Body {
    (Some(turn.into()), EventBody::AgentMessage(Chunk { message: message.into(), text: text.to_owned() }))
}

pub(crate) fn calls(turn: &str, call: &str) -> Body {
    let call = ToolCall {
        call: call.into(),
        name: "shell".to_owned(),
        title: "cargo test".to_owned(),
        kind: ToolKind::Execute,
        status: ToolStatus::InProgress,
        input: serde_json::json!({"command": "cargo test -p cart"}),
        locations: Vec::new(),
        via: None,
    };
    (Some(turn.into()), EventBody::ToolCall(call))
}

pub(crate) fn turn_end(turn: &str) -> Body {
    let end = TurnEnd { stop: Stop::Done, cause: None, usage: Usage::default(), steps: 1, duration_ms: 5 };
    (Some(turn.into()), EventBody::TurnEnd(end))
}

impl Place {
    pub(crate) fn log(&self, session: &SessionId) -> PathBuf {
        self.store.dir(session).join("events.jsonl")
    }

    /// A session with these events after its start, closed.
    pub(crate) fn session(&self, number: u32, bodies: Vec<Body>) -> SessionId {
        let session = id(number);
        let Opened { mut writer, mut view, .. } = self.store.create(start(&session), at(0)).unwrap();
        for event in writer.append(bodies, at(1)).unwrap() {
            view.apply(&event);
        }
        writer.close(&view).unwrap();
        session
    }

    /// A session whose folder holds only this log.
    pub(crate) fn with_log(&self, number: u32, log: &[u8]) -> SessionId {
        let session = id(number);
        let dir = self.store.dir(&session);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        fs::write(self.log(&session), log).unwrap();
        session
    }

    pub(crate) fn records(&self, session: &SessionId) -> Vec<Record> {
        self.store.reader(session).unwrap().iter(0).unwrap().collect::<Result<_, _>>().unwrap()
    }

    pub(crate) fn events(&self, session: &SessionId) -> Vec<Event> {
        self.records(session).into_iter().filter_map(Record::event).collect()
    }
}

pub(crate) fn seqs(records: &[Record]) -> Vec<u64> {
    records.iter().filter_map(|record| record.clone().event()).map(|event| event.seq).collect()
}

/// A file of the session's folder, by name.
pub(crate) fn file(place: &Place, session: &SessionId, name: &str) -> PathBuf {
    place.store.dir(session).join(name)
}
