// Pauses a deadline while the user is asked, so that a slow answer does not end a script.
import { type Human, presenceOf } from "../../core/human.ts";
import type { Deadline } from "../../lib/async/deadline.ts";

/** The same human interface; the deadline is paused during every question. */
export function pauseWhileAsking(human: Human, deadline: Deadline): Human {
  return {
    ...presenceOf(human),
    approve: (request, signal) => deadline.whilePaused(() => human.approve(request, signal)),
    clarify: (request, signal) => deadline.whilePaused(() => human.clarify(request, signal)),
    secret: (prompt, signal) => deadline.whilePaused(() => human.secret(prompt, signal)),
  };
}
