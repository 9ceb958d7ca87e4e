// /handoff: the session goes on in a chat; the running gateway takes it over.
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandAnswer, CommandContext, SlashCommand } from "../core/command.ts";

const WAIT_MS = 60_000;
const LOOK_MS = 500;

const text = (answer: string): CommandAnswer => ({ type: "text", text: answer });

async function handoff(args: string, { store, handoffs, conversation }: CommandContext): Promise<CommandAnswer> {
  const platform = args.trim().toLowerCase();
  if (platform === "") return text("Where to? /handoff telegram (or another platform with a home channel)");
  const id = conversation.sessionId;
  if (!(await store.getSession(id)))
    return text("The session begins with your first message; hand it over after that.");
  if (!(await handoffs.requestHandoff(id, platform))) return text("This session is being handed over already.");
  for (let waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
    await sleep(LOOK_MS);
    const state = await handoffs.getHandoffState(id);
    if (state?.state === "completed")
      return text(
        `This session goes on in the home channel of ${platform}. Leave here with /quit, or start anew with /new.`,
      );
    if (state?.state === "failed") return text(`It was not handed over: ${state.error ?? "the reason is not known"}`);
  }
  await handoffs.failHandoff(id, "nobody took it within a minute");
  return text("No gateway took the session within a minute. Is one running? hermes gateway status");
}

export const handoffCommand: SlashCommand = {
  name: "handoff",
  args: "platform",
  summary: "Go on with this session in a chat",
  run: handoff,
};
