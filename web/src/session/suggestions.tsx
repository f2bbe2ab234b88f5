import type { SuggestedAction } from "@covey/protocol";
import { drafts, prompt } from "../app/model";

/** What the agent offers to do next. A tool is run by asking for it, so it passes the same gate as any other. */
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
        const text = `Run the tool \`${action.tool}\` with exactly this input:\n\n\`\`\`json\n${JSON.stringify(action.input, null, 2)}\n\`\`\``;
        return void prompt(session, [{ type: "text", text }]);
      }
    }
  };
  return (
    <div class="suggestions" role="group" aria-label="Suggested next steps">
      {actions.slice(0, 6).map((one, at) => <button key={at} type="button" onClick={() => act(one)}>{one.label.slice(0, 60)}</button>)}
    </div>
  );
}
