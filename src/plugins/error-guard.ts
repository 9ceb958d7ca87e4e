// Errors that a plugin lets fall outside any call of ours (a timer, a forgotten promise): reported, never fatal.
import { sep } from "node:path";
import { pathToFileURL } from "node:url";

/** Watches from the first plugin that is loaded until `stop`. Everybody else's errors end the program as before. */
export class PluginErrorGuard {
  readonly #folders = new Map<string, string>();
  readonly #report: (plugin: string, reason: string) => void;
  readonly #caught = (error: unknown): void => {
    const owner = this.#ownerOf(error);
    if (owner === undefined) throw error;
    this.#report(owner, error instanceof Error ? error.message : String(error));
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

  #ownerOf(error: unknown): string | undefined {
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    for (const [folder, plugin] of this.#folders)
      if (stack.includes(pathToFileURL(folder).href) || stack.includes(folder)) return plugin;
    return undefined;
  }
}
