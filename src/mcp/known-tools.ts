// What is known of each server from earlier runs: its tools, its protocol, and the descriptions that the user accepted.
// Conversations can offer the tools before the server has answered; a changed description waits for the user.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { atomicWrite } from "../lib/atomic-write.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import type { ServerOptions } from "./server-options.ts";

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly readOnly: boolean;
  readonly destructive: boolean;
}

export interface ListedPrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}

/** What one server offered when it was last connected. */
export interface ServerRecord {
  /** Changes with the settings that decide which server answers. */
  readonly identity: string;
  readonly modern: boolean;
  /** The answer to `server/discover`, for servers of the newer protocol. */
  readonly discover?: unknown;
  readonly tools: readonly ListedTool[];
  /** The server has resources to read. */
  readonly resources: boolean;
  readonly prompts: readonly ListedPrompt[];
  /** Hash of each tool that was accepted, by name. */
  readonly pins: { readonly [tool: string]: string };
}

/** Commands and addresses, without their secrets. */
export function serverIdentity(options: ServerOptions): string {
  const parts =
    options.transport === "stdio" ? [options.command, ...options.args] : [options.transport, options.url.href];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

export function toolHash(tool: ListedTool): string {
  return createHash("sha256")
    .update(JSON.stringify([tool.description, tool.inputSchema]))
    .digest("hex")
    .slice(0, 16);
}

/** The tools that were accepted, and the names of those that wait for the user. */
export function splitByPin(record: Pick<ServerRecord, "tools" | "pins">): {
  readonly accepted: readonly ListedTool[];
  readonly held: readonly string[];
} {
  const isAccepted = (tool: ListedTool) => record.pins[tool.name] === toolHash(tool);
  return {
    accepted: record.tools.filter(isAccepted),
    held: record.tools.filter((tool) => !isAccepted(tool)).map((tool) => tool.name),
  };
}

export function pinAll(tools: readonly ListedTool[]): { readonly [tool: string]: string } {
  return Object.fromEntries(tools.map((tool) => [tool.name, toolHash(tool)]));
}

function isServerRecord(value: unknown): value is ServerRecord {
  return (
    isRecord(value) &&
    typeof value.identity === "string" &&
    Array.isArray(value.tools) &&
    Array.isArray(value.prompts) &&
    isRecord(value.pins)
  );
}

export class KnownTools {
  readonly #path: string;
  readonly #records: Map<string, ServerRecord>;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
    this.#records = new Map(KnownTools.#read(path));
  }

  static #read(path: string): [string, ServerRecord][] {
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch {
      // No server was connected yet.
      return [];
    }
    const parsed = parseJson(text);
    if (!isRecord(parsed)) return [];
    return Object.entries(parsed).filter((entry): entry is [string, ServerRecord] => isServerRecord(entry[1]));
  }

  /** Undefined when the settings name another server than the record. */
  get(options: ServerOptions): ServerRecord | undefined {
    const record = this.#records.get(options.name);
    return record?.identity === serverIdentity(options) ? record : undefined;
  }

  /** Resolves when it is on disk; other processes' records of other servers are kept. */
  set(name: string, record: ServerRecord): Promise<void> {
    this.#records.set(name, record);
    this.#writing = this.#writing.then(async () => {
      const merged = new Map([...KnownTools.#read(this.#path), [name, record] as const]);
      await atomicWrite(this.#path, `${JSON.stringify(Object.fromEntries(merged))}\n`);
    });
    return this.#writing;
  }

  async forget(name: string): Promise<void> {
    this.#records.delete(name);
    const rest = KnownTools.#read(this.#path).filter(([other]) => other !== name);
    await atomicWrite(this.#path, `${JSON.stringify(Object.fromEntries(rest))}\n`);
  }
}
