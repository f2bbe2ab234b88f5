import { useMemo } from "preact/hooks";
import { view } from "../app/model";
import { useStore } from "../app/store";
import { count, money } from "../app/words";
import { counts, diffLines } from "../diff/lines";

const SIGNS = { pending: "○", in_progress: "●", completed: "✓" };
const WORDS = { pending: "open", in_progress: "under way", completed: "done" };

/** Beside the conversation: the plan, what changed, what was spent. */
export function Panel() {
  const now = useStore(view);
  const items = now?.items;
  const files = useMemo(() => {
    const changed = new Map<string, { added: number; removed: number }>();
    for (const item of items ?? []) {
      if (item.item !== "tool" || item.call.status !== "completed") continue;
      for (const part of item.result?.content ?? []) {
        if (part.type !== "diff") continue;
        const known = changed.get(part.path) ?? { added: 0, removed: 0 };
        const now = counts(diffLines(part.old ?? "", part.new));
        changed.set(part.path, { added: known.added + now.added, removed: known.removed + now.removed });
      }
    }
    return [...changed];
  }, [items]);
  if (now === undefined) return null;
  const parts = new Map<string, number>();
  // What is of one kind is one part, however it came into the window.
  for (const part of now.context?.parts ?? []) if (part.tokens > 0) parts.set(part.name, (parts.get(part.name) ?? 0) + part.tokens);
  const used = now.context?.parts.reduce((sum, part) => sum + part.tokens, 0) ?? 0;
  return (
    <aside class="panel" aria-label="About this session">
      {now.plan.entries.length > 0 && (
        <section>
          <h2>Plan</h2>
          <ol class="plan">
            {now.plan.entries.map((entry, at) => (
              <li key={at} data-status={entry.status}><span aria-hidden="true">{SIGNS[entry.status]}</span><span>{entry.content}<span class="offscreen">, {WORDS[entry.status]}</span></span></li>
            ))}
          </ol>
        </section>
      )}
      {files.length > 0 && (
        <section>
          <h2>Files</h2>
          <ul class="files">
            {files.map(([path, change]) => <li key={path}><span class="path" title={path}><bdi>{path}</bdi></span><span><span class="good">+{change.added}</span> <span class="danger">−{change.removed}</span></span></li>)}
          </ul>
        </section>
      )}
      {now.context !== undefined && (
        <section>
          <h2>Context</h2>
          <div class="stack" role="img" aria-label={`${count(used)} tokens in the window`}>
            {[...parts].map(([name, tokens], at) => <Bar key={name} at={at} share={tokens / Math.max(used, now.context!.window ?? used)} title={`${name} · ${count(tokens)}`} />)}
          </div>
          <ul class="ledger">
            {[...parts].slice(0, 8).map(([name, tokens], at) => <li key={name}><span class="swatch" data-colour={at % 6} />{name}<span class="faint">{count(tokens)}</span></li>)}
          </ul>
        </section>
      )}
      <section>
        <h2>Usage</h2>
        <dl class="usage-list">
          <dt>in</dt><dd>{count(now.usage.input)}</dd>
          <dt>of that cached</dt><dd>{count(now.usage.cache_read)}</dd>
          <dt>out</dt><dd>{count(now.usage.output)}</dd>
          {now.usage.cost_usd !== undefined && <><dt>cost</dt><dd>{money(now.usage.cost_usd)}</dd></>}
        </dl>
      </section>
      <section>
        <h2>Where</h2>
        <p class="path small" title={now.cwd}>{now.cwd}</p>
        {(now.folders ?? []).map((folder) => <p key={folder} class="path small" title={`${folder}, added`}>{folder}</p>)}
      </section>
    </aside>
  );
}

function Bar({ at, share, title }: { at: number; share: number; title: string }) {
  // Widths are set by script, which the page's policy allows; style attributes in markup it does not.
  return <span data-colour={at % 6} title={title} ref={(element) => element?.style.setProperty("flex-basis", `${Math.max(0.5, share * 100)}%`)} />;
}
