// The bodies of requests as JSON Schema: checked before a route runs, and published in `/openapi.json`.
import type { TSchema } from "typebox";
import type { JsonObject } from "../../core/message.ts";
import { invalid } from "./api-error.ts";

const TEXT: JsonObject = { type: "string" };
const NULL: JsonObject = { type: "null" };
const FLAG: JsonObject = { type: "boolean" };
const OBJECT: JsonObject = { type: "object" };

function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, NULL] };
}

function limited(minimum: number, maximum: number, type = "number"): JsonObject {
  return { type, minimum, maximum };
}

const PART: JsonObject = { anyOf: [TEXT, { type: "object", required: ["type"], properties: { type: TEXT } }] };
const CONTENT: JsonObject = { anyOf: [TEXT, NULL, { type: "array", maxItems: 1000, items: PART }] };
const MESSAGE: JsonObject = {
  type: "object",
  required: ["role"],
  properties: {
    role: { enum: ["system", "developer", "user", "assistant", "tool"] },
    content: CONTENT,
    tool_calls: orNull({ type: "array", items: OBJECT }),
    tool_call_id: orNull(TEXT),
  },
};

const SHARED = {
  model: orNull(TEXT),
  stream: orNull(FLAG),
  temperature: orNull(limited(0, 2)),
  tools: orNull({ type: "array", maxItems: 128, items: OBJECT }),
  tool_choice: { anyOf: [{ enum: ["auto", "none", "required", "any"] }, OBJECT, NULL] },
} as const;

const TOKENS = orNull(limited(1, 1_000_000, "integer"));

const INPUT: JsonObject = {
  anyOf: [
    { type: "string", minLength: 1 },
    { type: "array", minItems: 1, items: { anyOf: [TEXT, OBJECT] } },
  ],
};

const JOB_FIELDS = {
  name: orNull({ type: "string", maxLength: 200 }),
  prompt: orNull({ type: "string", maxLength: 5000 }),
  deliver: orNull(TEXT),
  skills: orNull({ type: "array", items: TEXT }),
  repeat: orNull({ type: "integer", minimum: 1 }),
} as const;

export const BODIES = {
  chat: {
    type: "object",
    required: ["messages"],
    properties: {
      ...SHARED,
      messages: { type: "array", minItems: 1, items: MESSAGE },
      max_tokens: TOKENS,
      max_completion_tokens: TOKENS,
      response_format: orNull({ type: "object", required: ["type"], properties: { type: TEXT } }),
      n: orNull({ const: 1 }),
    },
  },
  response: {
    type: "object",
    required: ["input"],
    properties: {
      ...SHARED,
      input: INPUT,
      instructions: orNull(TEXT),
      previous_response_id: orNull(TEXT),
      conversation: { anyOf: [TEXT, OBJECT, NULL] },
      conversation_history: orNull({ type: "array", items: MESSAGE }),
      max_output_tokens: TOKENS,
      store: orNull(FLAG),
      metadata: orNull(OBJECT),
      text: orNull(OBJECT),
    },
  },
  run: {
    type: "object",
    required: ["input"],
    properties: {
      input: INPUT,
      model: orNull(TEXT),
      instructions: orNull(TEXT),
      session_id: orNull(TEXT),
      previous_response_id: orNull(TEXT),
      conversation_history: orNull({ type: "array", items: MESSAGE }),
    },
  },
  approval: {
    type: "object",
    required: ["choice"],
    properties: {
      choice: { enum: ["once", "approve", "approved", "allow", "session", "always", "deny"] },
      all: FLAG,
      resolve_all: FLAG,
    },
  },
  createJob: {
    type: "object",
    required: ["schedule"],
    additionalProperties: false,
    properties: { ...JOB_FIELDS, schedule: { type: "string", minLength: 1 } },
  },
  changeJob: {
    type: "object",
    minProperties: 1,
    additionalProperties: false,
    properties: { ...JOB_FIELDS, schedule: orNull(TEXT), skill: orNull(TEXT), enabled: FLAG },
  },
} as const satisfies { readonly [name: string]: JsonObject };

export type BodyName = keyof typeof BODIES;

interface Checker {
  Check(value: unknown): boolean;
  Errors(value: unknown): Iterable<{ readonly instancePath?: string | undefined; readonly message?: string }>;
}

const checkers = new Map<BodyName, Promise<Checker>>();

function checkerFor(name: BodyName): Promise<Checker> {
  let checker = checkers.get(name);
  if (!checker) {
    checker = import("typebox/compile").then(({ Compile }) => Compile(BODIES[name] as TSchema) as unknown as Checker);
    checkers.set(name, checker);
  }
  return checker;
}

/** Throws a 400 that names the field. */
export async function checkBody(name: BodyName, body: { readonly [key: string]: unknown }): Promise<void> {
  const { required = [] } = BODIES[name] as { readonly required?: readonly string[] | undefined };
  for (const field of required)
    if (body[field] === undefined) throw invalid(`missing_${field}`, `${field} is required`, field);
  const checker = await checkerFor(name);
  if (checker.Check(body)) return;
  const [first] = checker.Errors(body);
  const path = (first?.instancePath ?? "").replace(/^\//, "").replaceAll("/", ".");
  throw invalid("invalid_type", `${path === "" ? "the body" : path} ${first?.message ?? "does not fit"}`, path || null);
}
