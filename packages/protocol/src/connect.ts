/**
 * The socket to a server: typed requests, subscriptions that survive it, and changes that arrive once.
 *
 * A change is kept until the server has answered it and is sent again under the same key after a reconnect, so it is made
 * once however often it is sent. A session's subscription goes on after the last event that was seen; the list starts
 * again from its state. Knows no framework and no page.
 */
import type { Event, HostAccepted, HostOffer, HostRequest, Op, Receipt, Reply, Request, SessionId, SessionSummary, SessionView } from "./generated/protocol";
import { RpcFailure } from "./failure";
import { EditorHost, type Editor } from "./host";
import { applyPatch, type PatchStep } from "./patch";

/** How the socket is. After the last try it is `stopped` until somebody asks for another. */
export type Link =
  | { state: "connecting"; attempt: number }
  | { state: "online" }
  | { state: "waiting"; attempt: number; until: number }
  | { state: "stopped" }
  | { state: "signed_out" };

/** A change that the server has not answered yet. */
export type Pending = { key: string; op: Op; sent: boolean };

export type Topic = { topic: "sessions" } | { topic: "session"; session: SessionId; after?: number } | { topic: "host"; session: SessionId; offer: HostOffer };

/** What the subscriber of a session hears. */
export type SessionNews = {
  state(view: SessionView): void;
  events(events: Event[]): void;
  failed(failure: RpcFailure): void;
};

type Options = {
  url: string;
  /** Keeps what is not answered over a reload of the page. */
  storage?: Pick<Storage, "getItem" | "setItem">;
  /** Whether a socket that can not be opened means that we are not let in. */
  isSignedOut?: () => Promise<boolean>;
  onLink(link: Link): void;
  onPending(pending: Pending[]): void;
};

type Subscription = {
  topic: Topic;
  opened(result: { subscription: number; state?: unknown; version: number }): void;
  news(method: string, params: Record<string, unknown>): void;
  failed(failure: RpcFailure): void;
};

/** What each kind of answer holds. */
type Answers = { [R in Reply as R["type"]]: R["value"] };

const WAITS = [1000, 2000, 4000, 8000, 16000];
const PING_EVERY = 15_000;
const STORED = "covey.outbox";
const MAX_WAITING = 50;

export class Connection {
  private socket: WebSocket | undefined;
  private link: Link = { state: "connecting", attempt: 0 };
  private nextId = 1;
  private calls = new Map<number, { resolve(value: unknown): void; reject(error: RpcFailure): void }>();
  private subscriptions = new Set<Subscription>();
  private active = new Map<number, Subscription>();
  private outbox: (Pending & { settle?: { resolve(receipt: Receipt): void; reject(error: RpcFailure): void } })[];
  private attempt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private heart: ReturnType<typeof setInterval> | undefined;
  private unanswered = 0;
  private closed = false;

  constructor(private readonly options: Options) {
    this.outbox = this.stored();
  }

  /** Connects, or tries again at once. */
  connect() {
    if (this.closed || this.socket !== undefined) return;
    clearTimeout(this.timer);
    this.tell({ state: "connecting", attempt: this.attempt });
    const socket = new WebSocket(this.options.url);
    this.socket = socket;
    socket.onopen = () => this.opened();
    socket.onmessage = (message) => this.received(String(message.data));
    socket.onclose = (event) => void this.lost(socket, event.code);
  }

  /** For a button, the window getting the focus, or the network coming back. */
  retry() {
    if (this.link.state !== "waiting" && this.link.state !== "stopped") return;
    this.attempt = 0;
    this.connect();
  }

  /** After signing in again. */
  retryAll() {
    this.attempt = 0;
    this.connect();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    clearInterval(this.heart);
    this.socket?.close();
  }

  async read<T extends Reply["type"]>(request: Request, type: T): Promise<Answers[T]> {
    const reply = (await this.call("read", request)) as { type: string; value: unknown };
    if (reply.type !== type) throw new RpcFailure("the server answered something else", "invalid");
    return reply.value as Answers[T];
  }

  /** Makes a change, now or when there is a connection. */
  submit(op: Op, key: string = randomKey()): Promise<Receipt> {
    if (this.outbox.length >= MAX_WAITING) {
      return Promise.reject(new RpcFailure("too much waits for the server already", "closed"));
    }
    return new Promise((resolve, reject) => {
      this.outbox.push({ key, op, sent: false, settle: { resolve, reject } });
      this.keep();
      this.flush();
    });
  }

  /** Follows the list of sessions. Answers how to stop. */
  watchSessions(changed: (sessions: Record<SessionId, SessionSummary>) => void): () => void {
    let state: { sessions: Record<SessionId, SessionSummary> } = { sessions: {} };
    let version = 0;
    const take = (next: unknown, at: number) => {
      state = next as typeof state;
      version = at;
      changed(state.sessions);
    };
    const subscription: Subscription = {
      topic: { topic: "sessions" },
      opened: (result) => take(result.state, result.version),
      news: (method, params) => {
        if (method === "state") return take(params.state, params.version as number);
        if (method !== "patch") return;
        if (params.base !== version) return this.renew(subscription);
        take(applyPatch(state, params.patch as PatchStep[]), params.version as number);
      },
      failed: () => undefined,
    };
    return this.subscribe(subscription);
  }

  /** Follows a session: its state first, then events; after a reconnect only the events that were missed. */
  watchSession(session: SessionId, news: SessionNews): () => void {
    let seen: number | undefined;
    const subscription: Subscription = {
      topic: { topic: "session", session },
      opened: (result) => {
        if (result.state !== undefined && result.state !== null) news.state(result.state as SessionView);
        seen = result.version;
        subscription.topic = { topic: "session", session, after: seen };
      },
      news: (method, params) => {
        if (method === "end") return this.renewSoon(subscription);
        if (method !== "events") return;
        const events = (params.events as Event[]).filter((event) => event.seq > (seen ?? 0));
        const last = events.at(-1);
        if (last === undefined) return;
        // A gap can not happen; should it, the log has everything.
        if (events[0]!.seq !== (seen ?? 0) + 1) return this.renew(subscription);
        seen = last.seq;
        subscription.topic = { topic: "session", session, after: seen };
        news.events(events);
      },
      failed: (failure) => news.failed(failure),
    };
    return this.subscribe(subscription);
  }

  /** Offers to do what the tools of a session want done, and does it. Answers how to stop. */
  serveEditor(session: SessionId, offer: HostOffer, editor: Editor, news: { accepted(taken: HostAccepted): void; failed(failure: RpcFailure): void }): () => void {
    const host = new EditorHost(editor, (request, answer) => this.call("answer_host", { session, request, answer }));
    return this.subscribe({
      topic: { topic: "host", session, offer },
      opened: (result) => news.accepted(result.state as HostAccepted),
      news: (method, params) => {
        if (method === "host") void host.take(params.request as HostRequest);
      },
      failed: (failure) => news.failed(failure),
    });
  }

  /** Asks something. Fails when there is no connection. */
  call(method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.link.state !== "online") return reject(new RpcFailure("there is no connection", "closed"));
      this.send(method, params, { resolve, reject });
    });
  }

  private send(method: string, params: unknown, call: { resolve(value: unknown): void; reject(error: RpcFailure): void }) {
    const id = this.nextId++;
    this.calls.set(id, call);
    this.socket?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  private opened() {
    this.unanswered = 0;
    this.tell({ state: "online" });
    for (const entry of this.outbox) entry.sent = false;
    for (const subscription of this.subscriptions) this.open(subscription);
    this.flush();
    clearInterval(this.heart);
    this.heart = setInterval(() => this.beat(), PING_EVERY);
  }

  private beat() {
    // Two that were not answered: the other side is gone, and the system has not noticed.
    if (this.unanswered >= 2) return this.drop();
    this.unanswered += 1;
    const heard = () => {
      this.unanswered = 0;
      this.attempt = 0;
    };
    this.send("ping", {}, { resolve: heard, reject: () => undefined });
  }

  /** Gives up on a socket without waiting for the other side to agree. */
  drop() {
    const socket = this.socket;
    if (socket === undefined) return;
    socket.onclose = null;
    socket.close();
    void this.lost(socket, 1006);
  }

  private async lost(socket: WebSocket, code: number) {
    if (this.socket !== socket) return;
    this.socket = undefined;
    clearInterval(this.heart);
    const failure = new RpcFailure("the connection was lost", "closed");
    const calls = [...this.calls.values()];
    this.calls.clear();
    this.active.clear();
    if (code === 4001) return this.tell({ state: "signed_out" });
    const wasOnline = this.link.state === "online";
    if (wasOnline) this.attempt = 0;
    for (const call of calls) call.reject(failure);
    if (this.closed) return;
    const wait = WAITS[this.attempt];
    this.attempt += 1;
    if (wait === undefined) return this.tell({ state: "stopped" });
    // Full jitter in the upper half, so that many tabs do not come back at once.
    const pause = wait * (0.5 + Math.random() / 2);
    this.tell({ state: "waiting", attempt: this.attempt, until: Date.now() + pause });
    this.timer = setTimeout(() => this.connect(), pause);
    if (await this.options.isSignedOut?.()) {
      clearTimeout(this.timer);
      if (this.socket === undefined) this.tell({ state: "signed_out" });
    }
  }

  private received(text: string) {
    const message = JSON.parse(text) as {
      id?: number;
      method?: string;
      params?: Record<string, unknown>;
      result?: unknown;
      error?: { message: string; data?: { kind: string; hint?: string } };
    };
    if (message.id === undefined || message.id === null) {
      const params = message.params ?? {};
      this.active.get(params.subscription as number)?.news(message.method ?? "", params);
      return;
    }
    const call = this.calls.get(message.id);
    this.calls.delete(message.id);
    const { error } = message;
    if (error === undefined) call?.resolve(message.result);
    else call?.reject(new RpcFailure(error.message, error.data?.kind ?? "invalid", error.data?.hint));
  }

  private subscribe(subscription: Subscription): () => void {
    this.subscriptions.add(subscription);
    if (this.link.state === "online") this.open(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      for (const [id, active] of this.active) {
        if (active !== subscription) continue;
        this.active.delete(id);
        if (this.link.state === "online") void this.call("unsubscribe", { subscription: id }).catch(() => undefined);
      }
    };
  }

  private open(subscription: Subscription) {
    const resolve = (value: unknown) => {
      const result = value as { subscription: number; state?: unknown; version: number };
      if (!this.subscriptions.has(subscription)) return;
      this.active.set(result.subscription, subscription);
      subscription.opened(result);
    };
    const reject = (failure: RpcFailure) => {
      if (failure.kind !== "closed") subscription.failed(failure);
    };
    this.send("subscribe", subscription.topic, { resolve, reject });
  }

  /** Subscribes anew, because what came does not fit. */
  private renew(subscription: Subscription) {
    for (const [id, active] of this.active) if (active === subscription) this.active.delete(id);
    if (this.link.state === "online" && this.subscriptions.has(subscription)) this.open(subscription);
  }

  private renewSoon(subscription: Subscription) {
    setTimeout(() => this.renew(subscription), 300);
  }

  /** Sends what waits, in order. What is not answered when the socket is lost is sent again. */
  private flush() {
    if (this.link.state !== "online") return;
    for (const entry of this.outbox) {
      if (entry.sent) continue;
      entry.sent = true;
      const done = () => {
        this.outbox = this.outbox.filter((other) => other !== entry);
        this.keep();
      };
      const resolve = (value: unknown) => {
        done();
        entry.settle?.resolve(value as Receipt);
      };
      const reject = (failure: RpcFailure) => {
        if (failure.kind === "closed" && this.link.state !== "online") return;
        done();
        entry.settle?.reject(failure);
      };
      this.send("submit", { op: entry.op, key: entry.key }, { resolve, reject });
    }
  }

  private keep() {
    const pending = this.outbox.map(({ key, op, sent }) => ({ key, op, sent }));
    try {
      this.options.storage?.setItem(STORED, JSON.stringify(pending));
    } catch {
      // Full or forbidden: it then does not survive a reload.
    }
    this.options.onPending(pending);
  }

  private stored(): Pending[] {
    try {
      const kept = JSON.parse(this.options.storage?.getItem(STORED) ?? "[]") as Pending[];
      return kept.map(({ key, op }) => ({ key, op, sent: false }));
    } catch {
      return [];
    }
  }

  private tell(link: Link) {
    this.link = link;
    this.options.onLink(link);
  }
}

function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
