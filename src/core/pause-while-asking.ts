// Pauses a deadline while the user is asked, so that a slow answer does not end a tool or a script.
import type { Deadline } from "../lib/async/deadline.ts";
import { copyPresence, type Human } from "./human.ts";

/** The same `Human`; every question pauses the deadline. `onApproval` is called before the user is asked to approve. */
export function pauseWhileAsking(
  human: Human,
  deadline: Deadline,
  onApproval?: (action: string, reason: string) => void,
): Human {
  return {
    ...copyPresence(human),
    approve: (request, signal) => {
      if (human.present) onApproval?.(request.action, request.reason);
      return deadline.whilePaused(() => human.approve(request, signal));
    },
    clarify: (request, signal) => deadline.whilePaused(() => human.clarify(request, signal)),
    secret: (prompt, signal) => deadline.whilePaused(() => human.secret(prompt, signal)),
  };
}
