// Webhook mode: Telegram posts updates to a local server behind the user's own proxy, signed with a secret token.
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Update } from "grammy/types";
import { UserError } from "../../core/failure.ts";

const MAX_BODY = 4_000_000;

export interface WebhookServer {
  readonly port: number;
  close(): Promise<void>;
}

function same(given: string, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseUpdate(body: string): Update | null {
  try {
    const value = JSON.parse(body) as Update;
    return typeof value.update_id === "number" ? value : null;
  } catch {
    // Not JSON, so not from Telegram.
    return null;
  }
}

export interface WebhookOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  /** Resolves when the update is stored; only then it is confirmed to Telegram. */
  take(update: Update): Promise<void>;
}

async function answer(request: IncomingMessage, options: WebhookOptions): Promise<number> {
  if (request.method !== "POST") return 405;
  const given = request.headers["x-telegram-bot-api-secret-token"];
  if (typeof given !== "string" || !same(given, options.secret)) return 401;
  const body = await readBody(request);
  if (body === null) return 413;
  const update = parseUpdate(body);
  if (!update) return 400;
  await options.take(update);
  return 200;
}

export async function startWebhookServer(options: WebhookOptions): Promise<WebhookServer> {
  if (options.secret.length < 8)
    throw new UserError("Telegram's webhook needs a secret of at least 8 characters", {
      hint: "Set TELEGRAM_WEBHOOK_SECRET, for example to the output of: openssl rand -hex 32",
    });
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    answer(request, options).then(
      (status) => response.writeHead(status).end(),
      // Not stored: Telegram must deliver it again.
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
