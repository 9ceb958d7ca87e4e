// Standard input of `hermes -q` and `-z`: what a pipe or a file gives is attached to the question.
import { fstatSync } from "node:fs";
import { UserError } from "../core/failure.ts";
import { formatBytes } from "../lib/terminal/columns.ts";
import type { TerminalStreams } from "../lib/terminal/streams.ts";

/** About 250,000 tokens, more than most windows hold. */
export const PIPED_LIMIT = 1_000_000;
/** After this long without a byte a notice says what the program waits for. */
const NOTICE_MS = 3_000;
/** Programs that start Hermes often leave a socket open as its input and never write to it. */
const SOCKET_MS = 500;

type Source = "none" | "stream" | "socket";

/** A terminal or /dev/null has no piped text. */
function sourceOf(fd: number): Source {
  try {
    const info = fstatSync(fd);
    if (info.isFIFO() || info.isFile()) return "stream";
    return info.isSocket() ? "socket" : "none";
  } catch {
    // Standard input is closed.
    return "none";
  }
}

function tooLarge(): UserError {
  return new UserError(`standard input has more than ${formatBytes(PIPED_LIMIT)}`, {
    hint: "Nothing was sent. Put it into a file and name the file in the question, so that the agent reads the parts it needs.",
    exitCode: 2,
  });
}

/** Text of the bytes; throws when they are not text. */
function decode(bytes: Buffer): string {
  if (bytes.subarray(0, 8192).includes(0))
    throw new UserError("standard input is not text", {
      hint: "Nothing was sent. Attach an image with --image FILE; for other files, name the file in the question.",
      exitCode: 2,
    });
  return bytes.toString("utf8").replace(/^\uFEFF/, "");
}

/**
 * Reads standard input to its end. Empty when it is a terminal or closed, and when it is a socket on which nothing
 * arrives. Throws UserError above the limit.
 */
export async function readPipedInput(
  stdin: () => TerminalStreams["stdin"],
  notice: (text: string) => void,
  source: Source = sourceOf(0),
): Promise<string> {
  if (source === "none") return "";
  const input = stdin();
  const parts: Buffer[] = [];
  let size = 0;
  const wait = source === "socket" ? SOCKET_MS : NOTICE_MS;
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      input.off("data", onData);
      input.pause();
    };
    const finish = () => {
      end();
      try {
        resolve(decode(Buffer.concat(parts)));
      } catch (error) {
        reject(error);
      }
    };
    const onData = (chunk: Buffer | string) => {
      clearTimeout(timer);
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      parts.push(bytes);
      size += bytes.length;
      if (size <= PIPED_LIMIT) return;
      end();
      input.destroy();
      reject(tooLarge());
    };
    const timer = setTimeout(() => {
      if (source === "socket") finish();
      else notice("Reading standard input until it ends; Ctrl-D ends it, `< /dev/null` leaves it out.");
    }, wait);
    input.on("data", onData);
    input.once("end", finish);
    // A closed or broken pipe ends the text.
    input.once("error", finish);
    input.resume();
  });
}

/** The piped text as part of a message. */
export function attachPiped(piped: string): string {
  return piped.trim() === "" ? "" : `<stdin>\n${piped.replace(/\n$/, "")}\n</stdin>`;
}
