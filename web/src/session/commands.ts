/** What the slash commands do in a browser. The table is the one that every front end has. */
import { COMMANDS, type CommandName, type Effort, type Mode } from "@covey/protocol";
import { connection, exportAs, fork, go, newSession, palette, prompt, rename, setAgent, setMode, setModel, sheet, submit, tell, toast, view } from "../app/model";
import { setting } from "../app/settings";
import { MODES } from "../app/words";

type Run = (session: string, words: string) => unknown;
/** A terminal has these; a page does without. */
type Elsewhere = "elsewhere";

const say = (text: string) => toast.set({ text, kind: "info" });
const text = (words: string) => [{ type: "text" as const, text: words }];
const bare = (item: string) => item.replace(/^@/, "");
const folders = () => view.get()?.folders ?? [];
const same = (one: string, other: string) => one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
const EFFORTS: string[] = ["none", "low", "medium", "high", "max"] satisfies Effort[];
const toSettings = (part: string): Run => () => go({ page: "settings", part });

/** Complete at compile time: a command that is added to the table has to be thought of here. */
const RUN: Record<CommandName, Run | Elsewhere> = {
  new: () => newSession(),
  resume: () => palette.set(true),
  rename: (session, title) => (title === "" ? say("Name it: /rename TITLE") : rename(session, title)),
  fork: (session) => fork(session),
  rewind: () => say("Every message has “Fork here”; /undo takes back files."),
  undo: (session, what) => changes(session, "undo", what),
  redo: (session) => changes(session, "redo", ""),
  diff: (session, path) => changes(session, "diff", path),
  export: (session) => exportAs(session, "html"),
  copy: async () => {
    const last = view.get()?.items.findLast((item) => item.item === "message");
    if (last?.item !== "message") return say("There is no answer yet.");
    await navigator.clipboard.writeText(last.text).then(() => say("Copied the last answer."), tell);
  },
  quit: "elsewhere",
  context: () => setting.panel.set(true),
  compact: (session, focus) => prompt(session, text(focus === "" ? "/compact" : `/compact ${focus}`)),
  uncompact: (session) => submit({ type: "uncompact", session }),
  pin: (session, item) => (item === "" ? say("What? /pin src/cart.rs") : submit({ type: "pin", session, item: bare(item) })),
  unpin: (session, item) => (item === "" ? say("What? /unpin src/cart.rs") : submit({ type: "unpin", session, item: bare(item) })),
  memory: "elsewhere",
  cost: () => go({ page: "usage" }),
  agent: (session, agent) => (agent === "" ? toSettings("agents")(session, "") : setAgent(session, agent)),
  model: (session, model) => (model === "" ? toSettings("models")(session, "") : setModel(session, model)),
  mode: (session, mode) => (mode in MODES ? setMode(session, mode as Mode) : say(`Modes: ${Object.keys(MODES).join(", ")}`)),
  thinking: (session, words) => {
    if (words === "default" || EFFORTS.includes(words)) return submit({ type: "set_effort", session, ...(words === "default" ? {} : { effort: words as Effort }) });
    return setting.thoughts.set(words === "" ? !setting.thoughts.get() : words === "on" || words === "show");
  },
  tools: toSettings("tools"),
  mcp: toSettings("mcp"),
  permissions: toSettings("tools"),
  init: (session, more) => prompt(session, text(`/init ${more}`.trim())),
  "add-dir": (session, folder) => {
    if (folder !== "") return submit({ type: "set_folders", session, folders: [...folders(), folder] });
    setting.panel.set(true);
    return say(folders().length === 0 ? "No folder was added. /add-dir ../library" : `Also works in ${folders().join(", ")}`);
  },
  "remove-dir": (session, folder) => {
    const left = folders().filter((one) => !same(one, folder));
    if (left.length < folders().length) return submit({ type: "set_folders", session, folders: left });
    return say(left.length === 0 ? "No folder was added." : `Which one? ${left.join(", ")}`);
  },
  shell: (session, command) => (command === "" ? say("Which command? /shell cargo test") : prompt(session, text(`!${command}`))),
  editor: "elsewhere",
  theme: (_, theme) => (theme === "light" || theme === "dark" ? setting.theme.set(theme) : setting.theme.set("system")),
  vim: "elsewhere",
  fullscreen: "elsewhere",
  settings: toSettings(""),
  help: () => sheet.set({ sheet: "help" }),
  keys: () => sheet.set({ sheet: "keys" }),
  status: () => setting.panel.set(true),
  doctor: "elsewhere",
  bug: "elsewhere",
};

/** The commands that a page has. */
export const HERE = COMMANDS.filter((command) => RUN[command.name] !== "elsewhere");

/** Carries out what was typed, if it is a command of ours. Answers whether it was. */
export function runCommand(session: string, typed: string): boolean {
  const [, name, rest] = /^\/([\w!-]+)\s*([\s\S]*)$/.exec(typed) ?? [];
  const found = COMMANDS.find((one) => one.name === name || (one.aliases as readonly string[]).includes(name ?? ""));
  if (found === undefined) return false;
  const run = RUN[found.name];
  const busy = view.get()?.status === "running" || view.get()?.status === "waiting";
  if (run === "elsewhere") say(`/${found.name} is for the terminal.`);
  else if (busy && !found.whileBusy) say(`/${found.name} has to wait until this is done.`);
  else void run(session, rest?.trim() ?? "");
  return true;
}

/** Shows what would be taken back or done again, or what was changed, before anything happens. */
async function changes(session: string, kind: "undo" | "redo" | "diff", words: string) {
  const path = kind === "diff" && words !== "" ? { path: bare(words) } : {};
  const what = kind === "diff" ? { what: "all" } : words === "" ? {} : { what: words };
  try {
    const files = await connection.read({ type: "changes", session, redo: kind === "redo", ...what, ...path }, "changes");
    if (files.length === 0) return say(kind === "redo" ? "Nothing was taken back." : "Nothing was changed.");
    sheet.set({ sheet: "changes", session, kind, files, ...("what" in what && kind === "undo" ? { what: what.what } : {}) });
  } catch (error) {
    tell(error);
  }
}
