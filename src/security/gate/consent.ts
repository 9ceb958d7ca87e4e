// Asking for consent, with an end in time: of the person at the surface, or of a judging model in smart mode.
import type { GateContext, Judge } from "../../core/gate.ts";
import type { Hooks } from "../../core/hook.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../core/human.ts";
import { underSignals } from "../../lib/joined-signal.ts";
import { SignalRace } from "../../lib/signal-race.ts";

const NO_ANSWER: ApprovalAnswer = { choice: "deny", unattended: true };

/** `late` when the signal or the time ends the wait. An answer that comes after that is nobody's concern any more. */
function within<T>(
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  late: T,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return underSignals([limits.signal], limits.timeoutMs, (signal) => new SignalRace(signal, late).run(work(signal)));
}

/** The judge's opinion; `escalate` when it fails or is too slow. */
export async function judged(
  judge: Judge,
  action: string,
  reason: string,
  limits: { timeoutMs: number; signal: AbortSignal },
): Promise<"approve" | "deny" | "escalate"> {
  try {
    const opinion = await within(limits, "escalate", (signal) => judge({ action, reason }, signal));
    return opinion === "approve" || opinion === "deny" ? opinion : "escalate";
  } catch {
    // A judge that cannot answer leaves the question to the person.
    return "escalate";
  }
}

/** The person's answer; silence, an interrupted turn and a broken surface all mean no. */
export async function askUser(
  request: ApprovalRequest,
  context: GateContext,
  options: { hooks: Hooks; timeoutMs: number },
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
    answer = await within(limits, NO_ANSWER, (signal) => context.human.approve(request, signal));
  } catch {
    // A surface that fails to ask has not got a yes.
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
