import { useEffect, useState } from "preact/hooks";
import type { AgentSummary, ModelSummary, ToolSummary } from "@covey/protocol";
import { connection, hello, link, signOut } from "../app/model";
import { setting } from "../app/settings";
import { useStore } from "../app/store";
import { count } from "../app/words";
import { PageHeader } from "../app/page_header";
import "./settings.css";

export default function Settings() {
  const online = useStore(link, (now) => now.state === "online");
  const greeting = useStore(hello);
  const [models, setModels] = useState<ModelSummary[]>();
  const [agents, setAgents] = useState<AgentSummary[]>();
  const [tools, setTools] = useState<ToolSummary[]>();
  useEffect(() => {
    if (!online) return;
    connection.read({ type: "models" }, "models").then(setModels, () => undefined);
    connection.read({ type: "agents" }, "agents").then(setAgents, () => undefined);
    connection.read({ type: "tools" }, "tools").then(setTools, () => undefined);
  }, [online]);
  return (
    <main id="main" tabIndex={-1} class="main page">
      <PageHeader title="Settings" />
      <div class="page-body">
        <Look />
        <section aria-labelledby="agents">
          <h2 id="agents">Agents</h2>
          {agents === undefined ? <p class="faint">…</p> : (
            <ul class="rows">{agents.map((one) => <li key={one.agent}><span class={`dot ${one.usable ? "good" : "grey"}`} /><span>{one.agent}</span><span class="faint">{one.usable ? "ready" : (one.reason ?? "not usable")}</span></li>)}</ul>
          )}
        </section>
        <Providers models={models} />
        <Tools tools={tools} />
        <section aria-labelledby="about">
          <h2 id="about">This server</h2>
          <p class="faint">covey {greeting?.covey ?? ""} · {greeting?.cwd ?? ""}</p>
          <p class="faint">Models, rules and MCP servers are set in <code>config.toml</code>: <code>covey config edit</code></p>
          <button type="button" onClick={() => void signOut()}>Sign out of this browser</button>
        </section>
      </div>
    </main>
  );
}

function Look() {
  const theme = useStore(setting.theme);
  const diff = useStore(setting.diff);
  const thoughts = useStore(setting.thoughts);
  const notify = useStore(setting.notify);
  return (
    <section aria-labelledby="look">
      <h2 id="look">Look</h2>
      <div class="fields">
        <label>Theme<select value={theme} onChange={(event) => setting.theme.set(event.currentTarget.value as "system")}><option value="system">as the system</option><option value="light">light</option><option value="dark">dark</option></select></label>
        <label>Changes of files<select value={diff} onChange={(event) => setting.diff.set(event.currentTarget.value as "unified")}><option value="unified">unified</option><option value="split">side by side</option></select></label>
        <label class="check"><input type="checkbox" checked={thoughts} onChange={(event) => setting.thoughts.set(event.currentTarget.checked)} />Show what models think</label>
        <label class="check"><input type="checkbox" checked={notify} onChange={(event) => {
          const wanted = event.currentTarget.checked;
          setting.notify.set(wanted);
          if (wanted && typeof Notification !== "undefined") void Notification.requestPermission();
        }} />Tell me when a turn ends while I look elsewhere</label>
      </div>
    </section>
  );
}

function Providers({ models }: { models: ModelSummary[] | undefined }) {
  const [query, setQuery] = useState("");
  const providers = new Map<string, ModelSummary[]>();
  for (const model of models ?? []) {
    const name = model.model.split("/")[0]!;
    providers.set(name, [...(providers.get(name) ?? []), model]);
  }
  const sorted = [...providers].sort(([a, one], [b, two]) => Number(two.some((model) => model.usable)) - Number(one.some((model) => model.usable)) || a.localeCompare(b));
  return (
    <section aria-labelledby="models">
      <h2 id="models">Providers and models</h2>
      <input type="search" aria-label="Filter models" placeholder="Filter" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
      {models === undefined && <p class="faint">…</p>}
      {sorted.map(([name, list]) => {
        const shown = list.filter((model) => model.model.toLowerCase().includes(query.toLowerCase()));
        if (shown.length === 0) return null;
        const usable = list.filter((model) => model.usable).length;
        return (
          <details key={name} class="provider" open={query !== "" || undefined}>
            <summary><span class={`dot ${usable > 0 ? "good" : "grey"}`} />{name}<span class="faint">{usable > 0 ? `${usable} of ${list.length} models` : (list[0]?.reason ?? "no key")}</span></summary>
            <ul class="rows">{shown.slice(0, 100).map((model) => <li key={model.model}><span>{model.model}</span><span class="faint">{model.context === undefined ? "" : `${count(model.context)} tokens`}{model.usable ? "" : ` ${model.reason ?? ""}`}</span></li>)}</ul>
          </details>
        );
      })}
    </section>
  );
}

function Tools({ tools }: { tools: ToolSummary[] | undefined }) {
  const groups = new Map<string, ToolSummary[]>();
  for (const tool of tools ?? []) groups.set(tool.group, [...(groups.get(tool.group) ?? []), tool]);
  return (
    <section aria-labelledby="tools">
      <h2 id="tools">Tools</h2>
      {[...groups].map(([name, list]) => (
        <details key={name} class="provider">
          <summary>{name}<span class="faint">{list.length}{list.every((tool) => tool.offered) ? "" : `, ${list.filter((tool) => !tool.offered).length} switched off`}</span></summary>
          <ul class="rows">{list.map((tool) => <li key={tool.name}><span class={`dot ${tool.offered ? "good" : "grey"}`} /><code>{tool.name}</code><span class="faint clip">{tool.description.split(". ")[0]}</span></li>)}</ul>
        </details>
      ))}
    </section>
  );
}
