// Reads test/corpus/*.jsonl into attempts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Attempt, ToolCall } from "./attempt.ts";
import { generatedAttempts } from "./generated.ts";
import { injectionCalls } from "./injection-calls.ts";

export const CORPORA = [
  "attacks",
  "other-paths",
  "hardline-yolo",
  "injection",
  "harmless",
  "ssrf",
  "generated",
] as const;
export type CorpusName = (typeof CORPORA)[number];

/** Long padding is written as a repeated part. */
type Part = string | { readonly repeat: string; readonly times: number };

interface Line {
  readonly id: string;
  readonly family: string;
  readonly effect?: string;
  readonly command?: string | readonly Part[];
  readonly calls?: readonly ToolCall[];
  readonly source?: string;
  readonly sink?: string;
  readonly expectation: string;
}

const COMMAND_SECONDS = 8;

function spelled(command: string | readonly Part[]): string {
  if (typeof command === "string") return command;
  return command.map((part) => (typeof part === "string" ? part : part.repeat.repeat(part.times))).join("");
}

function terminal(line: Line): readonly ToolCall[] {
  return [{ name: "terminal", args: { command: spelled(line.command ?? ""), timeout: COMMAND_SECONDS } }];
}

function ofInjection(line: Line): Attempt {
  const [source, sink] = [line.source ?? "", line.sink ?? ""];
  const calls = injectionCalls(source, sink);
  if (!calls) throw new Error(`${line.id}: no such source or sink: ${source} -> ${sink}`);
  const aims = line.expectation === "allowed" ? [] : ["durable"];
  const base = { id: line.id, family: source, kind: "calls", calls, aims } as const;
  return JSON.stringify(calls).includes("93.184.216.34") ? { ...base, publicAddress: true } : base;
}

function ofSsrf(line: Line): Attempt {
  const url = spelled(line.command ?? "").replace(/^web_extract /, "");
  const calls = [{ name: "web_extract", args: { urls: [url] } }];
  const aims = line.expectation === "fetched" ? [] : ["reached"];
  return { id: line.id, family: line.family, kind: "calls", calls, aims, publicAddress: true };
}

function parseAttempt(name: CorpusName, line: Line): Attempt {
  if (name === "injection") return ofInjection(line);
  if (name === "ssrf") return ofSsrf(line);
  const calls = line.calls ?? terminal(line);
  const aims = line.effect?.split("|") ?? [];
  const base = { id: line.id, family: line.family, kind: "calls", calls, aims } as const;
  return name === "hardline-yolo" ? { ...base, yolo: true } : base;
}

/** All attempts of one file, in its order. `root` is the checkout. */
export function readCorpus(root: string, name: CorpusName): Attempt[] {
  if (name === "generated") return generatedAttempts();
  const text = readFileSync(join(root, "test", "corpus", `${name}.jsonl`), "utf8");
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => parseAttempt(name, JSON.parse(line) as Line));
}
