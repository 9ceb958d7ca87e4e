// Plain text as blocks: answers of commands.
import { plainLineText } from "../../lib/terminal/styled-line.ts";
import { fitToWidth } from "../../lib/text/text-width.ts";
import { wrapWords } from "../../lib/text/wrap-words.ts";
import type { Block } from "../view/block.ts";

export const EMPTY_LINE: Block = { render: () => [""] };

export function proseBlock(text: string): Block {
  const lines = text.split("\n").map((line) => plainLineText(line));
  return { render: (width) => lines.flatMap((line) => wrapWords(line, width).split("\n")) };
}

/** Text whose lines are aligned by spaces: each line is cut, not wrapped. */
export function columnsBlock(text: string): Block {
  const lines = text.split("\n");
  return { render: (width) => lines.map((line) => fitToWidth(plainLineText(line), width)) };
}
