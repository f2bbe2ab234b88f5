//! What an agent tells of a session: its updates, read with patience.

use agent_client_protocol_schema::{MaybeUndefined, v1 as schema};
use protocol::{
    AgentCommands, CallId, Content, Location, NoticeLevel, Plan, ToolContent, ToolKind, ToolStatus,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::convert;
use crate::message::Params;
use crate::options::ConfigOption;

#[cfg(test)]
mod tests;

/// One update.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A piece of the answer. Pieces with one `message` belong together.
    Said {
        content: Content,
        message: Option<String>,
    },
    Thought {
        content: Content,
        message: Option<String>,
    },
    /// What the person said, told again while a session is loaded.
    UserSaid {
        content: Content,
    },
    /// A call begins, or more is known of one.
    Tool(ToolNews),
    Plan(Plan),
    Commands(AgentCommands),
    Mode(String),
    Options(Vec<ConfigOption>),
    Title(String),
    /// How full its window is, and what the session has cost.
    Window {
        used: u64,
        size: u64,
        cost_usd: Option<f64>,
    },
    Notice {
        level: NoticeLevel,
        text: String,
    },
    /// Its conversation was summarised; the text is what is kept of it.
    Compacted {
        summary: String,
        /// What was in its window before; 0 when it does not say.
        tokens_before: u64,
    },
    /// Known, and of no account to us.
    Nothing,
    /// Nothing that this version knows. It is named, so that nobody has to wonder.
    Unknown {
        name: String,
    },
}

/// What an update says of a tool call. What is absent stays as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolNews {
    pub call: CallId,
    /// The first that is heard of it.
    pub begins: bool,
    pub name: Option<String>,
    pub title: Option<String>,
    pub kind: Option<ToolKind>,
    pub status: Option<ToolStatus>,
    pub input: Option<Value>,
    pub output: Option<Value>,
    pub content: Option<Vec<ToolContent>>,
    pub locations: Option<Vec<Location>>,
}

impl ToolNews {
    pub(crate) fn of(update: schema::ToolCallUpdate) -> Self {
        let schema::ToolCallUpdate { tool_call_id, fields, .. } = update;
        Self {
            call: convert::call_id(&tool_call_id),
            begins: false,
            name: fields.name,
            title: fields.title,
            kind: fields.kind.map(convert::kind),
            status: fields.status.map(convert::status),
            input: fields.raw_input,
            output: fields.raw_output,
            content: fields.content.map(|all| all.into_iter().map(convert::tool_content).collect()),
            locations: fields.locations.map(|all| all.into_iter().map(convert::location).collect()),
        }
    }

    /// In the protocol's form. What is absent stays out, so that it changes nothing.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({"toolCallId": self.call.as_str()});
        let mut set = |name: &str, field: Option<Value>| {
            if let Some(field) = field {
                value[name] = field;
            }
        };
        set("name", self.name.as_ref().map(|name| json!(name)));
        set("title", self.title.as_ref().map(|title| json!(title)));
        // Our words for these are the protocol's.
        set("kind", self.kind.map(|kind| json!(kind)));
        set("status", self.status.map(|status| json!(status)));
        set("rawInput", self.input.clone());
        set("rawOutput", self.output.clone());
        set(
            "content",
            self.content.as_ref().map(|all| all.iter().map(convert::tool_content_value).collect()),
        );
        let location = |location: &Location| json!({"path": location.path, "line": location.line});
        set("locations", self.locations.as_ref().map(|all| all.iter().map(location).collect()));
        value
    }
}

/// An update, and the session it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionNews {
    pub session: String,
    pub news: News,
}

/// The least that an update must have.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "sessionId")]
    session: String,
    update: Named,
}

#[derive(Deserialize)]
struct Named {
    #[serde(rename = "sessionUpdate", default)]
    name: String,
}

impl SessionNews {
    /// Reads the arguments of `session/update`; none when they do not even name a session.
    pub fn parse(params: &Params) -> Option<Self> {
        if let Ok(notification) = params.parse::<schema::SessionNotification>() {
            let session = notification.session_id.0.to_string();
            return Some(Self { session, news: news(notification.update) });
        }
        let Envelope { session, update } = params.parse().ok()?;
        Some(Self { session, news: News::Unknown { name: update.name } })
    }
}

impl SessionNews {
    /// The arguments of `session/update`.
    pub fn to_params(&self) -> Value {
        json!({"sessionId": self.session, "update": self.news.to_value()})
    }
}

impl News {
    fn to_value(&self) -> Value {
        let piece = |name: &str, content: &Content, message: Option<&String>| {
            let mut value = json!({"sessionUpdate": name, "content": convert::block_value(content)});
            if let Some(message) = message {
                value["messageId"] = json!(message);
            }
            value
        };
        match self {
            Self::Said { content, message } => piece("agent_message_chunk", content, message.as_ref()),
            Self::Thought { content, message } => piece("agent_thought_chunk", content, message.as_ref()),
            Self::UserSaid { content } => piece("user_message_chunk", content, None),
            Self::Tool(tool) => {
                let mut value = tool.to_value();
                value["sessionUpdate"] = json!(if tool.begins { "tool_call" } else { "tool_call_update" });
                value
            }
            Self::Plan(plan) => json!({"sessionUpdate": "plan", "entries": plan.entries}),
            Self::Commands(list) => {
                let command = |command: &protocol::AgentCommand| {
                    let input = command.hint.as_ref().map(|hint| json!({"hint": hint}));
                    json!({"name": command.name, "description": command.description, "input": input})
                };
                let all: Vec<Value> = list.commands.iter().map(command).collect();
                json!({"sessionUpdate": "available_commands_update", "availableCommands": all})
            }
            Self::Mode(mode) => json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}),
            Self::Options(options) => {
                let all: Vec<Value> = options.iter().map(ConfigOption::to_value).collect();
                json!({"sessionUpdate": "config_option_update", "configOptions": all})
            }
            Self::Title(title) => json!({"sessionUpdate": "session_info_update", "title": title}),
            Self::Window { used, size, cost_usd } => {
                let cost = cost_usd.map(|amount| json!({"amount": amount, "currency": "USD"}));
                json!({"sessionUpdate": "usage_update", "used": used, "size": size, "cost": cost})
            }
            Self::Notice { level, text } => {
                let severity = match level {
                    NoticeLevel::Info => "info",
                    NoticeLevel::Warning => "warning",
                };
                json!({"sessionUpdate": "notice", "severity": severity, "title": text})
            }
            Self::Compacted { summary, .. } => json!({
                "sessionUpdate": "compaction_update", "compactionId": "compaction", "status": "completed",
                "summary": [{"type": "text", "text": summary}],
            }),
            Self::Nothing => json!({"sessionUpdate": "session_info_update"}),
            Self::Unknown { name } => json!({"sessionUpdate": name}),
        }
    }
}

fn news(update: schema::SessionUpdate) -> News {
    use schema::SessionUpdate as Update;
    let chunk = |chunk: schema::ContentChunk| {
        (convert::content(chunk.content), chunk.message_id.map(|id| id.0.to_string()))
    };
    match update {
        Update::UserMessageChunk(piece) => News::UserSaid { content: chunk(piece).0 },
        Update::AgentMessageChunk(piece) => {
            let (content, message) = chunk(piece);
            News::Said { content, message }
        }
        Update::AgentThoughtChunk(piece) => {
            let (content, message) = chunk(piece);
            News::Thought { content, message }
        }
        Update::ToolCall(call) => {
            News::Tool(ToolNews { begins: true, ..ToolNews::of(schema::ToolCallUpdate::from(call)) })
        }
        Update::ToolCallUpdate(update) => News::Tool(ToolNews::of(update)),
        Update::Plan(plan) => News::Plan(convert::plan(plan)),
        Update::AvailableCommandsUpdate(update) => {
            News::Commands(convert::commands(update.available_commands))
        }
        Update::CurrentModeUpdate(update) => News::Mode(update.current_mode_id.0.to_string()),
        Update::ConfigOptionUpdate(update) => {
            News::Options(update.config_options.into_iter().map(ConfigOption::from).collect())
        }
        Update::SessionInfoUpdate(info) => match info.title {
            MaybeUndefined::Value(title) => News::Title(title),
            _ => News::Nothing,
        },
        Update::UsageUpdate(usage) => News::Window {
            used: usage.used,
            size: usage.size,
            cost_usd: usage.cost.filter(|cost| cost.currency == "USD").map(|cost| cost.amount),
        },
        Update::Notice(notice) => {
            let level = match notice.severity {
                schema::NoticeSeverity::Info => NoticeLevel::Info,
                _ => NoticeLevel::Warning,
            };
            let text = match notice.description {
                Some(more) => format!("{}: {more}", notice.title),
                None => notice.title,
            };
            News::Notice { level, text }
        }
        Update::CompactionUpdate(update) => match (update.status, update.summary) {
            (schema::CompactionStatus::Completed, MaybeUndefined::Value(blocks)) => {
                let blocks: Vec<Content> = blocks.into_iter().map(convert::content).collect();
                News::Compacted { summary: protocol::prompt_text(&blocks), tokens_before: 0 }
            }
            (schema::CompactionStatus::Completed, _) => {
                News::Compacted { summary: String::new(), tokens_before: 0 }
            }
            _ => News::Nothing,
        },
        Update::CompactionSummaryChunk(_) => News::Nothing,
        other => {
            let value = serde_json::to_value(&other).unwrap_or_default();
            News::Unknown { name: value["sessionUpdate"].as_str().unwrap_or("?").to_owned() }
        }
    }
}
