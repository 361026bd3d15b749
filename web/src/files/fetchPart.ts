// Requests parts of files.

import { requestFilePart } from "../api/client.ts";
import { type FilePart, partOf } from "./shownFile.ts";

export async function fetchPart(path: string, signal: AbortSignal): Promise<FilePart> {
  const response = await requestFilePart(path, signal);
  return partOf(response.headers, new Uint8Array(await response.arrayBuffer()));
}
