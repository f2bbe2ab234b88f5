import { expect, test } from "vitest";
import { EditorHost, type HostRequest } from "@covey/protocol";

const request = (id: number): HostRequest => ({ request: id, call: "stat", path: "/a" });

test("what was done is answered again and not done again", async () => {
  const done: number[] = [];
  const told: number[] = [];
  let lost = true;
  const host = new EditorHost(
    async (asked) => {
      done.push(asked.request);
      return { answer: "done" };
    },
    async (id) => {
      if (lost) throw new Error("the connection was lost");
      told.push(id);
    },
  );
  await host.take(request(1));
  expect([done, told]).toEqual([[1], []]);
  lost = false;
  await host.take(request(1));
  expect([done, told]).toEqual([[1], [1]]);
});

test("what is being done is not begun twice, and what fails is said", async () => {
  const answers: unknown[] = [];
  let finish: (error: Error) => void = () => undefined;
  const host = new EditorHost(
    () => new Promise((_, reject) => (finish = reject)),
    async (_, answer) => void answers.push(answer),
  );
  const first = host.take(request(1));
  await host.take(request(1));
  finish(new Error("no such file"));
  await first;
  expect(answers).toEqual([{ answer: "failed", why: "failed", message: "Error: no such file" }]);
});
