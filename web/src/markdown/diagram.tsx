import { useEffect, useState } from "preact/hooks";
import { Code } from "./markdown";

/**
 * A Mermaid diagram. It is drawn in a sandboxed frame that has no origin, no cookies and no network, and comes back as a
 * picture: whatever a model wrote in it can not act. The frame is made when the first diagram appears.
 */
export function Diagram({ source }: { source: string }) {
  const [drawn, setDrawn] = useState<{ url?: string; error?: string }>({});
  useEffect(() => {
    let current = true;
    let url: string | undefined;
    draw(source).then(
      (svg) => {
        url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
        if (current) setDrawn({ url });
        else URL.revokeObjectURL(url);
      },
      (error: Error) => current && setDrawn({ error: error.message }),
    );
    return () => {
      current = false;
      if (url !== undefined) URL.revokeObjectURL(url);
    };
  }, [source]);
  if (drawn.url === undefined) {
    return (
      <>
        <Code text={source} language="mermaid" />
        {drawn.error !== undefined && <p class="faint small">This diagram can not be drawn: {drawn.error.split("\n")[0]}</p>}
      </>
    );
  }
  return (
    <figure class="diagram">
      <img src={drawn.url} alt={`diagram: ${source.slice(0, 200)}`} />
    </figure>
  );
}

const PATIENCE = 15_000;
let frame: Promise<HTMLIFrameElement> | undefined;
let next = 1;

function load(): Promise<HTMLIFrameElement> {
  frame ??= new Promise((resolve) => {
    const element = document.createElement("iframe");
    element.setAttribute("sandbox", "allow-scripts");
    element.className = "offscreen";
    element.title = "diagrams";
    element.setAttribute("aria-hidden", "true");
    element.tabIndex = -1;
    element.src = "/diagram.html";
    addEventListener("message", function ready(message) {
      if (message.source !== element.contentWindow || message.data?.ready !== true) return;
      removeEventListener("message", ready);
      resolve(element);
    });
    document.body.append(element);
  });
  return frame;
}

async function draw(source: string): Promise<string> {
  const id = next++;
  const element = await load();
  return new Promise((resolve, reject) => {
    const over = (finish: () => void) => {
      clearTimeout(timer);
      removeEventListener("message", answer);
      finish();
    };
    const answer = (message: MessageEvent) => {
      if (message.source !== element.contentWindow || message.data?.id !== id) return;
      const { svg, error } = message.data as { svg?: unknown; error?: unknown };
      over(() => (typeof svg === "string" ? resolve(svg) : reject(new Error(String(error)))));
    };
    const timer = setTimeout(() => over(() => reject(new Error("it takes too long"))), PATIENCE);
    addEventListener("message", answer);
    // A frame without an origin can only be named by "*"; nobody else is in it.
    element.contentWindow?.postMessage({ id, source, dark: matchMedia("(prefers-color-scheme: dark)").matches }, "*");
  });
}
