import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { exportAs, fork, go, newSession, palette, sessions, setMode, signOut, stop, view } from "../app/model";
import { setting } from "../app/settings";
import { useStore } from "../app/store";
import { ago, folder, fuzzy, MODES } from "../app/words";
import type { Mode } from "@covey/protocol";
import "./palette.css";

type Action = { name: string; note: string; act: () => unknown };

/** Ctrl-K: everything, by name. */
export default function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const all = useStore(sessions);
  const now = useStore(view);
  useEffect(() => dialog.current?.showModal(), []);
  const actions = useMemo(() => {
    const general: Action[] = [
      { name: "New session", note: "", act: () => newSession() },
      { name: "Settings", note: "models, tools, look", act: () => go({ page: "settings" }) },
      { name: "Usage", note: "what was spent", act: () => go({ page: "usage" }) },
      { name: "Connect a model or an agent", note: "", act: () => go({ page: "welcome" }) },
      { name: "Light theme", note: "", act: () => setting.theme.set("light") },
      { name: "Dark theme", note: "", act: () => setting.theme.set("dark") },
      { name: "Theme of the system", note: "", act: () => setting.theme.set("system") },
      { name: "Sign out", note: "this browser", act: () => signOut() },
    ];
    const here: Action[] = now === undefined ? [] : [
      { name: "Stop", note: "what runs", act: () => stop(now.session) },
      { name: "Fork this session", note: "", act: () => fork(now.session) },
      { name: "Replay this session", note: "", act: () => go({ page: "replay", session: now.session }) },
      { name: "Share as one HTML file", note: "", act: () => exportAs(now.session, "html") },
      ...(Object.keys(MODES) as Mode[]).map((mode) => ({ name: `Mode: ${mode}`, note: MODES[mode], act: () => setMode(now.session, mode) })),
    ];
    const others = Object.values(all ?? {})
      .sort((a, b) => b.updated.localeCompare(a.updated))
      .map((one): Action => ({ name: one.title === "" ? "untitled" : one.title, note: `${folder(one.cwd)} · ${ago(one.updated)}`, act: () => go({ page: "session", session: one.session }) }));
    return [...here, ...general, ...others]
      .flatMap((action) => {
        const score = fuzzy(query, action.name);
        return score === undefined ? [] : [{ action, score }];
      })
      .sort((a, b) => b.score - a.score)
      .slice(0, 12)
      .map(({ action }) => action);
  }, [all, now?.session, query]);
  const close = () => palette.set(false);
  const run = (action: Action | undefined) => {
    close();
    action?.act();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Commands" onClose={close} onClick={(event) => event.target === dialog.current && close()}>
      <input type="search" aria-label="What to do" placeholder="What to do, or where to go" value={query} role="combobox" aria-expanded="true" aria-controls="actions" aria-activedescendant={`action-${at}`}
        onInput={(event) => { setQuery(event.currentTarget.value); setAt(0); }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            setAt((at + (event.key === "ArrowDown" ? 1 : actions.length - 1)) % Math.max(1, actions.length));
          } else if (event.key === "Enter") run(actions[at]);
        }} />
      <ul id="actions" role="listbox" aria-label="Commands">
        {actions.map((action, index) => (
          <li key={`${action.name}-${index}`} id={`action-${index}`} role="option" aria-selected={index === at} onPointerMove={() => setAt(index)} onClick={() => run(action)}>
            <span>{action.name}</span><span class="faint small">{action.note}</span>
          </li>
        ))}
        {actions.length === 0 && <li class="faint" role="option" aria-selected="false">Nothing is called that.</li>}
      </ul>
    </dialog>
  );
}
