// Catches errors that plugins throw outside of a call (in a timer, in an unhandled promise): they are reported, not fatal.
import { sep } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage } from "../lib/error-message.ts";

/** Active from the first loaded plugin until `stop`. Errors that do not come from a plugin end the program as usual. */
export class PluginErrorGuard {
  readonly #folders = new Map<string, string>();
  readonly #report: (plugin: string, reason: string) => void;
  readonly #caught = (error: unknown): void => {
    const plugin = this.#findPlugin(error);
    if (plugin === undefined) throw error;
    this.#report(plugin, errorMessage(error));
  };

  constructor(report: (plugin: string, reason: string) => void) {
    this.#report = report;
  }

  watch(plugin: string, dir: string): void {
    if (this.#folders.size === 0) {
      process.on("unhandledRejection", this.#caught);
      process.on("uncaughtException", this.#caught);
    }
    this.#folders.set(dir + sep, plugin);
  }

  stop(): void {
    process.off("unhandledRejection", this.#caught);
    process.off("uncaughtException", this.#caught);
    this.#folders.clear();
  }

  #findPlugin(error: unknown): string | undefined {
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    for (const [folder, plugin] of this.#folders)
      if (stack.includes(pathToFileURL(folder).href) || stack.includes(folder)) return plugin;
    return undefined;
  }
}
