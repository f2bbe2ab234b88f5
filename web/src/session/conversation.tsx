import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Item } from "@covey/protocol";
import { loadOlder, older, pending, queued, unqueue, view, drafts } from "../app/model";
import { useStore } from "../app/store";
import { promptText } from "@covey/protocol";
import { ItemView, Lane } from "./item";
import { Permission } from "./permission";
import { Suggestions } from "./suggestions";
import { Find } from "./find";

/** As many items as are in the page at once; the rest comes and goes while scrolling. */
const WINDOW = 300;
const STEP = 100;
const NEAR = 600;

export function Conversation() {
  const now = useStore(view)!;
  const before = useStore(older);
  const scroller = useRef<HTMLDivElement>(null);
  const [below, setBelow] = useState(false);
  const [end, setEnd] = useState<number | undefined>(undefined);
  const [finding, setFinding] = useState(false);
  const follows = useRef(true);
  const items = useMemo(() => [...before.items, ...now.items], [before.items, now.items]);
  // The window ends at the newest, or where the reader is.
  const to = Math.min(items.length, end ?? items.length);
  const from = Math.max(0, to - WINDOW);
  const shown = useMemo(() => lanes(items.slice(from, to)), [items, from, to]);

  const toEnd = () => {
    setEnd(undefined);
    follows.current = true;
    requestAnimationFrame(() => {
      const element = scroller.current;
      element?.scrollTo({ top: element.scrollHeight });
    });
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && follows.current && end === undefined) element.scrollTop = element.scrollHeight;
    else if (element !== null && element.scrollHeight - element.scrollTop - element.clientHeight > 80) setBelow(true);
  }, [now.seq, now.session]);

  // What is laid out late, such as a picture, must not push the newest out of sight.
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(element);
    observer.observe(element.firstElementChild!);
    return () => observer.disconnect();
  }, []);

  const scrolled = () => {
    const element = scroller.current;
    if (element === null) return;
    const room = element.scrollHeight - element.scrollTop - element.clientHeight;
    follows.current = room < 40 && end === undefined;
    if (follows.current) setBelow(false);
    if (element.scrollTop < NEAR) {
      if (from > 0) shift(element, () => setEnd(Math.max(WINDOW, to - STEP)));
      else if (!before.loading) void anchored(element, loadOlder, (count) => setEnd((at) => (at ?? items.length) + count));
    } else if (room < NEAR && to < items.length) setEnd(to + STEP >= items.length ? undefined : to + STEP);
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "f") {
        event.preventDefault();
        setFinding(true);
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const jump = (index: number) => {
    follows.current = false;
    setEnd(Math.min(items.length, Math.max(WINDOW, index + WINDOW / 2)));
    requestAnimationFrame(() => scroller.current?.querySelector(`[data-seq="${items[index]?.seq}"]`)?.scrollIntoView({ block: "center" }));
  };

  return (
    <div class="conversation-frame">
      {finding && <Find items={items} go={jump} close={() => setFinding(false)} />}
      <div class="conversation" ref={scroller} onScroll={scrolled} tabIndex={0} role="region" aria-label="Conversation">
        <div class="thread" role="log" aria-live="off">
          {before.loading && <p class="faint center-text">Loading what was before…</p>}
          {items.length === 0 && <p class="empty">Ask for something: a fix, an explanation, a plan. <kbd>@</kbd> names files, <kbd>/</kbd> commands.</p>}
          {shown.map((group) => group.lane === undefined
            ? group.items.map((item) => <ItemView key={item.seq} item={item} session={now.session} />)
            : <Lane key={`${group.lane}-${group.items[0]!.seq}`} turn={group.lane} items={group.items} session={now.session} open={now.open[group.lane]} />)}
          <Waiting session={now.session} />
          {now.pending.map((request) => <Permission key={request.request} session={now.session} request={request} />)}
          {now.status === "running" && <Working />}
          {now.status === "idle" && <Suggestions session={now.session} actions={now.suggestions ?? []} />}
        </div>
      </div>
      <Announcer />
      {(below || (end !== undefined && end < items.length)) && <button class="pill" type="button" onClick={() => { setBelow(false); toEnd(); }}>New below ↓</button>}
    </div>
  );
}

/** Keeps what is read where it is while something is put above it. */
function shift(element: HTMLElement, change: () => void) {
  const height = element.scrollHeight;
  change();
  requestAnimationFrame(() => (element.scrollTop += Math.max(0, element.scrollHeight - height)));
}

async function anchored(element: HTMLElement, load: () => Promise<boolean>, added: (count: number) => void) {
  const height = element.scrollHeight;
  const count = older.get().items.length;
  if (!(await load())) return;
  added(older.get().items.length - count);
  requestAnimationFrame(() => (element.scrollTop += Math.max(0, element.scrollHeight - height)));
}

type Group = { lane: string | undefined; items: Item[] };

/** What sub-agents did is put together, a lane each. */
function lanes(items: Item[]): Group[] {
  const groups: Group[] = [];
  for (const item of items) {
    const lane = item.turn?.includes(".") ? item.turn : undefined;
    const known = lane === undefined ? groups.at(-1) : groups.findLast((group) => group.lane === lane);
    if (known !== undefined && known.lane === lane) known.items.push(item);
    else groups.push({ lane, items: [item] });
  }
  return groups;
}

/** Prompts that are not with the server yet, or wait for the turn before them. */
function Waiting({ session }: { session: string }) {
  const sent = useStore(pending, (all) => all);
  const waits = useStore(queued, (all) => all[session]);
  const unsent = sent.flatMap((one) => (one.op.type === "start_turn" && one.op.session === session ? [{ key: one.key, content: one.op.prompt }] : []));
  return (
    <>
      {unsent.map((one) => <div key={one.key} class="prompt unsent"><div class="prompt-text">{promptText(one.content)}</div><span class="faint small">Not sent yet</span></div>)}
      {(waits ?? []).map((one) => (
        <div key={one.key} class="prompt unsent">
          <div class="prompt-text">{promptText(one.content)}</div>
          <span class="faint small">Next, when this is done</span>
          <button class="quiet small" type="button" onClick={() => {
            const taken = unqueue(session, one.key);
            if (taken !== undefined) drafts.update((all) => ({ ...all, [session]: promptText(taken.content) }));
          }}>Edit</button>
        </div>
      ))}
    </>
  );
}

function Working() {
  const started = useStore(view, (now) => Object.values(now?.open ?? {})[0]?.started);
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = started === undefined ? 0 : Math.max(0, Math.round((Date.now() - Date.parse(started)) / 1000));
  return <div class="working" role="status"><span class="pulse" aria-hidden="true" />Working{seconds > 2 ? ` · ${seconds} s` : ""}</div>;
}

/** Says finished messages and questions to a screen reader, not every piece. */
function Announcer() {
  const text = useStore(view, (now) => {
    if (now === undefined) return "";
    const asked = now.pending.at(-1);
    if (asked !== undefined) return `Waits for you: ${asked.title}`;
    const last = now.items.at(-1);
    if (last?.item === "turn_end") {
      const message = now.items.findLast((item) => item.item === "message");
      return message?.item === "message" ? message.text.slice(0, 400) : "Done";
    }
    return last?.item === "error" ? `Error: ${last.message}` : "";
  });
  return <div class="offscreen" role="status" aria-live="polite">{text}</div>;
}
