// POST /v1/chat/completions: the agent as a chat model, complete or streamed with tool progress.
import type { Context } from "hono";
import type { AgentEvent } from "../../core/event.ts";
import { type AssistantMessage, contentText } from "../../core/message.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
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
import { ApiError } from "./api-error.ts";
import { type ClientInput, readMessages } from "./content.ts";
import type { Idempotency, Outcome } from "./idempotency.ts";
import { type ModelDemands, readDemands, unfenced } from "./request-options.ts";
import { fingerprint, type OpenedSession, userMessage } from "./sessions.ts";
import { type Sse, sse } from "./sse.ts";
import { answerMessage, chatUsage, isShown, runTurn, type TurnResult } from "./turn.ts";

interface ChatRequest {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly client: ClientInput;
  readonly userId: string | undefined;
  readonly session: OpenedSession;
  readonly human: AbsentHuman;
  readonly demands: ModelDemands;
}

async function openChat(apiContext: ApiContext, context: Context, body: Body): Promise<ChatRequest> {
  const client = readMessages(body.messages);
  const demands = readDemands(body);
  const userId = sessionKeyHeader(context);
  const sessionId = sessionHeader(context);
  const human = new AbsentHuman();
  const known = client.history.length > 0 && sessionId === undefined;
  const session = await apiContext.sessions.open({
    client,
    human,
    prefix: "api-",
    userId,
    sessionId,
    model: apiContext.sessions.modelOptions(textField(body, "model")),
    demands,
    thread: known ? apiContext.responses.thread(fingerprint(client.instructions, client.history, userId)) : null,
  });
  const created = Math.floor(apiContext.now() / 1000);
  const model = modelNameFor(apiContext, body);
  return { id: newId("chatcmpl-", 29), created, model, client, userId, session, human, demands };
}

/** The client repeats the answer as the assistant's message in its next request, which identifies the session. */
async function remember(api: ApiContext, request: ChatRequest, answer: AssistantMessage): Promise<void> {
  const { client, userId, session } = request;
  if (contentText(answer.content).trim() === "" && answer.tool_calls === undefined) return;
  const visible = [...client.history, ...(client.results ?? [userMessage(client.input)]), answer];
  const thread = await api.sessions.readThread(session.opened.conversation.sessionId);
  api.responses.putThread(fingerprint(client.instructions, visible, userId), thread);
}

function extras({ human }: ChatRequest, result: TurnResult) {
  return {
    session_id: result.sessionId,
    completed: result.end === "done",
    partial: result.end !== "done" && result.text !== "",
    error: result.problem || undefined,
    denied: human.denied.length > 0 ? human.denied : undefined,
  };
}

/** The answer for the client, with a note about denied actions. */
function withNote(text: string, human: AbsentHuman): string {
  return [text, human.note].filter((part) => part !== "").join("\n\n");
}

function resultHeaders(request: ChatRequest, result: TurnResult): { [name: string]: string } {
  return {
    "x-hermes-session-id": result.sessionId,
    ...(request.userId ? { "x-hermes-session-key": encodeURIComponent(request.userId) } : {}),
    "x-hermes-completed": String(result.end === "done"),
    "x-hermes-partial": String(result.end !== "done" && result.text !== ""),
    ...(result.problem ? { "x-hermes-error": encodeURIComponent(result.problem).slice(0, 500) } : {}),
  };
}

async function wholeAnswer(api: ApiContext, context: Context, body: Body): Promise<Outcome> {
  const request = await openChat(api, context, body);
  try {
    const result = await underSignals([context.req.raw.signal, api.stopping], undefined, (signal) =>
      runTurn(request.session, signal),
    );
    const { clientCalls } = result;
    if (result.text === "" && result.end !== "done")
      throw new ApiError(502, "agent_incomplete", result.problem ?? "The run ended without an answer.");
    const answer = withNote(unfenced(result.text, request.demands), request.human);
    await remember(api, request, answerMessage(result, answer));
    const content = answer === "" && clientCalls.length > 0 ? null : answer;
    const response = Response.json(
      {
        id: request.id,
        object: "chat.completion",
        created: request.created,
        model: request.model,
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content,
              refusal: null,
              ...(clientCalls.length > 0 ? { tool_calls: clientCalls } : {}),
            },
            logprobs: null,
            finish_reason: result.finishReason,
          },
        ],
        usage: chatUsage(result.usage),
        hermes: extras(request, result),
      },
      { headers: resultHeaders(request, result) },
    );
    return { response, completed: result.end !== "interrupted" };
  } finally {
    request.session.release();
  }
}

/** Writes one turn as chunks. Client libraries parse every event as a chunk, so all events have that form. */
class ChunkWriter {
  readonly #request: ChatRequest;
  readonly #stream: Sse;
  #answer = "";
  #needsBreak = false;

  constructor(request: ChatRequest, stream: Sse) {
    this.#request = request;
    this.#stream = stream;
  }

  get answer(): string {
    return this.#answer;
  }

  #chunk(choices: readonly unknown[], more: object = {}): object {
    const { id, created, model } = this.#request;
    return { id, object: "chat.completion.chunk", created, model, choices, ...more };
  }

  delta(delta: object, finish: string | null = null, more: object = {}): Promise<void> {
    return this.#stream.send(this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }], more));
  }

  text(text: string): Promise<void> {
    const shown = this.#needsBreak && this.#answer !== "" ? `\n\n${text}` : text;
    this.#needsBreak = false;
    this.#answer += shown;
    return this.delta({ content: shown });
  }

  progress(event: Extract<AgentEvent, { type: "tool_started" | "tool_ended" }>): Promise<void> {
    const running = event.type === "tool_started";
    return this.#stream.send(
      this.#chunk([], {
        tool: event.name,
        emoji: "⚙️",
        label: event.preview,
        toolCallId: event.callId,
        status: running ? "running" : "completed",
        ...(event.type === "tool_ended" ? { failed: event.failed, durationMs: Math.round(event.durationMs) } : {}),
      }),
      { event: "hermes.tool.progress" },
    );
  }

  async show(event: AgentEvent): Promise<void> {
    if (event.type === "delta" && event.kind === "text") await this.text(event.text);
    else if (event.type === "restarted" || event.type === "message") this.#needsBreak = true;
    else if ((event.type === "tool_started" || event.type === "tool_ended") && isShown(event.name))
      await this.progress(event);
  }
}

async function streamTurn(api: ApiContext, request: ChatRequest, stream: Sse): Promise<void> {
  const writer = new ChunkWriter(request, stream);
  try {
    await writer.delta({ role: "assistant", content: "" });
    const result = await runTurn(request.session, stream.signal, (event) => writer.show(event));
    // Without streaming by the provider, the whole text is sent at the end.
    if (writer.answer === "" && result.text !== "") await writer.text(result.text);
    if (writer.answer === "" && result.problem && result.clientCalls.length === 0)
      await stream.send({
        error: { message: result.problem, type: "server_error", param: null, code: "agent_incomplete" },
      });
    if (request.human.note !== "") await writer.text(request.human.note);
    if (result.clientCalls.length > 0)
      await writer.delta({ tool_calls: result.clientCalls.map((call, index) => ({ index, ...call })) });
    await remember(api, request, answerMessage(result, writer.answer));
    await writer.delta({}, result.finishReason, { usage: chatUsage(result.usage), hermes: extras(request, result) });
    await stream.raw("data: [DONE]\n\n");
  } finally {
    request.session.release();
  }
}

export async function chatCompletions(api: ApiContext, idempotency: Idempotency, context: Context): Promise<Response> {
  const body = await readBody(context, "chat");
  if (body.stream !== true) return idempotency.once(context, body, () => wholeAnswer(api, context, body));
  const request = await openChat(api, context, body);
  const headers = { "x-hermes-session-id": request.session.sessionId };
  return sse(context, { headers, stopping: api.stopping, keepAliveMs: api.keepAliveMs }, (stream) =>
    streamTurn(api, request, stream),
  );
}
