import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { emptyView, foldAll, RpcFailure, type Event, type SessionStart, type SessionView } from "@covey/protocol";
import { connection, drawer, exportAs, go, link } from "../app/model";
import { useStore } from "../app/store";
import { ItemView } from "../session/item";
import "./replay.css";

/** No pause is longer than this, however long it was. */
const LONGEST_PAUSE = 2000;
const KINDS = ["prompts", "messages", "thoughts", "tools"] as const;
type Kind = (typeof KINDS)[number];
const KIND_OF: Record<string, Kind> = { prompt: "prompts", message: "messages", thought: "thoughts", tool: "tools" };
/** A view is kept every so many events, so that going back is quick. */
const STRIDE = 2000;

/** A past session as it happened: go to any event, play it at any speed, look only at some of it. */
export default function Replay({ session }: { session: string }) {
  const online = useStore(link, (now) => now.state === "online");
  const { events, done, error } = useLog(session, online);
  const [at, setAt] = useState(0);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(4);
  const [hidden, setHidden] = useState<ReadonlySet<Kind>>(new Set());
  const view = useFold(events, at);
  const bottom = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (done && at === 0) setAt(events.length);
  }, [done]);
  useEffect(() => {
    if (!playing) return;
    if (at >= events.length) return setPlaying(false);
    const pause = at === 0 ? 0 : Date.parse(events[at]!.ts) - Date.parse(events[at - 1]!.ts);
    const timer = setTimeout(() => setAt(at + 1), Math.min(Math.max(pause, 0), LONGEST_PAUSE) / speed);
    return () => clearTimeout(timer);
  }, [playing, at, speed, events]);
  useEffect(() => {
    if (playing) bottom.current?.scrollIntoView({ block: "end" });
  }, [at, playing]);
  const turns = useMemo(() => events.flatMap((event, index) => (event.type === "user_prompt" ? [index + 1] : [])), [events]);
  const step = (to: number) => {
    setPlaying(false);
    setAt(Math.max(1, Math.min(events.length, to)));
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === " ") {
      event.preventDefault();
      setPlaying(!playing);
    } else if (event.key === "PageUp") step(turns.findLast((turn) => turn < at) ?? 1);
    else if (event.key === "PageDown") step(turns.find((turn) => turn > at) ?? events.length);
  };
  const now = events[at - 1];
  return (
    <main id="main" tabIndex={-1} class="main replay" onKeyDown={press}>
      <header class="header">
        <button class="quiet icon only-narrow" type="button" aria-label="Sessions" onClick={() => drawer.set(true)}>☰</button>
        <h1 class="title">{view?.title ?? "Replay"}</h1>
        <button type="button" class="quiet" onClick={() => void exportAs(session, "html")}>Share</button>
        <button type="button" class="quiet" onClick={() => go({ page: "session", session })}>Back to the session</button>
      </header>
      <div class="conversation" tabIndex={0} role="region" aria-label="Conversation">
        <div class="thread">
          {error !== undefined && <p class="error-card">{error}</p>}
          {view?.items.filter((item) => !hidden.has(KIND_OF[item.item] ?? "messages") || KIND_OF[item.item] === undefined).map((item) => <ItemView key={item.seq} item={item} session={session} />)}
          <div ref={bottom} />
        </div>
      </div>
      <div class="controls" role="group" aria-label="Replay">
        <button class="primary" type="button" disabled={events.length === 0} onClick={() => { if (at >= events.length) setAt(1); setPlaying(!playing); }}>{playing ? "Pause" : "Play"}</button>
        <button class="quiet icon" type="button" aria-label="One event back" onClick={() => step(at - 1)}>‹</button>
        <Timeline at={at} events={events} turns={turns} go={step} />
        <button class="quiet icon" type="button" aria-label="One event on" onClick={() => step(at + 1)}>›</button>
        <label class="speed">Speed<select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>{[0.5, 1, 2, 4, 16, 64].map((one) => <option key={one} value={one}>{one}×</option>)}</select></label>
        <div class="filters" role="group" aria-label="Show">
          {KINDS.map((kind) => (
            <button key={kind} class="quiet small" type="button" aria-pressed={!hidden.has(kind)} onClick={() => setHidden(new Set(hidden.has(kind) ? [...hidden].filter((one) => one !== kind) : [...hidden, kind]))}>{kind}</button>
          ))}
        </div>
        <span class="faint small where" aria-live="off">{at} of {events.length}{done ? "" : "…"}{now === undefined ? "" : ` · ${now.type.replaceAll("_", " ")} · ${new Date(now.ts).toLocaleTimeString()}`}</span>
      </div>
    </main>
  );
}

/** All events with their places: prompts, tools, waits. */
function Timeline({ at, events, turns, go }: { at: number; events: Event[]; turns: number[]; go: (to: number) => void }) {
  return (
    <div class="timeline">
      <div class="ticks" aria-hidden="true">
        {turns.slice(0, 400).map((turn) => <span key={turn} ref={(element) => element?.style.setProperty("left", `${(100 * turn) / Math.max(1, events.length)}%`)} />)}
      </div>
      <input type="range" min={1} max={Math.max(1, events.length)} value={at} aria-label="Event" aria-valuetext={`event ${at} of ${events.length}`} onInput={(event) => go(Number(event.currentTarget.value))} />
    </div>
  );
}

function useLog(session: string, online: boolean): { events: Event[]; done: boolean; error?: string } {
  const [log, setLog] = useState<{ events: Event[]; done: boolean; error?: string }>({ events: [], done: false });
  useEffect(() => {
    if (!online || log.done) return;
    let current = true;
    const load = async () => {
      const events = [...log.events];
      for (;;) {
        const page = await connection.read({ type: "events_after", session, after: events.at(-1)?.seq ?? 0, limit: 1000 }, "events");
        if (!current) return;
        events.push(...page);
        if (page.length === 0) return setLog({ events, done: true });
        setLog({ events: [...events], done: false });
      }
    };
    load().catch((error: unknown) => current && setLog({ events: [], done: true, error: error instanceof RpcFailure ? error.message : String(error) }));
    return () => void (current = false);
  }, [session, online]);
  return log;
}

/** The state after so many events: from the nearest one that is known. */
function useFold(events: Event[], at: number): SessionView | undefined {
  const known = useRef(new Map<number, SessionView>());
  return useMemo(() => {
    const first = events[0];
    if (first === undefined || first.type !== "session_start" || at === 0) return undefined;
    let from = Math.floor(at / STRIDE) * STRIDE;
    while (from > 0 && !known.current.has(from)) from -= STRIDE;
    let view = from > 0 ? known.current.get(from)! : emptyView(first as Event & { type: "session_start" } & SessionStart);
    for (let next = from + STRIDE; from < at; from = next, next += STRIDE) {
      const to = Math.min(next, at);
      view = foldAll(view, events.slice(from, to));
      if (to === next) known.current.set(next, view);
    }
    return view;
  }, [events, at]);
}
