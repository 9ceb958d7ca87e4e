// The offline model: answers a request with text or tool calls. Deterministic, without key and network.
import type { JsonObject, Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import type { ModelRequest, ToolSchema } from "../../core/model/provider.ts";
import { extractSentences } from "./extract.ts";
import { parseSteps, type Step } from "./intent.ts";
import { type Finished, failed, report } from "./report.ts";
import { sideAnswer } from "./side-answers.ts";
import { LABEL, smallTalk } from "./small-talk.ts";

/** Text for the user, or the next tool call. */
export type OfflineAnswer =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly tool: string; readonly args: JsonObject };

/** The message of the user without the notes that the program adds to it. */
function ownWords(message: Message | undefined): string {
  return contentText(message?.content)
    .replace(/<memory-context>[\s\S]*?<\/memory-context>/gi, "")
    .replace(/^--- Attached Context ---[\s\S]*$/m, "")
    .replace(/^\[System note:[^\n]*\]$/gm, "")
    .trim();
}

function parseArgs(raw: string): JsonObject {
  try {
    return JSON.parse(raw) as JsonObject;
  } catch {
    return {};
  }
}

/** The results by call, and for a file that "has not changed" the text that an earlier call returned. */
function collectResults(messages: readonly Message[]): Map<string, string> {
  const results = new Map<string, string>();
  const pages = new Map<string, string>();
  const keys = new Map<string, string>();
  for (const message of messages) {
    if (message.role === "assistant")
      for (const call of message.tool_calls ?? [])
        keys.set(call.id, `${call.function.name} ${call.function.arguments}`);
    if (message.role !== "tool") continue;
    const text = contentText(message.content);
    const key = keys.get(message.tool_call_id) ?? "";
    const repeated = message.tool_name === "read_file" && /"content_returned":false|"already_read":true/.test(text);
    if (!repeated) pages.set(key, text);
    results.set(message.tool_call_id, repeated ? (pages.get(key) ?? text) : text);
  }
  return results;
}

/** The calls made since `start` with their results. */
function finishedSince(start: number, messages: readonly Message[], steps: readonly Step[]): Finished[] {
  const results = collectResults(messages);
  const finished: Finished[] = [];
  for (const message of messages.slice(start)) {
    if (message.role !== "assistant") continue;
    for (const call of message.tool_calls ?? []) {
      const content = results.get(call.id);
      if (content === undefined) continue;
      const summarise = steps[finished.length]?.summarise ?? false;
      finished.push({ tool: call.function.name, args: parseArgs(call.function.arguments), content, summarise });
    }
  }
  return finished;
}

/** Only arguments that the tool declares, so that a variant of a tool accepts the call. */
function declared(args: JsonObject, tool: ToolSchema): JsonObject {
  const known = tool.parameters.properties;
  if (typeof known !== "object" || known === null || Object.keys(known).length === 0) return args;
  return Object.fromEntries(Object.entries(args).filter(([key]) => key in known));
}

function nextCall(step: Step, tools: readonly ToolSchema[]): OfflineAnswer | null {
  for (const { tool, args } of step.calls) {
    const schema = tools.find((item) => item.name === tool);
    if (schema) return { type: "call", tool, args: declared(args, schema) };
  }
  return null;
}

function said(finished: readonly Finished[], extra = ""): OfflineAnswer {
  const text = [...finished.map(report), extra].filter((part) => part !== "").join("\n\n");
  return { type: "text", text: `${LABEL} ${text}` };
}

function conversationSummary(messages: readonly Message[]): string {
  const asked = messages.filter((message) => message.role === "user").map(ownWords);
  const points = extractSentences(messages.map((message) => contentText(message.content)).join("\n"), 5, 1_200);
  return `You asked ${asked.length} ${asked.length === 1 ? "thing" : "things"}. The main points, by extraction:\n${points.map((point) => `- ${point}`).join("\n")}`;
}

const CONVERSATION_SUMMARY =
  /^(?:please\s+)?(?:summari[sz]e|sum\s+up|recap)\s+(?:this|our|the)\s+(?:conversation|chat|session|discussion)/i;

/** The answer to a request. Side tasks are recognised by their purpose. */
export function answerOffline(request: ModelRequest): OfflineAnswer {
  const { messages, tools, purpose } = request;
  if (purpose !== "turn" && purpose !== "wrap_up") {
    const prompt = messages.map((message) => contentText(message.content)).join("\n\n");
    return { type: "text", text: sideAnswer(purpose, prompt) };
  }
  const start = messages.findLastIndex((message) => message.role === "user");
  const options = ownWords(messages[start]);
  const steps = parseSteps(options);
  const finished = finishedSince(start + 1, messages, steps);
  const broken = finished.some((done) => failed(done.content));
  const step = steps[finished.length];
  if (step && !broken && purpose === "turn") {
    const call = nextCall(step, tools);
    if (call) return call;
    const wanted = step.calls.map(({ tool }) => `\`${tool}\``).join(" or ");
    return said(
      finished,
      `For this I would use ${wanted}, which is not switched on here. \`hermes tools\` shows what is.`,
    );
  }
  if (finished.length > 0) return said(finished);
  if (purpose === "wrap_up" || CONVERSATION_SUMMARY.test(options))
    return { type: "text", text: `${LABEL} ${conversationSummary(messages.slice(0, start))}` };
  const names = new Set(tools.map((tool) => tool.name));
  return { type: "text", text: `${LABEL} ${smallTalk(options, request.system, names)}` };
}
