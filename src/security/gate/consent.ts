// Asks for approval with a time limit: the user at the surface, or a model in smart mode.
import type { GateContext, Judge } from "../../core/gate.ts";
import type { Hooks } from "../../core/hook.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../core/human.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { SignalRace } from "../../lib/async/signal-race.ts";
import { type ApprovalProgram, askProgram } from "./approval-program.ts";

const NO_ANSWER: ApprovalAnswer = { choice: "deny", unattended: true };

/** Runs `work` with a time limit; returns `late` when the signal or the limit ends it first. */
function withLimit<T>(
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  late: T,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return underSignals([limits.signal], limits.timeoutMs, (signal) => new SignalRace(signal, late).run(work(signal)));
}

/** The verdict of the model; `escalate` when it fails or is too slow. */
export async function askJudge(
  judge: Judge,
  action: string,
  reason: string,
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<"approve" | "deny" | "escalate"> {
  try {
    const answer = await withLimit(limits, "escalate", (signal) => judge({ action, reason }, signal));
    return answer === "approve" || answer === "deny" ? answer : "escalate";
  } catch {
    // When the model fails, the user is asked.
    return "escalate";
  }
}

/** The user's answer. A time-out, an interrupted turn and a failing surface all count as `deny`. */
export async function askUser(
  request: ApprovalRequest,
  context: GateContext,
  options: { hooks: Hooks; timeoutMs: number; program?: ApprovalProgram | undefined },
): Promise<ApprovalAnswer> {
  const about = {
    session_id: context.sessionId,
    session_key: context.sessionId,
    tool_name: request.toolName,
    command: request.action,
    description: request.reason,
    pattern_key: request.intent,
    pattern_keys: [request.intent],
    surface: context.human.surface ?? "cli",
  };
  if (options.hooks.listens("pre_approval_request")) await options.hooks.run("pre_approval_request", about);
  const limits = { signal: context.signal, timeoutMs: options.timeoutMs };
  let answer: ApprovalAnswer;
  try {
    answer = options.program
      ? await askProgram(options.program, request, context)
      : await withLimit(limits, NO_ANSWER, (signal) => context.human.approve(request, signal));
  } catch {
    // The surface failed to ask, so there is no approval.
    answer = NO_ANSWER;
  }
  if (!request.choices.includes(answer.choice))
    answer =
      answer.choice === "always" && request.choices.includes("session")
        ? { choice: "session" }
        : { choice: request.choices.includes("once") && answer.choice !== "deny" ? "once" : "deny" };
  if (options.hooks.listens("post_approval_response"))
    await options.hooks.run("post_approval_response", {
      ...about,
      choice: "unattended" in answer ? "timeout" : answer.choice,
    });
  return answer;
}
