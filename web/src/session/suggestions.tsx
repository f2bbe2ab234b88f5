import type { SuggestedAction } from "@covey/protocol";
import { drafts, prompt, view } from "../app/model";

/** What the agent offers to do next. A tool is run at once, through the same gate as any call: what needs a word asks for it. */
export function Suggestions({ session, actions }: { session: string; actions: SuggestedAction[] }) {
  if (actions.length === 0) return null;
  const act = ({ action }: SuggestedAction) => {
    switch (action.type) {
      case "send_message":
        return void prompt(session, [{ type: "text", text: action.text }]);
      case "fill_input":
        drafts.update((all) => ({ ...all, [session]: action.text }));
        return document.getElementById("composer")?.focus();
      case "run_tool": {
        const input = JSON.stringify(action.input);
        // Other agents have tools of their own, which only they can run.
        const own = view.get()?.agent === "native";
        return void prompt(session, [{ type: "text", text: own ? `/run_tool ${action.tool} ${input}` : `Run the tool ${action.tool} with exactly this input: ${input}` }]);
      }
    }
  };
  return (
    <div class="suggestions" role="group" aria-label="Suggested next steps">
      {actions.slice(0, 6).map((one, at) => (
        <button key={at} type="button" title={one.action.type === "run_tool" ? `${one.action.tool} ${JSON.stringify(one.action.input)}` : one.action.text} onClick={() => act(one)}>{one.label.slice(0, 60)}</button>
      ))}
    </div>
  );
}
