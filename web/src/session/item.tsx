import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import type { Content, Item, OpenTurn } from "@covey/protocol";
import { fork } from "../app/model";
import { setting } from "../app/settings";
import { useStore } from "../app/store";
import { duration } from "../app/words";
import { Copy, Markdown } from "../markdown/markdown";
import { Tool } from "./tool";

/** One thing in the conversation. Drawn again only when it is another object. */
export const ItemView = memo(function ItemView({ item, session }: { item: Item; session: string }) {
  switch (item.item) {
    case "prompt":
      return (
        <article class="prompt" data-seq={item.seq} aria-label="You">
          <div class="prompt-text">{item.content.map((block, at) => <ContentView key={at} block={block} session={session} />)}</div>
        </article>
      );
    case "message":
      return (
        <article class="message" data-seq={item.seq} data-done={item.done} aria-label="Agent">
          <Markdown text={item.text} />
          {item.done && (
            <div class="message-tools">
              <Copy text={item.text} label="Copy message" />
              <button class="quiet small" type="button" onClick={() => void fork(session, item.seq)}>Fork here</button>
            </div>
          )}
        </article>
      );
    case "thought":
      return <Thought item={item} />;
    case "tool":
      return <Tool item={item} session={session} />;
    case "retry":
      return <p class="note amber" data-seq={item.seq}>Trying again in {duration(item.wait_ms)}: {item.reason}</p>;
    case "route":
      return <p class="note amber" data-seq={item.seq}>{item.to} answers instead of {item.from}: {item.reason}</p>;
    case "notice":
      return <p class={`note ${item.level === "warning" ? "amber" : ""}`} data-seq={item.seq}>{item.text}</p>;
    case "error":
      return (
        <div class="error-card" data-seq={item.seq} role="alert">
          <p>{item.message}</p>
          {item.hint !== undefined && <p class="hint"><span>hint:</span> {item.hint}</p>}
        </div>
      );
    case "turn_end":
      return item.stop === "done" && !item.turn?.includes(".") ? <hr class="turn" data-seq={item.seq} aria-hidden="true" /> : item.stop === "done" ? null : (
        <p class="note" data-seq={item.seq}>{ENDS[item.stop]}{item.cause === undefined ? "" : ` (${item.cause.replaceAll("_", " ")})`} · {duration(item.duration_ms)}</p>
      );
  }
});

const ENDS = { done: "Done", cancelled: "Stopped", denied: "Done, but something was denied", limit: "Stopped by a limit", error: "Ended with an error" };

function Thought({ item }: { item: Item & { item: "thought" } }) {
  const open = useStore(setting.thoughts);
  return (
    <details class="thought" data-seq={item.seq} open={open}>
      <summary>{item.done ? "Thought" : "Thinking…"}</summary>
      <Markdown text={item.text} />
    </details>
  );
}

export function ContentView({ block, session }: { block: Content; session: string }) {
  switch (block.type) {
    case "text":
      return <div class="text">{block.text}</div>;
    case "image": {
      const source = "data" in block ? `data:${block.media_type};base64,${block.data}` : `/api/sessions/${session}/blobs/${block.blob.hash}?bytes=${block.blob.bytes}&type=${encodeURIComponent(block.media_type)}`;
      return /^image\/(png|jpeg|gif|webp)$/.test(block.media_type) ? <img class="picture" src={source} alt={block.name ?? "picture"} loading="lazy" /> : <span class="tag">{block.name ?? block.media_type}</span>;
    }
    case "resource":
      return <span class="tag" title={block.uri}>{block.uri.split("/").at(-1)}</span>;
    default:
      return <span class="tag">something this version can not show</span>;
  }
}

const COLOURS = 6;

/** What a sub-agent did, in a lane of its own. */
export function Lane({ turn, items, session, open }: { turn: string; items: Item[]; session: string; open: OpenTurn | undefined }) {
  const [shown, setShown] = useState(false);
  const end = items.findLast((item) => item.item === "turn_end");
  const task = items.find((item) => item.item === "prompt");
  const calls = items.filter((item) => item.item === "tool").length;
  const colour = [...turn].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % COLOURS;
  const state = open !== undefined ? "running" : end?.item === "turn_end" && end.stop !== "done" ? "failed" : "done";
  return (
    <section class="lane" data-colour={colour} data-state={state} aria-label={`Sub-agent ${turn}`}>
      <button class="lane-head" type="button" aria-expanded={shown} onClick={() => setShown(!shown)}>
        <span class="lane-mark" aria-hidden="true">{state === "running" ? "●" : state === "done" ? "✓" : "✗"}</span>
        <span class="lane-name">{open?.agent ?? "sub-agent"}</span>
        <span class="lane-task">{task?.item === "prompt" ? task.content.map((block) => (block.type === "text" ? block.text : "")).join(" ") : ""}</span>
        <span class="faint small">{calls} calls{end?.item === "turn_end" ? ` · ${duration(end.duration_ms)}` : ""} {shown ? "▾" : "▸"}</span>
      </button>
      {shown && <div class="lane-body">{items.map((item) => <ItemView key={item.seq} item={item} session={session} />)}</div>}
    </section>
  );
}
