// Generated from crates/protocol by `cargo xtask codegen`. Do not edit.

/** A session's record: the envelope and, beside it, the fields of its type. */
export type Event = { v: number, seq: number, ts: Timestamp, turn?: TurnId } & EventBody;

export type AgentChanged = { agent: AgentId, 
/**
 * The model it was told to use; its own choice without.
 */
model?: ModelRef, };

export type AgentCommand = { 
/**
 * Without the slash.
 */
name: string, description: string, 
/**
 * What to write after it.
 */
hint?: string, };

/**
 * All that the session's agent offers now; each list replaces the one before.
 */
export type AgentCommands = { commands: Array<AgentCommand>, };

/**
 * An agent as a person names it: `native`, `claude`, `codex`, …
 */
export type AgentId = string;

export type AgentSummary = { agent: AgentId, usable: boolean, reason?: string, };

export type AnsweredBy = "person" | "policy" | "nobody";

/**
 * The content hash of something kept in a session's `blobs/`.
 */
export type BlobId = string;

/**
 * Names bytes that are kept beside the event log, by what they are.
 */
export type BlobRef = { hash: BlobId, bytes: number, };

/**
 * One tool call. Unique within its session, whatever the model called it.
 */
export type CallId = string;

/**
 * The state of some files was kept, or files were brought back to a state that was.
 */
export type Checkpoint = { 
/**
 * Counts up within a session.
 */
checkpoint: number, did: CheckpointAction, 
/**
 * The call before which it was taken.
 */
call?: CallId, 
/**
 * The files, relative to the project.
 */
paths: Array<string>, 
/**
 * What could not be kept, and why.
 */
left_out?: Array<string>, };

export type CheckpointAction = "taken" | "undone" | "redone";

/**
 * A piece of a message: it appends to what the named message has so far. Raw Markdown.
 */
export type Chunk = { message: MessageId, text: string, };

/**
 * Who added it.
 */
export type CommandOrigin = "covey" | "person" | "project" | "skill" | "agent" | "server";

/**
 * A command that is sent as a prompt: `/name arguments`.
 */
export type CommandSummary = { name: string, description: string, 
/**
 * What to write after it.
 */
hint?: string, origin: CommandOrigin, };

/**
 * The window was about to overflow and something was left out of what models are sent. The log keeps all of it.
 */
export type Compaction = { stage: CompactionStage, 
/**
 * What stands in for everything before `from`.
 */
summary?: string, 
/**
 * The first turn, or call, that is kept as it was.
 */
from?: string, 
/**
 * Calls whose results are cut to their head and tail.
 */
pruned?: Array<CallId>, 
/**
 * Tokens in the window before and after, as far as can be told.
 */
tokens_before: number, tokens_after: number, };

export type CompactionStage = "prune" | "summarise" | "undo";

/**
 * One block of content.
 */
export type Content = { "type": "text", text: string, } | { "type": "image" } & Image | { "type": "resource" } & Resource;

/**
 * What fills the window, as of the last call to the model.
 */
export type ContextLedger = { 
/**
 * What the model takes in and gives out; absent when nobody knows.
 */
window?: number, 
/**
 * Kept free for the answer.
 */
reserve: number, parts: Array<ContextPart>, };

/**
 * One kind of thing in the window.
 */
export type ContextPart = { 
/**
 * `system`, `rules`, `tools`, `pins`, `summary`, `prompts`, `answers`, `results`.
 */
name: string, 
/**
 * Where it came from: a file, a tool; absent for a whole kind.
 */
source?: string, tokens: number, };

/**
 * What a front end answers.
 */
export type Decision = { "type": "choose", option: string, 
/**
 * Goes to the model when it is a refusal; what runs instead when it allows something edited.
 */
reason?: string, } | { "type": "dismiss" };

/**
 * From least to most. Each vendor has its own words for it; those are found where the request is made.
 */
export type Effort = "none" | "low" | "medium" | "high" | "max";

/**
 * From the next prompt on, the model thinks this much.
 */
export type EffortChanged = { 
/**
 * As the settings say, or as the model likes, if absent.
 */
effort?: Effort, };

export type ErrorInfo = { message: string, 
/**
 * What to do about it.
 */
hint?: string, };

/**
 * What an event says, by type.
 */
export type EventBody = { "type": "session_start" } & SessionStart | { "type": "user_prompt" } & UserPrompt | { "type": "turn_start" } & TurnStart | { "type": "agent_message" } & Chunk | { "type": "agent_thought" } & Chunk | { "type": "message_end" } & MessageEnd | { "type": "retract" } & Retract | { "type": "tool_call" } & ToolCall | { "type": "tool_call_update" } & ToolCallUpdate | { "type": "plan" } & Plan | { "type": "permission_request" } & PermissionRequest | { "type": "permission" } & PermissionAnswer | { "type": "file_read" } & FileRead | { "type": "file_write" } & FileWrite | { "type": "checkpoint" } & Checkpoint | { "type": "verbatim" } & Verbatim | { "type": "usage" } & UsageReport | { "type": "retry" } & Retry | { "type": "route" } & Route | { "type": "mode" } & ModeChanged | { "type": "model" } & ModelChanged | { "type": "effort" } & EffortChanged | { "type": "folders" } & FoldersChanged | { "type": "agent" } & AgentChanged | { "type": "title" } & TitleChanged | { "type": "marks" } & Marks | { "type": "context" } & ContextLedger | { "type": "compaction" } & Compaction | { "type": "pin" } & Pin | { "type": "suggested_actions" } & SuggestedActions | { "type": "commands" } & AgentCommands | { "type": "hook" } & HookRan | { "type": "notice" } & Notice | { "type": "error" } & ErrorInfo | { "type": "repair" } & Repair | { "type": "turn_end" } & TurnEnd | { "type": "session_end" } & SessionEnd;

/**
 * What a document is written as.
 */
export type ExportFormat = "markdown" | "html" | "json";

/**
 * What would happen to one file.
 */
export type FileChange = { 
/**
 * Relative to the project.
 */
path: string, does: FileEffect, 
/**
 * Why it is not done without force.
 */
conflict?: string, 
/**
 * What it says now; absent for what is not there, is no text or is too long to show.
 */
now?: string, 
/**
 * What it would say.
 */
then?: string, };

export type FileEffect = "create" | "restore" | "delete";

export type FileRead = { path: string, bytes: number, call?: CallId, };

export type FileWrite = { path: string, bytes: number, call?: CallId, 
/**
 * What the file holds now.
 */
blob?: BlobRef, };

/**
 * From now on the session works in these folders too, and in no others besides its own.
 */
export type FoldersChanged = { 
/**
 * Absolute.
 */
folders: Array<string>, };

/**
 * Where a fork left its parent: it has the parent's events up to and including `seq`.
 */
export type ForkPoint = { session: SessionId, seq: number, };

/**
 * A moment at which hooks run.
 */
export type HookEvent = "session_start" | "prompt" | "pre_tool" | "post_tool" | "tool_failed" | "permission" | "edit" | "turn_end" | "subagent_start" | "subagent_end" | "compact" | "config_change" | "notification" | "stop";

/**
 * A hook had something to say, or failed.
 */
export type HookRan = { 
/**
 * Where it is written down.
 */
hook: string, on: HookEvent, 
/**
 * `allow`, `ask`, `deny`; absent when it decided nothing.
 */
says?: HookWord, 
/**
 * Why, or what went wrong.
 */
reason?: string, 
/**
 * What it told the model.
 */
context?: string, 
/**
 * It changed what the tool was given.
 */
changed_input: boolean, };

export type HookWord = "allow" | "ask" | "deny";

/**
 * What was taken of an offer.
 */
export type HostAccepted = { 
/**
 * The project's folders: nothing outside them is asked for unless a person allowed it.
 */
roots: Array<string>, files: boolean, terminal: boolean, diagnostics: boolean, 
/**
 * Why something was not taken.
 */
note?: string, };

/**
 * What came of a [`HostRequest`].
 */
export type HostAnswer = { "answer": "read", bytes: string, 
/**
 * Of the whole file.
 */
stamp: HostStamp, } | { "answer": "list", entries: Array<HostEntry>, total: number, } | { "answer": "stat", kind: HostKind, stamp: HostStamp, } | { "answer": "written", stamp: HostStamp, } | { "answer": "done" } | { "answer": "started", terminal: string, } | { "answer": "output", bytes: string, } | { "answer": "ended", code?: number, signal?: number, } | { "answer": "diagnostics", found: Array<HostDiagnostic>, } | { "answer": "failed", why: HostFailure, message: string, };

/**
 * Something that a compiler or linter says about a file.
 */
export type HostDiagnostic = { 
/**
 * From 1.
 */
line: number, 
/**
 * 1 error, 2 warning, 3 information, 4 hint, as language servers count.
 */
severity: number, message: string, source?: string, };

export type HostEntry = { name: string, kind: HostKind, len: number, };

/**
 * What must be at a path for a write to go ahead.
 */
export type HostExpect = { "type": "anything" } | { "type": "absent" } | { "type": "unchanged" } & HostStamp;

/**
 * Why it was not done.
 */
export type HostFailure = "not_found" | "outside" | "denied" | "is_directory" | "not_a_directory" | "exists" | "stale" | "failed";

export type HostKind = "file" | "dir" | "symlink" | "other";

/**
 * What an editor offers to do for a session.
 */
export type HostOffer = { 
/**
 * Made up by the editor when it starts. Under the same name a lost connection is taken up again, with all that
 * was not answered; under another one nobody knows what was done, and it fails.
 */
host: string, 
/**
 * For the person: `VS Code`.
 */
name: string, 
/**
 * Reads and writes files, as they are in its buffers.
 */
files: boolean, terminal?: TerminalOffer, 
/**
 * Knows errors and warnings of files.
 */
diagnostics: boolean, };

/**
 * Something for the editor to do. It comes again under its number when the connection was lost: what was done already is
 * answered again, not done again.
 */
export type HostRequest = { request: number, } & ({ "call": "read", path: string, offset: number, limit: number, } | { "call": "list", path: string, limit: number, } | { "call": "stat", path: string, } | { "call": "write", path: string, bytes: string, expect: HostExpect, } | { "call": "make_dir", path: string, } | { "call": "rename", from: string, to: string, } | { "call": "remove", path: string, } | { "call": "start" } & HostTask | { "call": "output", terminal: string, } | { "call": "input", terminal: string, bytes: string, } | { "call": "close_input", terminal: string, } | { "call": "stop", terminal: string, grace_ms: number, } | { "call": "release", terminal: string, } | { "call": "diagnostics", path: string, });

/**
 * By what it is noticed that somebody else changed a file.
 */
export type HostStamp = { len: number, 
/**
 * Since 1970. An editor with unsaved changes may count them in here.
 */
modified_ms?: number, };

/**
 * A program to be run.
 */
export type HostTask = { 
/**
 * A command line for the shell; or see `argv`.
 */
shell?: string, argv?: Array<string>, cwd: string, env: Array<[string, string]>, 
/**
 * Whether it is written to while it runs.
 */
interactive: boolean, 
/**
 * Whether it wants a terminal. A host that has none gives it pipes.
 */
terminal?: boolean, 
/**
 * What it may use beside the project.
 */
reads: Array<string>, writes: Array<string>, network: boolean, };

/**
 * A picture, inline or in the session's blobs.
 */
export type Image = { 
/**
 * Such as `image/png`.
 */
media_type: string, name?: string, } & ({ "data": string } | { "blob": BlobRef });

/**
 * One thing in the conversation.
 */
export type Item = { 
/**
 * The event it began with.
 */
seq: number, ts: Timestamp, turn?: TurnId, } & ({ "item": "prompt", content: Array<Content>, } | { "item": "message", message: MessageId, text: string, 
/**
 * Nothing more comes.
 */
done: boolean, } | { "item": "thought", message: MessageId, text: string, done: boolean, } | { "item": "tool", call: ToolCall, result?: ToolCallUpdate, } | { "item": "retry" } & Retry | { "item": "route" } & Route | { "item": "notice" } & Notice | { "item": "error" } & ErrorInfo | { "item": "turn_end", stop: Stop, cause?: StopCause, duration_ms: number, });

/**
 * Bounds on one turn. A child turn's are drawn from its parent's.
 */
export type Limits = { 
/**
 * Calls to the model.
 */
max_steps?: number, timeout_ms?: number, 
/**
 * Tokens in and out.
 */
max_tokens?: number, max_cost_usd?: number, };

/**
 * News of the list of sessions. The first that anybody hears is `All`; it comes again when news were missed.
 */
export type ListChange = { "type": "all", "value": Array<SessionSummary> } | { "type": "put", "value": SessionSummary } | { "type": "gone", "value": SessionId };

/**
 * A place in a file that a call looks at or changes.
 */
export type Location = { path: string, line?: number, };

/**
 * What lists do with a session, as of now.
 */
export type Marks = { 
/**
 * Kept on top.
 */
pinned: boolean, 
/**
 * Put away: shown only to whoever asks for it.
 */
archived: boolean, };

/**
 * Something to mention.
 */
export type Mention = { kind: MentionKind, 
/**
 * What is written after the `@`.
 */
name: string, 
/**
 * Where it is, or what it is for.
 */
detail?: string, };

export type MentionKind = "path" | "symbol" | "agent";

export type MessageEnd = { message: MessageId, };

/**
 * One message of an agent, streamed in pieces. Unique within its session (`t1.m1`).
 */
export type MessageId = string;

/**
 * Ordered from the tightest to the loosest.
 */
export type Mode = "explore" | "plan" | "ask" | "edit" | "auto" | "full";

export type ModeChanged = { mode: Mode, };

export type ModelChanged = { model: ModelRef, };

/**
 * A model as a person names it: `PROVIDER/MODEL`.
 */
export type ModelRef = string;

export type ModelSummary = { model: ModelRef, context?: number, usable: boolean, 
/**
 * Why not, when it is not usable.
 */
reason?: string, };

/**
 * Something worth knowing that is not an error.
 */
export type Notice = { level: NoticeLevel, text: string, };

export type NoticeLevel = "info" | "warning";

/**
 * A change that a front end asks for. The answer is a [`Receipt`]; what comes of it arrives as events.
 */
export type Op = { "type": "create_session", cwd: string, agent?: AgentId, model?: ModelRef, mode?: Mode, title?: string, 
/**
 * The folders that it works in besides its own, as in `SetFolders`.
 */
folders?: Array<string>, 
/**
 * Nothing is kept when the process ends.
 */
ephemeral: boolean, } | { "type": "fork_session", session: SessionId, at?: number, } | { "type": "start_turn", session: SessionId, prompt: Array<Content>, 
/**
 * A prompt sent again under the same key is the same prompt, and answered with the same turn.
 */
key?: string, limits: Limits, 
/**
 * Whether a person is there to answer questions; without one, what needs approval is denied.
 */
attended: boolean, } | { "type": "cancel_turn", session: SessionId, 
/**
 * All running turns, if absent.
 */
turn?: TurnId, } | { "type": "answer_permission", session: SessionId, request: RequestId, decision: Decision, } | { "type": "set_mode", session: SessionId, mode: Mode, } | { "type": "set_model", session: SessionId, model: ModelRef, } | { "type": "set_effort", session: SessionId, effort?: Effort, } | { "type": "set_folders", session: SessionId, folders: Array<string>, } | { "type": "set_agent", session: SessionId, agent: AgentId, model?: ModelRef, } | { "type": "rename", session: SessionId, title: string, } | { "type": "mark_session", session: SessionId, pinned?: boolean, archived?: boolean, } | { "type": "delete_session", session: SessionId, } | { "type": "undo", session: SessionId, 
/**
 * `turn` (the last one, if absent), `step`, `all`, or the id of a turn or a call: that one and what came after.
 */
what?: string, 
/**
 * Only this file, relative to the project.
 */
path?: string, 
/**
 * Also what somebody changed since.
 */
force: boolean, } | { "type": "redo", session: SessionId, force: boolean, } | { "type": "uncompact", session: SessionId, } | { "type": "pin", session: SessionId, 
/**
 * As in a mention, without the `@`: `src/a.rs`, `src/a.rs:10-40`; or `message:ID`.
 */
item: string, } | { "type": "unpin", session: SessionId, item: string, } | { "type": "end_session", session: SessionId, reason: string, };

/**
 * A turn that is under way.
 */
export type OpenTurn = { parent?: TurnId, agent: AgentId, started: Timestamp, usage: Usage, steps: number, };

export type OptionKind = "allow_once" | "allow_always" | "allow_edited" | "reject_once" | "reject_always";

/**
 * The answer, as the log keeps it.
 */
export type PermissionAnswer = { request: RequestId, outcome: PermissionOutcome, option?: string, by: AnsweredBy, reason?: string, };

export type PermissionOption = { id: string, name: string, kind: OptionKind, };

export type PermissionOutcome = "approved" | "denied" | "cancelled";

/**
 * May this happen?
 */
export type PermissionRequest = { request: RequestId, call?: CallId, 
/**
 * The exact action.
 */
title: string, 
/**
 * Why it is asked, in words for a person.
 */
reasons?: Array<string>, options: Array<PermissionOption>, 
/**
 * Not whether something may happen, but something the agent wants to know. The answer is an option's name or, as
 * the reason, free text.
 */
is_question?: boolean, };

/**
 * Something is kept in the window whatever is compacted, or is let go.
 */
export type Pin = { 
/**
 * Its name, by which it is let go.
 */
pin: string, 
/**
 * Absent when it is let go.
 */
content?: Content, };

/**
 * The whole plan; each one replaces the one before.
 */
export type Plan = { entries: Array<PlanEntry>, };

export type PlanEntry = { content: string, priority: PlanPriority, status: PlanStatus, };

export type PlanPriority = "high" | "medium" | "low";

export type PlanStatus = "pending" | "in_progress" | "completed";

/**
 * The turn that a prompt started, by the key its front end chose.
 */
export type PromptKey = { key: string, turn: TurnId, };

/**
 * What an accepted [`Op`] made or touched.
 */
export type Receipt = { session: SessionId, turn?: TurnId, };

/**
 * The log's tail was damaged and was cut back to its last whole record.
 */
export type Repair = { 
/**
 * Where in the file the damage began.
 */
offset: number, 
/**
 * How much was cut.
 */
bytes: number, 
/**
 * The file, beside the log, that keeps what was cut.
 */
kept_in?: string, };

/**
 * The answer to the [`Request`] of the same name.
 */
export type Reply = { "type": "sessions", "value": Array<SessionSummary> } | { "type": "session", "value": SessionView } | { "type": "models", "value": Array<ModelSummary> } | { "type": "agents", "value": Array<AgentSummary> } | { "type": "tools", "value": Array<ToolSummary> } | { "type": "hits", "value": Array<SearchHit> } | { "type": "events", "value": Array<Event> } | { "type": "export", "value": string } | { "type": "blob", "value": string } | { "type": "usage", "value": Array<UsageRow> } | { "type": "changes", "value": Array<FileChange> } | { "type": "commands", "value": Array<CommandSummary> } | { "type": "paths", "value": Array<string> } | { "type": "mentions", "value": Array<Mention> };

/**
 * A question that changes nothing.
 */
export type Request = { "type": "sessions", 
/**
 * Only those that were made in this folder.
 */
cwd?: string, limit: number, } | { "type": "session", session: SessionId, } | { "type": "models" } | { "type": "agents" } | { "type": "tools" } | { "type": "search_sessions", query: string, limit: number, } | { "type": "events_after", session: SessionId, after: number, limit: number, } | { "type": "events_before", session: SessionId, before: number, limit: number, } | { "type": "export", session: SessionId, format: ExportFormat, } | { "type": "blob", session: SessionId, blob: BlobRef, } | { "type": "usage", 
/**
 * How far back.
 */
days: number, } | { "type": "changes", session: SessionId, what?: string, path?: string, 
/**
 * What `Op::Redo` would do.
 */
redo: boolean, } | { "type": "commands", session: SessionId, } | { "type": "complete_path", session: SessionId, fragment: string, limit: number, } | { "type": "complete_folder", session: SessionId, fragment: string, limit: number, } | { "type": "mentions", session: SessionId, fragment: string, limit: number, };

/**
 * A question put to the person. Unique within its session.
 */
export type RequestId = string;

/**
 * A file or page that goes with a message.
 */
export type Resource = { uri: string, media_type?: string, 
/**
 * What it says, when that comes along.
 */
text?: string, blob?: BlobRef, };

/**
 * Drop what the named message showed: it was cut off and comes again, or never.
 */
export type Retract = { message: MessageId, reason: string, };

/**
 * A call to a model failed and is tried again after a wait.
 */
export type Retry = { attempt: number, wait_ms: number, reason: string, };

/**
 * Another model answers from here on than the one that was asked, because that one failed or can not.
 */
export type Route = { from: ModelRef, to: ModelRef, reason: string, };

/**
 * Where in a session the words are.
 */
export type SearchHit = { session: SessionId, title: string, 
/**
 * The event where it begins.
 */
seq: number, ts: Timestamp, kind: SearchHitKind, 
/**
 * A part of it, in pieces; every second piece is what fits, beginning with the second.
 */
snippet: Array<string>, };

export type SearchHitKind = "prompt" | "answer" | "tool_call";

export type SessionEnd = { reason: string, };

/**
 * A session's name and folder: `YYYYMMDD-HHMMSS-xxxxxxxx`, in UTC, ending in 8 hex digits.
 *
 * It becomes a path, so it can only be made from a time or from text that has exactly this form.
 */
export type SessionId = string;

/**
 * The first record of every log.
 */
export type SessionStart = { session: SessionId, 
/**
 * The folder the session works in.
 */
cwd: string, agent: AgentId, model?: ModelRef, mode: Mode, title?: string, forked_from?: ForkPoint, 
/**
 * The version of Covey that made it.
 */
covey: string, };

/**
 * Whether something goes on in a session.
 */
export type SessionStatus = "idle" | "running" | "waiting" | "ended";

/**
 * A session in a list. Also what `metadata.json` keeps, so that a list reads no log.
 */
export type SessionSummary = { session: SessionId, title: string, cwd: string, agent: AgentId, model?: ModelRef, created: Timestamp, updated: Timestamp, 
/**
 * The last event's number.
 */
seq: number, turns: number, usage: Usage, status: SessionStatus, marks?: Marks, };

/**
 * A session as of event number `seq`.
 */
export type SessionView = { session: SessionId, 
/**
 * The last event that was folded in.
 */
seq: number, created: Timestamp, updated: Timestamp, cwd: string, 
/**
 * Folders that it works in besides its own.
 */
folders?: Array<string>, agent: AgentId, model?: ModelRef, mode: Mode, 
/**
 * How much the model thinks, where the person said so.
 */
effort?: Effort, 
/**
 * Given by the person, or the first line of the first prompt.
 */
title: string, marks?: Marks, forked_from?: ForkPoint, status: SessionStatus, 
/**
 * Turns begun so far, child turns included.
 */
turns: number, 
/**
 * Turns that have not ended.
 */
open: { [key in TurnId]: OpenTurn }, 
/**
 * Questions that wait for an answer, oldest first.
 */
pending: Array<PermissionRequest>, plan: Plan, 
/**
 * What fills the window, as far as told.
 */
context?: ContextLedger, 
/**
 * What stays in the window whatever is compacted.
 */
pins?: Array<Pin>, 
/**
 * What the agent offers to do next.
 */
suggestions?: Array<SuggestedAction>, 
/**
 * What the session's agent understands besides plain words.
 */
commands?: Array<AgentCommand>, usage: Usage, 
/**
 * The newest prompts that came with a key, so that one sent again is known for what it is.
 */
keys?: Array<PromptKey>, 
/**
 * The newest part of the conversation, in order.
 */
items: Array<Item>, 
/**
 * Events before this number are not in `items`.
 */
first: number, 
/**
 * Bytes of text in `items`, so that trimming costs nothing to decide.
 */
weight: number, };

/**
 * The outcome of a turn, as scripts see it.
 */
export type Stop = "done" | "cancelled" | "denied" | "limit" | "error";

/**
 * Why, where the outcome alone does not say what to do next.
 */
export type StopCause = "refused" | "output_limit" | "max_steps" | "timeout" | "budget" | "stalled" | "unreachable" | "storage" | "interrupted";

export type SuggestedAction = { label: string, action: SuggestedStep, };

/**
 * Buttons under the conversation; they replace those before.
 */
export type SuggestedActions = { actions: Array<SuggestedAction>, };

export type SuggestedStep = { "type": "send_message", text: string, } | { "type": "fill_input", text: string, } | { "type": "run_tool", tool: string, input: unknown, };

/**
 * How programs would run there.
 */
export type TerminalOffer = { 
/**
 * Whether it locks programs into what a request grants. One that does not is only used where no sandbox is wanted.
 */
confined: boolean, };

/**
 * A moment. Always whole milliseconds, so what is written and read back is equal.
 */
export type Timestamp = string;

export type TitleChanged = { title: string, };

/**
 * A tool call as it starts.
 */
export type ToolCall = { call: CallId, 
/**
 * The tool's name, as the model knows it.
 */
name: string, 
/**
 * What a person reads: `read src/cart.rs`.
 */
title: string, kind: ToolKind, status: ToolStatus, 
/**
 * The arguments. A string when the model sent something that is not JSON.
 */
input: unknown, locations?: Array<Location>, 
/**
 * The tool that the model called to have this one called, if it did not call it directly.
 */
via?: string, };

/**
 * Later news of a tool call. What is absent stays as it was; `content` replaces.
 */
export type ToolCallUpdate = { call: CallId, status?: ToolStatus, title?: string, 
/**
 * What came out, a few words for the right margin: `lines 1-88`, `6 results`.
 */
summary?: string, content?: Array<ToolContent>, duration_ms?: number, };

/**
 * What a tool call shows.
 */
export type ToolContent = { "type": "content", content: Content, } | { "type": "diff", path: string, 
/**
 * Absent when the file is new.
 */
old?: string, new: string, } | { "type": "terminal", terminal: string, };

export type ToolKind = "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "other";

export type ToolStatus = "pending" | "in_progress" | "completed" | "failed";

export type ToolSummary = { name: string, group: string, description: string, 
/**
 * Whether models are offered it.
 */
offered: boolean, 
/**
 * What a rule says without looking at the arguments, if one does: allow, ask or deny.
 */
rule?: string, };

export type TurnEnd = { stop: Stop, cause?: StopCause, 
/**
 * Of this turn and the turns it started.
 */
usage: Usage, 
/**
 * Calls to the model.
 */
steps: number, duration_ms: number, };

/**
 * One exchange: a prompt and all that an agent did about it. Unique within its session (`t1`, `t2`, …).
 */
export type TurnId = string;

export type TurnStart = { 
/**
 * The turn that started this one, when an agent asked another.
 */
parent?: TurnId, agent: AgentId, model?: ModelRef, mode: Mode, 
/**
 * What it may use up, where whoever started it said so.
 */
limits?: Limits, 
/**
 * `false` when nobody was there to be asked.
 */
attended?: boolean, };

/**
 * Tokens by class, and money where a price is known.
 *
 * `input` is the whole prompt; `cache_read` and `cache_write` are parts of it. `output` is all that the model
 * produced; `reasoning` is a part of it.
 */
export type Usage = { input: number, output: number, cache_read: number, cache_write: number, reasoning: number, 
/**
 * Absent when the price of a model that was used is not known.
 */
cost_usd?: number, };

/**
 * What one call to a model cost.
 */
export type UsageReport = { model?: ModelRef, 
/**
 * The provider told nothing that can be believed, so this is a guess.
 */
estimated?: boolean, input: number, output: number, cache_read: number, cache_write: number, reasoning: number, 
/**
 * Absent when the price of a model that was used is not known.
 */
cost_usd?: number, };

/**
 * What was spent on one day, through one agent, on one model.
 */
export type UsageRow = { 
/**
 * `YYYY-MM-DD`, in UTC.
 */
day: string, agent: AgentId, model?: ModelRef, calls: number, usage: Usage, };

export type UserPrompt = { content: Array<Content>, 
/**
 * Chosen by the front end, so that a prompt sent twice runs once.
 */
key?: string, };

/**
 * What a provider wants back, unchanged, together with the step that it belongs to: signatures of thoughts, thoughts
 * that only it can read. Without meaning to anybody else, and of use to the same model only.
 */
export type Verbatim = { model: ModelRef, items: Array<VerbatimItem>, };

export type VerbatimItem = { 
/**
 * The place among the thoughts, texts and calls of the step, in order.
 */
at: number, kind: VerbatimKind, data: unknown, };

export type VerbatimKind = "part" | "block" | "thought";
