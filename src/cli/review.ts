// `hermes review`: lasting changes that wait for the user: list, show, accept, discard.
import { decideProjectTrust, withReview } from "../app/with-app.ts";
import { UserError } from "../core/failure.ts";
import { formatProposal, formatProposalLine } from "../core/review.ts";
import { type CliCommand, type CliContext, JSON_OPTION } from "./command.ts";

function numbers({ positionals }: CliContext, verb: string): number[] {
  const ids = positionals.map(Number);
  if (ids.length === 0 || ids.some((id) => !Number.isSafeInteger(id) || id < 1))
    throw new UserError(`usage: hermes review ${verb} NUMBER…`, {
      hint: "The numbers are in: hermes review list",
      exitCode: 2,
    });
  return ids;
}

async function list({ home, terminal, values }: CliContext): Promise<number> {
  const found = await withReview(home, (review) => review.list(values.all === true));
  if (values.json) {
    terminal.out(JSON.stringify(found, null, 2));
    return 0;
  }
  if (found.length === 0) terminal.out("Nothing waits for your review.");
  for (const proposal of found) terminal.out(formatProposalLine(proposal));
  if (found.some(({ state }) => state === "open" || state === "failed"))
    terminal.out("\nRead one: hermes review show NUMBER. Decide: hermes review accept NUMBER, or discard NUMBER");
  return 0;
}

async function show(context: CliContext): Promise<number> {
  const { home, terminal, values } = context;
  const ids = numbers(context, "show");
  const found = await withReview(home, (review) => Promise.all(ids.map((id) => review.find(id))));
  if (values.json) terminal.out(JSON.stringify(found, null, 2));
  else terminal.out(found.map(formatProposal).join("\n\n"));
  return 0;
}

async function accept(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const ids = numbers(context, "accept");
  await withReview(home, async (review) => {
    for (const id of ids) terminal.out(`Accepted proposal ${id}: ${await review.accept(id)}`);
  });
  return 0;
}

async function discard(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const ids = numbers(context, "discard");
  await withReview(home, async (review) => {
    for (const id of ids) {
      await review.discard(id);
      terminal.out(`Discarded proposal ${id}.`);
    }
  });
  return 0;
}

async function decideProject(context: CliContext, trusted: boolean): Promise<number> {
  const { home, terminal, positionals } = context;
  const project = await decideProjectTrust(home, positionals[0] ?? home.cwd, trusted);
  if (!project)
    throw new UserError("This folder belongs to no git repository with a remote.", {
      hint: "Files of such folders count as your own already.",
    });
  terminal.out(
    trusted
      ? `${project} counts as your own project from the next conversation on.`
      : `${project} counts as somebody else's project from the next conversation on.`,
  );
  return 0;
}

export const reviewCommand: CliCommand = {
  name: "review",
  summary: "Decide about lasting changes that untrusted text may have caused",
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      summary: "List the changes that wait for you",
      options: { ...JSON_OPTION, all: { type: "boolean", help: "Also those that were decided" } },
      maxPositionals: 0,
      run: list,
    },
    { name: "show", args: "NUMBER…", summary: "Show a change in full", options: JSON_OPTION, run: show },
    { name: "accept", args: "NUMBER…", summary: "Make exactly this change", run: accept },
    {
      name: "trust",
      args: "[FOLDER]",
      summary: "Count a cloned project as your own",
      maxPositionals: 1,
      run: (context) => decideProject(context, true),
    },
    {
      name: "distrust",
      args: "[FOLDER]",
      summary: "Count a cloned project as somebody else's",
      maxPositionals: 1,
      run: (context) => decideProject(context, false),
    },
    { name: "discard", args: "NUMBER…", summary: "Drop it", run: discard },
  ],
  examples: ["hermes review list", "hermes review show 3", "hermes review accept 3"],
};
