//! What happened: the records of a session's log, and what every front end is sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{
    AgentCommands, AgentId, BlobRef, CallId, Checkpoint, Compaction, Content, ContextLedger, Effort, HookRan,
    Limits, MessageId, Mode, ModelRef, PermissionAnswer, PermissionRequest, Pin, Plan, SessionId, Stop,
    StopCause, SuggestedActions, Timestamp, ToolCall, ToolCallUpdate, TurnId, Usage, UsageReport,
};

/// One numbered record. Its JSON is flat: `{"v":1,"seq":7,"ts":"…","turn":"t1","type":"agent_message",…}`.
///
/// Fields that this version does not know, at any depth, survive reading and writing.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The version of the format.
    pub v: u32,
    /// Counts up by one from 1 within a session.
    pub seq: u64,
    pub ts: Timestamp,
    /// The turn it belongs to, if any.
    pub turn: Option<TurnId>,
    pub body: EventBody,
    /// What a newer version added, as a sparse copy of the record that holds only the unknown parts.
    pub(crate) unknown: Option<Box<Value>>,
}

impl Event {
    pub fn new(seq: u64, ts: Timestamp, turn: Option<TurnId>, body: EventBody) -> Self {
        Self { v: crate::EVENT_VERSION, seq, ts, turn, body, unknown: None }
    }
}

impl Event {
    /// Whether it belongs to a turn that another turn started.
    pub fn is_of_child(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.as_str().contains('.'))
    }
}

/// Declares the event types once: the enum, its names, and which ones this version knows.
macro_rules! events {
    ($( $(#[$docs:meta])* $variant:ident($payload:ty) = $name:literal, )*) => {
        /// What an event says, by type.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum EventBody {
            $( $(#[$docs])* $variant($payload), )*
            /// A type that this version does not know: carried, not dropped.
            #[serde(skip)]
            #[ts(skip)]
            Other(OtherEvent),
        }

        impl EventBody {
            /// Every type this version knows, in the order of the documentation.
            pub const TYPES: &'static [&'static str] = &[$($name),*];

            /// The value of `type`.
            pub fn name(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $name, )*
                    Self::Other(other) => &other.kind,
                }
            }

            /// The body of this type from a whole record, straight into its own type; none when that does not fit.
            pub(crate) fn from_fields(kind: &str, record: &[u8]) -> Option<Self> {
                match kind {
                    $( $name => serde_json::from_slice(record).ok().map(Self::$variant), )*
                    _ => None,
                }
            }
        }
    };
}

events! {
    SessionStart(SessionStart) = "session_start",
    UserPrompt(UserPrompt) = "user_prompt",
    TurnStart(TurnStart) = "turn_start",
    AgentMessage(Chunk) = "agent_message",
    AgentThought(Chunk) = "agent_thought",
    MessageEnd(MessageEnd) = "message_end",
    Retract(Retract) = "retract",
    ToolCall(ToolCall) = "tool_call",
    ToolCallUpdate(ToolCallUpdate) = "tool_call_update",
    Plan(Plan) = "plan",
    PermissionRequest(PermissionRequest) = "permission_request",
    Permission(PermissionAnswer) = "permission",
    FileRead(FileRead) = "file_read",
    FileWrite(FileWrite) = "file_write",
    Checkpoint(Checkpoint) = "checkpoint",
    Verbatim(Verbatim) = "verbatim",
    Usage(UsageReport) = "usage",
    Retry(Retry) = "retry",
    Route(Route) = "route",
    Mode(ModeChanged) = "mode",
    Model(ModelChanged) = "model",
    Effort(EffortChanged) = "effort",
    Folders(FoldersChanged) = "folders",
    Agent(AgentChanged) = "agent",
    Title(TitleChanged) = "title",
    Marks(Marks) = "marks",
    Context(ContextLedger) = "context",
    Compaction(Compaction) = "compaction",
    Pin(Pin) = "pin",
    SuggestedActions(SuggestedActions) = "suggested_actions",
    Commands(AgentCommands) = "commands",
    Hook(HookRan) = "hook",
    Notice(Notice) = "notice",
    Error(ErrorInfo) = "error",
    Repair(Repair) = "repair",
    TurnEnd(TurnEnd) = "turn_end",
    SessionEnd(SessionEnd) = "session_end",
}

/// The first record of every log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionStart {
    pub session: SessionId,
    /// The folder the session works in.
    pub cwd: String,
    pub agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub forked_from: Option<ForkPoint>,
    /// The version of Covey that made it.
    #[serde(default)]
    pub covey: String,
}

/// Where a fork left its parent: it has the parent's events up to and including `seq`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ForkPoint {
    pub session: SessionId,
    #[ts(type = "number")]
    pub seq: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct UserPrompt {
    pub content: Vec<Content>,
    /// Chosen by the front end, so that a prompt sent twice runs once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub key: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TurnStart {
    /// The turn that started this one, when an agent asked another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<TurnId>,
    pub agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    #[serde(default)]
    pub mode: Mode,
    /// What it may use up, where whoever started it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limits: Option<Limits>,
    /// `false` when nobody was there to be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub attended: Option<bool>,
}

/// A piece of a message: it appends to what the named message has so far. Raw Markdown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Chunk {
    pub message: MessageId,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct MessageEnd {
    pub message: MessageId,
}

/// Drop what the named message showed: it was cut off and comes again, or never.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Retract {
    pub message: MessageId,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FileRead {
    pub path: String,
    #[ts(type = "number")]
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FileWrite {
    pub path: String,
    #[ts(type = "number")]
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
    /// What the file holds now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub blob: Option<BlobRef>,
}

/// What a provider wants back, unchanged, together with the step that it belongs to: signatures of thoughts, thoughts
/// that only it can read. Without meaning to anybody else, and of use to the same model only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Verbatim {
    pub model: ModelRef,
    pub items: Vec<VerbatimItem>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct VerbatimItem {
    /// The place among the thoughts, texts and calls of the step, in order.
    pub at: u32,
    #[serde(default)]
    pub kind: VerbatimKind,
    #[ts(type = "unknown")]
    pub data: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum VerbatimKind {
    /// Belongs to the block at that place.
    #[default]
    Part,
    /// Is a block of its own that nobody sees.
    Block,
    /// Belongs to a thought without words, which is in no other event.
    Thought,
}

/// A call to a model failed and is tried again after a wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Retry {
    pub attempt: u32,
    #[ts(type = "number")]
    pub wait_ms: u64,
    pub reason: String,
}

/// Another model answers from here on than the one that was asked, because that one failed or can not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Route {
    pub from: ModelRef,
    pub to: ModelRef,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ModeChanged {
    pub mode: Mode,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ModelChanged {
    pub model: ModelRef,
}

/// From the next prompt on, the model thinks this much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct EffortChanged {
    /// As the settings say, or as the model likes, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
}

/// From now on the session works in these folders too, and in no others besides its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FoldersChanged {
    /// Absolute.
    pub folders: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AgentChanged {
    pub agent: AgentId,
    /// The model it was told to use; its own choice without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelRef>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TitleChanged {
    pub title: String,
}

/// What lists do with a session, as of now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, JsonSchema)]
#[serde(default)]
pub struct Marks {
    /// Kept on top.
    pub pinned: bool,
    /// Put away: shown only to whoever asks for it.
    pub archived: bool,
}

impl Marks {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Something worth knowing that is not an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Notice {
    pub level: NoticeLevel,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    Info,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ErrorInfo {
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<String>,
}

/// The log's tail was damaged and was cut back to its last whole record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Repair {
    /// Where in the file the damage began.
    #[ts(type = "number")]
    pub offset: u64,
    /// How much was cut.
    #[ts(type = "number")]
    pub bytes: u64,
    /// The file, beside the log, that keeps what was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kept_in: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct TurnEnd {
    pub stop: Stop,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cause: Option<StopCause>,
    /// Of this turn and the turns it started.
    #[serde(default)]
    pub usage: Usage,
    /// Calls to the model.
    #[serde(default)]
    pub steps: u32,
    #[serde(default)]
    #[ts(type = "number")]
    pub duration_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionEnd {
    pub reason: String,
}

/// An event of a type that this version does not know, as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherEvent {
    pub kind: String,
    pub fields: Map<String, Value>,
}
