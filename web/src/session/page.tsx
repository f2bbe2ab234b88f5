import { useEffect } from "preact/hooks";
import { failure, go, hello, newSession, page, sessions, view } from "../app/model";
import { useStore } from "../app/store";
import { setting } from "../app/settings";
import { Composer } from "./composer";
import { Conversation } from "./conversation";
import { Header } from "./header";
import { Panel } from "./panel";
import "./session.css";

export function SessionPage() {
  const now = useStore(page);
  const open = useStore(view, (all) => all?.session);
  const error = useStore(failure);
  const panel = useStore(setting.panel);
  const session = now.page === "session" ? now.session : undefined;
  if (session === undefined) return <Start />;
  if (error !== undefined) {
    return (
      <main id="main" tabIndex={-1} class="main center">
        <div class="card narrow">
          <h1>{error.kind === "not_found" ? "This session is not there" : "This session can not be opened"}</h1>
          <p>{error.message}</p>
          {error.hint !== undefined && <p class="faint">{error.hint}</p>}
          <button type="button" onClick={() => go({ page: "session" })}>Back</button>
        </div>
      </main>
    );
  }
  return (
    <main id="main" tabIndex={-1} class="main" data-panel={panel}>
      <Header />
      {open === session ? <Conversation /> : <div class="conversation"><div class="skeleton late lines" aria-hidden="true"><div /><div /><div /></div></div>}
      <Composer session={session} />
      <Panel />
    </main>
  );
}

/** Nothing is open: one sentence, one thing to do. */
function Start() {
  const all = useStore(sessions);
  const greeting = useStore(hello);
  const latest = Object.values(all ?? {}).sort((a, b) => b.updated.localeCompare(a.updated))[0];
  useEffect(() => {
    document.querySelector<HTMLButtonElement>("#start")?.focus();
  }, []);
  return (
    <main id="main" tabIndex={-1} class="main">
      <Header />
      <div class="center start">
        <h1>What shall we work on?</h1>
        <p class="faint">{greeting === undefined ? "" : <>New sessions work in <code>{greeting.cwd}</code>.</>}</p>
        <div class="buttons">
          <button id="start" class="primary" type="button" onClick={() => void newSession(greeting?.cwd)}>New session</button>
          {latest !== undefined && <button type="button" onClick={() => go({ page: "session", session: latest.session })}>Continue “{latest.title === "" ? "untitled" : latest.title.slice(0, 40)}”</button>}
        </div>
        {all !== undefined && latest === undefined && <p><a href="/welcome" onClick={(event) => { event.preventDefault(); go({ page: "welcome" }); }}>Connect a model or an agent</a></p>}
      </div>
    </main>
  );
}
