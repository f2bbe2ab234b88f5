// A home, a project, a scripted model, a running server, and browsers that look at it.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const target = process.env.COVEY_TARGET ?? new URL("../../target/debug/", import.meta.url).pathname;
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--font-render-hinting=none", "--force-color-profile=srgb"];

export const launch = () => chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

export class World {
  program = join(target, "covey");

  static async make(script = "") {
    const world = new World();
    world.root = mkdtempSync(join(tmpdir(), "covey-e2e-"));
    world.home = join(world.root, "home");
    world.project = join(world.root, "shop");
    mkdirSync(world.home);
    chmodSync(world.home, 0o700);
    mkdirSync(join(world.project, ".git"), { recursive: true });
    mkdirSync(join(world.project, "src"));
    world.children = [];
    const options = ["model-server", "--json"];
    if (script !== "") {
      writeFileSync(join(world.root, "script"), script);
      options.push("--script", join(world.root, "script"));
    }
    const model = await world.start(join(target, "covey-testkit"), options);
    writeFileSync(join(world.home, "config.toml"), JSON.parse(model.line).config);
    return world;
  }

  /** Starts a program and waits for its first line. */
  async start(program, options) {
    const env = { PATH: "/usr/bin:/bin", HOME: this.home, COVEY_HOME: this.home };
    const child = spawn(program, options, { cwd: this.project, env, stdio: ["ignore", "pipe", "inherit"] });
    this.children.push(child);
    const lines = createInterface({ input: child.stdout });
    const line = await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      child.once("exit", (code) => reject(new Error(`${program} ended with ${code}`)));
    });
    return { child, line };
  }

  async serve(bind = "127.0.0.1:0") {
    const { child, line } = await this.start(join(target, "covey"), ["serve", "--json", "--bind", bind]);
    const { url, token } = JSON.parse(line);
    this.server = child;
    this.url = url;
    this.token = token;
    this.link = `${url}#token=${token}`;
    return this;
  }

  async kill(signal = "SIGKILL") {
    const over = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill(signal);
    await over;
  }

  async api(method, path, body) {
    const response = await fetch(`${this.url.slice(0, -1)}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  configure(text) {
    writeFileSync(join(this.home, "config.toml"), text);
  }

  write(path, text) {
    writeFileSync(join(this.project, path), text);
  }

  end() {
    for (const child of this.children) child.kill("SIGKILL");
    rmSync(this.root, { recursive: true, force: true });
  }
}
