// The demanded form of an answer as the fields of each dialect.
import type { Json, JsonObject } from "../../core/message.ts";
import type { AnswerShape } from "../../core/model/provider.ts";

type Fields = { [key: string]: Json };

export function chatAnswerFields(answer: AnswerShape | undefined): JsonObject {
  const fields: Fields = {};
  const { toolChoice, format } = answer ?? {};
  if (toolChoice !== undefined)
    fields.tool_choice =
      toolChoice === "required" ? "required" : { type: "function", function: { name: toolChoice.name } };
  if (format?.type === "json_object") fields.response_format = { type: "json_object" };
  if (format?.type === "json_schema") {
    const { name, schema, strict } = format;
    fields.response_format = { type: "json_schema", json_schema: { name, schema, strict: strict ?? false } };
  }
  return fields;
}

export function responsesAnswerFields(answer: AnswerShape | undefined): JsonObject {
  const fields: Fields = {};
  const { toolChoice, format } = answer ?? {};
  if (toolChoice !== undefined)
    fields.tool_choice = toolChoice === "required" ? "required" : { type: "function", name: toolChoice.name };
  if (format?.type === "json_object") fields.text = { format: { type: "json_object" } };
  if (format?.type === "json_schema") {
    const { name, schema, strict } = format;
    fields.text = { format: { type: "json_schema", name, schema, strict: strict ?? false } };
  }
  return fields;
}

/** Anthropic has no response format; the caller asks for it in words. */
export function anthropicAnswerFields(answer: AnswerShape | undefined): JsonObject {
  const { toolChoice } = answer ?? {};
  if (toolChoice === undefined) return {};
  return { tool_choice: toolChoice === "required" ? { type: "any" } : { type: "tool", name: toolChoice.name } };
}
