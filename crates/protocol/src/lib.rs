//! The vocabulary of Covey: what front ends ask for, what sessions record, and the state that both see.
//!
//! Everything here is plain data. There are no channels, handles or clocks inside, so one stream of [`Event`]s can be
//! drawn by a terminal, sent to a browser, written to disk and replayed in a test. Start with [`Op`] (what is asked),
//! [`Event`] (what happened) and [`SessionView`] (what that adds up to); [`Update`] is what an agent says on the way.
//!
//! Left to others: how events reach the disk (`sessions`), who decides what happens (`engine`), how a front end
//! reaches it (`client`).

mod checkpoint;
mod command;
mod content;
mod context;
mod effort;
mod event;
mod event_codec;
mod hook;
mod host;
mod id;
mod limits;
mod mode;
mod op;
mod permission;
mod plan;
mod read;
mod stop;
mod suggestion;
mod time;
mod tool;
mod typescript;
mod update;
mod usage;
mod view;

pub use checkpoint::{Checkpoint, CheckpointAction};
pub use command::{AgentCommand, AgentCommands};
pub use content::{BlobRef, Content, Image, Resource, Source, prompt_text};
pub use context::{Compaction, CompactionStage, ContextLedger, ContextPart, Pin};
pub use effort::Effort;
pub use event::{
    AgentChanged, Chunk, EffortChanged, ErrorInfo, Event, EventBody, FileRead, FileWrite, FoldersChanged,
    ForkPoint, Marks, MessageEnd, ModeChanged, ModelChanged, Notice, NoticeLevel, OtherEvent, Repair,
    Retract, Retry, Route, SessionEnd, SessionStart, TitleChanged, TurnEnd, TurnStart, UserPrompt, Verbatim,
    VerbatimItem, VerbatimKind,
};
pub use event_codec::{DecodeError, EVENT_VERSION};
pub use hook::{HookEvent, HookRan, HookWord};
pub use host::{
    HostAccepted, HostAnswer, HostCall, HostDiagnostic, HostEntry, HostExpect, HostFailure, HostKind,
    HostOffer, HostRequest, HostStamp, HostTask, TerminalOffer,
};
pub use id::{AgentId, BlobId, CallId, InvalidSessionId, MessageId, ModelRef, RequestId, SessionId, TurnId};
pub use limits::Limits;
pub use mode::Mode;
pub use op::{Op, Receipt};
pub use permission::{
    AnsweredBy, Decision, OptionKind, PermissionAnswer, PermissionOption, PermissionOutcome,
    PermissionRequest,
};
pub use plan::{Plan, PlanEntry, PlanPriority, PlanStatus};
pub use read::{
    AgentSummary, CommandOrigin, CommandSummary, ExportFormat, FileChange, FileEffect, ListChange, Mention,
    MentionKind, ModelSummary, Reply, Request, SearchHit, SearchHitKind, SessionStatus, SessionSummary,
    ToolSummary, UsageRow,
};
pub use stop::{Stop, StopCause};
pub use suggestion::{SuggestedAction, SuggestedActions, SuggestedStep};
pub use time::Timestamp;
pub use tool::{Location, ToolCall, ToolCallUpdate, ToolContent, ToolKind, ToolStatus};
pub use typescript::typescript;
pub use update::Update;
pub use usage::{Usage, UsageReport};
pub use view::{Item, ItemBody, OpenTurn, PromptKey, SessionView};
