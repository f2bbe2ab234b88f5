import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { COMMANDS, type Content } from "@covey/protocol";
import { agentCommands, connection, drafts, prompt, stop, toast, view } from "../app/model";
import { remembered, useStore } from "../app/store";
import { fuzzy } from "../app/words";
import { HERE, runCommand } from "./commands";

const history = remembered<string[]>("covey.history", []);
const MAX_IMAGE = 8 << 20;

type Choice = { name: string; note: string; insert: string; folder?: true };
type Image = Content & { type: "image" };

/** Whose command it is. */
const ORIGINS = { covey: "built in", person: "yours", project: "this project's", skill: "skill", agent: "the agent's", server: "MCP" };

const say = (text: string) => toast.set({ text, kind: "info" });

export function Composer({ session }: { session: string }) {
  const text = useStore(drafts, (all) => all[session] ?? "");
  const busy = useStore(view, (now) => now?.status === "running" || now?.status === "waiting");
  const [images, setImages] = useState<Image[]>([]);
  const [chosen, setChosen] = useState(0);
  const [recalled, setRecalled] = useState(-1);
  const [closed, setClosed] = useState(false);
  const [caret, setCaret] = useState(0);
  const area = useRef<HTMLTextAreaElement>(null);
  const choices = useChoices(session, text, caret);
  const open = choices.length > 0 && !closed;
  const set = (value: string) => {
    setClosed(false);
    setChosen(0);
    drafts.update((all) => ({ ...all, [session]: value }));
  };
  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, 320)}px`;
  }, [text]);
  useEffect(() => {
    if (matchMedia("(min-width: 768px)").matches) area.current?.focus();
  }, [session]);

  const send = () => {
    const words = text.trim();
    if (words === "" && images.length === 0) return;
    set("");
    setRecalled(-1);
    if (images.length === 0 && runCommand(session, words)) return;
    history.update((all) => [words, ...all.filter((one) => one !== words)].slice(0, 100));
    void prompt(session, [...(words === "" ? [] : [{ type: "text" as const, text: words }]), ...images]);
    setImages([]);
  };
  const insert = (choice: Choice) => {
    const start = wordAt(text, caret).from;
    set(text.slice(0, start) + choice.insert + text.slice(caret));
    requestAnimationFrame(() => {
      const place = start + choice.insert.length;
      area.current?.setSelectionRange(place, place);
      setCaret(place);
    });
  };
  const recall = (by: number) => {
    const at = Math.min(history.get().length - 1, Math.max(-1, recalled + by));
    setRecalled(at);
    set(at < 0 ? "" : (history.get()[at] ?? ""));
  };
  const press = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      setChosen((chosen + (event.key === "ArrowDown" ? 1 : choices.length - 1)) % choices.length);
    } else if (open && (event.key === "Tab" || event.key === "Enter") && !event.shiftKey) {
      event.preventDefault();
      const choice = choices[chosen]!;
      // A folder that is typed as far as it goes still has others in it.
      const typed = choice.folder === true || text.slice(wordAt(text, caret).from, caret) === choice.insert.trim();
      if (event.key === "Enter" && typed) send();
      else insert(choice);
    } else if (open && event.key === "Escape") {
      event.stopPropagation();
      setClosed(true);
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape" && busy) {
      void stop(session);
    } else if (event.key === "ArrowUp" && (text === "" || recalled >= 0)) {
      event.preventDefault();
      recall(1);
    } else if (event.key === "ArrowDown" && recalled >= 0) {
      event.preventDefault();
      recall(-1);
    }
  };
  const attach = async (files: Iterable<File>) => {
    for (const file of files) {
      if (!/^image\/(png|jpeg|gif|webp)$/.test(file.type)) say(`${file.name}: only PNG, JPEG, GIF and WebP pictures can be attached`);
      else if (file.size > MAX_IMAGE) say(`${file.name} is too large: 8 MB at the most`);
      else {
        const data = await base64(file);
        setImages((all) => [...all, { type: "image", media_type: file.type, name: file.name, data }]);
      }
    }
  };
  const pasted = (event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    void attach(files);
  };
  return (
    <div class="composer" onDragOver={(event) => event.preventDefault()} onDrop={(event) => { event.preventDefault(); void attach(event.dataTransfer?.files ?? []); }}>
      {open && (
        <ul class="choices" id="choices" role="listbox" aria-label="Suggestions">
          {choices.map((choice, at) => (
            <li key={choice.name} id={`choice-${at}`} role="option" aria-selected={at === chosen} onPointerDown={(event) => { event.preventDefault(); insert(choice); }}>
              <span>{choice.name}</span><span class="faint small">{choice.note}</span>
            </li>
          ))}
        </ul>
      )}
      {images.length > 0 && (
        <ul class="attached" aria-label="Attached pictures">
          {images.map((image, at) => (
            <li key={at}>
              {"data" in image && <img src={`data:${image.media_type};base64,${image.data}`} alt={image.name ?? "picture"} />}
              <button class="icon" type="button" aria-label={`Remove ${image.name ?? "picture"}`} onClick={() => setImages(images.filter((_, other) => other !== at))}>×</button>
            </li>
          ))}
        </ul>
      )}
      <div class="composer-row">
        <textarea id="composer" ref={area} rows={1} value={text} placeholder={busy ? "Say what comes next" : "Ask, or @ a file, / a command"} aria-label="Prompt"
          aria-haspopup="listbox" aria-controls={open ? "choices" : undefined} aria-autocomplete="list" aria-activedescendant={open ? `choice-${chosen}` : undefined}
          onInput={(event) => { set(event.currentTarget.value); setCaret(event.currentTarget.selectionStart); }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)} onKeyDown={press} onPaste={pasted} />
        <label class="quiet icon attach" title="Attach a picture">
          <span aria-hidden="true">▢</span><span class="offscreen">Attach a picture</span>
          <input class="offscreen" type="file" accept="image/png,image/jpeg,image/gif,image/webp" multiple onChange={(event) => { void attach(event.currentTarget.files ?? []); event.currentTarget.value = ""; }} />
        </label>
        {busy && text.trim() === "" ? <button class="stop" type="button" onClick={() => void stop(session)}>Stop</button> : <button class="primary" type="button" disabled={text.trim() === "" && images.length === 0} onClick={send}>{busy ? "Queue" : "Send"}</button>}
      </div>
    </div>
  );
}

/** The word that is being typed. */
function wordAt(text: string, caret: number): { from: number; word: string } {
  const from = Math.max(text.lastIndexOf(" ", caret - 1), text.lastIndexOf("\n", caret - 1)) + 1;
  return { from, word: text.slice(from, caret) };
}

/** What may be meant by a word that begins with `/` or `@`, or follows a command that wants a folder. */
function useChoices(session: string, text: string, caret: number): Choice[] {
  const { from, word } = wordAt(text, caret);
  const [commands, setCommands] = useState<Choice[]>([]);
  const [paths, setPaths] = useState<Choice[]>([]);
  const slash = from === 0 && word.startsWith("/");
  const at = word.startsWith("@");
  const folders = useFolders(session, /^\/(add|remove)-dir \S*$/.exec(text.slice(0, caret))?.[1], word);
  useEffect(() => {
    if (!slash) return;
    let current = true;
    void agentCommands(session).then((all) => {
      const known = new Set<string>(COMMANDS.flatMap((one) => [one.name, ...one.aliases]));
      if (current) setCommands(all.filter((one) => !known.has(one.name)).map((one) => ({ name: `/${one.name}`, note: `${one.description} · ${ORIGINS[one.origin]}`, insert: `/${one.name} ` })));
    });
    return () => void (current = false);
  }, [slash, session]);
  useEffect(() => {
    if (!at) return setPaths([]);
    let current = true;
    const timer = setTimeout(() => {
      const files = connection.read({ type: "complete_path", session, fragment: word.slice(1), limit: 12 }, "paths");
      const agents = connection.read({ type: "agents" }, "agents");
      Promise.all([files, agents]).then(([found, who]) => {
        if (!current) return;
        const named = who.filter((one) => one.usable && fuzzy(word.slice(1), one.agent) !== undefined).slice(0, 3);
        setPaths([...found.map((path) => ({ name: path, note: "", insert: `@${path} ` })), ...named.map((one) => ({ name: `@${one.agent}`, note: "agent", insert: `@${one.agent} ` }))]);
      }, () => undefined);
    }, 60);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [at, word, session]);
  if (slash) {
    const own = HERE.map((one) => ({ name: `/${one.name}`, note: one.help, insert: `/${one.name} `, aliases: one.aliases as readonly string[] }));
    return [...own, ...commands.map((choice) => ({ ...choice, aliases: [] as readonly string[] }))]
      .flatMap((choice) => {
        const scores = [choice.name.slice(1), ...choice.aliases].map((name) => fuzzy(word.slice(1), name) ?? -Infinity);
        const score = Math.max(...scores);
        return score === -Infinity ? [] : [{ choice, score }];
      })
      .sort((a, b) => b.score - a.score)
      .map(({ choice }) => choice)
      .slice(0, 10);
  }
  return at ? paths : folders;
}

/** Folders anywhere that begin as typed, or those that were added. */
function useFolders(session: string, command: string | undefined, typed: string): Choice[] {
  const [found, setFound] = useState<Choice[]>([]);
  useEffect(() => {
    if (command === undefined) return setFound([]);
    let current = true;
    const show = (all: string[]) => current && setFound(all.map((path) => ({ name: path, note: "", insert: path, folder: true })));
    if (command === "remove") show((view.get()?.folders ?? []).filter((one) => one.startsWith(typed) && one !== typed));
    const timer = setTimeout(() => {
      if (command === "add") connection.read({ type: "complete_folder", session, fragment: typed, limit: 12 }, "paths").then(show, () => undefined);
    }, 60);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [command, typed, session]);
  return found;
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.onerror = () => reject(new Error(`${file.name} can not be read`));
    reader.readAsDataURL(file);
  });
}
