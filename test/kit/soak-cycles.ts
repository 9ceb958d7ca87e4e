// Starts and kills process trees over and over: used by the soak test itself and by the program that it kills.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LocalBackend } from "../../src/tools/terminal/local.ts";
import { OutputCapture } from "../../src/tools/terminal/output-capture.ts";
import { ProcessRegistry } from "../../src/tools/terminal/process-registry.ts";

/** A tree of three: the shell, a pipe's reader, and a child that ignores the polite signals. */
const TREE = "bash -c \"trap '' HUP TERM; sleep 300\" | cat";

export interface Soak {
  /** Starts one background process, and kills it; now and then a foreground command runs into its limit, too. */
  cycle(index: number): Promise<void>;
  close(): Promise<void>;
}

/** `marker` is in the environment of everything that is started. */
export function openSoak(marker: string): Soak {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: tmpdir(), HERMES_SOAK: marker };
  const backend = new LocalBackend({ cwd: tmpdir(), env, useBashrc: false });
  const processes = new ProcessRegistry((text) => text);
  const signal = new AbortController().signal;
  return {
    cycle: async (index) => {
      const started = await processes.start(backend, {
        command: index % 3 === 0 ? TREE : "exec sleep 300",
        pty: index % 10 === 5,
        conversationId: "soak",
        notifyOnComplete: false,
        watchPatterns: [],
      });
      if (index % 25 === 0) {
        const output = new OutputCapture({ limit: 1_000, spillPath: join(tmpdir(), "hermes-soak-unused") });
        await backend.run({ command: "sleep 300 | cat", timeoutMs: 50, signal, output });
      }
      await processes.kill(started);
    },
    close: async () => {
      await processes.close();
      await backend.close();
    },
  };
}
