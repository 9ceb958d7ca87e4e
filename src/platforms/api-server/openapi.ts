// `/openapi.json`: what the API server offers, in OpenAPI 3.1.
import type { JsonObject } from "../../core/message.ts";
import { BODIES, type BodyName } from "./body-schemas.ts";

const ERROR_STATUSES = ["400", "401", "403", "404", "405", "409", "413", "429", "500", "502", "503"];
const TEXT: JsonObject = { type: "string" };

function ref(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function json(schema: JsonObject): JsonObject {
  return { "application/json": { schema } };
}

interface Operation {
  readonly summary: string;
  /** The name of the body's schema. */
  readonly body?: BodyName | undefined;
  readonly answer: JsonObject;
  readonly status?: string | undefined;
  /** The answer may be a stream of events. */
  readonly stream?: boolean | undefined;
  readonly open?: boolean | undefined;
  readonly query?: readonly string[] | undefined;
  /** Session, key and idempotency headers. */
  readonly session?: boolean | undefined;
}

const SESSION_HEADERS: readonly JsonObject[] = [
  { name: "Idempotency-Key", in: "header", schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,200}$" } },
  {
    name: "X-Hermes-Session-Id",
    in: "header",
    schema: { type: "string", pattern: "^([A-Za-z0-9][A-Za-z0-9_.:-]{0,127})?$" },
  },
  { name: "X-Hermes-Session-Key", in: "header", schema: { type: "string", maxLength: 256 } },
];

const EVENTS: JsonObject = { "text/event-stream": { schema: {} } };
const ANY: JsonObject = { type: "object" };

const CHAT_ANSWER: JsonObject = {
  type: "object",
  required: ["id", "object", "created", "model", "choices", "usage"],
  properties: {
    id: TEXT,
    object: { const: "chat.completion" },
    created: { type: "integer" },
    model: TEXT,
    choices: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["index", "message", "finish_reason"],
        properties: { index: { type: "integer" }, message: ref("AnswerMessage"), finish_reason: TEXT },
      },
    },
    usage: ANY,
  },
};

const RESPONSE: JsonObject = {
  type: "object",
  required: ["id", "object", "status", "output"],
  properties: { id: TEXT, object: { const: "response" }, status: TEXT, output: { type: "array", items: ANY } },
};

const RUN: JsonObject = { type: "object", required: ["run_id", "status"], properties: { run_id: TEXT, status: TEXT } };
const JOB: JsonObject = { type: "object", required: ["job"], properties: { job: ANY } };
const HEALTH: JsonObject = { type: "object", required: ["status"], properties: { status: TEXT } };
const MODEL: JsonObject = { type: "object", required: ["id", "object"], properties: { id: TEXT, object: TEXT } };
const MODELS: JsonObject = {
  type: "object",
  required: ["object", "data"],
  properties: { object: { const: "list" }, data: { type: "array", items: MODEL } },
};
const DELETED: JsonObject = {
  type: "object",
  required: ["id", "deleted"],
  properties: { id: TEXT, deleted: { const: true } },
};

type Paths = { readonly [path: string]: { readonly [method: string]: Operation } };

const PATHS: Paths = {
  "/health": { get: { summary: "Whether the server answers", answer: HEALTH, open: true } },
  "/v1/health": { get: { summary: "The same as /health", answer: HEALTH, open: true } },
  "/openapi.json": { get: { summary: "This document", answer: ANY, open: true } },
  "/health/detailed": { get: { summary: "Status of the server and its platforms", answer: HEALTH } },
  "/models": { get: { summary: "The same as /v1/models", answer: MODELS } },
  "/v1/models": { get: { summary: "The agent, and the models that a request may name", answer: MODELS } },
  "/v1/models/{id}": { get: { summary: "One model", answer: MODEL } },
  "/v1/capabilities": { get: { summary: "What this server supports", answer: ANY } },
  "/v1/chat/completions": {
    post: { summary: "Ask the agent", body: "chat", answer: CHAT_ANSWER, stream: true, session: true },
  },
  "/v1/responses": {
    post: {
      summary: "Ask the agent; the answer is stored",
      body: "response",
      answer: RESPONSE,
      stream: true,
      session: true,
    },
  },
  "/v1/responses/{id}": {
    get: { summary: "A stored answer", answer: RESPONSE },
    delete: { summary: "Delete a stored answer", answer: DELETED },
  },
  "/v1/runs": { post: { summary: "Start a run", body: "run", answer: RUN, status: "202", session: true } },
  "/v1/runs/{id}": { get: { summary: "State of a run", answer: RUN } },
  "/v1/runs/{id}/events": { get: { summary: "Events of a run", answer: ANY, stream: true } },
  "/v1/runs/{id}/approval": { post: { summary: "Answer an approval", body: "approval", answer: ANY } },
  "/v1/runs/{id}/stop": { post: { summary: "Stop a run", answer: RUN } },
};

const JOB_PATHS: Paths = {
  "/api/jobs": {
    get: {
      summary: "Scheduled jobs",
      answer: { type: "object", required: ["jobs"], properties: { jobs: { type: "array", items: ANY } } },
      query: ["include_disabled"],
    },
    post: { summary: "Create a job", body: "createJob", answer: JOB },
  },
  "/api/jobs/{id}": {
    get: { summary: "One job", answer: JOB },
    patch: { summary: "Change a job", body: "changeJob", answer: JOB },
    delete: { summary: "Remove a job", answer: ANY },
  },
  "/api/jobs/{id}/pause": { post: { summary: "Pause a job", answer: JOB } },
  "/api/jobs/{id}/resume": { post: { summary: "Resume a job", answer: JOB } },
  "/api/jobs/{id}/run": { post: { summary: "Run a job now", answer: JOB } },
};

function parametersOf(path: string, operation: Operation): readonly JsonObject[] {
  const schema = path.startsWith("/api/jobs") ? { ...TEXT, pattern: "^[0-9a-f]{12}$" } : { ...TEXT, minLength: 1 };
  const id = path.includes("{id}") ? [{ name: "id", in: "path", required: true, schema }] : [];
  const query = (operation.query ?? []).map((name) => ({ name, in: "query", schema: TEXT }));
  return [...id, ...query, ...(operation.session ? SESSION_HEADERS : [])];
}

function buildOperation(path: string, method: string, operation: Operation): JsonObject {
  const { summary, body, answer, status = "200", stream, open } = operation;
  const failure = path.startsWith("/api/jobs") ? ref("JobError") : ref("Error");
  const errors = ERROR_STATUSES.map((code) => [code, { description: "Refused", content: json(anyError(failure)) }]);
  return {
    operationId: `${method}${path.replaceAll(/[/{}.]+/g, "_")}`,
    summary,
    parameters: parametersOf(path, operation),
    ...(body ? { requestBody: { required: true, content: json(ref(body)) } } : {}),
    ...(open ? { security: [] } : {}),
    responses: {
      [status]: { description: "Done", content: stream ? { ...json(answer), ...EVENTS } : json(answer) },
      ...Object.fromEntries(errors),
    },
  };
}

function anyError(own: JsonObject): JsonObject {
  return { anyOf: [own, ref("Error")] };
}

const SCHEMAS: JsonObject = {
  ...BODIES,
  AnswerMessage: {
    type: "object",
    required: ["role", "content"],
    properties: { role: { const: "assistant" }, content: { type: ["string", "null"] }, tool_calls: { type: "array" } },
  },
  Error: {
    type: "object",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        required: ["message", "type", "code"],
        properties: { message: TEXT, type: TEXT, code: { type: ["string", "null"] } },
      },
    },
  },
  JobError: { type: "object", required: ["error"], properties: { error: TEXT } },
};

function allPaths(jobs: boolean): Paths {
  return jobs ? { ...PATHS, ...JOB_PATHS } : PATHS;
}

export function openApiDocument(options: { readonly version: string; readonly jobs: boolean }): JsonObject {
  const paths = Object.entries(allPaths(options.jobs)).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, operation]) => [method, buildOperation(path, method, operation)]),
    ),
  ]);
  return {
    openapi: "3.1.0",
    info: { title: "Hermes API server", version: options.version },
    security: [{ key: [] }],
    paths: Object.fromEntries(paths),
    components: { securitySchemes: { key: { type: "http", scheme: "bearer" } }, schemas: SCHEMAS },
  };
}

/** The methods of a path, for answers with status 405; undefined for a path that does not exist. */
export function allowedMethods(path: string, jobs: boolean): readonly string[] | undefined {
  const segments = path.split("/");
  const found = Object.entries(allPaths(jobs)).find(([pattern]) => {
    const parts = pattern.split("/");
    return (
      parts.length === segments.length && parts.every((part, index) => part === "{id}" || part === segments[index])
    );
  });
  return found && Object.keys(found[1]).map((method) => method.toUpperCase());
}
