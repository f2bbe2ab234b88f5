import { useEffect, useRef, useState } from "preact/hooks";

export type MenuItem = { name: string; act: () => void; note?: string; danger?: boolean; checked?: boolean };

/** A button with a list under it. Arrow keys, Enter and Escape work as everywhere. */
export function Menu({ label, sign, items, side = "right" }: { label: string; sign: string; items: MenuItem[]; side?: "left" | "right" }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    root.current?.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
    const outside = (event: Event) => !root.current?.contains(event.target as Node) && setOpen(false);
    addEventListener("pointerdown", outside);
    return () => removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button")?.focus();
  };
  const press = (event: KeyboardEvent) => {
    const all = [...(root.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      all[(at + step + all.length) % all.length]?.focus();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      close();
    }
  };
  return (
    <div class="menu" ref={root} onKeyDown={press}>
      <button class="quiet" type="button" aria-label={label} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>{sign}</button>
      {open && (
        <div class="menu-list" role="menu" aria-label={label} data-side={side}>
          {items.map((item) => (
            <button key={item.name} type="button" role={item.checked === undefined ? "menuitem" : "menuitemradio"} aria-checked={item.checked} tabIndex={-1}
              class={item.danger ? "danger" : undefined} onClick={() => { close(); item.act(); }}>
              <span>{item.name}</span>
              {item.note !== undefined && <span class="faint small">{item.note}</span>}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
