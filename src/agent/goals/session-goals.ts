// The standing goal of one conversation: stored with its session, and judged after each turn.
import type { TurnEnd } from "../../core/event.ts";
import type { Goal, GoalStep, Goals } from "../../core/goal.ts";
import type { SideModel } from "../../core/model/provider.ts";
import type { SessionLog } from "../../core/store/session.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { type GoalRecord, goalKey, newGoal, parseGoal, toGoal } from "./goal-record.ts";
import { criteria, judge, type Verdict } from "./judge.ts";

const MAX_UNREADABLE = 3;
const OPENING = "[Continuing toward your standing goal]";

export interface GoalDeps {
  readonly store: Pick<SessionLog, "getMeta" | "setMeta">;
  readonly side: SideModel;
  readonly maxTurns: number;
  readonly verdictTokens: number;
  /** Changes when the conversation is compacted; the store moves the goal with it. */
  sessionId(): string;
}

function continuation(goal: Goal): string {
  return `${OPENING}\n${criteria(goal)}\n\nTake the next step. If the goal is reached, say so and show how you know. If only the user can unblock you, ask one clear question.`;
}

const seconds = (): number => Date.now() / 1000;

export class SessionGoals implements Goals {
  readonly #deps: GoalDeps;

  constructor(deps: GoalDeps) {
    this.#deps = deps;
  }

  readonly continuation = continuation;

  async #read(): Promise<GoalRecord | null> {
    const { store, sessionId, maxTurns } = this.#deps;
    const record = parseGoal(await store.getMeta(goalKey(sessionId())), maxTurns);
    return record?.status === "cleared" ? null : record;
  }

  async #write(record: GoalRecord): Promise<Goal> {
    const { store, sessionId } = this.#deps;
    await store.setMeta(goalKey(sessionId()), JSON.stringify(record));
    return toGoal(record);
  }

  async #change(edit: (record: GoalRecord) => Partial<GoalRecord>): Promise<Goal | null> {
    const record = await this.#read();
    return record && this.#write({ ...record, ...edit(record) });
  }

  async get(): Promise<Goal | null> {
    const record = await this.#read();
    return record && toGoal(record);
  }

  set(text: string): Promise<Goal> {
    return this.#write(newGoal(text, this.#deps.maxTurns, seconds()));
  }

  pause(reason = "paused by the user"): Promise<Goal | null> {
    return this.#change(({ status }) => (status === "active" ? { status: "paused", paused_reason: reason } : {}));
  }

  resume(): Promise<Goal | null> {
    const fresh = { status: "active", paused_reason: null, turns_used: 0, consecutive_parse_failures: 0 } as const;
    return this.#change(() => ({ ...fresh, max_turns: this.#deps.maxTurns }));
  }

  async clear(): Promise<boolean> {
    return (await this.#change(() => ({ status: "cleared" }))) !== null;
  }

  setSubgoals(subgoals: readonly string[]): Promise<Goal | null> {
    return this.#change(() => ({ subgoals }));
  }

  async afterTurn(turn: { readonly end: TurnEnd; readonly text: string }, signal: AbortSignal): Promise<GoalStep> {
    try {
      const record = await this.#read();
      if (record?.status !== "active") return {};
      if (turn.end === "interrupted") return await this.#stop("you stopped the turn");
      if (turn.end === "failed") return await this.#stop("the turn failed");
      const { side, sessionId, verdictTokens: maxTokens } = this.#deps;
      const asked = { goal: toGoal(record), reply: turn.text, sessionId: sessionId(), maxTokens };
      const verdict = await judge(side, asked, signal);
      return signal.aborted ? await this.#stop("you stopped the turn") : await this.#apply(record, verdict);
    } catch (error) {
      return { notice: `The goal could not be checked: ${errorMessage(error)}` };
    }
  }

  async #stop(reason: string): Promise<GoalStep> {
    await this.pause(reason);
    return { notice: `Goal paused: ${reason}. /goal resume continues it, /goal clear removes it.` };
  }

  async #apply(record: GoalRecord, verdict: Verdict): Promise<GoalStep> {
    const unreadable = verdict.kind === "unreadable" ? record.consecutive_parse_failures + 1 : 0;
    const judged = {
      ...record,
      turns_used: record.turns_used + 1,
      last_turn_at: seconds(),
      last_verdict: verdict.kind,
      last_reason: "reason" in verdict ? verdict.reason : null,
      consecutive_parse_failures: unreadable,
    };
    if (verdict.kind === "done") {
      await this.#write({ ...judged, status: "done" });
      return { notice: `Goal reached${verdict.reason ? `: ${verdict.reason}` : "."}` };
    }
    await this.#write(judged);
    if (unreadable >= MAX_UNREADABLE)
      return this.#stop(`the judge gave ${MAX_UNREADABLE} answers that cannot be read (auxiliary.goal_judge)`);
    if (judged.turns_used >= judged.max_turns)
      return this.#stop(`${judged.max_turns} turns were used (goals.max_turns)`);
    const why = judged.last_reason ? `: ${judged.last_reason}` : "";
    return {
      send: continuation(toGoal(judged)),
      notice: `Goal not reached yet (turn ${judged.turns_used} of ${judged.max_turns})${why}`,
    };
  }
}
