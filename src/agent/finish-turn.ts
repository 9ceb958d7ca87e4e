// The one way out of a turn: whatever happened is stored, told to memory and hooks, and said in one last event.
import type { AgentEvent } from "../core/event.ts";
import type { HookName } from "../core/hook.ts";
import type { Json, JsonObject } from "../core/message.ts";
import { answerTo, openCalls } from "./tools/open-calls.ts";
import { INTERRUPTED } from "./tools/tool-errors.ts";
import type { TurnOutcome, TurnScope } from "./turn-scope.ts";
import { orElse } from "./until-aborted.ts";

/** Hooks may finish their work, but an interrupted person does not wait for them. */
const HOOK_MS = 30_000;
const HOOK_MS_INTERRUPTED = 150;

async function storeRemains(turn: TurnScope, outcome: TurnOutcome): Promise<void> {
  const { log } = turn.thread;
  if (!log.opened) return;
  const open = openCalls(log.messages);
  if (open.length > 0) await turn.append(open.map((call) => answerTo(call, INTERRUPTED)));
  if (turn.unfinished.trim() === "") return;
  const finish_reason = outcome.end === "interrupted" ? "interrupted" : "error";
  await turn.append([{ role: "assistant", content: turn.unfinished, finish_reason }]);
}

async function runHook(turn: TurnScope, name: HookName, end: TurnOutcome["end"], args: JsonObject) {
  const { hooks } = turn.thread.parts;
  if (!hooks.listens(name)) return [] as readonly Json[];
  const limit = AbortSignal.timeout(end === "interrupted" ? HOOK_MS_INTERRUPTED : HOOK_MS);
  return orElse(hooks.run(name, args), limit, [] as readonly Json[]);
}

function commonArgs(turn: TurnScope): JsonObject {
  const { parts, log } = turn.thread;
  return { session_id: log.sessionId, model: parts.provider.identity.model, platform: parts.settings.source };
}

/** The text as it is handed back: with the note on failed file changes, then as plugins want it. */
async function finalText(turn: TurnScope, outcome: TurnOutcome): Promise<string> {
  if (outcome.end === "interrupted") return outcome.text;
  const verify = turn.thread.parts.settings.verifyFileChanges !== false;
  const text = outcome.text + (verify ? turn.changes.footer() : "");
  const args = { ...commonArgs(turn), response_text: text };
  const answers = await runHook(turn, "transform_llm_output", outcome.end, args);
  const changed = answers.find((answer) => typeof answer === "string" && answer !== "");
  return typeof changed === "string" ? changed : text;
}

async function notifyObservers(turn: TurnScope, outcome: TurnOutcome, text: string): Promise<void> {
  const { parts, log } = turn.thread;
  if (outcome.end === "done") {
    await runHook(turn, "post_llm_call", outcome.end, {
      ...commonArgs(turn),
      user_message: turn.userText,
      assistant_response: text,
      conversation_history: log.messages as unknown as Json,
    });
    parts.memory.turnEnded(turn.userText, outcome.text, log.sessionId);
  }
  await runHook(turn, "on_session_end", outcome.end, {
    ...commonArgs(turn),
    completed: outcome.end === "done",
    interrupted: outcome.end === "interrupted",
  });
}

/** Trouble while finishing is told, and never keeps the last event from coming. */
async function guarded<T>(turn: TurnScope, work: () => Promise<T>, fallback: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    turn.notice("warning", `The end of this turn could not be recorded completely: ${why}`);
    return fallback;
  }
}

/** Never throws. The returned event is the last of the turn. */
export async function finishTurn(turn: TurnScope, raw: TurnOutcome): Promise<AgentEvent> {
  const { redactor } = turn.thread.parts;
  const outcome = redactor === undefined ? raw : { ...raw, text: redactor.redact(raw.text) };
  await guarded(turn, () => storeRemains(turn, outcome), undefined);
  const text = await guarded(turn, () => finalText(turn, outcome), outcome.text);
  await guarded(turn, () => notifyObservers(turn, outcome, text), undefined);
  const undelivered = turn.thread.steering.take();
  return {
    type: "ended",
    end: outcome.end,
    text,
    sessionId: turn.thread.log.sessionId,
    modelCalls: turn.tally.modelCalls,
    usage: turn.tally.usage,
    cost: turn.tally.cost,
    ...(outcome.failure === undefined ? {} : { failure: outcome.failure }),
    ...(outcome.note === undefined ? {} : { note: outcome.note }),
    ...(undelivered === undefined ? {} : { undelivered }),
  };
}
