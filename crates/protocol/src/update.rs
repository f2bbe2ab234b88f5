//! What an agent says while it works on a turn.

use crate::{
    AgentCommands, Checkpoint, Chunk, Compaction, ContextLedger, ErrorInfo, FileRead, FileWrite, HookRan,
    MessageEnd, Notice, Plan, Retract, Retry, Route, Stop, StopCause, SuggestedActions, TitleChanged,
    ToolCall, ToolCallUpdate, UsageReport, Verbatim,
};

/// One step of an agent's stream, in the words of the Agent Client Protocol. The session records each as an event.
///
/// Messages, calls and their order are the agent's; numbers, times and the turn are the session's. The stream ends
/// with [`Update::Done`]; one that ends without it is taken for a crash.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    Message(Chunk),
    Thought(Chunk),
    MessageEnd(MessageEnd),
    Retract(Retract),
    ToolCall(ToolCall),
    ToolCallUpdate(ToolCallUpdate),
    Plan(Plan),
    SuggestedActions(SuggestedActions),
    /// The commands that it understands as prompts.
    Commands(AgentCommands),
    Checkpoint(Checkpoint),
    Compaction(Compaction),
    Context(ContextLedger),
    FileRead(FileRead),
    FileWrite(FileWrite),
    Verbatim(Verbatim),
    /// What the session is about, in a few words.
    Title(TitleChanged),
    Usage(UsageReport),
    Retry(Retry),
    Route(Route),
    Hook(HookRan),
    Notice(Notice),
    Error(ErrorInfo),
    Done {
        stop: Stop,
        cause: Option<StopCause>,
    },
}
