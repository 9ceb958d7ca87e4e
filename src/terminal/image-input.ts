// Images for the next message: from the clipboard, named by a command, or dropped on the terminal as paths.
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Home } from "../core/home.ts";
import { isImagePath } from "./attached-images.ts";

const MAX_BYTES = 20_000_000;

/** The paths when the text is nothing but paths of images, as terminals paste dropped files; null otherwise. */
export function droppedImages(text: string): string[] | null {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > 4_000 || trimmed.includes("\n")) return null;
  const words = trimmed.match(/'[^']+'|"[^"]+"|(?:\\.|[^\s\\])+/g) ?? [];
  const paths = words.map((word) => {
    const plain = /^(['"]).*\1$/.test(word) ? word.slice(1, -1) : word.replaceAll(/\\(.)/g, "$1");
    return plain.startsWith("file://") ? decodeFileUrl(plain) : plain;
  });
  const all = paths.every((path) => isImagePath(path) && (isAbsolute(path) || path.startsWith("~/")));
  return all && paths.length > 0 ? paths : null;
}

function decodeFileUrl(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    // Not a valid address: it is text.
    return url;
  }
}

/** Attaches the image of the path, or that of the clipboard when there is none. The message is for the user. */
export async function attachImage(
  given: string | undefined,
  home: Home,
): Promise<{ readonly path?: string | undefined; readonly message: string }> {
  if (given === undefined || given.trim() === "") {
    const { clipboardImage } = await import("./clipboard.ts");
    const found = await clipboardImage(home.env);
    return found
      ? { path: found, message: "attached the clipboard's image; it is sent with the next message" }
      : { message: "there is no image in the clipboard, or no program here can read it" };
  }
  const named = given.trim().replace(/^~\//, `${home.env.HOME ?? homedir()}/`);
  const path = isAbsolute(named) ? named : resolve(home.cwd, named);
  if (!isImagePath(path)) return { message: `${given}: images must be png, jpg, gif or webp` };
  const size = (await stat(path).catch(() => undefined))?.size;
  if (size === undefined) return { message: `${given} does not exist` };
  if (size > MAX_BYTES) return { message: `${given} is larger than 20 MB` };
  return { path: join(path), message: `attached ${given}; it is sent with the next message` };
}
