import { useEffect, useRef, useState } from "preact/hooks";
import type { PermissionRequest, SessionView } from "@covey/protocol";
import { decide, view } from "../app/model";
import { useStore } from "../app/store";
import { Line } from "../markdown/markdown";

/** A question at its place in the conversation. Numbers choose; somebody else's answer takes it away. */
export function Permission({ session, request }: { session: string; request: PermissionRequest }) {
  const [reason, setReason] = useState("");
  const [asking, setAsking] = useState<string | undefined>(undefined);
  const [sent, setSent] = useState(false);
  const root = useRef<HTMLElement>(null);
  const command = useStore(view, (now) => commandOf(now, request));
  const editing = request.options.some((option) => option.id === asking && option.kind === "allow_edited");
  const answer = (option: string, why?: string) => {
    setSent(true);
    void decide(session, request.request, { type: "choose", option, ...(why === undefined || why === "" ? {} : { reason: why }) }).finally(() => setSent(false));
  };
  const choose = (at: number) => {
    const option = request.options[at];
    if (option === undefined || sent) return;
    if (option.kind.startsWith("reject") && asking !== option.id && !request.is_question) return setAsking(option.id);
    if (option.kind === "allow_edited" && asking !== option.id) {
      setReason(command);
      return setAsking(option.id);
    }
    answer(option.id);
  };
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && (event.target.matches("input, textarea, [contenteditable]")) && (event.target as HTMLInputElement).value !== "";
      const at = Number.parseInt(event.key, 10) - 1;
      if (typing || event.ctrlKey || event.metaKey || event.altKey || Number.isNaN(at)) return;
      // Only the newest question listens, so that one key answers one question.
      if (root.current?.parentElement?.querySelectorAll(".permission").item(0) !== root.current) return;
      event.preventDefault();
      choose(at);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  return (
    <section ref={root} class="permission" role="alertdialog" aria-labelledby={`q-${request.request}`} data-question={request.is_question}>
      <h2 id={`q-${request.request}`}>
        <span class="pause" aria-hidden="true" />
        {request.title}
      </h2>
      {(request.reasons ?? []).length > 0 && <ul class="reasons">{request.reasons!.map((one) => <li key={one}><Line text={one} /></li>)}</ul>}
      <div class="options">
        {request.options.map((option, at) => (
          <button key={option.id} type="button" disabled={sent} class={option.kind === "allow_once" ? "primary" : option.kind.startsWith("reject") ? "reject" : undefined} onClick={() => choose(at)}>
            <kbd>{at + 1}</kbd> {option.name}
          </button>
        ))}
      </div>
      {(asking !== undefined || request.is_question) && (
        <form class="reason" onSubmit={(event) => { event.preventDefault(); answer(asking ?? request.options[0]?.id ?? "", reason); }}>
          <input aria-label={editing ? "What runs instead" : request.is_question ? "Your answer" : "Why not"} placeholder={editing ? "What runs instead" : request.is_question ? "Or say it in your words" : "Why not? The agent reads it. May be empty."} value={reason}
            ref={(element) => { if (asking !== undefined) element?.focus(); }} onInput={(event) => setReason(event.currentTarget.value)} />
          <button type="submit" disabled={sent}>{editing ? "Run this" : request.is_question ? "Answer" : "Deny"}</button>
        </form>
      )}
    </section>
  );
}

/** The command that is asked about, so that it can be changed. */
function commandOf(now: SessionView | undefined, request: PermissionRequest): string {
  for (const item of now?.items ?? []) {
    if (item.item !== "tool" || item.call.call !== request.call) continue;
    const input = item.call.input as { command?: unknown } | null;
    if (typeof input?.command === "string") return input.command;
  }
  return "";
}
