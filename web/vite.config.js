import { defineConfig } from "vite";

// Assets are files with a hash in their name, never inlined, so that the page works under a strict Content-Security-Policy.
export default defineConfig({
  base: "/",
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: false, reportCompressedSize: true },
  server: { proxy: { "/api": process.env["BATCHSCOPE"] ?? "http://127.0.0.1:7071" } },
});
