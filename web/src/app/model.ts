/** What the page knows and can do: one connection, the list of sessions, the session that is open. */
import {
  Connection, RpcFailure, foldAll,
  type CommandSummary, type Content, type Decision, type Event, type FileChange, type Item, type Link, type Mode, type Op, type Pending,
  type Receipt, type SessionId, type SessionSummary, type SessionView,
} from "@covey/protocol";
import { remembered, Store } from "./store";
import { setting } from "./settings";

export type Page = { page: "session"; session?: SessionId } | { page: "replay"; session: SessionId } | { page: "settings"; part?: string } | { page: "usage" } | { page: "welcome" };
export type Toast = { text: string; hint?: string; kind: "info" | "error"; undo?: () => void };
export type Sessions = Record<SessionId, SessionSummary>;

/** What is looked at before going on. */
export type Sheet =
  | { sheet: "help" }
  | { sheet: "keys" }
  | { sheet: "changes"; session: SessionId; kind: "undo" | "redo" | "diff"; files: FileChange[]; what?: string };

/** A prompt that waits for the turn before it. */
export type Queued = { key: string; content: Content[] };

export const link = new Store<Link>({ state: "connecting", attempt: 0 });
export const sessions = new Store<Sessions | undefined>(undefined);
export const pending = new Store<Pending[]>([]);
export const page = new Store<Page>(readPage());
export const view = new Store<SessionView | undefined>(undefined);
export const failure = new Store<RpcFailure | undefined>(undefined);
/** Items from before what the view holds, as far as they were scrolled to. */
export const older = new Store<{ items: Item[]; events: Event[]; loading: boolean }>({ items: [], events: [], loading: false });
export const toast = new Store<Toast | undefined>(undefined);
export const drawer = new Store(false);
export const palette = new Store(false);
export const sheet = new Store<Sheet | undefined>(undefined);
export const hello = new Store<{ cwd: string; covey: string } | undefined>(undefined);
/** What was typed and not sent, by session. */
export const drafts = remembered<Record<string, string>>("covey.drafts", {});
/** The last event that this browser showed of each session. */
export const seen = remembered<Record<string, number>>("covey.seen", {});
export const queued = remembered<Record<string, Queued[]>>("covey.queued", {});
/** Sessions that are about to be deleted, and can still be had back. */
export const deleting = new Store<ReadonlySet<SessionId>>(new Set());

export const connection = new Connection({
  url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/socket`,
  storage: localStorage,
  isSignedOut: async () => (await fetch("/api/health").catch(() => undefined))?.status === 401,
  onLink(next) {
    link.set(next);
    if (next.state === "online") void greet();
  },
  onPending: (list) => pending.set(list),
});

async function greet() {
  try {
    hello.set((await connection.call("hello", {})) as { cwd: string; covey: string });
  } catch {
    // Lost again; the next connection greets again.
  }
}

// --- where we are -----------------------------------------------------------------------------------------------------

function readPage(): Page {
  const [, first, second, third] = location.pathname.split("/");
  if (first === "session" && second !== undefined && second !== "") {
    return third === "replay" ? { page: "replay", session: second } : { page: "session", session: second };
  }
  if (first === "settings") return { page: first, ...(location.hash === "" ? {} : { part: location.hash.slice(1) }) };
  if (first === "usage" || first === "welcome") return { page: first };
  return { page: "session" };
}

function address(to: Page): string {
  if (to.page === "replay") return `/session/${to.session}/replay`;
  if (to.page === "session") return to.session === undefined ? "/" : `/session/${to.session}`;
  return `/${to.page}`;
}

export function go(to: Page) {
  drawer.set(false);
  if (address(to) !== location.pathname) history.pushState(null, "", address(to));
  page.set(to);
}

let stopWatching: (() => void) | undefined;
let watched: SessionId | undefined;

function openPage() {
  const now = page.get();
  const session = now.page === "session" ? now.session : undefined;
  if (session === watched) return;
  stopWatching?.();
  stopWatching = undefined;
  watched = session;
  view.set(undefined);
  failure.set(undefined);
  older.set({ items: [], events: [], loading: false });
  if (session === undefined) return;
  stopWatching = connection.watchSession(session, {
    state: (state) => watched === session && show(state),
    events: (events) => {
      const before = view.get();
      if (before !== undefined && watched === session) show(foldAll(before, events));
    },
    failed: (error) => watched === session && failure.set(error),
  });
}

function show(next: SessionView) {
  const before = view.get();
  view.set(next);
  if (document.visibilityState === "visible") markSeen(next.session, next.seq);
  if (before?.session === next.session && before.status !== "idle" && next.status === "idle") {
    notifyEnd(next);
    sendQueued(next.session);
  }
}

function markSeen(session: SessionId, seq: number) {
  if ((seen.get()[session] ?? 0) < seq) seen.update((all) => ({ ...all, [session]: seq }));
}

function notifyEnd(next: SessionView) {
  if (!setting.notify.get() || document.visibilityState === "visible" || typeof Notification === "undefined") return;
  const last = next.items.findLast((item) => item.item === "message");
  const body = last?.item === "message" ? last.text.split("\n")[0] : "";
  new Notification(next.title, { body, tag: next.session });
}

export function start() {
  connection.watchSessions((all) => sessions.set(all));
  page.follow(openPage);
  openPage();
  connection.connect();
  addEventListener("popstate", () => page.set(readPage()));
  addEventListener("online", () => connection.retry());
  addEventListener("offline", () => connection.drop());
  addEventListener("focus", () => connection.retry());
  document.addEventListener("visibilitychange", () => {
    const open = view.get();
    if (document.visibilityState !== "visible") return;
    connection.retry();
    if (open !== undefined) markSeen(open.session, open.seq);
  });
}

// --- what can be done -------------------------------------------------------------------------------------------------

export function tell(error: unknown) {
  if (error instanceof RpcFailure) toast.set({ text: error.message, kind: "error", ...(error.hint === undefined ? {} : { hint: error.hint }) });
  else toast.set({ text: String(error), kind: "error" });
}

export async function submit(op: Op, key?: string): Promise<Receipt | undefined> {
  try {
    return await connection.submit(op, key);
  } catch (error) {
    tell(error);
    return undefined;
  }
}

export async function newSession(cwd?: string) {
  try {
    const { session } = await connection.submit({ type: "create_session", cwd: cwd ?? view.get()?.cwd ?? hello.get()?.cwd ?? ".", ephemeral: false });
    go({ page: "session", session });
    return session;
  } catch (error) {
    // Without anybody who could answer, the page that helps to get somebody says more than an error.
    if (error instanceof RpcFailure && error.kind === "no_model") go({ page: "welcome" });
    tell(error);
    return undefined;
  }
}

/** Sends a prompt, or keeps it until the turn that runs is over. */
export async function prompt(session: SessionId, content: Content[]) {
  const key = crypto.getRandomValues(new Uint32Array(3)).join("-");
  const status = view.get()?.session === session ? view.get()?.status : sessions.get()?.[session]?.status;
  if (status === "running" || status === "waiting") {
    queued.update((all) => ({ ...all, [session]: [...(all[session] ?? []), { key, content }] }));
    return;
  }
  await sendPrompt(session, { key, content });
}

async function sendPrompt(session: SessionId, { key, content }: Queued) {
  await submit({ type: "start_turn", session, prompt: content, key, limits: {}, attended: true }, key);
}

function sendQueued(session: SessionId) {
  const [next, ...rest] = queued.get()[session] ?? [];
  if (next === undefined) return;
  queued.update((all) => ({ ...all, [session]: rest }));
  void sendPrompt(session, next);
}

export function unqueue(session: SessionId, key: string): Queued | undefined {
  const found = queued.get()[session]?.find((one) => one.key === key);
  queued.update((all) => ({ ...all, [session]: (all[session] ?? []).filter((one) => one.key !== key) }));
  return found;
}

export const stop = (session: SessionId) => submit({ type: "cancel_turn", session });
export const setMode = (session: SessionId, mode: Mode) => submit({ type: "set_mode", session, mode });
export const setModel = (session: SessionId, model: string) => submit({ type: "set_model", session, model });
export const setAgent = (session: SessionId, agent: string) => submit({ type: "set_agent", session, agent });
export const rename = (session: SessionId, title: string) => submit({ type: "rename", session, title });
export const mark = (session: SessionId, marks: { pinned?: boolean; archived?: boolean }) => submit({ type: "mark_session", session, ...marks });

export async function decide(session: SessionId, request: string, decision: Decision) {
  try {
    await connection.submit({ type: "answer_permission", session, request, decision });
  } catch (error) {
    // Somebody else was faster; the events tell what they said.
    if (!(error instanceof RpcFailure && error.kind === "invalid")) tell(error);
  }
}

export async function fork(session: SessionId, at?: number) {
  const receipt = await submit({ type: "fork_session", session, ...(at === undefined ? {} : { at }) });
  if (receipt !== undefined) go({ page: "session", session: receipt.session });
}

const UNDO_WITHIN = 8000;

/** Deletes after a moment in which it can be taken back. */
export function remove(session: SessionId) {
  const title = sessions.get()?.[session]?.title ?? session;
  const keep = () => deleting.update((all) => new Set([...all].filter((one) => one !== session)));
  deleting.update((all) => new Set([...all, session]));
  const now = page.get();
  if (now.page !== "settings" && "session" in now && now.session === session) go({ page: "session" });
  const timer = setTimeout(() => {
    void submit({ type: "delete_session", session }).finally(keep);
  }, UNDO_WITHIN);
  const undo = () => {
    clearTimeout(timer);
    keep();
    toast.set(undefined);
  };
  toast.set({ text: `Deleted “${title === "" ? "untitled" : title}”`, kind: "info", undo });
}

/** Loads one page of what was before. Answers whether there was any. */
export async function loadOlder(): Promise<boolean> {
  const open = view.get();
  const now = older.get();
  const before = now.events[0]?.seq ?? open?.first ?? 0;
  if (open === undefined || now.loading || before <= 2) return false;
  older.set({ ...now, loading: true });
  try {
    const page = await connection.read({ type: "events_before", session: open.session, before, limit: 1000 }, "events");
    if (watched !== open.session) return false;
    const events = [...page, ...now.events];
    const empty: SessionView = { ...open, seq: 0, items: [], open: {}, pending: [] };
    older.set({ events, items: foldAll(empty, events, "all").items, loading: false });
    return page.length > 0;
  } catch (error) {
    older.set({ ...now, loading: false });
    tell(error);
    return false;
  }
}

export async function exportAs(session: SessionId, format: "html" | "markdown" | "json") {
  try {
    const text = await connection.read({ type: "export", session, format }, "export");
    const types = { html: "text/html", markdown: "text/markdown", json: "application/json" };
    const anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(new Blob([text], { type: types[format] }));
    anchor.download = `${session}.${format === "markdown" ? "md" : format}`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
  } catch (error) {
    tell(error);
  }
}

export async function signOut() {
  await fetch("/api/logout", { method: "POST" }).catch(() => undefined);
}

export async function agentCommands(session: SessionId): Promise<CommandSummary[]> {
  try {
    return await connection.read({ type: "commands", session }, "commands");
  } catch {
    return [];
  }
}
