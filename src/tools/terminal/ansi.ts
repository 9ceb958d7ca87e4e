// Removes terminal control sequences from output.
import { splitOpenSequence, withoutTerminalSequences } from "../../lib/text/terminal-sequences.ts";

/** Of a line that was overwritten with carriage returns, as by progress bars, only the last state is kept. */
export function stripAnsi(text: string): string {
  const plain = withoutTerminalSequences(text).replaceAll("\r\n", "\n");
  if (!plain.includes("\r")) return plain;
  return plain
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1))
    .join("\n");
}

/** For output that arrives in chunks: a sequence that is cut by a chunk's end is removed as a whole. */
export function ansiStripper(): (chunk: string) => string {
  let held = "";
  return (chunk) => {
    const { whole, open } = splitOpenSequence(held + chunk);
    held = open;
    return stripAnsi(whole);
  };
}
