// One log file: lines are appended in order and in the background, and large files are rotated.
import { appendFile, mkdir, rename, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { withFileLock } from "../lib/file-lock.ts";

/** Above this many waiting characters new lines are dropped, for example while the disk hangs. */
const MAX_WAITING = 4_000_000;

export interface RotationLimits {
  readonly maxBytes: number;
  /** Older files kept as `<name>.1` … */
  readonly keep: number;
}

export class LogFile {
  readonly #path: string;
  readonly #limits: RotationLimits;
  #waiting: string[] = [];
  #waitingSize = 0;
  #dropped = 0;
  #work: Promise<void> | undefined;

  constructor(path: string, limits: RotationLimits) {
    this.#path = path;
    this.#limits = limits;
  }

  write(line: string): void {
    if (this.#waitingSize + line.length > MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingSize += line.length + 1;
    this.#work ??= this.#drain();
  }

  async flush(): Promise<void> {
    while (this.#work) await this.#work;
  }

  async #drain(): Promise<void> {
    // Lines of the same moment are written together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const lines = this.#waiting;
      this.#waiting = [];
      this.#waitingSize = 0;
      if (this.#dropped > 0) lines.push(`(${this.#dropped} lines were dropped)`);
      this.#dropped = 0;
      // A log that cannot be written must not stop the program; `hermes doctor` reports the folder.
      await this.#append(`${lines.join("\n")}\n`).catch(() => undefined);
    }
    this.#work = undefined;
  }

  async #append(text: string): Promise<void> {
    const size = await this.#size();
    if (size > 0 && size + text.length > this.#limits.maxBytes) await this.#rotate();
    try {
      await appendFile(this.#path, text, { mode: 0o600 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
      await appendFile(this.#path, text, { mode: 0o600 });
    }
  }

  async #size(): Promise<number> {
    return (await stat(this.#path).catch(() => null))?.size ?? 0;
  }

  /** Under a lock, because several processes write the same file; the one that comes later finds a small file. */
  #rotate(): Promise<void> {
    return withFileLock(this.#path, async () => {
      if ((await this.#size()) < this.#limits.maxBytes / 2) return;
      const name = (index: number) => (index === 0 ? this.#path : `${this.#path}.${index}`);
      for (let index = Math.max(1, this.#limits.keep); index > 0; index--)
        await rename(name(index - 1), name(index)).catch(() => undefined);
    });
  }
}
