import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { SearchHit, SessionSummary } from "@covey/protocol";
import { connection, deleting, drawer, go, mark, newSession, page, palette, remove, rename, seen, sessions } from "../app/model";
import { remembered, useStore } from "../app/store";
import { ago, folder } from "../app/words";
import { Menu } from "../app/menu";
import "./sidebar.css";

const grouping = remembered<"day" | "project">("covey.grouping", "day");
const showArchived = remembered<boolean>("covey.archived", false);

export function Sidebar() {
  const all = useStore(sessions);
  const gone = useStore(deleting);
  const group = useStore(grouping);
  const archived = useStore(showArchived);
  const now = useStore(page);
  const open = useStore(drawer);
  const [query, setQuery] = useState("");
  const hits = useSearch(query);
  const current = "session" in now ? now.session : undefined;
  const listed = useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const fits = (one: SessionSummary) => words.every((word) => `${one.title} ${one.cwd} ${one.agent} ${one.model ?? ""}`.toLowerCase().includes(word));
    return Object.values(all ?? {})
      .filter((one) => !gone.has(one.session) && (archived || !one.marks?.archived) && fits(one))
      .sort((a, b) => b.updated.localeCompare(a.updated));
  }, [all, gone, archived, query]);
  const groups = useMemo(() => grouped(listed, group), [listed, group]);
  return (
    <nav class="sidebar" aria-label="Sessions" data-open={open}>
      <div class="sidebar-head">
        <span class="brand">covey</span>
        <button class="quiet icon" type="button" aria-label="Commands (Ctrl-K)" title="Commands · Ctrl-K" onClick={() => palette.set(true)}>⌘</button>
        <Menu label="List" sign="⋯" items={[
          { name: group === "day" ? "Group by project" : "Group by day", act: () => grouping.set(group === "day" ? "project" : "day") },
          { name: archived ? "Hide archived" : "Show archived", act: () => showArchived.set(!archived) },
        ]} />
      </div>
      <button class="new" type="button" onClick={() => void newSession()}>New session</button>
      <input class="search" type="search" placeholder="Search" aria-label="Search sessions" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
      <div class="session-list">
        {all === undefined && <Skeleton />}
        {all !== undefined && listed.length === 0 && hits.length === 0 && (
          <p class="empty">{query === "" ? "No sessions yet. Start one and ask something." : `Nothing about “${query}”.`}</p>
        )}
        {groups.map(([name, list]) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <ul>{list.map((one) => <Entry key={one.session} session={one} current={one.session === current} />)}</ul>
          </section>
        ))}
        {hits.length > 0 && (
          <section aria-label="In conversations">
            <h2>In conversations</h2>
            <ul>{hits.map((hit) => <Hit key={`${hit.session}-${hit.seq}`} hit={hit} />)}</ul>
          </section>
        )}
      </div>
      <div class="sidebar-foot">
        <button class="quiet" type="button" onClick={() => go({ page: "usage" })}>Usage</button>
        <button class="quiet" type="button" onClick={() => go({ page: "settings" })}>Settings</button>
      </div>
    </nav>
  );
}

function Entry({ session, current }: { session: SessionSummary; current: boolean }) {
  const known = useStore(seen, (all) => all[session.session] ?? 0);
  const [renaming, setRenaming] = useState(false);
  const unread = !current && session.seq > known && known > 0;
  const title = session.title === "" ? "New session" : session.title;
  const sign = { idle: "", running: "●", waiting: <span class="pause" />, ended: "" }[session.status];
  const words = { idle: unread ? "new" : "", running: "running", waiting: "waits for you", ended: "ended" }[session.status];
  if (renaming) return <li><Rename session={session} done={() => setRenaming(false)} /></li>;
  return (
    <li class="entry" data-status={session.status} data-unread={unread} aria-current={current ? "page" : undefined}>
      <a href={`/session/${session.session}`} onDblClick={() => setRenaming(true)} onClick={(event) => {
        if (event.metaKey || event.ctrlKey) return;
        event.preventDefault();
        go({ page: "session", session: session.session });
      }}>
        <span class="entry-sign" aria-hidden="true">{sign}</span>
        <span class="entry-title">{title}</span>
        {words !== "" && <span class="offscreen">, {words}</span>}
        <span class="entry-more">{session.marks?.pinned ? "⌃ " : ""}{folder(session.cwd)} · {ago(session.updated)}</span>
      </a>
      <Menu label={`Actions for ${title}`} sign="⋯" items={[
        { name: session.marks?.pinned ? "Unpin" : "Pin", act: () => void mark(session.session, { pinned: !session.marks?.pinned }) },
        { name: "Rename", act: () => setRenaming(true) },
        { name: "Replay", act: () => go({ page: "replay", session: session.session }) },
        { name: session.marks?.archived ? "Unarchive" : "Archive", act: () => void mark(session.session, { archived: !session.marks?.archived }) },
        { name: "Delete", danger: true, act: () => remove(session.session) },
      ]} />
    </li>
  );
}

function Rename({ session, done }: { session: SessionSummary; done: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const save = () => {
    const title = input.current?.value.trim() ?? "";
    if (title !== "" && title !== session.title) void rename(session.session, title);
    done();
  };
  return (
    <input ref={input} class="rename" aria-label="New name" defaultValue={session.title} maxLength={200} onBlur={save}
      onKeyDown={(event) => {
        if (event.key === "Enter") save();
        if (event.key === "Escape") done();
      }} />
  );
}

function Hit({ hit }: { hit: SearchHit }) {
  return (
    <li class="entry hit">
      <a href={`/session/${hit.session}`} onClick={(event) => {
        event.preventDefault();
        go({ page: "session", session: hit.session });
      }}>
        <span class="entry-title">{hit.title === "" ? "untitled" : hit.title}</span>
        <span class="entry-more snippet">{hit.snippet.map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part))}</span>
      </a>
    </li>
  );
}

/** Looks through what was said, a moment after the last key. */
function useSearch(query: string): SearchHit[] {
  const [hits, setHits] = useState<SearchHit[]>([]);
  useEffect(() => {
    if (query.trim().length < 2) return setHits([]);
    let current = true;
    const timer = setTimeout(() => {
      connection.read({ type: "search_sessions", query, limit: 20 }, "hits").then((found) => current && setHits(found), () => undefined);
    }, 250);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [query]);
  return hits;
}

function grouped(list: SessionSummary[], by: "day" | "project"): [string, SessionSummary[]][] {
  const groups = new Map<string, SessionSummary[]>();
  const today = new Date().toDateString();
  const yesterday = new Date(Date.now() - 86_400_000).toDateString();
  const name = (one: SessionSummary) => {
    if (one.marks?.archived) return "Archived";
    if (one.marks?.pinned) return "Pinned";
    if (by === "project") return folder(one.cwd);
    const day = new Date(one.updated).toDateString();
    if (day === today) return "Today";
    if (day === yesterday) return "Yesterday";
    return Date.now() - Date.parse(one.updated) < 7 * 86_400_000 ? "This week" : "Earlier";
  };
  for (const one of list) groups.set(name(one), [...(groups.get(name(one)) ?? []), one]);
  const place = (group: string) => (group === "Pinned" ? -1 : group === "Archived" ? 1 : 0);
  return [...groups].sort(([a], [b]) => place(a) - place(b));
}

function Skeleton() {
  return <div class="skeleton late" aria-hidden="true">{[80, 60, 70, 50].map((width) => <div key={width} data-width={width} />)}</div>;
}
