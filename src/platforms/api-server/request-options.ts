// What a request demands of the model: its name, limits, the client's own tools and the form of the answer.
import type { ConversationOptions } from "../../core/conversation.ts";
import type { JsonObject } from "../../core/message.ts";
import type { AnswerShape, ToolSchema } from "../../core/model/provider.ts";
import { isRecord } from "../../lib/json/is-record.ts";

import { invalid } from "./api-error.ts";

type Body = { readonly [key: string]: unknown };

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_TOOLS = 128;

export type ModelDemands = Pick<ConversationOptions, "maxOutputTokens" | "temperature" | "clientTools" | "answer">;

function numberField(body: Body, name: string, range: { readonly min: number; readonly max: number }) {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !(value >= range.min && value <= range.max))
    throw invalid("invalid_value", `${name} must be a number from ${range.min} to ${range.max}`, name);
  return value;
}

function outputLimit(body: Body): number | undefined {
  for (const name of ["max_completion_tokens", "max_output_tokens", "max_tokens"]) {
    const limit = numberField(body, name, { min: 1, max: 1_000_000 });
    if (limit === undefined) continue;
    if (!Number.isInteger(limit)) throw invalid("invalid_value", `${name} must be a whole number`, name);
    return limit;
  }
  return undefined;
}

/** A tool of chat completions has its fields under `function`, one of Responses has them beside `type`. */
function readTool(value: unknown, param: string): ToolSchema {
  if (!isRecord(value)) throw invalid("invalid_tool", `${param} is not a tool`, param);
  if (value.type !== undefined && value.type !== "function")
    throw invalid("unsupported_tool", `${param} has the type "${String(value.type)}"; functions are supported`, param);
  const given = isRecord(value.function) ? value.function : value;
  if (typeof given.name !== "string" || !TOOL_NAME.test(given.name))
    throw invalid("invalid_tool", `${param} needs a name of letters, digits, _ and -, at most 64`, param);
  if (given.parameters !== undefined && given.parameters !== null && !isRecord(given.parameters))
    throw invalid("invalid_tool", `${param}.parameters must be a JSON Schema`, param);
  return {
    name: given.name,
    description: typeof given.description === "string" ? given.description : "",
    parameters: (given.parameters ?? { type: "object", properties: {} }) as JsonObject,
  };
}

function readTools(body: Body): readonly ToolSchema[] {
  const { tools } = body;
  if (tools === undefined || tools === null || body.tool_choice === "none") return [];
  if (!Array.isArray(tools) || tools.length > MAX_TOOLS)
    throw invalid("invalid_tool", `tools must be a list of at most ${MAX_TOOLS} functions`, "tools");
  const read = tools.map((tool, index) => readTool(tool, `tools[${index}]`));
  const names = new Set(read.map(({ name }) => name));
  if (names.size !== read.length) throw invalid("invalid_tool", "two tools have the same name", "tools");
  return read;
}

function readToolChoice(body: Body, tools: readonly ToolSchema[]): AnswerShape["toolChoice"] {
  const choice = body.tool_choice;
  if (choice === undefined || choice === null || choice === "auto" || choice === "none") return undefined;
  if (choice === "required" || choice === "any") {
    if (tools.length === 0) throw invalid("invalid_tool_choice", "tool_choice requires tools", "tool_choice");
    return "required";
  }
  const given = isRecord(choice) ? (isRecord(choice.function) ? choice.function.name : choice.name) : undefined;
  const tool = tools.find(({ name }) => name === given);
  if (!tool) throw invalid("invalid_tool_choice", "tool_choice must name one of the tools", "tool_choice");
  return { name: tool.name };
}

/** `response_format` of chat completions, or `text.format` of Responses. */
function readFormat(body: Body): AnswerShape["format"] {
  const param = body.response_format === undefined ? "text.format" : "response_format";
  const given = body.response_format ?? (isRecord(body.text) ? body.text.format : undefined);
  if (given === undefined || given === null) return undefined;
  if (!isRecord(given)) throw invalid("invalid_response_format", `${param} must be an object`, param);
  if (given.type === "text") return undefined;
  if (given.type === "json_object") return { type: "json_object" };
  const schema = isRecord(given.json_schema) ? given.json_schema : given;
  if (given.type !== "json_schema" || !isRecord(schema.schema))
    throw invalid("invalid_response_format", `${param} is text, json_object, or json_schema with a schema`, param);
  const name = typeof schema.name === "string" && TOOL_NAME.test(schema.name) ? schema.name : "answer";
  return { type: "json_schema", name, schema: schema.schema as JsonObject, strict: schema.strict === true };
}

export function readDemands(body: Body): ModelDemands {
  if (body.n !== undefined && body.n !== null && body.n !== 1)
    throw invalid("unsupported_value", "n must be 1: the agent gives one answer", "n");
  const clientTools = readTools(body);
  const toolChoice = readToolChoice(body, clientTools);
  const format = readFormat(body);
  return {
    maxOutputTokens: outputLimit(body),
    temperature: numberField(body, "temperature", { min: 0, max: 2 }),
    clientTools: clientTools.length > 0 ? clientTools : undefined,
    answer: toolChoice || format ? { toolChoice, format } : undefined,
  };
}

/** The demanded format in words: not every model has a field for it, and OpenAI wants it named. */
export function formatInstruction({ answer }: ModelDemands): string {
  const format = answer?.format;
  if (format === undefined) return "";
  const shape = format.type === "json_schema" ? ` that fits this JSON Schema:\n${JSON.stringify(format.schema)}` : ".";
  return `Your final answer must be one JSON object and nothing else, without a code fence${shape}`;
}

/** Removes the code fence that models put around JSON in spite of the instruction. */
export function unfenced(text: string, { answer }: ModelDemands): string {
  if (answer?.format === undefined) return text;
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;
}
