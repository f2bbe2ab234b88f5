import { useEffect, useRef } from "preact/hooks";
import { sheet, submit, type Sheet } from "../app/model";
import { useStore } from "../app/store";
import { Diff } from "../diff/diff";
import { HERE } from "./commands";
import "./sheet.css";

const EFFECTS = { create: "comes back", restore: "as it was", delete: "is removed" };
const TITLES = { undo: "Take this back?", redo: "Do this again?", diff: "What this session changed" };

const KEYS = [
  ["Enter", "send"], ["Shift-Enter", "new line"], ["Esc", "stop what runs"], ["↑", "what was asked before, in an empty prompt"],
  ["/", "commands"], ["@", "files and agents"], ["1 2 3", "answer a question"], ["Ctrl-K", "everything, by name"], ["Ctrl-F", "words in this session"],
  ["Ctrl-[ Ctrl-]", "the session before, the session after"],
] as const;

/** Something to look at before going on: a list of commands, keys, or changes of files. */
export default function Sheets() {
  const open = useStore(sheet);
  return open === undefined ? null : <Shown key={open.sheet} open={open} />;
}

function Shown({ open }: { open: Sheet }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => sheet.set(undefined);
  const title = open.sheet === "changes" ? TITLES[open.kind] : open.sheet === "help" ? "Commands" : "Keys";
  return (
    <dialog ref={dialog} class="sheet" aria-label={title} onClose={close} onClick={(event) => event.target === dialog.current && close()}>
      <header><h2>{title}</h2><button class="quiet icon" type="button" aria-label="Close" onClick={close}>×</button></header>
      <div class="sheet-body">
        {open.sheet === "help" && <Commands />}
        {open.sheet === "keys" && <dl class="keys">{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>}
        {open.sheet === "changes" && <Changes open={open} close={close} />}
      </div>
    </dialog>
  );
}

function Commands() {
  const sections = [...new Set(HERE.map((command) => command.section))];
  return (
    <>
      {sections.map((section) => (
        <section key={section}>
          <h3>{section}</h3>
          <dl class="keys">
            {HERE.filter((command) => command.section === section).map((command) => (
              <div key={command.name}><dt><code>/{command.name}{"hint" in command ? ` ${command.hint}` : ""}</code></dt><dd>{command.help}</dd></div>
            ))}
          </dl>
        </section>
      ))}
    </>
  );
}

function Changes({ open, close }: { open: Sheet & { sheet: "changes" }; close: () => void }) {
  const { kind, files, session, what } = open;
  const conflicts = files.filter((file) => file.conflict !== undefined);
  const act = (force: boolean) => {
    close();
    void submit(kind === "redo" ? { type: "redo", session, force } : { type: "undo", session, force, ...(what === undefined ? {} : { what }) });
  };
  return (
    <>
      {files.map((file) => (
        <section key={file.path} class="change">
          {kind !== "diff" && <p class="small">{file.path} <span class="faint">{EFFECTS[file.does]}</span></p>}
          {file.conflict !== undefined && <p class="note amber">{file.conflict}</p>}
          {/* What was changed is the way back, seen from the other side. */}
          {kind === "diff" ? <Diff path={file.path} before={file.then ?? ""} after={file.now ?? ""} /> : <Diff path={file.path} before={file.now ?? ""} after={file.then ?? ""} />}
        </section>
      ))}
      {kind !== "diff" && (
        <div class="buttons">
          <button class="primary" type="button" onClick={() => act(false)}>{kind === "undo" ? "Take back" : "Do again"}</button>
          {conflicts.length > 0 && <button class="reject" type="button" onClick={() => act(true)}>Also what somebody changed since</button>}
          <button class="quiet" type="button" onClick={close}>Cancel</button>
        </div>
      )}
    </>
  );
}
