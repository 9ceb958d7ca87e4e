// `hermes pairing`: lists, approves and revokes access of chat users.

import { UserError } from "../core/failure.ts";
import { openPairing } from "../delivery/api/pairing.ts";
import { type CliCommand, type CliContext, JSON_OPTION } from "./command.ts";

async function list({ home, terminal, values }: CliContext): Promise<number> {
  const found = await openPairing(home.path).list();
  if (values.json) {
    terminal.out(JSON.stringify(found, null, 2));
    return 0;
  }
  if (found.pending.length === 0 && found.approved.length === 0)
    terminal.out("There are no requests and no paired users.");
  for (const { platform, userId, userName, minutesLeft } of found.pending)
    terminal.out(`waiting   ${platform}  ${userId}  ${userName}  (code valid for ${minutesLeft} min)`);
  for (const { platform, userId, userName } of found.approved)
    terminal.out(`approved  ${platform}  ${userId}  ${userName}`);
  for (const { platform, minutesLeft } of found.locked)
    terminal.out(`locked    ${platform}  after too many wrong codes (${minutesLeft} min)`);
  return 0;
}

function twoArguments({ positionals }: CliContext, usage: string): [string, string] {
  const [first, second] = positionals;
  if (!first || !second) throw new UserError(`usage: hermes pairing ${usage}`, { exitCode: 2 });
  return [first.toLowerCase(), second];
}

async function approve(context: CliContext): Promise<number> {
  const [platform, code] = twoArguments(context, "approve PLATFORM CODE");
  const { userId, userName } = await openPairing(context.home.path).approve(platform, code);
  context.terminal.out(`${userName || userId} (${platform} ${userId}) may now write to the agent.`);
  return 0;
}

async function revoke(context: CliContext): Promise<number> {
  const [platform, user] = twoArguments(context, "revoke PLATFORM USER");
  if (!(await openPairing(context.home.path).revoke(platform, user)))
    throw new UserError(`${user} is not paired on ${platform}.`, { hint: "See: hermes pairing list" });
  context.terminal.out(`${user} may no longer write on ${platform}.`);
  return 0;
}

async function clearPending({ home, terminal, positionals }: CliContext): Promise<number> {
  const count = await openPairing(home.path).clearPending(positionals[0]);
  terminal.out(count === 1 ? "Removed 1 request." : `Removed ${count} requests.`);
  return 0;
}

export const pairingCommand: CliCommand = {
  name: "pairing",
  summary: "Approve users who wrote to the gateway",
  defaultSubcommand: "list",
  subcommands: [
    { name: "list", summary: "List requests and approved users", options: JSON_OPTION, maxPositionals: 0, run: list },
    {
      name: "approve",
      args: "PLATFORM CODE",
      summary: "Approve the user with this code",
      maxPositionals: 2,
      run: approve,
    },
    { name: "revoke", args: "PLATFORM USER", summary: "Revoke the access of a user", maxPositionals: 2, run: revoke },
    {
      name: "clear-pending",
      args: "[PLATFORM]",
      summary: "Remove pending requests",
      maxPositionals: 1,
      run: clearPending,
    },
  ],
  examples: ["hermes pairing list", "hermes pairing approve telegram K7PQ2MXD"],
};
