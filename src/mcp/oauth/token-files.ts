// The sign-in of one server on disk: `mcp-tokens/<server>.json`, `.client.json` and `.meta.json`, as Hermes Agent has them.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";

type Sort = "tokens" | "client" | "meta";
const SUFFIX: { readonly [S in Sort]: string } = { tokens: ".json", client: ".client.json", meta: ".meta.json" };

export class TokenFiles {
  readonly #folder: string;
  readonly #name: string;

  constructor(homePath: string, server: string) {
    this.#folder = join(homePath, "mcp-tokens");
    this.#name = server.replaceAll(/[^\w.-]/g, "_");
  }

  #path(sort: Sort): string {
    return join(this.#folder, `${this.#name}${SUFFIX[sort]}`);
  }

  /** Undefined when it was never written or cannot be read. */
  async read(sort: Sort): Promise<{ readonly [key: string]: unknown } | undefined> {
    const text = await readFile(this.#path(sort), "utf8").catch(() => "");
    const value = parseJson(text);
    return isRecord(value) ? value : undefined;
  }

  async write(sort: Sort, value: object): Promise<void> {
    await atomicWrite(this.#path(sort), `${JSON.stringify(value, null, 2)}\n`, 0o600);
  }

  async remove(sort: Sort): Promise<void> {
    await rm(this.#path(sort), { force: true });
  }

  /** One process refreshes at a time; the others then find the new tokens. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(this.#path("tokens"), work, { timeoutMs: 60_000 });
  }
}
