// Parses the front matter of a SKILL.md and reports mistakes with their line.

import { errorMessage } from "../lib/error-message.ts";
import { isRecord } from "../lib/json/is-record.ts";

export interface FrontMatter {
  /** The mapping; empty when there is none. */
  readonly fields: { readonly [key: string]: unknown };
  readonly body: string;
  /** The first line of the body in the file, counted from 1. */
  readonly bodyLine: number;
  readonly mistakes: readonly { readonly line: number; readonly message: string; readonly hint: string }[];
}

/** Splits a text into front matter and body; undefined when it has no closed block. */
function split(text: string): { block: string; body: string; bodyLine: number } | undefined {
  const lines = text.split("\n");
  if ((lines[0] ?? "").trimEnd() !== "---") return undefined;
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end < 0) return undefined;
  return { block: lines.slice(1, end).join("\n"), body: lines.slice(end + 1).join("\n"), bodyLine: end + 2 };
}

/** Fallback for invalid YAML: splits each line at its first colon, to keep name and description. */
function byColon(block: string): { [key: string]: unknown } {
  const fields: { [key: string]: unknown } = {};
  for (const line of block.split("\n")) {
    const match = /^([A-Za-z_][\w-]*):\s*(.*)$/.exec(line);
    if (match?.[1] && match[2]) fields[match[1]] = match[2].replace(/^(["'])(.*)\1$/, "$2");
  }
  return fields;
}

function missingFence(text: string): FrontMatter {
  const opened = text.startsWith("---");
  return {
    fields: {},
    body: text,
    bodyLine: 1,
    mistakes: [
      opened
        ? {
            line: 1,
            message: "the front matter is not closed",
            hint: "Add a line with only --- after the last field.",
          }
        : {
            line: 1,
            message: "there is no front matter",
            hint: "Start the file with --- , then name: and description:, then --- again.",
          },
    ],
  };
}

function broken(parts: { block: string; body: string; bodyLine: number }, message: string, line: number): FrontMatter {
  const reason = (message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
  return {
    fields: byColon(parts.block),
    body: parts.body,
    bodyLine: parts.bodyLine,
    mistakes: [
      {
        line,
        message: `the front matter is not valid YAML: ${reason}`,
        hint: "Put values that contain a colon, # or quotes between double quotes, and indent with spaces.",
      },
    ],
  };
}

/** Never throws: for an invalid block it returns the fields that could be read and the problems. */
export async function parseFrontMatter(given: string): Promise<FrontMatter> {
  const text = given.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const parts = split(text);
  if (!parts) return missingFence(text);
  // The package is CommonJS: in a bundle, its import has only a default export.
  const { parseDocument } = (await import("yaml")).default;
  const document = parseDocument(parts.block, { prettyErrors: true, uniqueKeys: false });
  const error = document.errors[0];
  if (error) return broken(parts, error.message, (error.linePos?.[0].line ?? 1) + 1);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 20 });
  } catch (failure) {
    // Undefined aliases and alias bombs are detected only when values are created.
    return broken(parts, errorMessage(failure), 2);
  }
  return {
    fields: isRecord(value) ? value : {},
    body: parts.body,
    bodyLine: parts.bodyLine,
    mistakes: isRecord(value)
      ? []
      : [{ line: 2, message: "the front matter is not a list of fields", hint: "Write one `field: value` per line." }],
  };
}
