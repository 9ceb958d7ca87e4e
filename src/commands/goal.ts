// /goal and /subgoal: a standing goal that the agent works on turn after turn.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import type { Goal } from "../core/goal.ts";
import { type BuiltinCommand, text } from "./builtin-command.ts";

const NONE = "There is no goal. Set one with /goal TEXT";

function describe(goal: Goal): string {
  const state = goal.status === "paused" && goal.pausedReason ? `paused: ${goal.pausedReason}` : goal.status;
  const lines = [`Goal (${state}, turn ${goal.turnsUsed} of ${goal.maxTurns}): ${goal.text}`];
  for (const [index, subgoal] of goal.subgoals.entries()) lines.push(`  ${index + 1}. ${subgoal}`);
  if (goal.lastReason) lines.push(`Last verdict: ${goal.lastReason}`);
  return lines.join("\n");
}

/** Work on the goal begins with the next turn; during a turn the loop picks it up at its end. */
function start(goal: Goal, { busy, conversation }: CommandContext): CommandAnswer {
  if (busy) return text(`${describe(goal)}\nIt is checked at the end of this turn.`);
  return { type: "send", text: conversation.goal.continuation(goal), when: "now", prepared: { untrusted: false } };
}

async function goal(args: string, context: CommandContext): Promise<CommandAnswer> {
  const { goal: goals } = context.conversation;
  switch (args.toLowerCase()) {
    case "":
    case "status": {
      const current = await goals.get();
      return text(current ? describe(current) : NONE);
    }
    case "pause": {
      const paused = await goals.pause();
      return text(paused ? `${describe(paused)}\n/goal resume continues it.` : NONE);
    }
    case "resume": {
      const resumed = await goals.resume();
      return resumed ? start(resumed, context) : text(NONE);
    }
    case "clear":
      return text((await goals.clear()) ? "The goal was removed." : NONE);
    default:
      if (context.busy && context.source !== "cli")
        return text("A turn is running: set the goal when it has ended, or /stop it.");
      return start(await goals.set(args), context);
  }
}

async function subgoal(args: string, { conversation }: CommandContext): Promise<CommandAnswer> {
  const { goal: goals } = conversation;
  const current = await goals.get();
  if (!current) return text(NONE);
  if (args === "") return text(describe(current));
  const removed = /^remove\s+(\d+)$/i.exec(args)?.[1];
  const at = Number(removed) - 1;
  if (removed !== undefined && current.subgoals[at] === undefined)
    return text(`There is no criterion ${removed}.\n${describe(current)}`);
  const next =
    removed !== undefined
      ? current.subgoals.filter((_, index) => index !== at)
      : /^clear$/i.test(args)
        ? []
        : [...current.subgoals, args];
  const changed = await goals.setSubgoals(next);
  return text(changed ? describe(changed) : NONE);
}

export const goalCommands: readonly BuiltinCommand[] = [
  {
    name: "goal",
    group: "Conversation",
    args: "[text|status|pause|resume|clear]",
    summary: "Work on a goal turn after turn until it is reached",
    whileBusy: true,
    // A goal spends money without further messages.
    ownerOnly: /^(?!status$)./i,
    run: goal,
  },
  {
    name: "subgoal",
    group: "Conversation",
    args: "[text|remove N|clear]",
    summary: "Add a criterion to the goal",
    whileBusy: true,
    ownerOnly: /./,
    run: subgoal,
  },
];
