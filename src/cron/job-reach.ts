// How far a conversation reaches: the owner to every job and chat, anybody else to the own jobs, chat and home channels.
import { UserError } from "../core/failure.ts";
import type { Deliverer, DeliveryTarget, Job, JobOrigin } from "../core/job.ts";
import { resolveTargets } from "./delivery-target.ts";

export interface JobReach {
  /** The chat of this conversation, with whose jobs are made in it. */
  readonly origin: JobOrigin | null;
  /** Absent for the owner. */
  readonly tenant?: string | undefined;
  /** Whether jobs made here may run scripts of the home. */
  scripts(): boolean;
  sees(job: Job): boolean;
  /** Throws UserError when results may not go there from here. */
  checkDeliver(deliver: string): Promise<void>;
}

function isChat(origin: JobOrigin | null, platform: string, chatId: string): boolean {
  return origin?.platform === platform && origin.chat_id === chatId;
}

function isHome(target: DeliveryTarget, deliverer: Deliverer): boolean {
  const home = deliverer.home(target.platform);
  return home?.chatId === target.chatId && home.threadId === target.threadId;
}

export function jobReach(
  chat: { readonly origin?: JobOrigin | undefined; readonly tenant?: string | undefined; scripts(): boolean },
  deliverer: () => Promise<Deliverer>,
): JobReach {
  const { tenant } = chat;
  const origin = chat.origin ?? null;
  if (tenant === undefined)
    return { origin, scripts: () => true, sees: () => true, checkDeliver: async () => undefined };
  return {
    tenant,
    scripts: chat.scripts,
    origin: origin && { ...origin, tenant },
    // Homes from before have jobs that name nobody: they belong to their chat.
    sees: ({ origin: made }) =>
      made?.tenant === undefined
        ? made !== null && isChat(origin, made.platform, made.chat_id)
        : made.tenant === tenant,
    checkDeliver: async (deliver) => {
      const ways = await deliverer();
      const { targets } = await resolveTargets({ deliver, origin }, ways);
      const foreign = targets.find(
        (target) => !isChat(origin, target.platform, target.chatId) && !isHome(target, ways),
      );
      if (!foreign) return;
      throw new UserError(`Results of jobs made here cannot go to ${foreign.platform}:${foreign.chatId}.`, {
        hint: "Only the owner of this agent (gateway.owners) may send them to other chats. Use origin, local or a home channel.",
      });
    },
  };
}
