// `/review`: lasting changes that wait for the user: list, show, accept, discard.
import type { CommandAnswer } from "../core/chat/command.ts";
import { UserError } from "../core/failure.ts";
import { formatProposal, formatProposalLine, type Review } from "../core/review.ts";
import { type BuiltinCommand, text } from "./builtin-command.ts";

const HELP = `/review                     changes that wait for you
/review N                   one of them in full
/review accept N            make exactly this change
/review discard N           drop it`;

async function list(review: Review): Promise<CommandAnswer> {
  const open = await review.list();
  if (open.length === 0) return text("Nothing waits for your review.");
  return {
    type: "choose",
    title: `${open.length === 1 ? "One change waits" : `${open.length} changes wait`} for you. Show which one?`,
    choices: open.map((proposal) => ({ label: formatProposalLine(proposal), value: String(proposal.id) })),
  };
}

async function show(review: Review, id: number): Promise<CommandAnswer> {
  const proposal = await review.find(id);
  if (proposal.state === "accepted" || proposal.state === "discarded") return text(formatProposal(proposal));
  return {
    type: "choose",
    title: formatProposal(proposal),
    choices: [
      { label: `✅ Accept ${id}`, value: `accept ${id}` },
      { label: `❌ Discard ${id}`, value: `discard ${id}` },
      { label: "Later", value: "later" },
    ],
  };
}

async function answer(args: string, review: Review): Promise<CommandAnswer> {
  const [verb = "list", number = ""] = args.trim().split(/\s+/).filter(Boolean);
  if (verb === "list") return list(review);
  if (verb === "later") return text("It stays in the list. See /review");
  if (/^\d+$/.test(verb)) return show(review, Number(verb));
  const id = Number(number);
  if (!["show", "accept", "discard"].includes(verb) || !/^\d+$/.test(number)) return text(HELP);
  if (verb === "show") return show(review, id);
  if (verb === "discard") {
    await review.discard(id);
    return text(`Discarded proposal ${id}.`);
  }
  return text(`Done: proposal ${id}. ${await review.accept(id)}`);
}

export function reviewCommands(open: () => Promise<Review>): readonly BuiltinCommand[] {
  return [
    {
      name: "review",
      group: "Tools and skills",
      args: "[N|accept N|discard N]",
      summary: "Lasting changes that wait for your decision",
      whileBusy: true,
      ownerOnly: true,
      run: async (args) => {
        try {
          return await answer(args, await open());
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          return text([error.message, error.hint ?? ""].filter(Boolean).join("\n"));
        }
      },
    },
  ];
}
