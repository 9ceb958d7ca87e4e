// The API server's routes. Every request passes the checks of Host, Origin, key and size, in that order.
import type { Context, Hono, Next } from "hono";
import type { JobService } from "../../core/job-service.ts";
import type { JsonObject } from "../../core/message.ts";
import { hostAllowed, originAllowed, sameSecret } from "../http/guards.ts";
import {
  type ApiContext,
  modelNameFor,
  newId,
  readBody,
  sessionHeader,
  sessionKeyHeader,
  textField,
} from "./api-context.ts";
import { ApiError, errorBody, invalid, toApiError } from "./api-error.ts";
import { chatCompletions } from "./chat.ts";
import { Idempotency } from "./idempotency.ts";
import { addJobRoutes, JOB_ENDPOINTS } from "./jobs.ts";
import { continues, createResponse, deleteResponse, findClient, getResponse } from "./responses.ts";
import { answerApproval, type Run, type Runs } from "./runs.ts";
import { checkSessionId } from "./sessions.ts";
import type { ApiServerSettings } from "./settings.ts";
import { sse } from "./sse.ts";

const METHODS = "GET, POST, PATCH, DELETE, OPTIONS";
/** The version of this interface, not of the program. */
const API_VERSION = "1";
const ALLOWED_HEADERS =
  "Authorization, Content-Type, Idempotency-Key, X-Request-Id, X-Hermes-Session-Id, X-Hermes-Session-Key, Last-Event-ID";
const HEALTH_PATHS = ["/health", "/v1/health"];
const OPEN_PATHS = new Set([...HEALTH_PATHS, "/openapi.json"]);
const REQUEST_ID = /^[\w.:-]{1,128}$/;

export interface RouteParts {
  readonly api: ApiContext;
  readonly runs: Runs;
  readonly settings: ApiServerSettings;
  /** Scheduled jobs; opened at the first request. */
  readonly jobs?: (() => Promise<JobService>) | undefined;
  /** More about this process, for `/health/detailed`. */
  readonly state?: (() => JsonObject) | undefined;
}

function refuse(status: number, code: string, message: string): Response {
  return Response.json(errorBody(status, code, message), { status });
}

function isKnown(context: Context, key: string): boolean {
  const [scheme, given] = (context.req.header("authorization") ?? "").split(/\s+/, 2);
  return scheme?.toLowerCase() === "bearer" && sameSecret(given ?? "", key);
}

function cors(headers: Headers, origin: string): void {
  headers.set("access-control-allow-origin", origin);
  headers.set("vary", "Origin");
  headers.set(
    "access-control-expose-headers",
    "X-Hermes-Session-Id, X-Hermes-Completed, X-Hermes-Partial, X-Request-Id",
  );
}

function preflight(origin: string): Response {
  const response = new Response(null, { status: 204 });
  cors(response.headers, origin);
  response.headers.set("access-control-allow-methods", METHODS);
  response.headers.set("access-control-allow-headers", ALLOWED_HEADERS);
  response.headers.set("access-control-max-age", "600");
  return response;
}

/** The checks before every route; returns the response to a refused request. */
function checkRequest(context: Context, settings: ApiServerSettings): Response | null {
  const origin = context.req.header("origin");
  if (!hostAllowed(context.req.header("host"), settings.allowedHosts))
    return refuse(
      403,
      "host_not_allowed",
      `this server does not answer to the Host ${context.req.header("host") ?? ""}; allow it with API_SERVER_ALLOWED_HOSTS`,
    );
  if (!originAllowed(origin, settings.corsOrigins))
    return refuse(403, "origin_not_allowed", "this Origin may not call; allow it with API_SERVER_CORS_ORIGINS");
  if (context.req.method === "OPTIONS" && origin !== undefined) return preflight(origin);
  if (OPEN_PATHS.has(context.req.path)) return null;
  if (!isKnown(context, settings.key)) {
    const response = refuse(401, "invalid_api_key", "a valid key is required: Authorization: Bearer …");
    response.headers.set("www-authenticate", "Bearer");
    return response;
  }
  return null;
}

/** The client's id of the request, else a new one; it is in the answer and in the log. */
function requestId(context: Context): string {
  const given = context.req.header("x-request-id") ?? "";
  return REQUEST_ID.test(given) ? given : newId("req_", 24);
}

/** One line per request, without its query, which may hold what users write. Health checks are left out. */
function logAccess(context: Context, api: ApiContext, request: { readonly id: string; readonly startedAt: number }) {
  if (HEALTH_PATHS.includes(context.req.path)) return;
  const ms = Math.round(api.now() - request.startedAt);
  api.log("info", `${context.req.method} ${context.req.path} ${context.res.status} ${ms} ms ${request.id}`);
}

async function guard(context: Context, next: Next, { api, settings }: RouteParts): Promise<Response | undefined> {
  const request = { id: requestId(context), startedAt: api.now() };
  const refusal = checkRequest(context, settings);
  if (refusal) context.res = refusal;
  else await next();
  const origin = context.req.header("origin");
  const { headers } = context.res;
  headers.set("x-request-id", request.id);
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "no-referrer");
  if (origin !== undefined && originAllowed(origin, settings.corsOrigins)) cors(headers, origin);
  logAccess(context, api, request);
  return undefined;
}

function capabilities(modelName: string, jobs: boolean): JsonObject {
  return {
    object: "hermes.api_server.capabilities",
    model: modelName,
    auth: { type: "bearer", required: true },
    runtime: { agent: true, tools: "server" },
    features: {
      chat_completions: true,
      responses: true,
      stored_responses: true,
      runs: true,
      run_events: true,
      run_approvals: true,
      // Other routes cannot ask: their answers name what was denied.
      chat_approvals: false,
      jobs,
      streaming: true,
      tool_progress_events: true,
      session_header: "X-Hermes-Session-Id",
      session_key_header: "X-Hermes-Session-Key",
      idempotency_key: true,
      image_input: true,
      client_tools: true,
      response_format: true,
      model_override: true,
    },
    endpoints: [
      "GET /health",
      "GET /health/detailed",
      "GET /openapi.json",
      "GET /v1/models",
      "GET /v1/models/{id}",
      "GET /v1/capabilities",
      "POST /v1/chat/completions",
      "POST /v1/responses",
      "GET /v1/responses/{id}",
      "DELETE /v1/responses/{id}",
      "POST /v1/runs",
      "GET /v1/runs/{id}",
      "GET /v1/runs/{id}/events",
      "POST /v1/runs/{id}/approval",
      "POST /v1/runs/{id}/stop",
      ...(jobs ? JOB_ENDPOINTS : []),
    ],
  };
}

async function startRun({ api, runs }: RouteParts, context: Context): Promise<Response> {
  const body = await readBody(context, "run");
  const previous = textField(body, "previous_response_id");
  const stored = previous === undefined ? null : api.responses.get(previous);
  if (previous !== undefined && !stored)
    throw new ApiError(404, "response_not_found", `there is no stored response ${previous}`, "previous_response_id");
  const client = findClient(body, stored);
  const sessionId = textField(body, "session_id") || sessionHeader(context);
  if (sessionId) checkSessionId(sessionId);
  const userId = sessionKeyHeader(context);
  const run = runs.start({
    client,
    model: modelNameFor(api, body),
    thread: continues(body, client, stored),
    sessionId: sessionId || undefined,
    userId,
  });
  return Response.json({ run_id: run.id, status: "started" }, { status: 202 });
}

/** Everything from the start, or after `Last-Event-ID`; ends with the run. */
function runEvents(api: ApiContext, run: Run, context: Context): Response {
  const last = Number(context.req.header("last-event-id") ?? "-1");
  if (!Number.isInteger(last)) throw invalid("invalid_event_id", "Last-Event-ID must be a number");
  return sse(context, { stopping: api.stopping, keepAliveMs: api.keepAliveMs }, async (stream) => {
    let index = last + 1;
    while (!stream.signal.aborted) {
      const event = run.events[index];
      if (event) await stream.send(event, { id: String(index++) });
      else if (!run.active) return;
      else await run.changed(stream.signal);
    }
  });
}

/** Behind a gateway the state includes its platforms: the server may answer while a platform is unreachable. */
function statusWord(parts: RouteParts): "ok" | "degraded" {
  return parts.state?.().gateway_state === "degraded" ? "degraded" : "ok";
}

function health(parts: RouteParts): JsonObject {
  const { api, runs } = parts;
  return {
    status: statusWord(parts),
    platform: "hermes-agent",
    active_agents: api.sessions.active,
    active_runs: runs.active,
    exit_reason: null,
    updated_at: new Date(api.now()).toISOString(),
    ...parts.state?.(),
  };
}

function addRunRoutes(app: Hono, parts: RouteParts): void {
  const { api, runs } = parts;
  app.post("/v1/runs", (context) => startRun(parts, context));
  app.get("/v1/runs/:id", (context) => Response.json(runs.get(context.req.param("id")).toJson()));
  app.get("/v1/runs/:id/events", (context) => runEvents(api, runs.get(context.req.param("id")), context));
  app.post("/v1/runs/:id/approval", async (context) =>
    Response.json(answerApproval(runs.get(context.req.param("id")), await readBody(context, "approval"))),
  );
  app.post("/v1/runs/:id/stop", async (context) => {
    const run = runs.get(context.req.param("id"));
    await run.stop();
    return Response.json({ run_id: run.id, status: run.status });
  });
}

/** The agent, then the configured models that a request may name instead. */
function addModelRoutes(app: Hono, { api, settings }: RouteParts): void {
  const models = () =>
    [...new Set([settings.modelName, ...api.sessions.models])].map((id) => ({
      id,
      object: "model",
      created: 0,
      owned_by: "hermes",
    }));
  for (const path of ["/v1/models", "/models"]) app.get(path, () => Response.json({ object: "list", data: models() }));
  // Model ids may hold slashes.
  app.get("/v1/models/:id{.+}", (context) => {
    const id = context.req.param("id");
    const model = models().find((each) => each.id === id);
    if (model) return Response.json(model);
    throw new ApiError(
      404,
      "model_not_found",
      `there is no model ${id}; the one here is ${settings.modelName}`,
      "model",
    );
  });
}

export async function apiServerApp(parts: RouteParts): Promise<Hono> {
  const { Hono } = await import("hono");
  const { api, settings } = parts;
  const app = new Hono();
  const idempotency = new Idempotency(api.now);
  app.use("*", (context, next) => guard(context, next, parts));
  for (const path of HEALTH_PATHS)
    app.get(path, () => Response.json({ status: statusWord(parts), platform: "hermes-agent" }));
  app.get("/health/detailed", () => Response.json(health(parts)));
  addModelRoutes(app, parts);
  const jobs = parts.jobs !== undefined;
  app.get("/openapi.json", async () => {
    const { openApiDocument } = await import("./openapi.ts");
    return Response.json(openApiDocument({ version: API_VERSION, jobs }));
  });
  app.get("/v1/capabilities", () => Response.json(capabilities(settings.modelName, jobs)));
  app.post("/v1/chat/completions", (context) => chatCompletions(api, idempotency, context));
  app.post("/v1/responses", (context) => createResponse(api, idempotency, context));
  app.get("/v1/responses/:id", (context) => getResponse(api, context.req.param("id")));
  app.delete("/v1/responses/:id", (context) => deleteResponse(api, context.req.param("id")));
  addRunRoutes(app, parts);
  if (parts.jobs) addJobRoutes(app, parts.jobs);
  app.notFound(async (context) => {
    const { method, path } = context.req;
    const { allowedMethods } = await import("./openapi.ts");
    const allowed = allowedMethods(path, jobs);
    if (!allowed) return refuse(404, "not_found", `there is no ${method} ${path}`);
    const response = refuse(405, "method_not_allowed", `${path} takes ${allowed.join(", ")}`);
    response.headers.set("allow", allowed.join(", "));
    return response;
  });
  app.onError((error) => {
    const shown = toApiError(error);
    if (shown.code === "internal_error") api.log("error", error.stack ?? String(error));
    return Response.json(shown.body, { status: shown.status });
  });
  return app;
}
