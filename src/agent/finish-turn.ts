// The end of every turn: stores what is left, runs the last hooks and builds the `ended` event.
import type { AgentEvent } from "../core/event.ts";
import { errorMessage } from "../lib/error-message.ts";
import { answerTo, openCalls } from "./tools/open-calls.ts";
import { INTERRUPTED } from "./tools/tool-errors.ts";
import { afterAnswer, afterTurn, transformAnswer } from "./turn-hooks.ts";
import type { Turn, TurnOutcome } from "./turn-state.ts";

/** Results for calls that have none, and the text of an answer that never finished. */
async function storeUnfinished(turn: Turn, outcome: TurnOutcome): Promise<void> {
  const { log } = turn.state;
  if (!log.opened) return;
  const waiting = new Set(outcome.clientCalls?.map((call) => call.id));
  const open = openCalls(log.messages).filter((call) => !waiting.has(call.id));
  if (open.length > 0) await turn.append(open.map((call) => answerTo(call, INTERRUPTED)));
  if (turn.unfinished.trim() === "") return;
  const finish_reason = outcome.end === "interrupted" ? "interrupted" : "error";
  await turn.append([{ role: "assistant", content: turn.unfinished, finish_reason }]);
}

/** The returned text: the answer with the note on failed file changes, as changed by hooks. */
async function finalText(turn: Turn, outcome: TurnOutcome): Promise<string> {
  if (outcome.end === "interrupted") return outcome.text;
  const verify = turn.state.settings.verifyFileChanges !== false;
  return transformAnswer(turn, outcome.end, outcome.text + (verify ? turn.changes.footer() : ""));
}

async function notifyObservers(turn: Turn, outcome: TurnOutcome, text: string): Promise<void> {
  const { memory, log } = turn.state;
  if (outcome.end === "done") {
    await afterAnswer(turn, text);
    memory.turnEnded(turn.userText, outcome.text, log.sessionId);
  }
  await afterTurn(turn, outcome.end);
}

/** An error while finishing becomes a notice; the `ended` event follows in any case. */
async function guarded<T>(turn: Turn, work: () => Promise<T>, fallback: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    turn.notice("warning", `The end of this turn could not be recorded completely: ${errorMessage(error)}`);
    return fallback;
  }
}

/** Never throws. The returned event is the last of the turn. */
export async function finishTurn(turn: Turn, raw: TurnOutcome): Promise<AgentEvent> {
  const { redactor, steering, log } = turn.state;
  const outcome = redactor === undefined ? raw : { ...raw, text: redactor.redact(raw.text) };
  await guarded(turn, () => storeUnfinished(turn, outcome), undefined);
  await guarded(turn, () => turn.state.outside.flush(), undefined);
  turn.draft?.clear();
  const text = await guarded(turn, () => finalText(turn, outcome), outcome.text);
  await guarded(turn, () => notifyObservers(turn, outcome, text), undefined);
  return {
    type: "ended",
    end: outcome.end,
    text,
    sessionId: log.sessionId,
    modelCalls: turn.totals.modelCalls,
    usage: turn.totals.usage,
    cost: turn.totals.cost,
    failure: outcome.failure,
    note: outcome.note,
    undelivered: steering.take(),
    clientCalls: outcome.clientCalls,
  };
}
