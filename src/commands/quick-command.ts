// Quick commands: shell commands that the person gave a slash name in the configuration. No model is involved.
import type { App } from "../app/app.ts";
import { commandEnvironment } from "../app/command-environment.ts";
import { runToEnd } from "../lib/process/run-to-end.ts";

const LIMIT_MS = 30_000;
const MAX_CHARS = 3_500;

/** What the command printed, without secrets; how it ended when it printed nothing. */
export async function runQuickCommand(app: App, command: string): Promise<string> {
  const env = commandEnvironment(app.home, app.config);
  const run = await runToEnd(["/bin/sh", "-c", command], { cwd: app.home.cwd, env, timeoutMs: LIMIT_MS });
  const output = app.redact([run.stdout.trim(), run.stderr.trim()].filter((part) => part !== "").join("\n"));
  const end = run.timedOut
    ? `(stopped after ${LIMIT_MS / 1000} seconds)`
    : run.code === 0
      ? ""
      : `(exit code ${run.code ?? "none"})`;
  const shown = output.length > MAX_CHARS ? `${output.slice(0, MAX_CHARS)}…` : output;
  return [shown, end].filter((part) => part !== "").join("\n") || "(done; it printed nothing)";
}
