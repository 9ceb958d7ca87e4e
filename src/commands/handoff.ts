// /handoff: continues the session in a chat, through the running gateway.
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { type BuiltinCommand, text } from "./builtin-command.ts";

const WAIT_MS = 60_000;
const POLL_MS = 500;

async function handoff(args: string, { store, handoffs, conversation }: CommandContext): Promise<CommandAnswer> {
  const platform = args.trim().toLowerCase();
  if (platform === "") return text("Where to? /handoff telegram (or another platform with a home channel)");
  const id = conversation.sessionId;
  if (!(await store.getSession(id)))
    return text("The session starts with your first message; hand it over after that.");
  if (!(await handoffs.requestHandoff(id, platform))) return text("This session is already being handed over.");
  for (let waited = 0; waited < WAIT_MS; waited += POLL_MS) {
    await sleep(POLL_MS);
    const state = await handoffs.getHandoffState(id);
    if (state?.state === "completed")
      return text(
        `This session continues in the home channel of ${platform}. Leave with /quit, or start a new session with /new.`,
      );
    if (state?.state === "failed") return text(`The handoff failed: ${state.error ?? "unknown reason"}`);
  }
  await handoffs.failHandoff(id, "no gateway accepted it within a minute");
  return text("No gateway accepted the session within a minute. Is one running? hermes gateway status");
}

export const handoffCommand: BuiltinCommand = {
  name: "handoff",
  group: "Sessions",
  args: "platform",
  summary: "Continue this session in a chat",
  surface: "terminal",
  ownerOnly: false,
  run: handoff,
};
