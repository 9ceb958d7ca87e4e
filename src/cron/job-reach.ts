// Which jobs and chats a conversation may use: the owner all of them, other users their own jobs, their chat and the home channels.
import { UserError } from "../core/failure.ts";
import type { Deliverer, DeliveryTarget, Job, JobOrigin } from "../core/job.ts";
import { resolveTargets } from "./delivery-target.ts";

export interface JobReach {
  /** The chat of this conversation; stored in the jobs that are created in it. */
  readonly origin: JobOrigin | null;
  /** Absent for the owner. */
  readonly tenant?: string | undefined;
  /** Whether jobs of this conversation may run scripts of the home. */
  scripts(): boolean;
  sees(job: Job): boolean;
  /** Throws UserError when this conversation may not send results to these targets. */
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
    // Jobs from older versions have no tenant: they belong to their chat.
    sees: ({ origin: source }) =>
      source?.tenant === undefined
        ? source !== null && isChat(origin, source.platform, source.chat_id)
        : source.tenant === tenant,
    checkDeliver: async (deliver) => {
      const chats = await deliverer();
      const { targets } = await resolveTargets({ deliver, origin }, chats);
      const foreign = targets.find(
        (target) => !isChat(origin, target.platform, target.chatId) && !isHome(target, chats),
      );
      if (!foreign) return;
      throw new UserError(`Jobs of this chat cannot send results to ${foreign.platform}:${foreign.chatId}.`, {
        hint: "Only the owner of this agent (gateway.owners) may send them to other chats. Use origin, local or a home channel.",
      });
    },
  };
}
