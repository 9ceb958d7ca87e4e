// Finds the file of a `MEDIA:` marker.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isSendable } from "../../core/chat/outgoing-media.ts";

/** Its path; null when it does not exist or is of a kind that chats do not accept. */
export function sendableFile(written: string): string | null {
  const path = written.startsWith("~/") ? join(homedir(), written.slice(2)) : written;
  const exists = isSendable(path) && isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile();
  return exists ? path : null;
}
