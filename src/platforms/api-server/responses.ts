// /v1/responses: stored answers; a client continues a conversation with the id of the last one.
import type { Context } from "hono";
import type { JsonObject, Message } from "../../core/message.ts";
import type { StoredResponse } from "../../core/store/response-store.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { AbsentHuman } from "./absent-human.ts";
import {
  type ApiContext,
  type Body,
  modelNameFor,
  newId,
  readBody,
  sessionHeader,
  sessionKeyHeader,
  textField,
} from "./api-context.ts";
import { ApiError, invalid } from "./api-error.ts";
import { type ClientInput, readHistory, readResponsesInput } from "./content.ts";
import type { Idempotency, Outcome } from "./idempotency.ts";
import { readDemands } from "./request-options.ts";
import { messageItem, type ResponseHead, responseObject, toItems, toStatus } from "./response-object.ts";
import { ResponseWriter } from "./response-stream.ts";
import { type OpenedSession, userMessage } from "./sessions.ts";
import { sse } from "./sse.ts";
import { answerMessage, runTurn, type TurnResult } from "./turn.ts";

const TRUNCATED_HISTORY = 100;

export interface ResponseRequest {
  readonly head: ResponseHead;
  readonly client: ClientInput;
  readonly session: OpenedSession;
  readonly human: AbsentHuman;
  readonly conversation: string | undefined;
}

function findPrevious(
  api: ApiContext,
  body: Body,
): { stored: StoredResponse | null; conversation: string | undefined } {
  const id = textField(body, "previous_response_id");
  const named = isRecord(body.conversation) ? textField(body.conversation, "id") : textField(body, "conversation");
  if (id !== undefined && named !== undefined)
    throw invalid("invalid_request", "give previous_response_id or conversation, not both", "conversation");
  const known = id ?? (named === undefined ? undefined : (api.responses.findNewest(named) ?? undefined));
  if (known === undefined) return { stored: null, conversation: named };
  const stored = api.responses.get(known);
  if (!stored && id !== undefined)
    throw new ApiError(404, "response_not_found", `there is no stored response ${id}`, "previous_response_id");
  return { stored, conversation: named };
}

/** The whole conversation of a request: stored history, sent history, and the new message. */
export function findClient(body: Body, stored: StoredResponse | null): ClientInput {
  const given = readHistory(body.conversation_history, "conversation_history");
  const earlier = given.length > 0 ? given : (stored?.history ?? []);
  const own = readResponsesInput(body.input, earlier);
  const past: readonly Message[] = [...earlier, ...own.history];
  const instructions = [textField(body, "instructions") ?? stored?.instructions ?? "", own.instructions];
  return {
    instructions: instructions.filter((text) => text !== "").join("\n\n"),
    history: body.truncation === "auto" ? past.slice(-TRUNCATED_HISTORY) : past,
    input: own.input,
    results: own.results,
  };
}

/** Continues the session of the stored answer only when the request adds nothing but the new message. */
export function continues(body: Body, client: ClientInput, stored: StoredResponse | null): StoredResponse | null {
  if (!stored || stored.sessionId === "") return null;
  const added = client.history.length - stored.history.length;
  return Array.isArray(body.conversation_history) || added !== 0 ? null : stored;
}

async function openResponse(apiContext: ApiContext, context: Context, body: Body): Promise<ResponseRequest> {
  const { stored, conversation } = findPrevious(apiContext, body);
  const demands = readDemands(body);
  const client = findClient(body, stored);
  const sessionId = sessionHeader(context);
  const userId = sessionKeyHeader(context);
  const human = new AbsentHuman();
  const session = await apiContext.sessions.open({
    client,
    human,
    prefix: "api-",
    thread: continues(body, client, stored),
    userId,
    sessionId,
    model: apiContext.sessions.modelOptions(textField(body, "model")),
    demands,
  });
  const head: ResponseHead = {
    id: newId("resp_", 28),
    createdAt: Math.floor(apiContext.now() / 1000),
    model: modelNameFor(apiContext, body),
    instructions: client.instructions === "" ? null : client.instructions,
    previousId: stored?.id ?? null,
    store: body.store !== false,
    metadata: isRecord(body.metadata) ? (body.metadata as JsonObject) : {},
    clientTools: demands.clientTools ?? [],
  };
  return { head, client, session, human, conversation };
}

async function keep(
  api: ApiContext,
  request: ResponseRequest,
  response: JsonObject,
  result: TurnResult,
): Promise<void> {
  const { head, client } = request;
  if (!head.store) return;
  const silent = result.text === "" && result.clientCalls.length === 0;
  const answer: readonly Message[] = silent ? [] : [answerMessage(result, result.text)];
  const thread = await api.sessions.readThread(result.sessionId);
  api.responses.put(
    {
      id: head.id,
      response,
      history: [...client.history, ...(client.results ?? [userMessage(client.input)]), ...answer],
      instructions: head.instructions,
      sessionId: thread.sessionId,
      messageCount: thread.messageCount,
    },
    request.conversation,
  );
}

async function wholeResponse(api: ApiContext, context: Context, body: Body): Promise<Outcome> {
  const request = await openResponse(api, context, body);
  try {
    const result = await underSignals([context.req.raw.signal, api.stopping], undefined, (signal) =>
      runTurn(request.session, signal),
    );
    if (result.text === "" && result.end === "failed")
      throw new ApiError(502, "agent_incomplete", result.problem ?? "The run ended without an answer.");
    const { note, denied } = request.human;
    const notes = note === "" ? [] : [messageItem(newId("msg_", 28), note, "completed")];
    const output = [...result.messages.flatMap((message) => toItems(message, request.head.clientTools)), ...notes];
    const response = responseObject(request.head, { status: toStatus(result), output, result, denied });
    await keep(api, request, response, result);
    const headers = { "x-hermes-session-id": result.sessionId };
    return { response: Response.json(response, { headers }), completed: result.end !== "interrupted" };
  } finally {
    request.session.release();
  }
}

export async function createResponse(api: ApiContext, idempotency: Idempotency, context: Context): Promise<Response> {
  const body = await readBody(context, "response");
  if (body.stream !== true) return idempotency.once(context, body, () => wholeResponse(api, context, body));
  const request = await openResponse(api, context, body);
  const headers = { "x-hermes-session-id": request.session.sessionId };
  return sse(context, { headers, stopping: api.stopping, keepAliveMs: api.keepAliveMs }, async (stream) => {
    const writer = new ResponseWriter(request.head, stream);
    try {
      await writer.begin();
      const result = await runTurn(request.session, stream.signal, (event) => writer.show(event));
      await keep(api, request, await writer.end(result, request.human), result);
    } finally {
      request.session.release();
    }
  });
}

export function getResponse(api: ApiContext, id: string): Response {
  const stored = api.responses.get(id);
  if (!stored) throw new ApiError(404, "response_not_found", `there is no stored response ${id}`);
  return Response.json(stored.response);
}

export function deleteResponse(api: ApiContext, id: string): Response {
  if (!api.responses.delete(id)) throw new ApiError(404, "response_not_found", `there is no stored response ${id}`);
  return Response.json({ id, object: "response.deleted", deleted: true });
}
