// Gateway hooks: folders under hooks/ with a HOOK.yaml and a JavaScript handler for gateway events.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage } from "../../lib/error-message.ts";
import { importModule } from "../../lib/import-module.ts";

export type HookContext = { readonly [name: string]: unknown };

type Handler = (event: string, context: HookContext) => unknown;

interface Hook {
  readonly name: string;
  readonly events: readonly string[];
  readonly handle: Handler;
}

const HANDLERS = ["handler.mjs", "handler.js"];
const LIMIT_MS = 30_000;

async function loadHook(folder: string): Promise<Hook | string | null> {
  const manifest = join(folder, "HOOK.yaml");
  if (!existsSync(manifest)) return null;
  const { parse } = (await import("yaml")).default;
  const { name, events } = (parse(await readFile(manifest, "utf8")) ?? {}) as { name?: unknown; events?: unknown };
  const file = HANDLERS.map((each) => join(folder, each)).find((each) => existsSync(each));
  if (!file) return `${folder}: no handler.mjs or handler.js; handlers in other languages are not run`;
  const { handle } = (await importModule(pathToFileURL(file).href)) as { handle?: unknown };
  if (typeof handle !== "function") return `${file}: does not export a function named handle`;
  const list = Array.isArray(events) ? events.map(String) : [];
  return { name: String(name ?? folder), events: list, handle: handle as Handler };
}

function listens(hook: Hook, event: string): boolean {
  return hook.events.some((each) => each === event || (each.endsWith(":*") && event.startsWith(each.slice(0, -1))));
}

export class GatewayHooks {
  readonly #hooks: readonly Hook[];
  readonly #report: (text: string) => void;

  private constructor(hooks: readonly Hook[], report: (text: string) => void) {
    this.#hooks = hooks;
    this.#report = report;
  }

  /** A hook that cannot be loaded is reported and ignored. */
  static async load(dir: string, report: (text: string) => void): Promise<GatewayHooks> {
    const folders = await readdir(dir, { withFileTypes: true }).catch(() => []);
    const hooks: Hook[] = [];
    for (const folder of folders.filter((entry) => entry.isDirectory())) {
      try {
        const found = await loadHook(join(dir, folder.name));
        if (typeof found === "string") report(`hook ${found}`);
        else if (found) hooks.push(found);
      } catch (error) {
        report(`hook ${folder.name}: ${errorMessage(error)}`);
      }
    }
    return new GatewayHooks(hooks, report);
  }

  /** The results of the handlers. A handler that fails or hangs is reported and ignored. */
  async run(event: string, context: HookContext): Promise<readonly unknown[]> {
    const answers: unknown[] = [];
    for (const hook of this.#hooks.filter((each) => listens(each, event))) {
      let timer: NodeJS.Timeout | undefined;
      try {
        const late = new Promise((_, reject) => {
          timer = setTimeout(() => reject(new Error("took too long")), LIMIT_MS);
        });
        const answer = await Promise.race([(async () => hook.handle(event, context))(), late]);
        if (answer !== undefined && answer !== null) answers.push(answer);
      } catch (error) {
        this.#report(`hook ${hook.name} failed on ${event}: ${errorMessage(error)}`);
      } finally {
        clearTimeout(timer);
      }
    }
    return answers;
  }
}
