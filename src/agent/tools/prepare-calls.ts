// Prepares the tool calls of a reply: repairs names and arguments, gives duplicates the same key.
import { randomBytes } from "node:crypto";
import type { AssistantMessage, JsonObject, ToolCall } from "../../core/message.ts";
import { CALL_TOOL, readTarget } from "../../core/tool/call-tool.ts";
import type { ResolvedTools } from "./resolved-tools.ts";
import { canonicalArguments, parseArguments } from "./tool-arguments.ts";
import { nearestNames, repairToolName } from "./tool-name.ts";

export interface PreparedCall {
  /** As the model sent it and as it is stored. */
  readonly call: ToolCall;
  /** The tool that runs, which differs from the call's when that is `call_tool`. */
  readonly name: string;
  readonly args: JsonObject;
  /** The same for equal calls. */
  readonly key: string;
  /** Set when the call must not run: the result for the model. */
  readonly refusal?: string | undefined;
}

export interface PreparedBatch {
  readonly calls: readonly PreparedCall[];
  readonly unknownTool: boolean;
  readonly badArguments: boolean;
  /** Some arguments stop inside a value. */
  readonly truncated: boolean;
  /** Some arguments were repaired; after a cut-off reply that means that their end is missing. */
  readonly repaired: boolean;
}

const ANOTHER_UNKNOWN = "Not run, because another call of this reply named a tool that does not exist. Send it again.";

function unknownText(name: string, tools: ResolvedTools): string {
  const close = nearestNames(name, tools.names);
  const hint = close.length > 0 ? ` Did you mean ${close.join(", ")}?` : ` Available: ${tools.names.join(", ")}.`;
  return JSON.stringify({ error: `There is no tool named "${name}".${hint}` });
}

function knownName(name: string, tools: ResolvedTools): string | undefined {
  const home = tools.locate(name).kind;
  if (home !== "unknown") return name;
  return repairToolName(name, tools.names);
}

interface Findings {
  readonly unknown: boolean;
  readonly bad: boolean;
  readonly cut: boolean;
  readonly repaired: boolean;
}

function prepareOne(call: ToolCall, tools: ResolvedTools): PreparedCall & { readonly found: Findings } {
  const id = call.id === "" ? `call_${randomBytes(8).toString("hex")}` : call.id;
  const found = knownName(call.function.name, tools);
  const name = found ?? call.function.name;
  const parsed = parseArguments(call.function.arguments);
  const sent = parsed.ok ? parsed.value : {};
  const raw = call.function.arguments;
  const text = !parsed.ok || parsed.repaired ? JSON.stringify(sent) : raw;
  const unchanged = id === call.id && name === call.function.name && text === raw;
  const inner = name === CALL_TOOL ? readTarget(sent) : undefined;
  const target = inner && knownName(inner.name, tools);
  const args = inner ? inner.args : sent;
  const runs = target ?? inner?.name ?? name;
  const prepared = {
    call: unchanged ? call : { ...call, id, function: { name, arguments: text } },
    name: runs,
    args,
    key: `${runs}\u0000${canonicalArguments(args)}`,
    found: {
      unknown: found === undefined,
      bad: !parsed.ok,
      cut: !parsed.ok && parsed.truncated,
      repaired: parsed.ok && parsed.repaired,
    },
  };
  if (found === undefined) return { ...prepared, refusal: unknownText(name, tools) };
  if (inner && target === undefined) return { ...prepared, refusal: unknownText(inner.name, tools) };
  if (parsed.ok) return prepared;
  const error = `The call of ${name} could not be read: ${parsed.problem}. Send it again with complete, valid JSON.`;
  return { ...prepared, key: `${prepared.key}\u0000${id}`, refusal: JSON.stringify({ error }) };
}

/** One unknown name refuses the whole batch: a call may depend on an earlier one. */
export function prepareCalls(calls: readonly ToolCall[], tools: ResolvedTools): PreparedBatch {
  const ones = calls.map((call) => prepareOne(call, tools));
  const unknownTool = ones.some((one) => one.found.unknown);
  const used = new Set<string>();
  const prepared = ones.map(({ found, ...rest }) => {
    const id = used.has(rest.call.id) ? `${rest.call.id}_${used.size + 1}` : rest.call.id;
    used.add(id);
    const call = id === rest.call.id ? rest.call : { ...rest.call, id };
    if (unknownTool && !found.unknown) return { ...rest, call, refusal: JSON.stringify({ error: ANOTHER_UNKNOWN }) };
    return { ...rest, call };
  });
  return {
    calls: prepared,
    unknownTool,
    badArguments: ones.some((one) => one.found.bad),
    truncated: ones.some((one) => one.found.cut),
    repaired: ones.some((one) => one.found.repaired),
  };
}

/** The reply as it is stored: with the prepared calls. */
export function withCalls(message: AssistantMessage, calls: readonly PreparedCall[]): AssistantMessage {
  return { ...message, tool_calls: calls.map((prepared) => prepared.call) };
}
