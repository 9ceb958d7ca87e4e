// Asks a program of the user instead of the user: it reads the request as JSON and prints its answer.
import type { ApprovalAnswer, ApprovalRequest } from "../../core/human.ts";
import { runToEnd } from "../../lib/process/run-to-end.ts";

export interface ApprovalProgram {
  /** A shell command. */
  readonly command: string;
  readonly timeoutMs: number;
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
}

const CHOICES = ["once", "session", "always", "deny"] as const;
const MAX_OUTPUT = 10_000;

function noAnswer(why: string): ApprovalAnswer {
  return { choice: "deny", unattended: true, why: `the approval program ${why}.` };
}

/** The first word of the output is the choice. Everything else counts as a denial: no answer, an error, a late answer. */
export async function askProgram(
  program: ApprovalProgram,
  request: ApprovalRequest,
  about: { readonly sessionId: string; readonly signal: AbortSignal },
): Promise<ApprovalAnswer> {
  const stdin = JSON.stringify({ ...request, session_id: about.sessionId });
  try {
    const { signal } = about;
    const { env, cwd, timeoutMs } = program;
    const run = await runToEnd(["bash", "-c", program.command], {
      stdin,
      env,
      cwd,
      timeoutMs,
      signal,
      maxOutput: MAX_OUTPUT,
    });
    if (run.timedOut) return noAnswer(`did not answer within ${timeoutMs / 1000} s`);
    if (run.code !== 0) return noAnswer(`failed with code ${run.code}`);
    const word = run.stdout.trim().split(/\s+/)[0]?.toLowerCase();
    const choice = CHOICES.find((known) => known === word);
    if (choice === undefined) return noAnswer("printed none of once, session, always and deny");
    return { choice: request.choices.includes(choice) ? choice : choice === "deny" ? "deny" : "once" };
  } catch (error) {
    return noAnswer(`could not be run: ${error instanceof Error ? error.message : String(error)}`);
  }
}
