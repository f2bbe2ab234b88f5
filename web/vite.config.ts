import preact from "@preact/preset-vite";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  plugins: [preact()],
  resolve: { alias: { "@covey/protocol": here("../packages/protocol/src/index.ts") } },
  build: {
    target: "es2022",
    // Styles and scripts are files: the page's policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 300,
  },
  test: { include: ["src/**/*.test.{ts,tsx}"], environment: "node" },
  server: { proxy: { "/api": { target: process.env.COVEY_URL ?? "http://127.0.0.1:8417", ws: true } } },
});
