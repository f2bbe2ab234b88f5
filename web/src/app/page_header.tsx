import { drawer } from "./model";

export function PageHeader({ title }: { title: string }) {
  return (
    <header class="header">
      <button class="quiet icon only-narrow" type="button" aria-label="Sessions" onClick={() => drawer.set(true)}>☰</button>
      <h1 class="title">{title}</h1>
    </header>
  );
}
