// A model server on raw sockets: sends exactly the bytes of a test, also invalid HTTP.
import { type AddressInfo, createServer, type Socket } from "node:net";

export type RawDialect = "chat" | "anthropic" | "responses";

/** Bytes to write in one segment, a pause, the orderly end of the connection, or its reset. */
export type RawStep = string | Uint8Array | { readonly waitMs: number } | "FIN" | "RESET";

export interface RawRequest {
  readonly path: string;
  readonly body: string;
  /** How many requests came over this connection before. */
  readonly earlierOnSocket: number;
}

export interface RawLlm {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  close(): Promise<void>;
}

/** The first whole request in the bytes, and how many bytes it takes. */
function takeRequest(bytes: Buffer): { path: string; body: string; size: number } | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return undefined;
  const head = bytes.subarray(0, end).toString("latin1");
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  const size = end + 4 + length;
  if (bytes.length < size) return undefined;
  return { path: head.split(" ")[1] ?? "", body: bytes.subarray(end + 4, size).toString("utf8"), size };
}

async function play(socket: Socket, steps: readonly RawStep[]): Promise<void> {
  for (const step of steps) {
    if (socket.destroyed) return;
    if (step === "FIN") socket.end();
    else if (step === "RESET") socket.resetAndDestroy();
    else if (typeof step === "object" && "waitMs" in step)
      await new Promise((resolve) => setTimeout(resolve, step.waitMs));
    else if (!socket.write(step)) {
      await new Promise<void>((resolve) => {
        socket.once("drain", resolve);
        socket.once("close", () => resolve());
      });
    }
  }
}

export async function startRawLlm(script: (request: RawRequest) => readonly RawStep[]): Promise<RawLlm> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    let bytes: Buffer = Buffer.alloc(0);
    let earlierOnSocket = 0;
    socket.on("data", (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const found = takeRequest(bytes);
      if (!found) return;
      bytes = bytes.subarray(found.size);
      const request = { path: found.path, body: found.body, earlierOnSocket };
      earlierOnSocket += 1;
      requests.push(request);
      void play(socket, script(request));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const sse = (data: unknown, event?: string) =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

/** The frames of a streamed answer up to its text, without any end. */
export function textFrames(dialect: RawDialect, text: string): string {
  if (dialect === "chat")
    return (
      sse({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { role: "assistant" } }] }) +
      sse({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: text } }] })
    );
  if (dialect === "responses") {
    const item = { id: "m1", type: "message", role: "assistant", status: "in_progress", content: [] };
    return (
      sse({ type: "response.created", response: { id: "r1", object: "response", status: "in_progress" } }) +
      sse({ type: "response.output_item.added", output_index: 0, item }) +
      sse({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m1", delta: text })
    );
  }
  const message = { id: "a1", type: "message", role: "assistant", content: [], usage: { input_tokens: 40 } };
  return (
    sse({ type: "message_start", message }, "message_start") +
    sse({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }, "content_block_start") +
    sse({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }, "content_block_delta")
  );
}

/** The frames that complete an answer; `finish` as in the chat dialect. */
export function endFrames(dialect: RawDialect, finish: "stop" | "content_filter" = "stop"): string {
  if (dialect === "chat") {
    const usage = { prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 };
    return (
      sse({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta: {}, finish_reason: finish }] }) +
      sse({ id: "c1", object: "chat.completion.chunk", choices: [], usage }) +
      "data: [DONE]\n\n"
    );
  }
  if (dialect === "responses") {
    const usage = { input_tokens: 40, output_tokens: 7, total_tokens: 47 };
    const filtered = { status: "incomplete", incomplete_details: { reason: "content_filter" } };
    const end = finish === "stop" ? { status: "completed" } : filtered;
    const type = finish === "stop" ? "response.completed" : "response.incomplete";
    return sse({ type, response: { id: "r1", object: "response", ...end, output: [], usage } });
  }
  const stop_reason = finish === "stop" ? "end_turn" : "refusal";
  return (
    sse({ type: "content_block_stop", index: 0 }, "content_block_stop") +
    sse({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 7 } }, "message_delta") +
    sse({ type: "message_stop" }, "message_stop")
  );
}

/** The frame by which each dialect says in a stream that the answer failed. */
export function errorFrame(dialect: RawDialect, message = "the model crashed"): string {
  if (dialect === "chat") return sse({ error: { message, code: 500 } });
  if (dialect === "responses")
    return sse({
      type: "response.failed",
      response: { id: "r1", object: "response", status: "failed", error: { code: "server_error", message } },
    });
  return sse({ type: "error", error: { type: "api_error", message } }, "error");
}

export const STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";

/** One HTTP chunk. */
export function chunk(data: string): string {
  return `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`;
}

/** A whole chunked answer in one segment. */
export function chunked(data: string): string {
  return `${STREAM_HEAD}transfer-encoding: chunked\r\n\r\n${chunk(data)}0\r\n\r\n`;
}

/** The beginning of a chunked answer. */
export function begun(data: string): string {
  return `${STREAM_HEAD}transfer-encoding: chunked\r\n\r\n${chunk(data)}`;
}

export function withLength(data: string): string {
  return `${STREAM_HEAD}content-length: ${Buffer.byteLength(data)}\r\n\r\n${data}`;
}

/** The address that a provider of this dialect is configured with. */
export function baseUrl(llm: RawLlm, dialect: RawDialect): string {
  return dialect === "anthropic" ? llm.url : `${llm.url}/v1`;
}

export const API_MODE = {
  chat: "chat_completions",
  anthropic: "anthropic_messages",
  responses: "codex_responses",
} as const;
