// The user as a tool sees them: time limits stop while the user is being asked.
import { type Human, presenceOf } from "../../core/human.ts";
import type { Deadline } from "../../lib/async/deadline.ts";

/** Asking pauses the deadline of the tool; `onApproval` is called before every request for an approval. */
export function pausingHuman(
  human: Human,
  deadline: Deadline,
  onApproval: (action: string, reason: string) => void,
): Human {
  return {
    ...presenceOf(human),
    approve: (request, signal) => {
      if (human.present) onApproval(request.action, request.reason);
      return deadline.whilePaused(() => human.approve(request, signal));
    },
    clarify: (request, signal) => deadline.whilePaused(() => human.clarify(request, signal)),
    secret: (prompt, signal) => deadline.whilePaused(() => human.secret(prompt, signal)),
  };
}
