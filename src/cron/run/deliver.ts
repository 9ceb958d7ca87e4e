// Sends the result of a job to its targets.

import { takeMarkers } from "../../core/chat/outgoing-media.ts";
import type { Deliverer, DeliveryMessage, Job } from "../../core/job.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { isLocalOnly, resolveTargets } from "../delivery-target.ts";
import { type JobHost, jobRole } from "./job-host.ts";
import { wrapResult } from "./message.ts";

export interface DeliveryReport {
  /** How many targets received the message. */
  readonly sent: number;
  /** The errors of all targets, on one line. */
  readonly error?: string | undefined;
}

/** Takes the files that a text names out of it. As in chats, protected files are not sent. */
async function extractFiles(
  host: JobHost,
  job: Job,
  content: string,
): Promise<Pick<DeliveryMessage, "text" | "media" | "mediaOptions">> {
  const { text, paths, options } = takeMarkers(content, (written) => host.sendableFile(written));
  const media: string[] = [];
  for (const path of paths) if (!(await host.isProtected(path, jobRole(job)))) media.push(path);
  const note = media.length < paths.length ? "\n\n[A protected file was not sent.]" : "";
  return { text: `${text}${note}`, media, mediaOptions: options };
}

async function sendToAll(deliverer: Deliverer, job: Job, message: DeliveryMessage): Promise<DeliveryReport> {
  const { targets, errors } = await resolveTargets(job, deliverer);
  const failed = [...errors];
  for (const target of targets) {
    const problem = await deliverer.send(target, message).catch(errorMessage);
    if (problem !== undefined) failed.push(`${target.platform}: ${problem}`);
  }
  const sent = targets.length - (failed.length - errors.length);
  return { sent, error: failed.length > 0 ? failed.join("; ") : undefined };
}

/** `key` is the same for every attempt at this delivery. With `wrap`, the job's name is shown around the text. */
export async function deliver(
  host: JobHost,
  job: Job,
  message: { readonly content: string; readonly key: string; readonly wrap: boolean },
): Promise<DeliveryReport> {
  if (isLocalOnly(job.deliver)) return { sent: 0 };
  const { text, ...files } = await extractFiles(host, job, message.content);
  const body = message.wrap ? wrapResult(job, text) : text;
  return sendToAll(await host.deliverer(), job, { text: body, ...files, jobId: job.id, key: message.key });
}
