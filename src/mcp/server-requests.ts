// Requests of servers to their client: questions to the user, calls of a model, the folders of the workspace.
import { pathToFileURL } from "node:url";
import type { Client, CreateMessageRequest, CreateMessageResult, ElicitResult } from "@modelcontextprotocol/client";
import type { Human } from "../core/human.ts";
import type { SideModel } from "../core/model/provider.ts";
import { isRecord } from "../lib/json/is-record.ts";
import type { SamplingOptions } from "./server-options.ts";

const MINUTE_MS = 60_000;

export interface RequestDeps {
  readonly server: string;
  readonly sampling: SamplingOptions;
  /** The workspace of the conversation whose call runs. */
  roots(): readonly string[];
  /** The user of the only call that runs now; undefined when there is none or there are several. */
  human(): Human | undefined;
  side(): Promise<SideModel>;
  readonly now?: (() => number) | undefined;
}

function sampledText(content: CreateMessageRequest["params"]["messages"][number]["content"]): string {
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

/** Calls of a model that a server may make per minute. */
class RateLimit {
  readonly #times: number[] = [];
  readonly #perMinute: number;
  readonly #now: () => number;

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  take(): boolean {
    const now = this.#now();
    while (this.#times[0] !== undefined && this.#times[0] <= now - MINUTE_MS) this.#times.shift();
    if (this.#times.length >= this.#perMinute) return false;
    this.#times.push(now);
    return true;
  }
}

async function sample(
  request: CreateMessageRequest,
  deps: RequestDeps,
  limit: RateLimit,
): Promise<CreateMessageResult> {
  const { sampling, server } = deps;
  if (!sampling.enabled) throw new Error(`model calls are switched off for the server ${server}`);
  if (!limit.take())
    throw new Error(`the server ${server} made more than ${sampling.maxPerMinute} model calls in a minute`);
  const { messages, systemPrompt, maxTokens } = request.params;
  const prompt = messages.map(({ role, content }) => `${role}: ${sampledText(content)}`).join("\n\n");
  const side = await deps.side();
  const asked = {
    task: "mcp",
    system: systemPrompt ?? "Answer the request of a tool server. You have no tools.",
    prompt,
    maxOutputTokens: Math.min(maxTokens, sampling.maxTokens),
  };
  const answer = await side.ask(asked, AbortSignal.timeout(sampling.timeoutMs));
  if (!answer.ok) throw new Error(answer.failure.message);
  return { model: "hermes", role: "assistant", content: { type: "text", text: answer.text }, stopReason: "endTurn" };
}

interface FieldSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
}

/** The text of the user as the type that the form wants; undefined when it does not fit. */
function parseField(text: string, schema: FieldSchema): string | number | boolean | undefined {
  if (schema.type === "boolean")
    return /^(y|yes|true|1)$/i.test(text) ? true : /^(n|no|false|0)$/i.test(text) ? false : undefined;
  if (schema.type === "number" || schema.type === "integer") {
    const value = Number(text);
    return text.trim() === "" || !Number.isFinite(value) ? undefined : value;
  }
  return text;
}

async function askFields(
  server: string,
  params: { readonly message: string; readonly requestedSchema: unknown },
  human: Human,
  signal: AbortSignal,
): Promise<ElicitResult> {
  const schema = isRecord(params.requestedSchema) ? params.requestedSchema : {};
  const properties = Object.entries(isRecord(schema.properties) ? schema.properties : {}) as [string, FieldSchema][];
  const content: { [name: string]: string | number | boolean } = {};
  for (const [name, field] of properties) {
    const label = field.description ?? field.title ?? name;
    const choices = field.enum ?? (field.type === "boolean" ? ["yes", "no"] : undefined);
    const question = `The MCP server ${server} asks: ${params.message}\n${label}`;
    const answer = await human.clarify({ question, choices: choices ?? [] }, signal);
    if (answer === null) return { action: "cancel" };
    const value = parseField(answer, field);
    if (value === undefined) return { action: "decline" };
    content[name] = value;
  }
  return { action: "accept", content };
}

/** Declines where no user can answer. Opening an address is the user's own step. */
async function elicit(params: unknown, deps: RequestDeps, signal: AbortSignal): Promise<ElicitResult> {
  const human = deps.human();
  if (!human?.present || !isRecord(params)) return { action: "decline" };
  const message = String(params.message ?? "");
  if (params.mode === "url") {
    const question = `The MCP server ${deps.server} asks you to open ${String(params.url)}\n${message}`;
    const answer = await human.clarify({ question, choices: ["I have opened it", "No"] }, signal);
    return { action: answer === "I have opened it" ? "accept" : "decline" };
  }
  return askFields(deps.server, { message, requestedSchema: params.requestedSchema }, human, signal);
}

export function registerServerRequests(client: Client, deps: RequestDeps): void {
  const limit = new RateLimit(deps.sampling.maxPerMinute, deps.now ?? Date.now);
  client.setRequestHandler("sampling/createMessage", (request) => sample(request, deps, limit));
  client.setRequestHandler("elicitation/create", (request, context) =>
    elicit(request.params, deps, context.mcpReq.signal),
  );
  client.setRequestHandler("roots/list", () => ({
    roots: deps.roots().map((path) => ({ uri: pathToFileURL(path).href, name: path })),
  }));
}
