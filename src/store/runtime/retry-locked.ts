// Repeats a short statement on runtime.db while another process holds its lock.
import { isLocked } from "../../lib/sqlite-error.ts";

const TRIES = 15;
const PAUSE_MS = { least: 20, most: 150 };

export async function retryLocked<T>(attempt: () => T): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return attempt();
    } catch (error) {
      if (!isLocked(error) || tried >= TRIES) throw error;
      const pause = PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}
