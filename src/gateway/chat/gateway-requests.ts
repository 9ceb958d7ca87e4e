// Carries out what chat commands ask of the gateway.
import type { GatewayRequest } from "../../core/chat/chat-command.ts";
import type { CommandAnswer } from "../../core/chat/command.ts";
import type { Source } from "../../core/chat/platform.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import { storeFor } from "../inbound/scoped-store.ts";
import { Replies } from "../outbound/replies.ts";
import { placeName } from "./owner-asking.ts";
import type { Prompts } from "./prompts.ts";

const MAX_TASKS = 5;

export interface RequestContext {
  readonly gateway: GatewayContext;
  readonly row: InboxRow;
  readonly prompts: Prompts;
}

/** Text, or a change of the chat's session. */
type SessionAnswer = Exclude<CommandAnswer, { type: "choose" | "terminal" }>;

type Decision = Extract<GatewayRequest, { kind: "decide" }>;

/**
 * Answers the questions of this chat first, then those of guests that were shown to the owner here. Returns how many were
 * answered, or why the sender may not answer.
 */
function decide({ choice, all, id }: Decision, { prompts, gateway, row }: RequestContext): string | number {
  const { source } = row.event;
  const { owners, questions } = gateway;
  if (owners.roleFor(source) === "member" && source.userId) {
    const answered = prompts.decide(choice, all, source.userId);
    if (answered > 0) return answered;
  }
  if (!owners.has(source)) return prompts.approvals > 0 ? owners.refusal(source) : 0;
  const own = id === undefined ? prompts.decide(choice, all) : 0;
  if (own > 0 && !all) return own;
  return own + questions.decide(choice, { id, place: placeName(source.platform, source.chatId), all });
}

function decisionText(request: Decision, context: RequestContext): string {
  const count = decide(request, context);
  if (typeof count === "string") return count;
  if (count === 0) return "No approval is pending.";
  return `${request.choice === "deny" ? "Denied" : "Approved"}${count > 1 ? ` (${count})` : ""}.`;
}

async function setHome(gateway: GatewayContext, { platform, chatId, threadId, chatName }: Source): Promise<string> {
  const variable = gateway.platform(platform)?.homeVariable ?? `${platform.toUpperCase()}_HOME_CHANNEL`;
  await gateway.opened.setHomeChannel(variable, {
    chatId,
    threadId: threadId || undefined,
    name: chatName || undefined,
  });
  return "This chat is now the home channel: scheduled results and notices are sent here.";
}

async function pausePlatform(gateway: GatewayContext, name: string): Promise<string> {
  if (!(await gateway.pause(name))) return notSetUp(name);
  return `${name} is paused; messages to it wait. /platform resume ${name}`;
}

async function resumePlatform(gateway: GatewayContext, name: string): Promise<string> {
  return (await gateway.resume(name)) ? `${name} reconnects.` : notSetUp(name);
}

function notSetUp(platform: string): string {
  return platform ? `${platform} is not set up here. See /platform` : "Which platform? See /platform";
}

async function background(task: string, { gateway, row }: RequestContext): Promise<string> {
  const where = new Replies(gateway).where(row);
  if (!where) return "The result could not be sent to this chat.";
  const running = gateway.background.list(where.to);
  if (task === "") return running.length === 0 ? "What should be done? /background TASK" : running.join("\n");
  if (running.length >= MAX_TASKS) return `${MAX_TASKS} tasks already run here; wait for one to end.`;
  const id = await gateway.background.start({ row, prompt: task, ...where });
  return `Started as ${id}; the result will be sent here. You can keep writing meanwhile.`;
}

async function topic(args: string, { gateway, row }: RequestContext): Promise<SessionAnswer> {
  return gateway.topics.run(args, row.event, storeFor(gateway, row.event.source));
}

export async function runGatewayRequest(
  request: GatewayRequest,
  context: RequestContext,
): Promise<string | SessionAnswer> {
  const { gateway, row } = context;
  const { source } = row.event;
  switch (request.kind) {
    case "decide":
      return decisionText(request, context);
    case "set-home":
      return setHome(gateway, source);
    case "restart":
      await gateway.restart(source);
      return "The gateway restarts when the running turns have ended.";
    case "list-platforms":
      return gateway.platformLines().join("\n");
    case "pause-platform":
      return pausePlatform(gateway, request.platform);
    case "resume-platform":
      return resumePlatform(gateway, request.platform);
    case "background":
      return background(request.task, context);
    case "topic":
      return topic(request.args, context);
    case "voice":
      return gateway.voice.command(request.args, source, await gateway.opened.speechProblem());
  }
}
