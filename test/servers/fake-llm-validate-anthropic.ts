// The request validator of the Anthropic Messages dialect. Pure: a body in, problems out.

type Row = Record<string, unknown>;

const TOOL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MEDIA = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const BODY = [
  ..."model max_tokens messages system tools tool_choice temperature top_p top_k stop_sequences stream".split(" "),
  ..."thinking output_config metadata service_tier".split(" "),
];

export interface AnthropicRules {
  /** Hosts whose thinking blocks have no signature. */
  readonly unsignedThinking?: boolean;
}

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
    .map((key) => `${at}.${key}: Extra inputs are not permitted`);
}

function checkMark(block: Row, at: string): string[] {
  const mark = block.cache_control;
  if (mark === undefined) return [];
  if (!isRow(mark) || mark.type !== "ephemeral") return [`${at}: cache_control must be ephemeral`];
  const problems = unknownKeys(mark, ["type", "ttl"], `${at}.cache_control`);
  if (mark.ttl !== undefined && mark.ttl !== "5m" && mark.ttl !== "1h")
    problems.push(`${at}: cache_control.ttl must be 5m or 1h`);
  return problems;
}

function checkImage(block: Row, at: string): string[] {
  const source = isRow(block.source) ? block.source : {};
  if (source.type === "url") return /^https?:\/\//.test(String(source.url)) ? [] : [`${at}: image url must be http(s)`];
  if (source.type !== "base64") return [`${at}: image source must be base64 or url`];
  const problems: string[] = [];
  if (!MEDIA.includes(String(source.media_type))) problems.push(`${at}: media_type is not supported`);
  const data = String(source.data ?? "");
  if (data === "" || !/^[A-Za-z0-9+/]+=*$/.test(data)) problems.push(`${at}: image data is not base64`);
  if (data.length * 0.75 > 5 * 1024 * 1024) problems.push(`${at}: image exceeds 5 MB maximum`);
  return problems;
}

function checkResultContent(content: unknown, at: string): string[] {
  if (content === undefined || typeof content === "string") return [];
  if (!Array.isArray(content)) return [`${at}: content must be text or blocks`];
  const problems: string[] = [];
  for (const [index, block] of rows(content).entries()) {
    const here = `${at}.content.${index}`;
    if (block.type === "text") {
      if (blank(block.text)) problems.push(`${here}: text content blocks must be non-empty`);
    } else if (block.type === "image") problems.push(...checkImage(block, here));
    else problems.push(`${here}: block type is not allowed in a tool result`);
  }
  return problems;
}

function checkBlock(block: Row, at: string, role: string, rules: AnthropicRules): string[] {
  const problems = checkMark(block, at);
  switch (block.type) {
    case "text":
      problems.push(...unknownKeys(block, ["type", "text", "cache_control", "citations"], at));
      if (blank(block.text)) problems.push(`${at}: text content blocks must contain non-whitespace text`);
      return problems;
    case "image":
      problems.push(...unknownKeys(block, ["type", "source", "cache_control"], at), ...checkImage(block, at));
      if (role !== "user") problems.push(`${at}: image is not allowed for ${role}`);
      return problems;
    case "tool_use":
      problems.push(...unknownKeys(block, ["type", "id", "name", "input", "cache_control"], at));
      if (!TOOL_ID.test(String(block.id))) problems.push(`${at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      if (!TOOL_NAME.test(String(block.name))) problems.push(`${at}.name: has a forbidden shape`);
      if (!isRow(block.input)) problems.push(`${at}.input: Input should be a valid dictionary`);
      if (role !== "assistant") problems.push(`${at}: tool_use is not allowed for ${role}`);
      return problems;
    case "tool_result":
      problems.push(...unknownKeys(block, ["type", "tool_use_id", "content", "is_error", "cache_control"], at));
      problems.push(...checkResultContent(block.content, at));
      if (role !== "user") problems.push(`${at}: tool_result is not allowed for ${role}`);
      return problems;
    case "thinking":
    case "redacted_thinking":
      if (block.cache_control !== undefined) problems.push(`${at}: cache_control is not allowed on thinking`);
      if (role !== "assistant") problems.push(`${at}: thinking is not allowed for ${role}`);
      if (block.type === "redacted_thinking" && blank(block.data)) problems.push(`${at}.data: missing`);
      if (block.type === "thinking" && !rules.unsignedThinking && blank(block.signature))
        problems.push(`${at}: Invalid signature in thinking block`);
      return problems;
    default:
      return [`${at}: block type ${JSON.stringify(block.type)} is not known`];
  }
}

function checkPairing(messages: Row[]): string[] {
  const problems: string[] = [];
  const everUsed = new Set<unknown>();
  let open = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    const blocks = rows(message.content);
    const answered = new Set<unknown>();
    let resultsOver = false;
    for (const block of blocks) {
      if (block.type !== "tool_result") {
        resultsOver = true;
        continue;
      }
      const id = block.tool_use_id;
      if (resultsOver) problems.push(`${at}: tool_result blocks must come first`);
      if (!open.has(id)) problems.push(`${at}: unexpected tool_use_id found in tool_result blocks: ${String(id)}`);
      if (answered.has(id)) problems.push(`${at}: each tool_use must have a single result: ${String(id)}`);
      answered.add(id);
    }
    for (const id of open)
      if (!answered.has(id)) problems.push(`${at}: tool_use ids were found without tool_result blocks: ${String(id)}`);
    open = new Set();
    for (const block of blocks) {
      if (block.type !== "tool_use") continue;
      if (everUsed.has(block.id)) problems.push(`${at}: tool_use ids must be unique`);
      everUsed.add(block.id);
      open.add(block.id);
    }
  }
  if (open.size > 0) problems.push(`messages: tool_use without a result at the end: ${[...open].join(", ")}`);
  return problems;
}

function checkMessages(messages: unknown[], rules: AnthropicRules): string[] {
  const problems: string[] = [];
  let previous = "";
  let images = 0;
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    if (!isRow(message)) {
      problems.push(`${at}: must be an object`);
      continue;
    }
    const role = String(message.role);
    problems.push(...unknownKeys(message, ["role", "content"], at));
    if (role !== "user" && role !== "assistant") problems.push(`${at}: role must be user or assistant`);
    if (index === 0 && role !== "user") problems.push("messages: first message must use the user role");
    if (role === previous) problems.push(`${at}: roles must alternate between user and assistant`);
    previous = role;
    const content = message.content;
    if (typeof content === "string") {
      if (blank(content)) problems.push(`${at}: all messages must have non-empty content`);
    } else if (!Array.isArray(content) || content.length === 0)
      problems.push(`${at}: all messages must have non-empty content`);
    for (const [position, block] of rows(content).entries()) {
      problems.push(...checkBlock(block, `${at}.content.${position}`, role, rules));
      if (block.type === "image") images++;
      images += rows(block.content).filter((inner) => inner.type === "image").length;
    }
  }
  if (previous === "assistant") problems.push("messages: the last message must use the user role");
  if (images > 100) problems.push("messages: too many images");
  return [...problems, ...checkPairing(rows(messages))];
}

function version(model: string): number {
  const found = /(?:opus|sonnet|haiku)-(\d+)(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  return found ? Number(found[1]) + Number(found[2] ?? 0) / 10 : 0;
}

function checkThinking(body: Row): string[] {
  const problems: string[] = [];
  const model = version(String(body.model));
  const samplers = ["temperature", "top_p", "top_k"].filter((key) => body[key] !== undefined);
  if (model >= 4.7 && samplers.length > 0) problems.push(`${samplers.join(", ")}: not supported with this model`);
  const thinking = isRow(body.thinking) ? body.thinking : undefined;
  if (!thinking || thinking.type === "disabled") return problems;
  if (body.temperature !== undefined && body.temperature !== 1)
    problems.push("temperature: may only be set to 1 when thinking is enabled");
  if (body.top_k !== undefined) problems.push("top_k: must be unset when thinking is enabled");
  if (thinking.type === "adaptive") {
    if (model > 0 && model < 4.6) problems.push("thinking: adaptive thinking is not supported on this model");
    return problems;
  }
  if (thinking.type !== "enabled") return [...problems, "thinking.type: unknown"];
  if (model >= 4.7) problems.push("thinking.type.enabled: not supported on this model");
  const budget = Number(thinking.budget_tokens);
  if (!(budget >= 1024)) problems.push("thinking.budget_tokens: must be at least 1024");
  if (!(Number(body.max_tokens) > budget)) problems.push("max_tokens: must be greater than thinking.budget_tokens");
  const last = rows(body.messages).findLast((message) => message.role === "assistant");
  const blocks = rows(last?.content);
  if (blocks.some((block) => block.type === "tool_use") && !String(blocks[0]?.type).includes("thinking"))
    problems.push("messages: expected thinking or redacted_thinking before tool_use when thinking is enabled");
  return problems;
}

function checkTools(tools: unknown): string[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools) || tools.length === 0) return ["tools: must be a non-empty list"];
  const problems: string[] = [];
  const names = new Set<string>();
  for (const [index, tool] of rows(tools).entries()) {
    const at = `tools.${index}`;
    problems.push(...unknownKeys(tool, ["name", "description", "input_schema", "cache_control", "type"], at));
    problems.push(...checkMark(tool, at));
    const name = String(tool.name);
    if (!TOOL_NAME.test(name)) problems.push(`${at}.name: has a forbidden shape`);
    if (names.has(name)) problems.push("tools: Tool names must be unique.");
    names.add(name);
    if (!isRow(tool.input_schema) || tool.input_schema.type !== "object")
      problems.push(`${at}.input_schema: must be an object schema`);
  }
  return problems;
}

/** Marks in the order the service reads them: tools, system, messages. */
function findMarks(body: Row): Row[] {
  const marks: Row[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isRow(value)) return;
    if (isRow(value.cache_control)) marks.push(value.cache_control);
    visit(value.content);
  };
  visit(body.tools);
  visit(body.system);
  visit(body.messages);
  return marks;
}

function checkSystem(system: unknown): string[] {
  if (system === undefined) return [];
  if (typeof system === "string") return blank(system) ? ["system: text must not be empty"] : [];
  if (!Array.isArray(system) || system.length === 0) return ["system: must be text or blocks"];
  const problems: string[] = [];
  for (const [index, block] of rows(system).entries()) {
    if (block.type !== "text" || blank(block.text)) problems.push(`system.${index}: must be non-empty text`);
    problems.push(...checkMark(block, `system.${index}`));
  }
  return problems;
}

/** Problems of an Anthropic Messages body; empty when the service would take it. */
export function validateAnthropic(value: unknown, rules: AnthropicRules = {}): string[] {
  if (!isRow(value)) return ["body: must be a JSON object"];
  const problems = unknownKeys(value, BODY, "body");
  if (blank(value.model)) problems.push("model: Field required");
  if (!(Number.isInteger(value.max_tokens) && Number(value.max_tokens) > 0))
    problems.push("max_tokens: Field required");
  const temperature = value.temperature;
  if (temperature !== undefined && !(typeof temperature === "number" && temperature >= 0 && temperature <= 1))
    problems.push("temperature: range: 0..1");
  problems.push(...checkSystem(value.system), ...checkTools(value.tools));
  const messages = value.messages;
  if (!Array.isArray(messages) || messages.length === 0)
    return [...problems, "messages: at least one message is required"];
  problems.push(...checkMessages(messages, rules), ...checkThinking(value));
  const marks = findMarks(value);
  if (marks.length > 4)
    problems.push(`A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`);
  const firstShort = marks.findIndex((mark) => mark.ttl !== "1h");
  if (firstShort >= 0 && marks.slice(firstShort).some((mark) => mark.ttl === "1h"))
    problems.push("cache_control: a ttl='1h' block must not come after a ttl='5m' block");
  if (/(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/i.test(JSON.stringify(value))) problems.push("body: lone surrogate");
  return problems;
}
