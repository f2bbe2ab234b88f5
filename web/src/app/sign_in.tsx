import { useState } from "preact/hooks";
import { connection, link } from "./model";

/** Trades the token in the address for a cookie that scripts can not read. */
export async function signIn(text: string = location.hash): Promise<boolean> {
  const token = /(?:^|[#&]token=|^)([0-9a-f]{64})\b/.exec(text)?.[1];
  if (token === undefined) return false;
  history.replaceState(null, "", location.pathname);
  const answer = await fetch("/api/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  }).catch(() => undefined);
  return answer?.ok ?? false;
}

/** Shown when the server does not know us: it was started anew, or we logged out. */
export function SignedOut() {
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(await signIn(text.trim()))) return setWrong(true);
    link.set({ state: "stopped" });
    connection.retryAll();
  };
  return (
    <main class="center">
      <form class="card narrow" onSubmit={(event) => void submit(event)}>
        <h1>Signed out</h1>
        <p>
          Each run of <code>covey serve</code> has an address of its own. Open the one that it printed, or paste it here.
        </p>
        <label for="address">Address or token</label>
        <input id="address" type="password" autocomplete="off" value={text} aria-invalid={wrong} aria-describedby={wrong ? "wrong" : undefined}
          onInput={(event) => { setText(event.currentTarget.value); setWrong(false); }} />
        {wrong && <p id="wrong" class="danger" role="alert">That is not the token of this run.</p>}
        <button class="primary" type="submit" disabled={text.trim() === ""}>Sign in</button>
      </form>
    </main>
  );
}
