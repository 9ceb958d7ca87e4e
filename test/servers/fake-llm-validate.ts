// Request validators as strict as the strictest real service of each dialect. Pure: a body in, problems out.

type Row = Record<string, unknown>;

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const IMAGE_DATA = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/;
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function rows(value: unknown): Row[] {
  return Array.isArray(value) ? value.filter(isRow) : [];
}

function blank(value: unknown): boolean {
  return typeof value !== "string" || value.trim() === "";
}

function unknownKeys(row: Row, allowed: readonly string[], at: string): string[] {
  return Object.keys(row)
    .filter((key) => !allowed.includes(key))
    .map((key) => `${at}: unknown field "${key}"`);
}

function jsonObject(text: unknown): boolean {
  if (typeof text !== "string") return false;
  try {
    return isRow(JSON.parse(text));
  } catch {
    return false;
  }
}

function countMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countMarks(item), 0);
  if (!isRow(value)) return 0;
  let count = 0;
  for (const [key, item] of Object.entries(value)) {
    if (key === "cache_control" && item !== null) count++;
    else if (key !== "input" && key !== "arguments") count += countMarks(item);
  }
  return count;
}

function loneSurrogates(body: unknown): string[] {
  return JSON.stringify(body).match(/(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/i) ? ["body: lone surrogate"] : [];
}

function checkTemperature(body: Row): string[] {
  const value = body.temperature;
  if (value === undefined) return [];
  return typeof value === "number" && value >= 0 && value <= 2 ? [] : ["temperature: must be between 0 and 2"];
}

export interface ChatRules {
  /** `allowed` accepts reasoning fields, `rejected` refuses them, `required` demands an echo beside tool calls. */
  readonly reasoning?: "allowed" | "rejected" | "required";
}

const CHAT_BODY = [
  ..."model messages tools tool_choice parallel_tool_calls temperature top_p n stream stream_options stop seed".split(
    " ",
  ),
  ..."max_tokens max_completion_tokens presence_penalty frequency_penalty logit_bias response_format user".split(" "),
  ..."reasoning_effort metadata store service_tier prompt_cache_key verbosity".split(" "),
  // Extensions that hosts of this dialect document.
  ..."provider reasoning thinking options think transforms plugins extra_body enable_thinking usage route".split(" "),
];

function checkParts(content: unknown, at: string, images: boolean): string[] {
  if (typeof content === "string") return content.trim() === "" ? [`${at}: content must not be empty`] : [];
  if (!Array.isArray(content)) return [`${at}: content must be text or a list of parts`];
  if (content.length === 0) return [`${at}: content list must not be empty`];
  const problems: string[] = [];
  for (const [index, part] of content.entries()) {
    const here = `${at}.content[${index}]`;
    if (!isRow(part)) problems.push(`${here}: must be an object`);
    else if (part.type === "text") {
      if (blank(part.text)) problems.push(`${here}: text must not be empty`);
      problems.push(...unknownKeys(part, ["type", "text", "cache_control"], here));
    } else if (part.type === "image_url" && images) {
      const url = isRow(part.image_url) ? part.image_url.url : undefined;
      const good = typeof url === "string" && (/^https?:\/\//.test(url) || IMAGE_DATA.test(url));
      if (!good) problems.push(`${here}: image_url.url must be an http(s) or base64 image data URL`);
      problems.push(...unknownKeys(part, ["type", "image_url", "cache_control"], here));
    } else problems.push(`${here}: part type ${JSON.stringify(part.type)} is not allowed here`);
  }
  return problems;
}

function checkChatCalls(message: Row, at: string): string[] {
  const problems: string[] = [];
  const calls = message.tool_calls;
  if (!Array.isArray(calls) || calls.length === 0) return [`${at}: tool_calls must be a non-empty list`];
  const seen = new Set<unknown>();
  for (const [index, call] of rows(calls).entries()) {
    const here = `${at}.tool_calls[${index}]`;
    const id = call.id;
    if (blank(id) || String(id).length > 40) problems.push(`${here}: id must have 1 to 40 characters`);
    if (seen.has(id)) problems.push(`${here}: duplicate id`);
    seen.add(id);
    if (call.type !== "function") problems.push(`${here}: type must be "function"`);
    problems.push(...unknownKeys(call, ["id", "type", "function", "extra_content", "index"], here));
    const fn = isRow(call.function) ? call.function : {};
    problems.push(...unknownKeys(fn, ["name", "arguments"], `${here}.function`));
    if (!TOOL_NAME.test(String(fn.name))) problems.push(`${here}: function name has a forbidden shape`);
    if (!jsonObject(fn.arguments)) problems.push(`${here}: arguments must be the JSON text of an object`);
  }
  return problems;
}

function checkAssistant(message: Row, at: string, rules: ChatRules): string[] {
  const reasoning = ["reasoning_content", "reasoning_details"];
  const allowed = ["role", "content", "name", "tool_calls", "refusal", "cache_control"];
  const problems = unknownKeys(message, rules.reasoning === "rejected" ? allowed : [...allowed, ...reasoning], at);
  const called = message.tool_calls !== undefined;
  if (called) problems.push(...checkChatCalls(message, at));
  const content = message.content;
  const absent = content === null || content === undefined || content === "";
  if (!(absent && called)) problems.push(...checkParts(content, at, false));
  if (rules.reasoning === "required" && called && !message.reasoning_content)
    problems.push(`${at}: reasoning_content is required beside tool calls`);
  return problems;
}

function checkChatMessage(message: Row, at: string, rules: ChatRules): string[] {
  switch (message.role) {
    case "system":
    case "developer":
      return [
        ...unknownKeys(message, ["role", "content", "name", "cache_control"], at),
        ...checkParts(message.content, at, false),
      ];
    case "user":
      return [
        ...unknownKeys(message, ["role", "content", "name", "cache_control"], at),
        ...checkParts(message.content, at, true),
      ];
    case "assistant":
      return checkAssistant(message, at, rules);
    case "tool":
      return [
        ...unknownKeys(message, ["role", "content", "tool_call_id", "cache_control"], at),
        ...(blank(message.tool_call_id) ? [`${at}: tool_call_id is missing`] : []),
        ...checkParts(message.content, at, false),
      ];
    default:
      return [`${at}: role ${JSON.stringify(message.role)} is not known`];
  }
}

/** Pairing and role order: every call answered at once and in place, roles alternating, system only at the start. */
function checkChatOrder(messages: Row[]): string[] {
  const problems: string[] = [];
  let open = new Set<unknown>();
  let previous = "start";
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    const role = String(message.role);
    if (role === "tool") {
      if (!open.delete(message.tool_call_id))
        problems.push(`${at}: tool message does not answer a call of the preceding assistant message`);
      previous = "tool";
      continue;
    }
    if (open.size > 0) problems.push(`${at}: tool calls without a result: ${[...open].join(", ")}`);
    open = new Set(role === "assistant" ? rows(message.tool_calls).map((call) => call.id) : []);
    const early = previous === "start" || previous === "system" || previous === "developer";
    if ((role === "system" || role === "developer") && !early) problems.push(`${at}: system message after the start`);
    if (role === "assistant" && early) problems.push(`${at}: the first message must come from the user`);
    if (role === previous && !early) problems.push(`${at}: two ${role} messages in a row`);
    previous = role;
  }
  if (open.size > 0) problems.push(`messages: tool calls without a result at the end: ${[...open].join(", ")}`);
  if (previous !== "user" && previous !== "tool") problems.push("messages: the last message must be user or tool");
  return problems;
}

function checkChatTools(body: Row): string[] {
  if (body.tools === undefined) {
    return body.tool_choice === undefined && body.parallel_tool_calls === undefined
      ? []
      : ["tool_choice and parallel_tool_calls need tools"];
  }
  const tools = body.tools;
  if (!Array.isArray(tools) || tools.length === 0) return ["tools: must be a non-empty list"];
  const names = new Set<string>();
  const problems: string[] = [];
  for (const [index, tool] of rows(tools).entries()) {
    const at = `tools[${index}]`;
    const fn = isRow(tool.function) ? tool.function : {};
    const name = String(fn.name);
    problems.push(...unknownKeys(tool, ["type", "function", "cache_control"], at));
    problems.push(...unknownKeys(fn, ["name", "description", "parameters", "strict"], `${at}.function`));
    if (tool.type !== "function" || !TOOL_NAME.test(name)) problems.push(`${at}: not a well-named function`);
    if (names.has(name)) problems.push(`${at}: duplicate name ${name}`);
    names.add(name);
    if (!isRow(fn.parameters) || fn.parameters.type !== "object")
      problems.push(`${at}: parameters must be an object schema`);
  }
  return problems;
}

function checkChatLimits(body: Row): string[] {
  const problems: string[] = [];
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined)
    problems.push("max_tokens and max_completion_tokens exclude each other");
  for (const key of ["max_tokens", "max_completion_tokens"]) {
    const value = body[key];
    if (value !== undefined && !(Number.isInteger(value) && Number(value) > 0))
      problems.push(`${key}: must be positive`);
  }
  const reasons = /(^|\/)(gpt-[5-9]|o[1345](-|$))/.test(String(body.model));
  if (reasons && body.max_tokens !== undefined) problems.push("max_tokens: use max_completion_tokens with this model");
  if (reasons && body.temperature !== undefined && body.temperature !== 1)
    problems.push("temperature: only the default (1) is supported with this model");
  if (body.stream_options !== undefined && body.stream !== true) problems.push("stream_options needs stream");
  if (body.reasoning_effort !== undefined && !EFFORTS.includes(String(body.reasoning_effort)))
    problems.push("reasoning_effort: unknown value");
  return problems;
}

/** Problems of a chat-completions body; empty when every host would take it. */
export function validateChatCompletions(value: unknown, rules: ChatRules = {}): string[] {
  if (!isRow(value)) return ["body: must be a JSON object"];
  const problems = unknownKeys(value, CHAT_BODY, "body");
  if (blank(value.model)) problems.push("model: missing");
  const messages = value.messages;
  if (!Array.isArray(messages) || messages.length === 0) return [...problems, "messages: must be a non-empty list"];
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    problems.push(...(isRow(message) ? checkChatMessage(message, at, rules) : [`${at}: must be an object`]));
  }
  problems.push(...checkChatOrder(rows(messages)), ...checkChatTools(value), ...checkChatLimits(value));
  problems.push(...checkTemperature(value), ...loneSurrogates(value));
  const marks = countMarks(value);
  if (marks > 4) problems.push(`cache_control: at most 4 marks, found ${marks}`);
  return problems;
}

const RESPONSES_BODY = [
  ..."model input instructions tools tool_choice parallel_tool_calls store stream include reasoning text".split(" "),
  ..."max_output_tokens temperature top_p prompt_cache_key metadata service_tier truncation user".split(" "),
];

function checkResponseMessage(item: Row, at: string): string[] {
  const role = String(item.role);
  if (!["user", "assistant", "system", "developer"].includes(role)) return [`${at}: role ${role} is not known`];
  const problems = unknownKeys(item, ["type", "role", "content", "id", "status", "phase"], at);
  if (item.id !== undefined && !String(item.id).startsWith("msg_")) problems.push(`${at}: id must begin with msg_`);
  const content = item.content;
  if (typeof content === "string") return blank(content) ? [...problems, `${at}: content must not be empty`] : problems;
  if (!Array.isArray(content) || content.length === 0) return [...problems, `${at}: content must not be empty`];
  const types = role === "assistant" ? ["output_text", "refusal"] : ["input_text", "input_image", "input_file"];
  for (const [index, part] of rows(content).entries()) {
    const type = String(part.type);
    if (!types.includes(type)) problems.push(`${at}.content[${index}]: ${type} is not allowed for ${role}`);
    if (type === "output_text" && !Array.isArray(part.annotations))
      problems.push(`${at}.content[${index}]: annotations must be a list`);
    if (type.endsWith("_text") && blank(part.text)) problems.push(`${at}.content[${index}]: text must not be empty`);
    if (type === "input_image" && typeof part.image_url !== "string")
      problems.push(`${at}.content[${index}]: image_url must be a string`);
  }
  return problems;
}

function checkFunctionCall(item: Row, at: string): string[] {
  const problems = unknownKeys(item, ["type", "call_id", "name", "arguments", "id", "status"], at);
  if (blank(item.call_id) || String(item.call_id).length > 64) problems.push(`${at}: call_id has a forbidden shape`);
  if (!TOOL_NAME.test(String(item.name))) problems.push(`${at}: name has a forbidden shape`);
  if (!jsonObject(item.arguments)) problems.push(`${at}: arguments must be the JSON text of an object`);
  if (item.id !== undefined && !String(item.id).startsWith("fc_")) problems.push(`${at}: id must begin with fc_`);
  return problems;
}

function checkReasoningItem(item: Row, at: string, stored: boolean): string[] {
  const problems = unknownKeys(item, ["type", "id", "summary", "encrypted_content", "content", "status"], at);
  if (!Array.isArray(item.summary)) problems.push(`${at}: summary must be a list`);
  if (!stored && blank(item.encrypted_content)) problems.push(`${at}: without storing, encrypted_content is required`);
  if (blank(item.id)) problems.push(`${at}: id is required`);
  return problems;
}

function checkResponseItems(items: unknown[], stored: boolean): string[] {
  const problems: string[] = [];
  const called = new Set<unknown>();
  const answered = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    if (!isRow(item)) problems.push(`${at}: must be an object`);
    else if (item.type === "function_call") {
      problems.push(...checkFunctionCall(item, at));
      if (called.has(item.call_id)) problems.push(`${at}: duplicate call_id`);
      called.add(item.call_id);
    } else if (item.type === "function_call_output") {
      problems.push(...unknownKeys(item, ["type", "call_id", "output", "id", "status"], at));
      if (!called.has(item.call_id)) problems.push(`${at}: no tool call found for this output`);
      if (answered.has(item.call_id)) problems.push(`${at}: second output for one call`);
      answered.add(item.call_id);
      if (blank(item.output) && !(Array.isArray(item.output) && item.output.length > 0))
        problems.push(`${at}: output must not be empty`);
    } else if (item.type === "reasoning") {
      problems.push(...checkReasoningItem(item, at, stored));
      const next = items[index + 1];
      const followed = isRow(next) && (next.type !== "message" || next.role === "assistant");
      if (!followed || (isRow(next) && next.role !== undefined && next.role !== "assistant"))
        problems.push(`${at}: reasoning was provided without its required following item`);
    } else if (item.type === "message" || item.type === undefined) problems.push(...checkResponseMessage(item, at));
    else problems.push(`${at}: type ${JSON.stringify(item.type)} is not known`);
  }
  for (const id of called) if (!answered.has(id)) problems.push(`input: no output found for call ${String(id)}`);
  return problems;
}

function checkResponseTools(tools: unknown): string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools) || tools.length === 0) return ["tools: must be a non-empty list"];
  const problems: string[] = [];
  for (const [index, tool] of rows(tools).entries()) {
    const at = `tools[${index}]`;
    problems.push(...unknownKeys(tool, ["type", "name", "description", "parameters", "strict"], at));
    if (tool.type !== "function" || !TOOL_NAME.test(String(tool.name)))
      problems.push(`${at}: not a well-named function`);
    if (!isRow(tool.parameters) || tool.parameters.type !== "object")
      problems.push(`${at}: parameters must be an object schema`);
  }
  return problems;
}

/** Problems of a Responses body; empty when the service would take it. */
export function validateResponses(value: unknown): string[] {
  if (!isRow(value)) return ["body: must be a JSON object"];
  const problems = unknownKeys(value, RESPONSES_BODY, "body");
  if (blank(value.model)) problems.push("model: missing");
  if (value.instructions !== undefined && blank(value.instructions)) problems.push("instructions: must not be empty");
  const input = value.input;
  if (typeof input === "string" ? blank(input) : !Array.isArray(input) || input.length === 0)
    problems.push("input: must not be empty");
  if (Array.isArray(input)) problems.push(...checkResponseItems(input, value.store !== false));
  problems.push(...checkResponseTools(value.tools), ...checkTemperature(value), ...loneSurrogates(value));
  const limit = value.max_output_tokens;
  if (limit !== undefined && !(Number.isInteger(limit) && Number(limit) >= 16))
    problems.push("max_output_tokens: must be at least 16");
  if (/gpt-[5-9]|codex|^o\d/.test(String(value.model)) && value.temperature !== undefined)
    problems.push("temperature: not supported with this model");
  const effort = isRow(value.reasoning) ? value.reasoning.effort : undefined;
  if (effort !== undefined && !EFFORTS.includes(String(effort))) problems.push("reasoning.effort: unknown value");
  return problems;
}
