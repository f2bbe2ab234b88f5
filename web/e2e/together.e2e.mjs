import { answered, ask, assert, newSession, story } from "./stage.mjs";

export const tests = {
  "two browsers on one session, and an answer in one dismisses the other": story(
    'reply\n  call: write {"path":"b.txt","content":"hello"}\nmodel: Wrote it.',
    async ({ open, world }) => {
      const [one, two] = [await open(), await open()];
      await newSession(one);
      await two.goto(world.url + one.url().slice(world.url.length));
      await two.waitForSelector("#composer");
      await ask(one, "write it");
      await Promise.all([one.waitForSelector(".permission"), two.waitForSelector(".permission")]);
      await two.click(".permission .primary");
      await one.waitForSelector(".permission", { state: "detached" });
      await Promise.all([answered(one, "Wrote it."), answered(two, "Wrote it.")]);
      assert.equal(await one.locator(".thread").textContent(), await two.locator(".thread").textContent());
    },
  ),
};
