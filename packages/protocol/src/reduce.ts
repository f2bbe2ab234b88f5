/**
 * What a session's events add up to: the same fold as `SessionView::apply` in Rust, and tested on the same log.
 *
 * Pure: a view is never changed. What an event did not touch is the same object before and after, so that whatever draws
 * it can tell by looking.
 */
import type { Chunk, Content, Event, Item, SessionStart, SessionView, ToolCallUpdate, ToolContent, Usage } from "./generated/protocol";

const MAX_ITEMS = 400;
const MAX_WEIGHT = 1 << 20;
const MAX_KEYS = 64;
const MAX_TITLE = 80;

type View = SessionView & { weight: number };

/** Whether old items are dropped, as they are in what is shown live, or all are kept. */
export type Bound = "newest" | "all";

/** The view of a log that has only its first event. */
export function emptyView(event: Event & { type: "session_start" } & SessionStart): SessionView {
  const view: View = {
    session: event.session,
    seq: event.seq,
    created: event.ts,
    updated: event.ts,
    cwd: event.cwd,
    agent: event.agent,
    mode: event.mode ?? "ask",
    title: event.title ?? "",
    status: "idle",
    turns: 0,
    open: {},
    pending: [],
    plan: { entries: [] },
    pins: [],
    suggestions: [],
    commands: [],
    usage: { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 },
    keys: [],
    items: [],
    first: event.seq + 1,
    weight: 0,
  };
  if (event.model !== undefined) view.model = event.model;
  if (event.forked_from !== undefined) view.forked_from = event.forked_from;
  return view;
}

/** One event more. Events that were folded in already are passed over, so a resync may overlap. */
export function reduce(view: SessionView, event: Event): SessionView {
  return foldAll(view, [event]);
}

/** Many events more, copying the view once. */
export function foldAll(view: SessionView, events: Event[], bound: Bound = "newest"): SessionView {
  const draft: View = { ...(view as View), items: [...view.items] };
  draft.weight ??= draft.items.reduce((sum, item) => sum + weight(item), 0);
  for (const event of events) {
    if (event.seq > draft.seq) apply(draft, event, bound);
  }
  return draft;
}

function apply(view: View, event: Event, bound: Bound): SessionView {
  view.seq = event.seq;
  view.updated = event.ts;
  fold(view, event, bound);
  if (event.type === "session_end") view.status = "ended";
  else if (view.pending.length > 0) view.status = "waiting";
  else if (Object.keys(view.open).length > 0) view.status = "running";
  else if (view.status !== "ended") view.status = "idle";
  return view;
}

function fold(view: View, event: Event, bound: Bound): SessionView {
  const push = (body: object) => {
    const item = { seq: event.seq, ts: event.ts, ...(event.turn === undefined ? {} : { turn: event.turn }), ...body } as Item;
    view.weight += weight(item);
    view.items.push(item);
    trim(view, bound);
    return view;
  };
  switch (event.type) {
    case "session_start":
    case "file_read":
    case "file_write":
    case "verbatim":
    case "repair":
    case "checkpoint":
    case "session_end":
      return view;
    case "hook": {
      const failed = event.says === "deny" || (event.context === undefined && !event.changed_input);
      return push({ item: "notice", level: failed ? "warning" : "info", text: describeHook(event) });
    }
    case "message_end":
      return change(view, event.message, (item) => ({ ...item, done: true }));
    case "context": {
      const { v: _v, seq: _s, ts: _t, turn: _u, type: _y, ...ledger } = event;
      view.context = ledger;
      return view;
    }
    case "compaction":
      return push({ item: "notice", level: "info", text: describe(event) });
    case "pin": {
      const { v: _v, seq: _s, ts: _t, turn: _u, type: _y, ...pin } = event;
      view.pins = (view.pins ?? []).filter((known) => known.pin !== pin.pin);
      if (pin.content !== undefined) view.pins = [...view.pins, pin];
      return view;
    }
    case "suggested_actions":
      view.suggestions = event.actions;
      return view;
    case "commands":
      view.commands = event.commands;
      return view;
    case "user_prompt":
      view.suggestions = [];
      if (view.title === "") view.title = titleFrom(promptText(event.content));
      if (event.key !== undefined && event.turn !== undefined) {
        view.keys = [...(view.keys ?? []).slice(-(MAX_KEYS - 1)), { key: event.key, turn: event.turn }];
      }
      return push({ item: "prompt", content: event.content });
    case "turn_start": {
      view.turns += 1;
      if (event.turn === undefined) return view;
      const parent = event.parent === undefined ? {} : { parent: event.parent };
      const usage = { input: 0, output: 0, cache_read: 0, cache_write: 0, reasoning: 0 };
      view.open = { ...view.open, [event.turn]: { ...parent, agent: event.agent, started: event.ts, usage, steps: 0 } };
      return view;
    }
    case "agent_message":
      return chunk(view, event, "message", push, bound);
    case "agent_thought":
      return chunk(view, event, "thought", push, bound);
    case "retract": {
      const at = position(view, event.message);
      if (at >= 0) view.weight -= Math.min(weight(view.items[at]!), view.weight);
      if (at >= 0) view.items.splice(at, 1);
      return view;
    }
    case "tool_call": {
      const { v: _v, seq: _s, ts: _t, turn: _u, type: _y, ...call } = event;
      return push({ item: "tool", call });
    }
    case "tool_call_update": {
      const { v: _v, seq: _s, ts: _t, turn: _u, type: _y, ...update } = event;
      return toolUpdate(view, update, bound);
    }
    case "plan":
      view.plan = { entries: event.entries };
      return view;
    case "permission_request": {
      const { v: _v, seq: _s, ts: _t, turn: _u, type: _y, ...request } = event;
      view.pending = [...view.pending, request];
      return view;
    }
    case "permission":
      view.pending = view.pending.filter((request) => request.request !== event.request);
      return view;
    case "usage": {
      const { input, output, cache_read, cache_write, reasoning, cost_usd } = event;
      const usage: Usage = { input, output, cache_read, cache_write, reasoning };
      if (cost_usd !== undefined) usage.cost_usd = cost_usd;
      view.usage = add(view.usage, usage);
      const open = event.turn === undefined ? undefined : view.open[event.turn];
      if (open !== undefined && event.turn !== undefined) {
        const counted = { ...open, usage: add(open.usage, usage), steps: open.steps + 1 };
        view.open = { ...view.open, [event.turn]: counted };
      }
      return view;
    }
    case "mode":
      view.mode = event.mode;
      return view;
    case "folders":
      if (event.folders.length === 0) delete view.folders;
      else view.folders = event.folders;
      return view;
    case "effort":
      if (event.effort === undefined) delete view.effort;
      else view.effort = event.effort;
      return view;
    case "model":
      view.model = event.model;
      return view;
    case "agent":
      view.agent = event.agent;
      if (event.model === undefined) delete view.model;
      else view.model = event.model;
      view.commands = [];
      return view;
    case "marks":
      view.marks = { pinned: event.pinned, archived: event.archived };
      return view;
    case "title":
      view.title = event.title;
      return view;
    case "retry":
      return push({ item: "retry", attempt: event.attempt, wait_ms: event.wait_ms, reason: event.reason });
    case "route":
      return push({ item: "route", from: event.from, to: event.to, reason: event.reason });
    case "notice":
      return push({ item: "notice", level: event.level, text: event.text });
    case "error":
      return push({ item: "error", message: event.message, ...(event.hint === undefined ? {} : { hint: event.hint }) });
    case "turn_end": {
      if (event.turn !== undefined) {
        const { [event.turn]: _over, ...open } = view.open;
        view.open = open;
      }
      // A question of a turn that is over can no longer be answered.
      if (Object.keys(view.open).length === 0) view.pending = [];
      const cause = event.cause === undefined ? {} : { cause: event.cause };
      return push({ item: "turn_end", stop: event.stop, ...cause, duration_ms: event.duration_ms });
    }
    default:
      event satisfies never;
      return view;
  }
}

function trim(view: View, bound: Bound) {
  if (bound === "all") return;
  while (view.items.length > MAX_ITEMS || (view.weight > MAX_WEIGHT && view.items.length > 1)) {
    const gone = view.items.shift();
    if (gone === undefined) break;
    view.weight -= Math.min(weight(gone), view.weight);
    view.first = view.items[0]?.seq ?? view.seq + 1;
  }
}

function position(view: View, message: string): number {
  return view.items.findLastIndex((item) => (item.item === "message" || item.item === "thought") && item.message === message);
}

function change(view: View, message: string, how: (item: Item) => object): SessionView {
  const at = position(view, message);
  if (at >= 0) view.items[at] = how(view.items[at]!) as Item;
  return view;
}

function chunk(view: View, event: Chunk, item: "message" | "thought", push: (body: object) => SessionView, bound: Bound) {
  const { message, text } = event;
  if (position(view, message) < 0) return push({ item, message, text, done: false });
  change(view, message, (found) => ({ ...found, text: ("text" in found ? found.text : "") + text }));
  view.weight += bytes(text);
  trim(view, bound);
  return view;
}

function toolUpdate(view: View, update: ToolCallUpdate, bound: Bound): SessionView {
  const at = view.items.findLastIndex((item) => item.item === "tool" && item.call.call === update.call);
  const found = view.items[at];
  if (found === undefined || found.item !== "tool") return view;
  const before = found.result === undefined ? 0 : updateWeight(found.result);
  const call = { ...found.call };
  if (update.status !== undefined) call.status = update.status;
  if (update.title !== undefined) call.title = update.title;
  const result = { ...found.result, ...update } as ToolCallUpdate;
  view.items[at] = { ...found, call, result };
  view.weight = Math.max(0, view.weight + updateWeight(result) - before);
  trim(view, bound);
  return view;
}

function add(a: Usage, b: Usage): Usage {
  const total = (usage: Usage) => usage.input + usage.output;
  const sum: Usage = {
    input: a.input + b.input,
    output: a.output + b.output,
    cache_read: a.cache_read + b.cache_read,
    cache_write: a.cache_write + b.cache_write,
    reasoning: a.reasoning + b.reasoning,
  };
  // Unknown plus known is unknown, unless one side spent nothing at all.
  let cost: number | undefined;
  if (a.cost_usd !== undefined && b.cost_usd !== undefined) cost = a.cost_usd + b.cost_usd;
  else if (b.cost_usd === undefined && total(b) === 0) cost = a.cost_usd;
  else if (a.cost_usd === undefined && total(a) === 0) cost = b.cost_usd;
  if (cost !== undefined) sum.cost_usd = cost;
  return sum;
}

function describe(event: Event & { type: "compaction" }): string {
  if (event.stage === "undo") return "the whole conversation is back in the window";
  const what = event.stage === "prune" ? "old results were cut" : "earlier turns were summarised";
  // Agents of other makers do not count it for us.
  if (event.tokens_after > 0) return `${what}: about ${event.tokens_before} tokens became ${event.tokens_after}`;
  return event.tokens_before > 0 ? `${what}: there were about ${event.tokens_before} tokens` : what;
}

function describeHook(event: Event & { type: "hook" }): string {
  const said = { allow: "allowed it", ask: "wants it asked", deny: "said no" };
  const silent = event.changed_input ? "changed the input" : event.context !== undefined ? "added to the context" : "failed";
  const why = event.reason === undefined ? "" : `: ${event.reason}`;
  return `hook ${event.hook} (${event.on}) ${event.says === undefined ? silent : said[event.says]}${why}`;
}

/** The text of a prompt, with its other blocks named in brackets. */
export function promptText(content: Content[]): string {
  const text = (block: Content) => {
    switch (block.type) {
      case "text":
        return block.text;
      case "image":
        return `[${block.name ?? "image"}]`;
      case "resource":
        return `[${block.uri}]`;
      default:
        return `[${otherName(block as Record<string, unknown>)}]`;
    }
  };
  return content.map(text).join("\n");
}

/** What can be said of a block that is not known: its kind, its name and how much there is of it. */
function otherName(block: Record<string, unknown>): string {
  const text = (name: string) => (typeof block[name] === "string" ? block[name] : undefined);
  const kind = text("type");
  if (kind === undefined) return "?";
  const data = text("data");
  const size = data === undefined ? undefined : `${Math.floor(data.length / 4) * 3} bytes`;
  const known = [text("name") ?? text("uri") ?? text("mimeType"), size].filter((one) => one !== undefined);
  return known.length === 0 ? kind : `${kind}: ${known.join(", ")}`;
}

/** The first line that says something, cut at a character. */
function titleFrom(text: string): string {
  const line = text.split("\n").map((one) => one.trim()).find((one) => one !== "") ?? "";
  const characters = [...line];
  // eslint-disable-next-line no-control-regex
  const title = characters.filter((one) => !/[\u0000-\u001f\u007f-\u009f]/.test(one)).slice(0, MAX_TITLE).join("");
  return characters.length > MAX_TITLE ? `${title}…` : title;
}

/** How long a text is in UTF-8, which is what the other side counts. */
function bytes(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) length += code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return length;
}

function weight(item: Item): number {
  switch (item.item) {
    case "prompt":
      return 64 + sum(item.content, contentWeight);
    case "message":
    case "thought":
      return 64 + bytes(item.text);
    case "tool":
      return 64 + inputWeight(item.call.input) + (item.result === undefined || item.result === null ? 0 : updateWeight(item.result));
    case "notice":
      return 64 + bytes(item.text);
    case "error":
      return 64 + bytes(item.message);
    default:
      return 64;
  }
}

function inputWeight(input: unknown): number {
  if (typeof input === "string") return bytes(input);
  if (typeof input !== "object" || input === null || Array.isArray(input)) return 16;
  return sum(Object.values(input), (value) => (typeof value === "string" ? bytes(value) : 16));
}

function updateWeight(update: ToolCallUpdate): number {
  const one = (block: ToolContent): number => {
    switch (block.type) {
      case "content":
        return contentWeight(block.content);
      case "diff":
        return bytes(block.old ?? "") + bytes(block.new);
      case "terminal":
        return 16;
      default:
        return 256;
    }
  };
  return 64 + sum(update.content ?? [], one);
}

function contentWeight(content: Content): number {
  switch (content.type) {
    case "text":
      return bytes(content.text);
    case "image":
      return "data" in content && typeof content.data === "string" ? bytes(content.data) : 64;
    case "resource":
      return content.text === undefined ? 64 : bytes(content.text);
    default:
      return 256;
  }
}

function sum<T>(list: T[], one: (value: T) => number): number {
  return list.reduce((total, value) => total + one(value), 0);
}
