import { useEffect, useState } from "preact/hooks";

/** A value that components follow. */
export class Store<T> {
  private listeners = new Set<() => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(value: T) {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of [...this.listeners]) listener();
  }

  update(how: (value: T) => T) {
    this.set(how(this.value));
  }

  follow(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

/** The value, or a part of it, drawn again when that changes. */
export function useStore<T>(store: Store<T>): T;
export function useStore<T, P>(store: Store<T>, part: (value: T) => P): P;
export function useStore<T, P>(store: Store<T>, part: (value: T) => P | T = (value) => value): P | T {
  const [, draw] = useState(0);
  const now = part(store.get());
  useEffect(() => {
    let seen = now;
    const look = () => {
      const next = part(store.get());
      if (Object.is(next, seen)) return;
      seen = next;
      draw((count) => count + 1);
    };
    look();
    return store.follow(look);
  }, [store]);
  return now;
}

/** A value that this browser remembers. */
export function remembered<T>(key: string, otherwise: T): Store<T> {
  let value = otherwise;
  try {
    const kept = localStorage.getItem(key);
    if (kept !== null) value = JSON.parse(kept) as T;
  } catch {
    // Forbidden or damaged: begin as if nothing were there.
  }
  const store = new Store(value);
  store.follow(() => {
    try {
      localStorage.setItem(key, JSON.stringify(store.get()));
    } catch {
      // Full or forbidden: it is then not remembered.
    }
  });
  return store;
}
