// Runs in a sandboxed frame without an origin: takes the source of a diagram, answers with its picture.
"use strict";
let count = 0;
addEventListener("message", async (message) => {
  if (message.source !== parent) return;
  const { id, source, dark } = message.data;
  try {
    mermaid.initialize({ startOnLoad: false, securityLevel: "strict", theme: dark ? "dark" : "neutral", htmlLabels: false, flowchart: { htmlLabels: false } });
    const { svg } = await mermaid.render(`d${++count}`, source);
    parent.postMessage({ id, svg }, "*");
  } catch (error) {
    parent.postMessage({ id, error: String(error?.message ?? error) }, "*");
  }
});
parent.postMessage({ ready: true }, "*");
