import { useEffect, useState } from "preact/hooks";
import type { AgentSummary, ModelSummary } from "@covey/protocol";
import { connection, link, newSession } from "../app/model";
import { useStore } from "../app/store";
import { Code } from "../markdown/markdown";
import { PageHeader } from "../app/page_header";

/** The first time: what there is, and the three quickest ways to get more. */
export default function Welcome() {
  const online = useStore(link, (now) => now.state === "online");
  const [models, setModels] = useState<ModelSummary[]>();
  const [agents, setAgents] = useState<AgentSummary[]>();
  useEffect(() => {
    if (!online) return;
    connection.read({ type: "models" }, "models").then(setModels, () => undefined);
    connection.read({ type: "agents" }, "agents").then(setAgents, () => undefined);
  }, [online]);
  const usable = (models ?? []).filter((model) => model.usable);
  const ready = (agents ?? []).filter((agent) => agent.usable && agent.agent !== "native");
  return (
    <main id="main" tabIndex={-1} class="main page">
      <PageHeader title="Connect a model or an agent" />
      <div class="page-body">
        {usable.length + ready.length > 0 ? (
          <section>
            <h2>Ready</h2>
            <p>{usable.length > 0 && <>{usable.length === 1 ? "One model" : `${usable.length} models`} can be used, such as <code>{usable[0]!.model}</code>. </>}{ready.length > 0 && <>Installed agents: {ready.map((one) => one.agent).join(", ")}.</>}</p>
            <button class="primary" type="button" onClick={() => void newSession()}>New session</button>
          </section>
        ) : (
          models !== undefined && <p>Nothing is connected yet. Each of these takes a minute; start <code>covey serve</code> again afterwards.</p>
        )}
        <section><h2>1 · A key</h2><p class="faint">Keys are kept in a file that only you can read, and never reach this page.</p><Code language="sh" text="covey auth login openrouter" /></section>
        <section><h2>2 · A model on this machine</h2><p class="faint">Ollama, LM Studio and llama.cpp are found by themselves.</p><Code language="sh" text={"ollama serve &\nollama pull qwen3"} /></section>
        <section><h2>3 · An agent that you have</h2><p class="faint">Claude Code, Codex, Gemini CLI and others work here as they are, once they are logged in.</p><Code language="sh" text="covey agents" /></section>
      </div>
    </main>
  );
}
