// Compresses the files of the build in the codings that functions/pages/web.py serves, so that no request waits for it.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const PACKET = 1024;
const CODINGS = {
  ".br": (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  ".gz": (bytes) => gzipSync(bytes, { level: 9 }),
};

/** A Vite plugin that compresses the files after the build. */
export function compress() {
  let folder = "dist";
  return {
    name: "compress",
    apply: "build",
    configResolved: ({ build }) => {
      folder = build.outDir;
    },
    closeBundle: () => {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        const bytes = entry.isFile() ? readFileSync(path) : "";
        if (bytes.length > PACKET) writeVariants(path, bytes);
      }
    },
  };
}

function writeVariants(path, bytes) {
  for (const [suffix, encode] of Object.entries(CODINGS)) {
    const encoded = encode(bytes);
    if (encoded.length < bytes.length) writeFileSync(path + suffix, encoded);
  }
}
