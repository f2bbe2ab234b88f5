import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { promptText, type Item } from "@covey/protocol";

/** Finds words in this session, also in what is not on the page. */
export function Find({ items, go, close }: { items: Item[]; go: (index: number) => void; close: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => input.current?.focus(), []);
  const found = useMemo(() => {
    const words = query.trim().toLowerCase();
    if (words === "") return [];
    return items.flatMap((item, index) => (textOf(item).toLowerCase().includes(words) ? [index] : []));
  }, [items, query]);
  const step = (by: number) => {
    if (found.length === 0) return;
    const next = (at + by + found.length) % found.length;
    setAt(next);
    go(found[next]!);
  };
  return (
    <div class="find" role="search">
      <input ref={input} type="search" aria-label="Find in this session" placeholder="Find" value={query}
        onInput={(event) => { setQuery(event.currentTarget.value); setAt(-1); }}
        onKeyDown={(event) => {
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
          if (event.key === "Escape") close();
        }} />
      <span class="faint small" aria-live="polite">{query === "" ? "" : found.length === 0 ? "nothing" : `${at < 0 ? "" : `${at + 1} of `}${found.length}`}</span>
      <button class="quiet icon" type="button" aria-label="Previous" onClick={() => step(-1)}>↑</button>
      <button class="quiet icon" type="button" aria-label="Next" onClick={() => step(1)}>↓</button>
      <button class="quiet icon" type="button" aria-label="Close" onClick={close}>×</button>
    </div>
  );
}

function textOf(item: Item): string {
  switch (item.item) {
    case "prompt":
      return promptText(item.content);
    case "message":
    case "thought":
    case "notice":
      return item.text;
    case "tool":
      return `${item.call.title} ${JSON.stringify(item.call.input)} ${JSON.stringify(item.result?.content ?? "")}`;
    case "error":
      return item.message;
    default:
      return "";
  }
}
