// Decides about proposed changes: accepted ones are made by the call that was proposed, once.
import { UserError } from "../core/failure.ts";
import type { Review } from "../core/review.ts";
import type { Proposal, ProposalStore } from "../core/store/proposals.ts";
import { errorMessage } from "../lib/error-message.ts";

export interface ReviewParts {
  readonly store: ProposalStore;
  /** Makes the change. Rejects with the reason when it cannot be made. */
  apply(proposal: Proposal): Promise<string>;
}

const LIST_HINT = "List the open ones with `hermes review list`.";

export function createReview({ store, apply }: ReviewParts): Review {
  const find = async (id: number) => {
    const found = Number.isSafeInteger(id) ? await store.find(id) : undefined;
    if (!found) throw new UserError(`There is no proposal ${id}.`, { hint: LIST_HINT });
    return found;
  };
  const decide = async (id: number, state: "accepted" | "discarded") => {
    const proposal = await find(id);
    if (!(await store.decide(id, state)))
      throw new UserError(`Proposal ${id} was already ${proposal.state}.`, { hint: LIST_HINT });
    return proposal;
  };
  return {
    list: (all = false) => store.list({ open: !all }),
    find,
    accept: async (id) => {
      const proposal = await decide(id, "accepted");
      try {
        const result = await apply(proposal);
        await store.finish(id, result);
        return result;
      } catch (error) {
        const reason = errorMessage(error);
        await store.fail(id, reason);
        throw new UserError(`Proposal ${id} could not be applied: ${reason}`, {
          hint: `It is kept. Try again with \`hermes review accept ${id}\`, or discard it.`,
        });
      }
    },
    discard: async (id) => {
      await decide(id, "discarded");
    },
  };
}
