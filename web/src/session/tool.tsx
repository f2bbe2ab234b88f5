import { useEffect, useState } from "preact/hooks";
import type { Item, ToolContent } from "@covey/protocol";
import { duration } from "../app/words";
import { Diff } from "../diff/diff";
import { Code, Copy } from "../markdown/markdown";
import { languageOf } from "../markdown/highlight";
import { ContentView } from "./item";

const SIGNS = { pending: "○", in_progress: "●", completed: "✓", failed: "✗" };
const STATES = { pending: "waits", in_progress: "running", completed: "done", failed: "failed" };

/** A tool call: one line until it is opened; changes of files show themselves. */
export function Tool({ item, session }: { item: Item & { item: "tool" }; session: string }) {
  const { call, result } = item;
  const content = result?.content ?? [];
  const hasDiff = content.some((part) => part.type === "diff");
  const [open, setOpen] = useState<boolean | undefined>(undefined);
  const shown = open ?? hasDiff;
  const between = result?.summary === undefined || result.summary === "" ? "" : " · ";
  const running = call.status === "in_progress" || call.status === "pending";
  return (
    <section class="tool" data-status={call.status} data-seq={item.seq} aria-label={`${call.title}, ${STATES[call.status]}`}>
      <button class="tool-head" type="button" aria-expanded={shown} onClick={() => setOpen(!shown)}>
        <span class="tool-sign" aria-hidden="true">{SIGNS[call.status]}</span>
        <span class="tool-title">{call.title}</span>
        <span class="tool-more">
          {result?.summary ?? ""}
          {result?.duration_ms !== undefined && result.duration_ms >= 100 ? `${between}${duration(result.duration_ms)}` : running ? <Since ts={item.ts} between={between} /> : ""}
          <span aria-hidden="true"> {shown ? "▾" : "▸"}</span>
        </span>
      </button>
      {shown && (
        <div class="tool-body">
          {!hasDiff && <Input input={call.input} name={call.name} />}
          {/* What is beside a diff repeats it in words for the model. */}
          {content.filter((part) => !hasDiff || part.type === "diff").map((part, at) => <Part key={at} part={part} session={session} path={call.locations?.[0]?.path} />)}
          {content.length === 0 && !running && <p class="faint small">It printed nothing.</p>}
        </div>
      )}
    </section>
  );
}

function Since({ ts, between }: { ts: string; between: string }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const ms = now - Date.parse(ts);
  return ms < 1000 ? null : <>{between}{duration(ms)}</>;
}

function Input({ input, name }: { input: unknown; name: string }) {
  const command = typeof input === "object" && input !== null && "command" in input ? input.command : undefined;
  if (typeof command === "string") return <Code text={command} language="sh" />;
  const text = typeof input === "string" ? input : JSON.stringify(input, null, 2);
  if (text === undefined || text === "{}" || text === "null") return null;
  return (
    <details class="tool-input">
      <summary>{name} was given</summary>
      <Code text={text} language="json" />
    </details>
  );
}

const MAX_OUTPUT = 20_000;

function Part({ part, session, path }: { part: ToolContent; session: string; path: string | undefined }) {
  const [all, setAll] = useState(false);
  if (part.type === "diff") return <Diff path={part.path} before={part.old ?? ""} after={part.new} />;
  if (part.type === "content" && part.content.type === "text") {
    const { text } = part.content;
    const cut = !all && text.length > MAX_OUTPUT;
    return (
      <div class="output">
        <pre tabIndex={0} role="group" aria-label={path === undefined ? "output" : `output, ${languageOf(path)}`}>{cut ? `${text.slice(0, MAX_OUTPUT)}\n…` : text}</pre>
        <div class="output-tools">
          {cut && <button class="quiet small" type="button" onClick={() => setAll(true)}>Show all of it</button>}
          <Copy text={text} />
        </div>
      </div>
    );
  }
  if (part.type === "content") return <ContentView block={part.content} session={session} />;
  if (part.type === "terminal") return <p class="faint small">Runs in terminal {part.terminal}</p>;
  return null;
}
