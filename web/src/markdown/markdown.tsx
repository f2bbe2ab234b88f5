import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { GrowingText, type Block } from "./blocks";
import { Diagram } from "./diagram";
import { highlight } from "./highlight";
import { parseInline, type Inline } from "./inline";
import "./markdown.css";

/** Markdown that may still be growing. Blocks that are settled are drawn once. */
export function Markdown({ text }: { text: string }) {
  const growing = useRef<GrowingText | null>(null);
  growing.current ??= new GrowingText();
  const blocks = growing.current.update(text);
  return (
    <div class="markdown">
      {blocks.map((block, at) => (
        <BlockView key={at} block={block} />
      ))}
    </div>
  );
}

const BlockView = memo(function BlockView({ block }: { block: Block }) {
  switch (block.type) {
    case "paragraph":
      return <p>{inline(block.text)}</p>;
    case "heading": {
      const Heading = `h${Math.min(6, block.level + 1)}` as "h3";
      return <Heading>{inline(block.text)}</Heading>;
    }
    case "code":
      if (block.language === "mermaid" && block.closed) return <Diagram source={block.text} />;
      return <Code text={block.text} language={block.language} />;
    case "quote":
      return <blockquote>{block.blocks.map((inner, at) => <BlockView key={at} block={inner} />)}</blockquote>;
    case "list": {
      const items = block.items.map((item, at) => (
        <li key={at} class={item.checked === undefined ? undefined : "task"}>
          {item.checked !== undefined && <input type="checkbox" checked={item.checked} disabled aria-label={item.checked ? "done" : "open"} />}
          {item.blocks.map((inner, index) =>
            inner.type === "paragraph" ? <span key={index} class="item-text">{inline(inner.text)}</span> : <BlockView key={index} block={inner} />,
          )}
        </li>
      ));
      return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        <div class="table" tabIndex={0} role="group" aria-label="table">
          <table>
            <thead>
              <tr>{block.head.map((cell, at) => <th key={at} scope="col" data-align={block.align[at]}>{inline(cell)}</th>)}</tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>{block.head.map((_, at) => <td key={at} data-align={block.align[at]}>{inline(row[at] ?? "")}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "rule":
      return <hr />;
  }
});

/** One line of text with its code and emphasis. */
export function Line({ text }: { text: string }) {
  return <>{inline(text)}</>;
}

function inline(text: string) {
  return parseInline(text).map(draw);
}

function draw(node: Inline, key: number) {
  if (typeof node === "string") return node;
  switch (node.type) {
    case "strong":
      return <strong key={key}>{node.children.map(draw)}</strong>;
    case "em":
      return <em key={key}>{node.children.map(draw)}</em>;
    case "strike":
      return <s key={key}>{node.children.map(draw)}</s>;
    case "code":
      return <code key={key}>{node.text}</code>;
    case "break":
      return <br key={key} />;
    case "link":
      return <a key={key} href={node.url} target="_blank" rel="noopener noreferrer nofollow">{node.children.map(draw)}</a>;
  }
}

/** Code with its colours and a button that copies it. */
export function Code({ text, language }: { text: string; language: string }) {
  const tokens = useMemo(() => highlight(text, language), [text, language]);
  return (
    <div class="code">
      <div class="code-head">
        <span>{language}</span>
        <Copy text={text} />
      </div>
      <pre tabIndex={0} role="group" aria-label={language === "" ? "code" : `${language} code`}>
        <code>{tokens.map((token, at) => (token.kind === "plain" ? token.text : <span key={at} class={`tok-${token.kind}`}>{token.text}</span>))}</code>
      </pre>
    </div>
  );
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true), () => undefined);
  return (
    <button class="quiet small" type="button" onClick={copy}>
      {copied ? "Copied" : label}
    </button>
  );
}
