// The file that a `MEDIA:` marker means: of a kind that chats take, and there.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isSendable } from "../../core/outgoing-media.ts";

/** Its path; null when there is no such file. */
export function sendableFile(written: string): string | null {
  const path = written.startsWith("~/") ? join(homedir(), written.slice(2)) : written;
  const there = isSendable(path) && isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile();
  return there ? path : null;
}
