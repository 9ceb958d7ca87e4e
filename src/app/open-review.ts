// Opens the review of proposed changes: an accepted change is made by the tool that proposed it.
import type { ConversationOptions } from "../core/conversation.ts";
import type { Gate } from "../core/gate.ts";
import { absentHuman } from "../core/human.ts";
import { contentText } from "../core/message.ts";
import type { Review } from "../core/review.ts";
import type { Proposal } from "../core/store/proposals.ts";
import type { Tool, ToolContext } from "../core/tool/tool.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { createReview } from "../review/review.ts";
import { LazySkills } from "../skills/lazy-skills.ts";
import type { FileToolParts } from "../tools/files/file-tools.ts";
import { type ConversationDeps, fileParts } from "./builtins.ts";
import type { AppGate } from "./open-guards.ts";
import { openMemory } from "./open-memory.ts";
import type { Services } from "./services.ts";

/** The user has accepted the one call that is made with it. */
const ACCEPTED: AppGate = {
  check: async () => ({ allowed: true, how: "approved" }),
  beginTurn: () => undefined,
  setYolo: async () => undefined,
} satisfies Gate & AppGate;

const RESULT_CHARS = 200;

function acceptedServices(services: Services): Services {
  const skills = new LazySkills();
  const accepted: Services = { ...services, gate: ACCEPTED, skills };
  skills.loadWith(async () => (await import("./open-skills.ts")).openSkills(accepted));
  return accepted;
}

/** Files of this machine without the limits of the container: the user has accepted this one change. */
function ownFiles(services: Services, { builtins }: ConversationDeps): FileToolParts {
  const { locate: _, ...parts } = fileParts(services, builtins);
  return parts;
}

/** The tool that would have made the change, with a gate that allows this call. */
async function findTool(deps: ConversationDeps, proposal: Proposal): Promise<Tool | undefined> {
  const services = acceptedServices(deps.services);
  const options: ConversationOptions = {
    source: proposal.source,
    platform: proposal.source,
    userId: proposal.userId,
    origin: proposal.chat,
    human: { ...absentHuman, guest: proposal.userId !== undefined },
    cwd: proposal.workspace,
  };
  switch (proposal.tool) {
    case "memory":
      return (await openMemory(services, options, proposal.sessionId)).tool ?? undefined;
    case "cronjob":
      return (await import("./open-cron.ts")).cronToolFor(services, options);
    case "skill_manage": {
      const { skillToolsFor } = await import("../skills/preload.ts");
      return (await skillToolsFor(services.skills, options)).find((tool) => tool.name === "skill_manage");
    }
    case "write_file":
      return (await import("../tools/files/write-file.ts")).writeFileTool(ownFiles(services, deps));
    case "patch":
      return (await import("../tools/files/patch.ts")).patchTool(ownFiles(services, deps));
    default:
      return callOfProvider(services, options, proposal);
  }
}

/** A tool of the external memory provider. */
async function callOfProvider(
  services: Services,
  options: ConversationOptions,
  proposal: Proposal,
): Promise<Tool | undefined> {
  const { service } = await openMemory(services, options, proposal.sessionId);
  if (!service.toolSchemas.some((schema) => schema.name === proposal.tool)) return undefined;
  const run: Tool["run"] = async (args) => ({ content: await service.callTool(proposal.tool, args as never) });
  return { name: proposal.tool, toolset: "memory", description: "", parameters: {} as never, run };
}

function contextFor(proposal: Proposal): ToolContext {
  return {
    sessionId: proposal.sessionId,
    conversationId: proposal.sessionId,
    callId: `proposal-${proposal.id}`,
    cwd: proposal.workspace,
    workspace: proposal.workspace,
    signal: AbortSignal.timeout(60_000),
    human: absentHuman,
    progress: () => undefined,
    tainted: false,
    depth: 0,
  };
}

/** The error text of a failed result. */
function reasonIn(text: string): string {
  const json = parseJson(text) as { readonly error?: unknown } | undefined;
  return typeof json?.error === "string" ? json.error : text;
}

async function apply(deps: ConversationDeps, proposal: Proposal): Promise<string> {
  const tool = await findTool(deps, proposal);
  if (!tool) throw new Error(`the tool ${proposal.tool} is not available any more`);
  const result = await tool.run(proposal.args as never, contextFor(proposal));
  const text = contentText(result.content);
  if (result.failed) throw new Error(reasonIn(text));
  return oneLine(text, RESULT_CHARS);
}

export function openReview(deps: ConversationDeps): Review {
  return createReview({
    store: deps.services.proposals,
    apply: (proposal) => apply(deps, proposal),
  });
}
