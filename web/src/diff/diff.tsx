import { useMemo } from "preact/hooks";
import { counts, diffLines, hunks, sides, type DiffLine } from "./lines";
import { setting } from "../app/settings";
import { useStore } from "../app/store";
import "./diff.css";

const MAX_LINES = 600;

export function Diff({ path, before, after }: { path: string; before: string; after: string }) {
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const parts = useMemo(() => hunks(lines), [lines]);
  const layout = useStore(setting.diff);
  const { added, removed } = counts(lines);
  return (
    <div class="diff">
      <div class="diff-head">
        <span class="path">{path}</span>
        <span class="good">+{added}</span> <span class="danger">−{removed}</span>
        <button class="quiet small" type="button" aria-pressed={layout === "split"} onClick={() => setting.diff.set(layout === "split" ? "unified" : "split")}>
          {layout === "split" ? "Unified" : "Side by side"}
        </button>
      </div>
      <div class="diff-body" data-layout={layout} tabIndex={0} role="group" aria-label={`changes of ${path}`}>
        {parts.length === 0 && <p class="faint">No lines changed.</p>}
        {parts.map((hunk, at) => (
          <div key={at} class="hunk">
            {hunk.skipped > 0 && <div class="skipped">{hunk.skipped} lines as before</div>}
            {layout === "split"
              ? sides(hunk.lines.slice(0, MAX_LINES)).map(([left, right], index) => (
                  <div key={index} class="row">
                    <Line line={left} side="old" />
                    <Line line={right} side="new" />
                  </div>
                ))
              : hunk.lines.slice(0, MAX_LINES).map((line, index) => <Line key={index} line={line} side="both" />)}
            {hunk.lines.length > MAX_LINES && <div class="skipped">{hunk.lines.length - MAX_LINES} more lines</div>}
          </div>
        ))}
      </div>
    </div>
  );
}

function Line({ line, side }: { line: DiffLine | undefined; side: "old" | "new" | "both" }) {
  if (line === undefined) return <div class="line none" />;
  const sign = line.kind === "added" ? "+" : line.kind === "removed" ? "−" : " ";
  return (
    <div class={`line ${line.kind}`}>
      {side !== "new" && <span class="number">{line.old ?? ""}</span>}
      {side !== "old" && <span class="number">{line.new ?? ""}</span>}
      <span class="sign">{sign}</span>
      <span class="text">{line.pieces.map((piece, at) => (piece.changed ? <mark key={at}>{piece.text}</mark> : piece.text))}</span>
    </div>
  );
}
