import { useEffect } from "preact/hooks";
import { Suspense, lazy } from "preact/compat";
import { connection, drawer, go, link, page, palette, sessions, sheet, toast, view } from "./model";
import { SignedOut } from "./sign_in";
import { useStore } from "./store";
import { Sidebar } from "../sessions/sidebar";
import { SessionPage } from "../session/page";

// What is not on the first page comes when it is asked for.
const Settings = lazy(() => import("../settings/settings"));
const Usage = lazy(() => import("../usage/usage"));
const Replay = lazy(() => import("../replay/replay"));
const Welcome = lazy(() => import("../welcome/welcome"));
const Palette = lazy(() => import("../palette/palette"));
const Sheets = lazy(() => import("../session/sheet"));

export function App() {
  const state = useStore(link, (now) => now.state);
  const open = useStore(drawer);
  const choosing = useStore(palette);
  const looking = useStore(sheet, (now) => now !== undefined);
  useKeys();
  useSwipe();
  useTitle();
  if (state === "signed_out") return <SignedOut />;
  return (
    <div class="shell" data-drawer={open}>
      <a class="skip" href="#main">Skip to the conversation</a>
      <Sidebar />
      {open && <div class="veil" onClick={() => drawer.set(false)} />}
      <Main />
      <Connection />
      <Toaster />
      {choosing && <Suspense fallback={null}><Palette /></Suspense>}
      {looking && <Suspense fallback={null}><Sheets /></Suspense>}
    </div>
  );
}

function Main() {
  const now = useStore(page);
  return (
    <Suspense fallback={<main id="main" class="main" />}>
      {now.page === "session" && <SessionPage key={now.session ?? "none"} />}
      {now.page === "replay" && <Replay key={now.session} session={now.session} />}
      {now.page === "settings" && <Settings />}
      {now.page === "usage" && <Usage />}
      {now.page === "welcome" && <Welcome />}
    </Suspense>
  );
}

function Connection() {
  const now = useStore(link);
  const loaded = useStore(sessions, (all) => all !== undefined);
  if (now.state === "online" || (now.state === "connecting" && now.attempt === 0 && !loaded)) return null;
  const text = now.state === "stopped" ? "Not connected. What you send is kept." : "Connection lost. Trying again…";
  return (
    <div class="connection" role="status">
      <span class="dot amber" /> {text}
      <button class="quiet small" type="button" onClick={() => connection.retry()}>Try now</button>
    </div>
  );
}

function Toaster() {
  const now = useStore(toast);
  useEffect(() => {
    if (now === undefined) return;
    const timer = setTimeout(() => toast.set(undefined), now.kind === "error" ? 10_000 : 8000);
    return () => clearTimeout(timer);
  }, [now]);
  return (
    <div class="toasts" aria-live="polite">
      {now !== undefined && (
        <div class={`toast ${now.kind}`}>
          <div>
            {now.text}
            {now.hint !== undefined && <div class="faint small">{now.hint}</div>}
          </div>
          {now.undo !== undefined && <button class="quiet" type="button" onClick={now.undo}>Undo</button>}
          <button class="quiet icon" type="button" aria-label="Dismiss" onClick={() => toast.set(undefined)}>×</button>
        </div>
      )}
    </div>
  );
}

function useKeys() {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === "k") {
        event.preventDefault();
        palette.update((open) => !open);
      } else if ((event.ctrlKey || event.metaKey) && (event.key === "[" || event.key === "]")) {
        event.preventDefault();
        neighbour(event.key === "]" ? 1 : -1);
      } else if (event.key === "Escape" && drawer.get()) drawer.set(false);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** The session after or before this one, the newest first. */
function neighbour(by: number) {
  const now = page.get();
  const open = "session" in now ? now.session : undefined;
  const listed = Object.values(sessions.get() ?? {}).filter((one) => !one.marks?.archived).sort((a, b) => b.updated.localeCompare(a.updated));
  const next = listed[listed.findIndex((one) => one.session === open) + by];
  if (next !== undefined) go({ page: "session", session: next.session });
}

/** On a phone the list of sessions comes from the left edge. */
function useSwipe() {
  useEffect(() => {
    let from: { x: number; y: number } | undefined;
    const begin = (event: TouchEvent) => {
      const touch = event.touches[0];
      from = touch && (drawer.get() || touch.clientX < 28) ? { x: touch.clientX, y: touch.clientY } : undefined;
    };
    const end = (event: TouchEvent) => {
      const touch = event.changedTouches[0];
      if (from === undefined || touch === undefined) return;
      const [dx, dy] = [touch.clientX - from.x, touch.clientY - from.y];
      if (Math.abs(dx) > 60 && Math.abs(dx) > 2 * Math.abs(dy)) drawer.set(dx > 0);
    };
    addEventListener("touchstart", begin, { passive: true });
    addEventListener("touchend", end, { passive: true });
    return () => {
      removeEventListener("touchstart", begin);
      removeEventListener("touchend", end);
    };
  }, []);
}

function useTitle() {
  const title = useStore(view, (now) => now?.title);
  const waiting = useStore(sessions, (all) => Object.values(all ?? {}).filter((one) => one.status === "waiting").length);
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${title === undefined || title === "" ? "covey" : `${title} · covey`}`;
  }, [title, waiting]);
}
