import { defineConfig } from "vite";
import { compress } from "./compress.js";

const api = process.env.BATCHSCOPE ?? "http://127.0.0.1:7071";

// Assets are files with a hash in their name, never inlined, so that the page works under a strict Content-Security-Policy.
export default defineConfig({
  base: "/",
  plugins: [compress()],
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: false, reportCompressedSize: true },
  // The local host accepts changes only from pages of its own origin, so the proxy keeps the page's Host header for it.
  server: { proxy: { "/api": { target: api, changeOrigin: api.startsWith("https:") } } },
});
